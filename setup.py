"""The compiled extensions and their flags. Everything else is in setup.cfg and pyproject.toml.

SPACY_LINEARIZE_BUILD=checked builds with bounds checks on, for tests. SPACY_LINEARIZE_BUILD=sanitize builds with these
and the address and undefined behaviour sanitizers of GCC or Clang, see .ci/sanitize. SPACY_LINEARIZE_CFLAGS adds
compiler flags, for instance those that tune a local build for its own machine.
"""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

BUILD = os.environ.get("SPACY_LINEARIZE_BUILD", "release")
SANITIZERS = ["-fsanitize=address,undefined"]
UNIX_FLAGS = {
    "release": ["-O3", "-std=c++11"],
    "checked": ["-O1", "-g", "-std=c++11", "-D_GLIBCXX_ASSERTIONS", "-UNDEBUG"],
    # Vectors tell the address sanitizer where they end: it then sees what is read beyond the end of one. Python's own
    # flags may define what a signed overflow gives (-fwrapv), but not every compiler does.
    "sanitize": [
        *("-O1", "-g", "-std=c++11", "-fno-omit-frame-pointer", "-fno-wrapv", "-D_GLIBCXX_SANITIZE_VECTOR=1"),
        *("-D_GLIBCXX_ASSERTIONS", "-UNDEBUG"),
        *SANITIZERS,
    ],
}
MSVC_FLAGS = {"release": ["/O2"], "checked": ["/Od", "/D_ITERATOR_DEBUG_LEVEL=1"]}
MORE_FLAGS = os.environ.get("SPACY_LINEARIZE_CFLAGS", "").split()
DIRECTIVES = {
    "language_level": "3",
    "boundscheck": BUILD != "release",
    "wraparound": False,
    "initializedcheck": BUILD != "release",
    "cdivision": True,
    "embedsignature": True,
}


class BuildWithFlags(build_ext):
    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extensions(self) -> None:
        flags = MSVC_FLAGS if self.compiler.compiler_type == "msvc" else UNIX_FLAGS
        for extension in self.extensions:
            extension.extra_compile_args = flags[BUILD] + MORE_FLAGS
            extension.extra_link_args = SANITIZERS if BUILD == "sanitize" else []
        super().build_extensions()


sources = sorted(path.as_posix() for path in Path("spacy_linearize").rglob("*.pyx"))
extensions = [Extension(source.removesuffix(".pyx").replace("/", "."), [source], language="c++") for source in sources]
setup(
    ext_modules=cythonize(extensions, compiler_directives=DIRECTIVES, build_dir="build"),
    cmdclass={"build_ext": BuildWithFlags},
)
