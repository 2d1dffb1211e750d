"""Work in several processes."""

import os
import signal
import subprocess
import sys
import time

import pytest
from helpers.processes import ENVIRONMENT

from spacy_linearize.errors import LinearizeError, error
from spacy_linearize.processes import in_processes

pytestmark = pytest.mark.slow


class Worker:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, item):
        if item == "fail":
            raise error("SL210", path="x")
        if item == "die":
            os._exit(1)
        time.sleep((item % 3) / 200)
        return item * self.factor


@pytest.mark.parametrize("n_process", [1, 3])
def test_the_sequence_stays(n_process):
    assert list(in_processes(Worker, (3,), range(30), n_process=n_process)) == [3 * i for i in range(30)]
    assert list(in_processes(Worker, (3,), [], n_process=n_process)) == []


def test_items_are_taken_as_they_are_needed():
    taken = []
    results = in_processes(Worker, (1,), (taken.append(i) or i for i in range(1000)), n_process=2)
    next(results)
    assert len(taken) < 10
    results.close()


def test_errors():
    with pytest.raises(LinearizeError, match="SL210"):
        list(in_processes(Worker, (1,), [1, "fail", 2], n_process=2))
    with pytest.raises(LinearizeError, match=r"SL216.*One of 2 processes"):
        list(in_processes(Worker, (1,), [1, "die", 2], n_process=2))
    with pytest.raises(ZeroDivisionError):
        list(in_processes(Worker, (1,), (1 // (3 - i) for i in range(9)), n_process=2))


PROGRAM = """
import sys, time, os
from spacy_linearize.processes import in_processes
def worker(item):
    time.sleep(0.05)
    return os.getpid()
def make():
    return worker
if __name__ == "__main__":
    for k, pid in enumerate(in_processes(make, (), range(10**6), n_process=2)):
        print(pid, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_all_end_with_the_first(how, tmp_path):
    """Also if it is killed, and Ctrl-C gives one traceback, that of the first."""
    (tmp_path / "program.py").write_text(PROGRAM)
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "program.py")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        start_new_session=True,
        text=True,
    )
    pids = {int(process.stdout.readline()) for _ in range(12)}
    if how == signal.SIGINT:
        os.killpg(process.pid, how)  # as a terminal does
    else:
        process.kill()
    _, problems = process.communicate(timeout=30)
    assert problems.count("Traceback") <= 1
    assert problems.count("KeyboardInterrupt") == (how == signal.SIGINT)
    for _ in range(100):
        if not any(is_alive(pid) for pid in pids):
            return
        time.sleep(0.05)
    raise AssertionError("a process is left")


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
