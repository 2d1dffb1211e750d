"""The compiled extensions and their flags. Everything else is in setup.cfg and pyproject.toml.

SPACY_LINEARIZE_BUILD=checked builds with bounds checks on, for tests. SPACY_LINEARIZE_BUILD=sanitize builds with these
and the address and undefined behaviour sanitizers of GCC or Clang, see .ci/sanitize. SPACY_LINEARIZE_CFLAGS adds
compiler flags, for instance those that tune a local build for its own machine.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import PlatformError

BUILD = os.environ.get("SPACY_LINEARIZE_BUILD", "release")
SANITIZERS = ["-fsanitize=address,undefined"]
UNIX_FLAGS = {
    # Python's own flags may ask for debug symbols: nine tenths of the size, and a quarter of the time.
    "release": ["-O3", "-g0"],
    "checked": ["-O1", "-g", "-D_GLIBCXX_ASSERTIONS", "-UNDEBUG"],
    # Vectors tell the address sanitizer where they end: it then sees what is read beyond the end of one. Python's own
    # flags may define what a signed overflow gives (-fwrapv), but not every compiler does.
    "sanitize": [
        *("-O1", "-g", "-fno-omit-frame-pointer", "-fno-wrapv", "-D_GLIBCXX_SANITIZE_VECTOR=1"),
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
# Cython's own code, for memoryviews above all: compiled once, not once in each module.
SHARED = "spacy_linearize.core._cython"
# Elsewhere a new process would read this file again.
N_TRANSLATORS = os.cpu_count() if sys.platform == "linux" else 0


class BuildExtensions(build_ext):
    """Looks for a compiler first, then translates and compiles, both in parallel."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extensions(self) -> None:
        self.check_compiler()
        self.translate()
        msvc = self.compiler.compiler_type == "msvc"
        for extension in self.extensions:
            standard = ["-std=c++11"] if extension.language == "c++" and not msvc else []
            extension.extra_compile_args = [*(MSVC_FLAGS if msvc else UNIX_FLAGS)[BUILD], *standard, *MORE_FLAGS]
            extension.extra_link_args = SANITIZERS if BUILD == "sanitize" else []
        super().build_extensions()

    def check_compiler(self) -> None:
        """Say in one sentence what is missing, before anything else is printed."""
        if self.compiler.compiler_type == "msvc":
            self.compiler.initialize()  # raises an error that says where to get it
            return
        for command in (self.compiler.compiler_so, self.compiler.compiler_cxx):
            if command and not shutil.which(command[0]):
                raise PlatformError(
                    f"spacy_linearize is compiled here, and needs a C++ compiler, but '{command[0]}' is not found: "
                    "install one ('apt install g++' on Debian and Ubuntu, 'xcode-select --install' on macOS), or use a "
                    "ready-made wheel with 'pip install --only-binary spacy-linearize spacy-linearize'."
                )
        self.try_compiler()
        if not any((Path(folder) / "Python.h").exists() for folder in self.compiler.include_dirs):
            raise PlatformError(
                "spacy_linearize is compiled here, and needs the headers of Python, but there is no Python.h in "
                f"{sysconfig.get_path('include')}: install them ('apt install python3-dev' on Debian and Ubuntu)."
            )

    def try_compiler(self) -> None:
        """Compile a line that needs the library of C++, too."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "empty.cpp"
            source.write_text("#include <vector>\n")
            command = [
                *(getattr(self.compiler, "compiler_so_cxx", None) or self.compiler.compiler_so),
                "-c",
                str(source),
                "-o",
                os.devnull,
            ]
            done = subprocess.run(command, capture_output=True, encoding="utf8", errors="replace")
        if done.returncode != 0:
            said = " ".join(done.stderr.split())[:200] or "nothing"
            raise PlatformError(
                f"spacy_linearize is compiled here, and the C++ compiler '{command[0]}' does not work (it says: {said})"
                ": install one with its libraries ('apt install g++' on Debian and Ubuntu, 'xcode-select --install' on "
                "macOS), or use a ready-made wheel with 'pip install --only-binary spacy-linearize spacy-linearize'."
            )

    def translate(self) -> None:
        """From Cython to C++."""
        translated = cythonize(
            self.extensions,
            nthreads=N_TRANSLATORS,
            build_dir="build",
            compiler_directives=DIRECTIVES,
            shared_utility_qualified_name=SHARED,
        )
        sources = {extension.name: extension.sources for extension in translated}
        for extension in self.extensions:
            extension.sources = sources[extension.name]


def cython_module(path: Path) -> Extension:
    return Extension(path.with_suffix("").as_posix().replace("/", "."), [path.as_posix()], language="c++")


setup(
    ext_modules=[
        Extension(SHARED, [f"{SHARED.replace('.', '/')}.c"]),
        *map(cython_module, sorted(Path("spacy_linearize").rglob("*.pyx"))),
    ],
    cmdclass={"build_ext": BuildExtensions},
)
