"""The bundled English pipeline: what it orders, and how it copes with input that is not like its training data."""

import random
import warnings
from pathlib import Path

import pytest
import spacy
from helpers.docs import shuffled
from spacy.tokens import Doc

import spacy_linearize

FOLDER = Path(spacy_linearize.__file__).parent / "pretrained" / "en_ud"
WORDS = ["The", "dog", "chased", "the", "cat", "."]
TAGS = ["DT", "NN", "VBD", "DT", "NN", "."]
HEADS = [1, 2, 2, 4, 2, 2]
DEPS = ["det", "nsubj", "ROOT", "det", "obj", "punct"]


@pytest.fixture(scope="module")
def nlp():
    return spacy_linearize.load()


def bag(nlp, seed=0, **annotation):
    return shuffled(Doc(nlp.vocab, words=WORDS, **annotation), random.Random(seed))


def test_is_small_and_says_where_it_comes_from():
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) <= 30_000_000
    meta = spacy.util.load_meta(FOLDER / "meta.json")
    assert meta["license"] == "CC BY-SA 4.0"
    assert meta["sources"][0]["name"] == "UD English EWT"
    card = (FOLDER / "README.md").read_text(encoding="utf8")
    assert "CC BY-SA 4.0" in card
    assert "EWT" in card


def test_orders_free_words(nlp):
    assert nlp(Doc(nlp.vocab, words=["door", "the", "opened", "?", "Who"])).text == "Who opened the door?"


def test_orders_a_tree(nlp):
    for seed in range(5):
        doc = nlp(bag(nlp, seed, tags=TAGS, heads=HEADS, deps=DEPS))
        assert doc.text == "The dog chased the cat."
        assert [token.dep_ for token in doc] == DEPS


def test_moves_into_another_pipeline():
    other = spacy.blank("en")
    other.add_pipe("linearizer", source=spacy_linearize.load())
    assert other(Doc(other.vocab, words=["door", "the", "opened", "?", "Who"])).text == "Who opened the door?"


def test_unknown_tags_and_labels_are_kept_with_one_warning_for_all():
    nlp = spacy_linearize.load()
    upos = ["DET", "NOUN", "VERB", "DET", "NOUN", "PUNCT"]
    deps = ["det", "SUBJECT", "ROOT", "det", "obj", "punct"]
    with pytest.warns(UserWarning, match="SL058") as caught:
        doc = nlp(bag(nlp, tags=upos, heads=HEADS, deps=deps))
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 2
    assert "tags 'DET', 'NOUN', 'PUNCT', 'VERB'" in texts[0]
    assert "labels 'SUBJECT'" in texts[1]
    assert doc.text == "The dog chased the cat."
    assert [token.tag_ for token in doc] == upos
    assert [token.dep_ for token in doc] == deps
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp(bag(nlp, tags=upos, heads=HEADS, deps=deps))


def test_no_tags_at_all(nlp):
    assert nlp(bag(nlp, heads=HEADS, deps=DEPS)).text == "The dog chased the cat."


def test_lower_case_and_no_punctuation(nlp):
    words = ["the", "dog", "chased", "the", "cat"]
    doc = Doc(nlp.vocab, words=words, heads=HEADS[:5], deps=DEPS[:5])
    assert nlp(shuffled(doc, random.Random(1))).text == "the dog chased the cat"


def test_other_tokenization(nlp):
    """Words that training has never seen as one token."""
    words = ["I", "don't", "think", "she's", "here."]
    doc = nlp(Doc(nlp.vocab, words=words[::-1]))
    assert sorted(token.text for token in doc) == sorted(words)


def test_unknown_tag_in_another_pipeline():
    """The Doc's own vocabulary knows the tag, that of the component may not."""
    other = spacy.blank("en")
    other.add_pipe("linearizer", source=spacy_linearize.load())
    with pytest.warns(UserWarning, match=r"SL058.*tags 'NOVELTY'"):
        doc = other(Doc(other.vocab, words=["dogs", "bark"], tags=["NOVELTY", ""]))
    assert {token.tag_ for token in doc} >= {"NOVELTY"}
