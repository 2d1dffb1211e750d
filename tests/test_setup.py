"""Building: what is missing is said in one sentence, before anything is compiled."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    ("compiler", "message"),
    [
        ("no-such-compiler", "needs a C++ compiler, but 'no-such-compiler' is not found"),
        ("false", "the C++ compiler 'false' does not work (it says: nothing): install one"),
    ],
)
def test_no_compiler(tmp_path, compiler, message):
    pytest.importorskip("Cython")
    if not (ROOT / "setup.py").exists() or sys.platform == "win32":
        pytest.skip("the sources are not here, or the compiler is not found by its name")
    command = [
        sys.executable,
        "setup.py",
        "-q",
        "build_ext",
        "--build-lib",
        str(tmp_path),
        "--build-temp",
        str(tmp_path),
    ]
    environment = {**os.environ, "CC": compiler, "CXX": compiler}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert message in line
    assert line == done.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())
