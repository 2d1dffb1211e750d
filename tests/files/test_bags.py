"""Sentences into files: what is kept when work stops."""

from contextlib import suppress
from unittest.mock import Mock

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_linearize.files.bags import Writer


@pytest.mark.parametrize("name", ["out.txt", "out.spacy"])
def test_what_is_kept(tmp_path, name):
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


def test_stopped_within_a_doc(tmp_path, monkeypatch):
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
