"""The tree that `attach` finds is the best of all that keep the given arcs."""

import random

import brute
import numpy as np
import pytest
import slow

from spacy_linearize.core.attach import attach
from spacy_linearize.core.attach.attach import MAX_CHART, Attacher
from spacy_linearize.core.bag.bag import FREE, ROOT
from spacy_linearize.core.lexicon import Lexicon
from spacy_linearize.core.records import Sentence
from spacy_linearize.core.weights import Weights

FORMS, TAGS = np.array([11, 12, 13, 14, 15], dtype=np.uint64), np.array([1, 2, 3, 1, 2], dtype=np.uint64)


@pytest.fixture(scope="module")
def attacher():
    attacher = Attacher(Weights(14), Lexicon(), labelled=False)
    slow.random_weights(attacher.weights, seed=3)
    return attacher


def check(attacher, given):
    n = len(given)
    by_order = {}
    for order, tree in brute.expected(given):
        by_order.setdefault(order, []).append(tree)
    for order, trees in by_order.items():
        order = np.array(order, dtype=np.int32)
        fixed = np.array(given, dtype=np.int32)
        heads, _ = attacher.attach(order, FORMS[:n], TAGS[:n], fixed, np.zeros(n, dtype=np.uint64))
        assert tuple(heads) in trees
        scores = {
            tree: attacher.score(order, FORMS[:n], TAGS[:n], fixed, np.array(tree, dtype=np.int32)) for tree in trees
        }
        assert scores[tuple(heads.tolist())] == pytest.approx(max(scores.values()))


def test_best_tree_over_every_order_of_every_forest_of_up_to_4_words(attacher):
    for n in range(1, 5):
        for given in brute.forests(n):
            check(attacher, given)


def test_best_tree_over_every_order_of_20_forests_of_5_words(attacher):
    for given in brute.sample(5, 20, seed=2):
        check(attacher, given)


def test_nothing_to_do_when_nothing_is_missing(attacher):
    order = np.array([2, 0, 1], dtype=np.int32)
    heads = np.array([brute.ROOT, 0, 0], dtype=np.int32)
    labels = np.array([5, 0, 7], dtype=np.uint64)
    new_heads, new_labels = attacher.attach(order, FORMS[:3], TAGS[:3], heads, labels)
    assert new_heads.tolist() == heads.tolist()
    assert new_labels.tolist() == [5, 0, 7]


def test_learns_trees_and_labels(mini):
    lexicon = Lexicon()
    lexicon.learn(mini)
    attacher = Attacher(Weights(18), lexicon)
    rng = random.Random(0)
    sentences = list(mini)
    wrong = []
    for _ in range(12):
        rng.shuffle(sentences)
        counts = np.zeros(2, dtype=int)
        for s in sentences:
            nothing = np.full(len(s), brute.FREE, dtype=np.int32), np.zeros(len(s), dtype=np.uint64)
            counts += attacher.update(np.arange(len(s), dtype=np.int32), s.forms, s.tags, *nothing, s.heads, s.labels)
        wrong.append(counts)
    assert wrong[-1][0] < 0.05 * wrong[0][0]
    assert wrong[-1][1] < 0.2 * wrong[0][1]
    right = total = 0
    for s in mini:
        heads, labels = attacher.attach(
            np.arange(len(s), dtype=np.int32),
            s.forms,
            s.tags,
            np.full(len(s), brute.FREE, dtype=np.int32),
            np.zeros(len(s), dtype=np.uint64),
        )
        right += int(((heads == s.heads) & ((labels == s.labels) | (heads == brute.ROOT))).sum())
        total += len(s)
    assert right / total > 0.97


def test_given_arcs_and_labels_stay(attacher, mini):
    rng = np.random.default_rng(0)
    for s in mini[:40]:
        keep = rng.random(len(s)) < 0.5
        given = np.where(keep, s.heads, brute.FREE).astype(np.int32)
        labels = np.where(keep, s.labels, 0).astype(np.uint64)
        heads, new_labels = attacher.attach(np.arange(len(s), dtype=np.int32), s.forms, s.tags, given, labels)
        assert brute.keeps(heads.tolist(), given.tolist())
        assert brute.is_projective(heads.tolist())
        assert (new_labels[keep] == s.labels[keep]).all()


def test_a_sentence_beyond_the_chart_teaches_labels_alone():
    n = MAX_CHART + 1
    lexicon = Lexicon()
    forms, labels = [1, *range(2, n + 1)], [5, 0, *(5 + k % 2 for k in range(n - 2))]
    gold = Sentence(forms=forms, tags=[1] * n, heads=[1, ROOT, *[1] * (n - 2)], labels=labels)
    lexicon.learn([gold])
    attacher = Attacher(Weights(12), lexicon)
    order, free, none = np.arange(n, dtype=np.int32), np.full(n, FREE, dtype=np.int32), np.zeros(n, dtype=np.uint64)
    wrong_arcs, wrong_labels = attacher.update(order, gold.forms, gold.tags, free, none, gold.heads, gold.labels)
    assert wrong_arcs == 0
    assert wrong_labels > 0
    heads, _ = attacher.attach(order, gold.forms, gold.tags, free, none)
    assert (heads == FREE).all()


def test_a_given_tree_that_is_not_gold_teaches_no_arcs():
    """No templates of arcs are hashed then."""
    attacher = Attacher(Weights(12), Lexicon())
    columns = (np.arange(3, dtype=np.int32), FORMS[:3], TAGS[:3])
    given, gold = np.array([ROOT, 0, 0], dtype=np.int32), np.array([1, ROOT, 1], dtype=np.int32)
    none = np.zeros(3, dtype=np.uint64)
    assert attacher.update(*columns, given, none, gold, none) == (0, 0)
    assert not attacher.weights.to_array().any()


def test_a_fingerprint_of_the_templates(monkeypatch):
    before = Attacher(Weights(4), Lexicon()).fingerprint
    for name in ("ARC_TEMPLATES", "LABEL_TEMPLATES"):
        with monkeypatch.context() as change:
            change.setattr(attach, name, getattr(attach, name)[1:])
            assert Attacher(Weights(4), Lexicon()).fingerprint != before
