"""Sentences for the language model, from text and from Docs."""

import gc

import pytest
import spacy
from helpers.components import SMALL
from helpers.docs import bag
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_linearize.doc.text import read_sentences, read_spacy
from spacy_linearize.errors import LinearizeError


def test_text_teaches_the_language_model(tmp_path):
    """Its lines count beside the words of the examples, in the tokenization of the pipeline."""
    (tmp_path / "text").write_text("\nthe cat saw the dog.\n\n  the dog saw me\n", encoding="utf8")

    def ngrams(text):
        nlp = spacy.blank("en")
        component = nlp.add_pipe("linearizer", config=SMALL)
        gold = bag(nlp, "John left .")
        component.initialize(lambda: [Example(gold.copy(), gold)], nlp=nlp, text=text)
        return nlp, component.engine.experts.ngrams

    nlp, (forth, back) = ngrams(tmp_path / "text")
    _, (bare, _) = ngrams(None)
    seen, unseen = ([nlp.vocab.strings.add(word) for word in text.split()] for text in ("the dog .", "dog the ."))
    assert forth.score(seen) > forth.score(unseen)
    assert forth.score(seen) > bare.score(seen)
    assert back.score(seen[::-1]) > back.score(unseen[::-1])


def test_sentences_of_docs_and_of_lines(tmp_path):
    nlp = spacy.blank("en")
    two = Doc(nlp.vocab, words=["a", "dog", "barks"], sent_starts=[True, False, True])
    DocBin(docs=[two, Doc(nlp.vocab, words=["Who", "?"])]).to_disk(tmp_path / "docs.spacy")
    (tmp_path / "lines.txt").write_text("\ufeffa dog\n\n  barks \nWho?\n", encoding="utf8")
    for name in ("docs.spacy", "lines.txt"):
        found = [[nlp.vocab.strings[key] for key in keys] for keys in read_sentences(nlp, tmp_path / name)]
        assert found == [["a", "dog"], ["barks"], ["Who", "?"]]


def test_files_that_cannot_be_read(tmp_path):
    nlp = spacy.blank("en")
    (tmp_path / "bad.txt").write_bytes(b"a dog\n\xff\n")
    with pytest.raises(LinearizeError, match=r"SL182.*bad.txt"):
        list(read_sentences(nlp, tmp_path / "bad.txt"))
    for data in (b"", b"x", b"version https://git-lfs.github.com/spec/v1"):
        (tmp_path / "bad.spacy").write_bytes(data)
        with pytest.raises(LinearizeError, match=r"SL180.*bad.spacy"):
            list(read_spacy(tmp_path / "bad.spacy", nlp.vocab))
        assert gc.isenabled()
    for name in ("none.txt", "none.spacy"):
        with pytest.raises(FileNotFoundError):
            list(read_sentences(nlp, tmp_path / name))
