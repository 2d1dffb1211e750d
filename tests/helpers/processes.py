"""Programs in processes of their own."""

import os
import subprocess
import sys
import tempfile

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def run_python(program, *arguments, **settings):
    """Run a program in a process of its own: what it prints."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    # Not in the folder of the sources: there Python would find the package before it is compiled.
    settings = {"cwd": tempfile.gettempdir(), **settings}
    result = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, **settings)
    assert result.returncode == 0, result.stderr[-2000:]
    return result.stdout
