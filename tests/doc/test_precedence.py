"""What a Doc says about the order itself: precedences, fixed groups and pins."""

import random

import numpy as np
import pytest
from helpers.random_docs import place_of, random_doc, random_pairs, try_order
from spacy.tokens import Doc

from spacy_linearize.errors import LinearizeError


def test_precedences_are_kept(nlp, component):
    rng = random.Random(0)
    n_kept = 0
    for _ in range(300):
        doc = random_doc(nlp.vocab, rng)
        doc._.linearize_before = random_pairs(rng, len(doc))
        doc._.linearize_fixed = [rng.sample(range(len(doc)), rng.randint(1, min(3, len(doc))))]
        if rng.random() < 0.3:
            doc._.linearize_first = rng.randrange(len(doc))
        if rng.random() < 0.3:
            doc._.linearize_last = rng.randrange(len(doc))
        new = try_order(component, doc)
        if new is None:
            continue
        n_kept += 1
        place = place_of(new)
        assert all(place[first] < place[second] for first, second in doc._.linearize_before)
        assert [place[k] for k in doc._.linearize_fixed[0]] == sorted(place[k] for k in doc._.linearize_fixed[0])
        assert doc._.linearize_first is None or place[doc._.linearize_first] == 0
        assert doc._.linearize_last is None or place[doc._.linearize_last] == len(doc) - 1
        # The new Doc says the same about the same tokens.
        assert new._.linearize_before == tuple((place[a], place[b]) for a, b in doc._.linearize_before)
        assert all(first < second for first, second in new._.linearize_before)
    assert n_kept > 100


def test_sentences_keep_their_sequence(nlp, component):
    component.sentences = "sents"
    doc = Doc(nlp.vocab, words=["dog", "the", ".", "cat", "a", "."], sent_starts=[True, False, False] * 2)
    doc._.linearize_first = [0, 3]
    doc._.linearize_before = [(0, 4)]
    new = component(doc)
    assert [sent[0].text for sent in new.sents] == ["dog", "cat"]
    doc._.linearize_before = [(4, 0)]
    with pytest.raises(LinearizeError, match=r"SL060.*linearize_before.*word 4 'a', word 0 'dog'"):
        component(doc)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("linearize_before", 5),
        ("linearize_before", [0, 1]),
        ("linearize_before", [(0, 0)]),
        ("linearize_before", [(0, 1, 2)]),
        ("linearize_before", [(0, 3)]),
        ("linearize_before", [("0", 1)]),
        ("linearize_before", "01"),
        ("linearize_fixed", [0, 1]),
        ("linearize_fixed", [[0, 0]]),
        ("linearize_fixed", [[-1, 0]]),
        ("linearize_first", 3),
        ("linearize_first", True),
        ("linearize_first", "0"),
        ("linearize_last", [0, 0]),
        ("linearize_last", 1.0),
    ],
)
def test_bad_control(nlp, component, name, value):
    check_bad_control(nlp, component, name, value)


@pytest.mark.parametrize("name", ["linearize_before", "linearize_fixed", "linearize_first", "linearize_last"])
def test_control_that_contains_itself(nlp, component, name):
    itself, deep = [], []
    itself.append(itself)
    for _ in range(100_000):
        deep = [deep]
    for value in (itself, [itself], deep, [10**5000], [object()], {0: 1}, np.array([[[0]]])):
        check_bad_control(nlp, component, name, value)


def check_bad_control(nlp, component, name, value):
    doc = Doc(nlp.vocab, words=["dog", "the", "sees"])
    doc._.set(name, value)
    with pytest.raises(LinearizeError, match=rf"SL061.*doc\._\.{name}"):
        component(doc)


def test_numbers_of_numpy(nlp, component):
    doc = Doc(nlp.vocab, words=["dog", "the", "sees"])
    doc._.linearize_before = np.array([[2, 0]])
    doc._.linearize_first = np.int64(1)
    new = component(doc)
    assert new[0].text == "the"
    assert [t.text for t in new].index("sees") < [t.text for t in new].index("dog")
    assert new._.linearize_first == 0


def test_two_pins(nlp, component):
    doc = Doc(nlp.vocab, words=["dog", "the", "sees"])
    doc._.linearize_first = [0, 1]
    with pytest.raises(
        LinearizeError, match=r"SL190.*linearize_first names word 0 'dog', word 1 'the' of one sentence"
    ):
        component(doc)
    doc._.linearize_first = doc._.linearize_last = 1
    with pytest.raises(LinearizeError, match=r"SL191.*word 1 'the'"):
        component(doc)
    alone = Doc(nlp.vocab, words=["dog"])
    alone._.linearize_first = alone._.linearize_last = 0
    assert component(alone).text == "dog"
