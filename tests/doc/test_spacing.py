"""Where spaces go between the words of a sentence."""

import json
import random

import numpy as np
import pytest
import spacy
from helpers.docs import read_docs
from spacy.tokens import Doc

from spacy_linearize.doc.arrays import ANY_TWO, THESE_TWO
from spacy_linearize.doc.spacing import Piece, Spacing, _gaps

NOTHING = np.zeros(0, dtype=np.uint64)


def learn(spacing, docs):
    spacing.learn([[Piece(t.text, t.shape_, t.tag_, bool(t.whitespace_)) for t in doc] for doc in docs])


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


@pytest.fixture(scope="module")
def spacing(nlp):
    spacing = Spacing()
    learn(spacing, read_docs(nlp.vocab))
    return spacing


class TestSpacing:
    def text(self, nlp, spacing, words, tags=None):
        doc = Doc(nlp.vocab, words=words, tags=tags)
        spaces = spacing.spaces(*(doc.to_array(name) for name in ("ORTH", "SHAPE", "TAG")), nlp.vocab.strings)
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
        learn(spacing, [Doc(nlp.vocab, words=words, spaces=[True, True, False, False, True, False])])
        assert self.text(nlp, spacing, ['"', "no", '"', "and", '"', "yes", '"']) == '"no" and "yes"'

    def test_single_spaces_without_knowledge(self, nlp):
        assert self.text(nlp, Spacing(), ["a", "b", "."]) == "a b ."
        assert Spacing().spaces(NOTHING, NOTHING, NOTHING, nlp.vocab.strings) == []
        assert self.text(nlp, Spacing(joins=True), ["a", "b", "."]) == "ab."

    def test_hyphens_and_dashes_differ_by_their_tags(self, nlp):
        spacing = Spacing()
        hyphen = Doc(nlp.vocab, words=["a", "self", "-", "made", "man"], tags=["DT", "NN", "HYPH", "VBN", "NN"],
                     spaces=[True, False, False, True, False])  # fmt: skip
        dash = Doc(nlp.vocab, words=["then", "-", "seen", "late"], tags=["UH", ":", "VBN", "RB"], spaces=[True] * 4)
        learn(spacing, [hyphen, dash])
        words = ["even", "-", "tuned"]
        assert self.text(nlp, spacing, words, ["RB", "HYPH", "VBN"]) == "even-tuned"
        assert self.text(nlp, spacing, words, ["RB", ":", "VBN"]) == "even - tuned"

    def test_plain_words_stay_apart(self, nlp):
        """How a letter stands beside brackets and digits says nothing about how it stands beside words."""
        spacing = Spacing()
        words = ["row", "4", "b", "(", "b", ")", "is", "gon", "na", "be", "free", "for", "a", "day", "or", "more"]
        spaces = [True, False, True, False, False, True, True, False, *[True] * 7, False]
        learn(spacing, [Doc(nlp.vocab, words=words, spaces=spaces)])
        assert self.text(nlp, spacing, words) == "row 4b (b) is gonna be free for a day or more"
        assert self.text(nlp, spacing, ["gate", "b"]) == "gate b"

    def test_language_without_spaces(self, nlp):
        spacing = Spacing()
        learn(spacing, [Doc(nlp.vocab, words=["我", "爱", "你", "。"], spaces=[False] * 4)])
        assert self.text(nlp, spacing, ["你", "们", "爱", "我", "。"]) == "你们爱我。"

    def test_unseen_forms_go_by_shape(self, nlp, spacing):
        assert self.text(nlp, spacing, ["Zebras", "run", "."]) == "Zebras run."


def test_compiled_and_slow_agree(nlp, spacing):
    """`find_spaces` sums up what training counts."""
    rng = random.Random(5)
    words = sorted({token.text for doc in read_docs(nlp.vocab) for token in doc})
    tags = ["", "NN", ".", "``", "''", "HYPH"]
    for _ in range(200):
        some = [(rng.choice(words), rng.choice(tags)) for _ in range(rng.randint(0, 8))]
        doc = Doc(nlp.vocab, words=[word for word, _ in some], tags=[tag for _, tag in some])
        pieces = [Piece(token.text, token.shape_, token.tag_, True) for token in doc]
        expected = []
        for features in _gaps(pieces):
            table, key = features[0]
            score = sum(spacing.tables[table].get(key, 0.0) for table, key in features)
            if table == THESE_TWO:
                score = spacing.tables[table].get(key, spacing.tables[ANY_TWO][""])
            expected.append(score <= 0)
        columns = [doc.to_array(name) for name in ("ORTH", "SHAPE", "TAG")]
        assert spacing.spaces(*columns, nlp.vocab.strings)[:-1] == expected


def test_what_is_stored_comes_back(spacing):
    stored = json.loads(json.dumps(spacing.to_dict()))
    assert Spacing.from_dict(stored).tables == spacing.tables
    assert Spacing.from_dict(Spacing(joins=True).to_dict()).tables == Spacing(joins=True).tables


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), "1", True])
def test_weights_that_are_no_numbers(spacing, weight):
    with pytest.raises(ValueError, match="not numbers"):
        Spacing.from_dict({**spacing.to_dict(), "before: form": {"x": weight}})


@pytest.mark.parametrize("change", [{"any": {}}, {"any": {"x": 1.0}}, {"more": {}}])
def test_tables_that_are_no_tables(spacing, change):
    with pytest.raises(ValueError, match="missing or unknown"):
        Spacing.from_dict({**spacing.to_dict(), **change})
