"""Where spaces go between the words of a sentence."""

import numpy as np
import pytest
import spacy
from helpers.docs import read_docs
from spacy.tokens import Doc

from spacy_linearize.doc.spacing import N_TABLES, Spacing

NOTHING = np.zeros(0, dtype=np.uint64)


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


@pytest.fixture(scope="module")
def spacing(nlp):
    spacing = Spacing()
    spacing.learn(read_docs(nlp.vocab))
    return spacing


class TestSpacing:
    def text(self, nlp, spacing, words):
        doc = Doc(nlp.vocab, words=words)
        spaces = spacing.spaces(doc.to_array("ORTH"), doc.to_array("SHAPE"), nlp.vocab.strings)
        return Doc(nlp.vocab, words=words, spaces=spaces).text

    def test_gold_texts_come_back(self, nlp, spacing):
        docs = read_docs(nlp.vocab)
        same = sum(self.text(nlp, spacing, [t.text for t in doc]) == doc.text.strip() for doc in docs)
        assert same / len(docs) > 0.9

    def test_punctuation_and_quotes(self, nlp, spacing):
        assert self.text(nlp, spacing, ["Yes", ",", "Tom", "!"]) == "Yes, Tom!"
        assert self.text(nlp, spacing, ["Anna", "'s", "dog", "(", "old", ")", "."]) == "Anna's dog (old)."

    def test_straight_quotes_open_and_close_in_turn(self, nlp):
        spacing = Spacing()
        words = ["He", "said", '"', "no", '"', "twice"]
        spacing.learn([Doc(nlp.vocab, words=words, spaces=[True, True, False, False, True, False])])
        assert self.text(nlp, spacing, ['"', "no", '"', "and", '"', "yes", '"']) == '"no" and "yes"'

    def test_single_spaces_without_knowledge(self, nlp):
        assert self.text(nlp, Spacing(), ["a", "b", "."]) == "a b ."
        assert Spacing().spaces(NOTHING, NOTHING, nlp.vocab.strings) == []
        spacing = Spacing()
        spacing.learn([Doc(nlp.vocab, words=["a", "."])])  # unknown spaces
        assert not any(spacing.tables)

    def test_plain_words_stay_apart(self, nlp):
        """How a letter stands beside brackets and digits says nothing about how it stands beside words."""
        spacing = Spacing()
        words = ["row", "4", "b", "(", "b", ")", "is", "gon", "na", "be", "free", "for", "a", "day", "or", "more"]
        spaces = [True, False, True, False, False, True, True, False, *[True] * 7, False]
        spacing.learn([Doc(nlp.vocab, words=words, spaces=spaces)])
        assert self.text(nlp, spacing, words) == "row 4b (b) is gonna be free for a day or more"
        assert self.text(nlp, spacing, ["gate", "b"]) == "gate b"

    def test_language_without_spaces(self, nlp):
        spacing = Spacing()
        spacing.learn([Doc(nlp.vocab, words=["我", "爱", "你", "。"], spaces=[False] * 4)])
        assert self.text(nlp, spacing, ["你", "们", "爱", "我", "。"]) == "你们爱我。"

    def test_unseen_forms_go_by_shape(self, nlp, spacing):
        assert self.text(nlp, spacing, ["Zebras", "run", "."]) == "Zebras run."


def arrays(tables):
    """Tables as they are stored."""
    spacing = Spacing()
    spacing.tables = tables
    return spacing.to_arrays()


def test_what_is_stored_comes_back(spacing):
    assert Spacing.from_arrays(spacing.to_arrays()).tables == spacing.tables
    assert Spacing.from_arrays(Spacing().to_arrays()).tables == [{}] * N_TABLES


@pytest.mark.parametrize("weight", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers(weight):
    with pytest.raises(ValueError, match="not numbers"):
        Spacing.from_arrays(arrays([{0: 1.0}] * 9 + [{0: weight}]))


@pytest.mark.parametrize(("name", "dtype"), [("keys", "f8"), ("keys", "i2"), ("weights", "u8")])
def test_arrays_of_another_type(name, dtype):
    stored = arrays([{0: 1.0}] * N_TABLES)
    with pytest.raises(ValueError, match="not numbers"):
        Spacing.from_arrays({**stored, f"spaces.{name}": stored[f"spaces.{name}"].astype(dtype)})


@pytest.mark.parametrize("name", ["lengths", "keys", "weights"])
def test_arrays_that_do_not_add_up(name):
    stored = arrays([{0: 1.0}] * N_TABLES)
    with pytest.raises(ValueError, match="do not add up"):
        Spacing.from_arrays({**stored, f"spaces.{name}": stored[f"spaces.{name}"][:-1]})
    with pytest.raises(KeyError, match=name):
        Spacing.from_arrays({key: array for key, array in stored.items() if key != f"spaces.{name}"})


@pytest.mark.parametrize("last", [{}, {1: 1.0}, {0: 1.0, 1: 1.0}])
def test_spaces_of_plain_words_without_their_default(last):
    """They were accepted, and then failed at the first two plain words side by side."""
    with pytest.raises(ValueError, match="without their default"):
        Spacing.from_arrays(arrays([{1: 1.0}] * 9 + [last]))
