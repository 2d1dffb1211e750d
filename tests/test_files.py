"""What the commands write, whole or not at all."""

import os
import select
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import spacy
import typer
from commands import run
from docs import read_docs
from spacy.tokens import Doc, DocBin

from spacy_linearize.cli_util import is_typed, order_stream, stopped_politely
from spacy_linearize.files import Bag, Writer, to_conllu
from spacy_linearize.treebanks.conllu import read_conllu

DATA = Path(__file__).parent / "data"


def test_conllu_round_trip_keeps_everything(tmp_path):
    vocab = spacy.blank("en").vocab
    docs = list(read_conllu(DATA / "mini_en.conllu", vocab))
    docs += [Doc(vocab, words=["free", "words", "."], spaces=[True, False, False], tags=["JJ", "", "."])]
    docs += [Doc(vocab, words=["10\u00a0000", "New York", "a\u2009b"], lemmas=["10\u00a0000", "New York", "a  b"])]
    path = tmp_path / "again.conllu"
    path.write_text("".join(to_conllu(doc) for doc in docs), encoding="utf8")
    again = list(read_conllu(path, vocab))
    assert len(again) == len(docs)
    for new, old in zip(again, docs, strict=True):
        assert new.text == old.text.strip()
        assert new.user_data.get("sent_id") == old.user_data.get("sent_id")
        for attr in ("ORTH", "TAG", "POS", "LEMMA", "DEP", "HEAD"):
            assert (new.to_array(attr) == old.to_array(attr)).all(), (old.text, attr)
        assert [(str(t.morph), t.has_head()) for t in new] == [(str(t.morph), t.has_head()) for t in old]
    assert to_conllu(docs[0]).splitlines()[2] == "1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_"


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
    assert is_typed(None, None)
    assert not is_typed(["a"], None)
    assert not is_typed(None, tmp_path / "bags.txt")


class TestStop:
    def test_the_work_ends_before_its_memory_does(self):
        """When the results cannot be written, others are still being worked at."""
        working, left = [], []

        class Component:
            def alternatives(self, doc, _):
                if doc[0].text != "first":
                    working.append(doc)
                    time.sleep(0.2)
                    working.remove(doc)
                return [doc]

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

        vocab = spacy.blank("en").vocab
        bags = [Bag(i, Doc(vocab, words=["other" if i else "first"])) for i in range(9)]
        meta = SimpleNamespace(factory="linearizer")
        nlp = SimpleNamespace(
            pipe_names=["mine"],
            get_pipe_meta=lambda _: meta,
            get_pipe=lambda _: Component(),
            memory_zone=memory_zone,
        )
        with pytest.raises(BrokenPipeError):
            order_stream(nlp, iter(bags), write, 1, threads=2)
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

    @pytest.mark.parametrize("name", ["out.txt", "out.spacy"])
    def test_what_is_kept(self, tmp_path, name):
        doc = Doc(spacy.blank("en").vocab, words=["dog"])
        path = tmp_path / name

        def content():
            if path.read_bytes() == b"old":
                return "old"
            if name == "out.txt":
                return path.read_text().count("\n")
            return len(list(DocBin().from_disk(path).get_docs(doc.vocab)))

        def write(n, problem=None):
            path.write_bytes(b"old")
            with suppress(BaseException), Writer(path, "spacy" if name == "out.spacy" else "text") as writer:
                for i in range(n):
                    writer.write(i, [doc])
                if problem is not None:
                    raise problem
            return content()

        assert [write(0), write(2)] == [0, 2]
        for problem in (KeyboardInterrupt(), OSError()):
            assert [write(0, problem), write(2, problem)] == ["old", 2]

    def test_stopped_within_a_doc(self, tmp_path, monkeypatch):
        """Ctrl-C may come when half of a Doc has been added."""
        vocab = spacy.blank("en").vocab
        dog, cat = (Doc(vocab, words=[word], spaces=[False]) for word in ("dog", "cat"))

        def stopped():
            with Writer(tmp_path / "out.spacy", "spacy") as writer:
                writer.write(1, [dog])
                with monkeypatch.context() as patch:
                    patch.setattr("spacy.tokens._serialize.srsly.msgpack_dumps", Mock(side_effect=KeyboardInterrupt))
                    writer.write(2, [cat])

        with pytest.raises(KeyboardInterrupt):
            stopped()
        assert [doc.text for doc in DocBin().from_disk(tmp_path / "out.spacy").get_docs(vocab)] == ["dog"]

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


def test_conllu_of_words_with_line_ends():
    """Whatever a token has in it, a row stays a row."""
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, words=["a\tb", "\n", "New\nYork", "c"], lemmas=["x\ty", "", "", ""])
    doc.user_data["sent_id"] = "one\ntwo"
    lines = to_conllu(doc).split("\n")
    assert lines[:2] == ["# sent_id = one two", "# text = a b New York c"]
    assert [line.split("\t")[:3] for line in lines[2:6]] == [
        ["1", "a b", "x y"],
        ["2", "_", "_"],
        ["3", "New York", "_"],
        ["4", "c", "_"],
    ]
    assert lines[6:] == ["", ""]


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
    assert found[:4] == ["a", "a-2", "a-3", "a-4"]  # two sentences, two orders
    assert len(found) == len(set(found)) == 8 + 2 * 3
    assert lines.count("# rank = 2") == len(found) // 2 + 2
    assert len(list(read_conllu(path, vocab))) == len(found) + 4


def test_conllu_of_several_sentences(tmp_path):
    docs = read_docs()[:2]
    path = tmp_path / "two.conllu"
    path.write_text(to_conllu(Doc.from_docs(docs)), encoding="utf8")
    again = list(read_conllu(path, docs[0].vocab))
    assert [doc.text for doc in again] == [doc.text.strip() for doc in docs]
    assert [[t.head.i for t in doc] for doc in again] == [[t.head.i for t in doc] for doc in docs]
