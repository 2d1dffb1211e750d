"""Streams that are typed, stopped or cut off."""

import os
import select
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import spacy
import typer
from helpers.commands import run
from helpers.docs import read_docs
from spacy.tokens import Doc, DocBin

from spacy_linearize.cli._stream import Input, best_orders, through_pipeline, write_each
from spacy_linearize.cli._util import stopped_politely
from spacy_linearize.files.bags import Bag
from spacy_linearize.files.conllu import read_conllu
from spacy_linearize.linearizer import Linearizer

pytestmark = pytest.mark.slow


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of Unix")
def test_who_types_sees_each_answer(trained_path, tmp_path):
    """The first answer is there before the second bag is typed."""
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "spacy", "linearize", "order", "--model", str(trained_path)]
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, cwd=tmp_path, env=buffered
    )
    os.close(theirs)  # so that reading ends with an error if the process does
    try:
        os.write(ours, b"door the opened ? Who\n")
        seen = b""
        while b"Who opened the door?" not in seen:  # the terminal shows what is typed, too
            assert select.select([ours], [], [], 30)[0]
            seen += os.read(ours, 1000)
        os.write(ours, b"\x04")
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_files_are_read_in_batches_in_a_terminal(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    assert Input(None, None).is_typed
    assert not Input(["a"], None).is_typed
    assert not Input(None, tmp_path / "bags.txt").is_typed


class TestStop:
    def test_the_work_ends_before_its_memory_does(self, trained_path, monkeypatch):
        """When the results cannot be written, others are still being worked at."""
        working, left = [], []
        order = Linearizer._order

        def slow_order(self, docs):
            if docs[0][0].text != "first":
                working.append(docs)
                time.sleep(0.2)
                working.remove(docs)
            return order(self, docs)

        @contextmanager
        def memory_zone():
            try:
                yield
            finally:
                left.append(len(working))

        def write(*_):
            while not working:
                time.sleep(0.001)
            raise BrokenPipeError

        nlp = spacy.load(trained_path)
        nlp.get_pipe("linearizer").n_threads = 2
        monkeypatch.setattr(Linearizer, "_order", slow_order)
        monkeypatch.setattr(nlp, "memory_zone", memory_zone)
        bags = [Bag(i, Doc(nlp.vocab, words=["first" if i == 1 else "other"])) for i in range(1, 200)]
        with pytest.raises(BrokenPipeError):
            write_each(through_pipeline(nlp, iter(bags)), best_orders, write)
        assert left == [0]

    def test_signals_are_as_before(self):
        before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            with stopped_politely():
                assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
            assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
            with pytest.raises(typer.Exit), stopped_politely():
                raise KeyboardInterrupt
            assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
        finally:
            signal.signal(signal.SIGTERM, before)

    @pytest.mark.slow
    @pytest.mark.skipif(sys.platform == "win32", reason="pipes of Unix")
    def test_a_reader_that_has_had_enough(self, trained_path, tmp_path):
        (tmp_path / "bags.txt").write_text("dog The .\n" * 20000)
        command = [sys.executable, "-m", "spacy", "linearize", "order", "--model", str(trained_path)]
        process = subprocess.Popen(
            [*command, "--input", str(tmp_path / "bags.txt"), "--beam", "1"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
        )
        assert process.stdout.readline() == b"The dog.\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1


def test_no_two_sentences_have_the_same_name(trained_path, tmp_path):
    """Neither the sentences of a Doc, nor the orders of a bag, nor Docs of the same name."""
    vocab = spacy.blank("en").vocab
    two = Doc.from_docs(read_docs(vocab)[:2])
    other = read_docs(vocab)[2]
    names = ["a", "a", "a-2", "a-2-2", "b", "", None]
    docs = []
    for name in names:
        docs.append((two if name == "a" else other).copy())
        docs[-1].user_data["sent_id"] = name
    del docs[-1].user_data["sent_id"]
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "in.spacy")
    spacy.load(trained_path, config={"components": {"linearizer": {"sentences": "sents"}}}).to_disk(tmp_path / "model")
    path = tmp_path / "out.conllu"
    assert run("order", "--model", tmp_path / "model", "-i", tmp_path / "in.spacy", "-o", path, "-n", 2)[0] == 0
    lines = path.read_text(encoding="utf8").splitlines()
    found = [line.removeprefix("# sent_id = ") for line in lines if line.startswith("# sent_id")]
    assert found[:4] == ["a", "a#2", "a#3", "a#4"]  # two sentences, two orders
    assert len(found) == len(set(found)) == 8 + 2 * 3
    assert lines.count("# rank = 2") == len(found) // 2 + 2
    assert len(list(read_conllu(path, vocab))) == len(found) + 4
