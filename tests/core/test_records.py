"""Orders of texts, from those of their sentences."""

import itertools
import math
import random

import numpy as np
import pytest

from spacy_linearize.core.records import Order, Progress, best_combinations
from spacy_linearize.trees import FREE, ROOT


def make_order(order, score, heads=None):
    n = len(order)
    return Order(
        order=np.array(order, dtype=np.int32),
        tags=np.arange(n, dtype=np.uint64),
        heads=np.array([FREE] * n if heads is None else heads, dtype=np.int32),
        labels=np.zeros(n, dtype=np.uint64),
        score=score,
    )


def test_tokens_of_units():
    assert make_order([2, 0, 1], 0).spread([range(2), range(2, 3), range(3, 6)]).tolist() == [3, 4, 5, 0, 1, 2]


def test_sentences_of_a_text():
    first, second = make_order([1, 0], 1.5, [ROOT, 0]), make_order([0, 2, 1], -0.5, [1, FREE, 0])
    text = Order.concat([first, second])
    assert text.order.tolist() == [1, 0, 2, 4, 3]
    assert text.heads.tolist() == [ROOT, 0, 3, FREE, 2]
    assert text.tags.tolist() == [0, 1, 0, 1, 2]
    assert text.score == 1
    assert text.order.dtype == text.heads.dtype == np.int32
    assert Order.concat([first, second], score=9).score == 9
    assert Order.concat([first]) is first


@pytest.mark.parametrize("n_best", [1, 2, 5, 100])
def test_best_combinations_are_those_of_all(n_best):
    rng = random.Random(n_best)
    for _ in range(100):
        lists = []
        for _ in range(rng.randint(1, 4)):
            scores = sorted((rng.randint(0, 6) / 2 for _ in range(rng.randint(1, 4))), reverse=True)
            orders = rng.sample(list(itertools.permutations(range(3))), len(scores))
            lists.append([make_order(order, score) for order, score in zip(orders, scores, strict=True)])
        found = best_combinations(lists, n_best)
        sums = sorted((sum(o.score for o in combination) for combination in itertools.product(*lists)), reverse=True)
        assert [one.score for one in found] == sums[:n_best]
        assert len({tuple(one.order.tolist()) for one in found}) == len(found)
        assert found[0].order.tolist() == Order.concat([orders[0] for orders in lists]).order.tolist()


def test_of_equal_combinations_the_one_that_leaves_earlier_sentences_alone():
    lists = [[make_order([0, 1], 2.0), make_order([1, 0], 1.0)] for _ in range(2)]
    found = [one.order.tolist() for one in best_combinations(lists, 4)]
    assert found == [[0, 1, 2, 3], [0, 1, 3, 2], [1, 0, 2, 3], [1, 0, 3, 2]]


@pytest.mark.parametrize("is_tied", [False, True])
def test_all_combinations_in_sequence(is_tied):
    """By brute force: by gap, then by the ranks of the sentences from the left."""
    rng = random.Random(7)
    for _ in range(200):
        lists = []
        for _ in range(rng.randint(1, 4)):
            scores = [rng.randint(0, 3) if is_tied else rng.random() for _ in range(rng.randint(1, 5))]
            orders = list(itertools.permutations(range(3)))
            scored = zip(orders, sorted(scores, reverse=True), strict=False)
            lists.append([make_order(order, float(score)) for order, score in scored])
        products = list(itertools.product(*(range(len(orders)) for orders in lists)))
        gap_of = {
            ranks: math.fsum(own[0].score - own[k].score for own, k in zip(lists, ranks, strict=True))
            for ranks in products
        }
        expected = sorted(products, key=lambda ranks: (gap_of[ranks], ranks))
        n_best = rng.choice([1, 2, 5, 1000])
        found = best_combinations(lists, n_best)
        texts = [Order.concat([own[k] for own, k in zip(lists, ranks, strict=True)]) for ranks in expected[:n_best]]
        assert [one.order.tolist() for one in found] == [one.order.tolist() for one in texts]
        assert [one.score for one in found] == pytest.approx([one.score for one in texts])
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_many_sentences_have_their_best_orders_at_once():
    lists = [[make_order([0, 1], 0.0), make_order([1, 0], -1.0 - i)] for i in range(3000)]
    assert [-one.score for one in best_combinations(lists, 5)] == [0.0, 1.0, 2.0, 3.0, 3.0]


def test_progress_adds_up():
    progress = Progress(examples=1, violations=2, actions=3, skipped=4, wrong_arcs=5, wrong_labels=6)
    progress += Progress(examples=1, wrong_labels=1)
    assert progress == Progress(examples=2, violations=2, actions=3, skipped=4, wrong_arcs=5, wrong_labels=7)
