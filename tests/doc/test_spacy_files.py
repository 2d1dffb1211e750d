"""Docs of .spacy files: as spaCy's own reader gives them, and every damage in one clear error."""

import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_linearize.doc.spacy_files import read_spacy
from spacy_linearize.errors import LinearizeError


@pytest.fixture
def docs():
    vocab = Vocab()
    docs = [Doc(vocab, words=words.split()) for words in ("The dog barks", "Who is it ?", "Rain")]
    docs[0].user_data = {"sent_id": "s1", "ranges": ((0, 2), (2, 3)), ("_.", "seen", None, None): [1, {"two": 2}]}
    docs[2].user_data = {"text": "Rain…"}
    return docs


@pytest.mark.parametrize("is_stored", [True, False])
def test_user_data_is_that_of_each_doc(docs, tmp_path, is_stored):
    stored = DocBin(docs=docs, store_user_data=is_stored)
    stored.to_disk(tmp_path / "docs.spacy")
    expected = list(stored.get_docs(Vocab()))
    found = list(read_spacy(tmp_path / "docs.spacy", Vocab()))
    assert [doc.text for doc in found] == [doc.text for doc in docs]
    assert [doc.user_data for doc in found] == [doc.user_data for doc in expected]
    assert bool(found[2].user_data) == is_stored


def test_a_file_without_user_data_has_its_docs(docs, tmp_path):
    stored = DocBin(docs=docs)
    stored.user_data = []  # as in files of the first versions of spaCy 3
    stored.to_disk(tmp_path / "docs.spacy")
    assert [len(doc) for doc in read_spacy(tmp_path / "docs.spacy", Vocab())] == [3, 4, 1]


@pytest.mark.parametrize("damaged", [b"\x81", b"\xc1", b"\x80\x80", b"\x2a", b"\x91\x01"])
def test_damaged_user_data(docs, tmp_path, damaged):
    stored = DocBin(docs=docs, store_user_data=True)
    stored.user_data[1] = damaged
    stored.to_disk(tmp_path / "docs.spacy")
    with pytest.raises(LinearizeError, match=r"SL180.*docs\.spacy"):
        list(read_spacy(tmp_path / "docs.spacy", Vocab()))
