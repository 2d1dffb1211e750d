"""The scripts of benchmarks/ that take seconds on a few sentences still run. What they measure is not looked at."""

import subprocess
import sys
from pathlib import Path

import pytest
from helpers.processes import ENVIRONMENT

ROOT = Path(__file__).parent.parent
MINI = "tests/data/mini_en.conllu"


@pytest.mark.skipif(not (ROOT / "benchmarks").exists(), reason="needs the scripts")
@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("speed.py", MINI, "--limit", "3", "--repeat", "1"), "| full tree |"),
        (("ablation.py", MINI, MINI, "--epochs", "1"), "| 1 | 60 |"),
        (("lm.py", "tests/data/everyday.txt", "--orders", "3"), "| 3 |"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_script_runs(arguments, shown):
    command = [sys.executable, "-W", "ignore", ROOT / "benchmarks" / arguments[0], *arguments[1:]]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, encoding="utf8", timeout=300)
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout
