"""Ctrl-C in the middle of long work: it stops, and all goes on working. Without that, these would take many minutes."""

import signal
import subprocess
import sys
import threading
import time

import pytest
from spacy.tokens import Doc

from spacy_linearize.core.interrupt import check, worker_pool

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")]


LIMIT = 60  # seconds: generous, and far below what the work would take


SCRIPT = """
import os, signal, sys, threading
import spacy
from spacy.tokens import Doc
from spacy.training import Example

path, work, n_threads = sys.argv[1:]
nlp = spacy.load(path)
component = nlp.get_pipe("linearizer")
component.max_words = None
component.n_threads = int(n_threads)
small = Doc(nlp.vocab, words="door the opened ? Who".split())
expected = nlp(small).text
words = [f"w{i}" for i in range(40_000)]
huge = Doc(nlp.vocab, words=words)
n = len(words)
gold = Doc(nlp.vocab, words=words, tags=["NN"] * n, heads=[0] * n, deps=["ROOT"] + ["dep"] * (n - 1))
jobs = {
    "call": lambda: nlp(huge),
    "pipe": lambda: list(nlp.pipe([small, huge, small, huge])),
    "update": lambda: nlp.update([Example(huge, gold)], drop=0.0),
}
ran = threading.Event()
threading.Timer(1, lambda: (ran.set(), os.kill(os.getpid(), signal.SIGINT))).start()
try:
    jobs[work]()
    print("finished")
except KeyboardInterrupt:
    print("stopped" if ran.is_set() else "too early")
component.n_threads = 1
assert nlp(small).text == expected or work == "update"
assert len(list(nlp.pipe([small] * 3))) == 3
component.to_bytes()
print("works")
"""


@pytest.mark.parametrize(("work", "n_threads"), [("call", 1), ("pipe", 1), ("pipe", 2), ("update", 1), ("update", 2)])
def test_stops_and_works_afterwards(trained_path, work, n_threads):
    command = [sys.executable, "-c", SCRIPT, str(trained_path), work, str(n_threads)]
    # Not in the folder of the sources: there Python would find the package before it is compiled.
    result = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, cwd=trained_path)
    assert result.stdout.split() == ["stopped", "works"], result.stderr


@pytest.mark.parametrize("threads", [1, 2])
def test_the_command_keeps_what_is_done(trained_path, tmp_path, threads):
    bags, output = tmp_path / "bags.txt", tmp_path / "out.txt"
    huge = " ".join(f"w{i}" for i in range(9_900))
    # As many as are ordered at once, so that they are written before the huge ones are done.
    small = ["door the opened ? Who", "the door"] * 32
    bags.write_text("\n".join([*small, *[huge] * 5, ""]), encoding="utf8")
    command = [sys.executable, "-m", "spacy_linearize", "order", "--model", str(trained_path), "--beam", "32"]
    command += ["--input", str(bags), "--output", str(output), "--threads", str(threads)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    end = time.monotonic() + LIMIT
    try:
        while not (output.exists() and output.read_text(encoding="utf8").count("\n") == len(small)):
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < end
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=LIMIT)
    finally:
        process.kill()  # or it would go on for many minutes
    assert process.returncode == 130
    assert "Stopped." in said
    lines = output.read_text(encoding="utf8").splitlines()
    expected = [["?", "door", "opened", "the", "who"], ["door", "the"]] * 32
    assert [sorted(line.replace("?", " ?").lower().split()) for line in lines] == expected


def test_a_pool_ends_with_its_user():
    """Threads of the pool are told to stop; other threads are not."""
    began, ended = threading.Event(), []

    def work(_):
        began.set()
        try:
            while True:
                check()
                time.sleep(0.001)
        except KeyboardInterrupt:
            ended.append(True)

    def use():
        with worker_pool(2) as pool:
            pool.map(work, range(20))
            began.wait()
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        use()
    assert len(ended) in (1, 2)  # the others never began
    assert check() == 0


def test_a_stream_that_is_left_early(nlp, component):
    component.n_threads = 2
    docs = component.pipe(Doc(nlp.vocab, words=["the", "door"]) for _ in range(1000))
    assert len(next(docs)) == 2
    docs.close()
    assert len(list(component.pipe([Doc(nlp.vocab, words=["the", "door"])]))) == 1
