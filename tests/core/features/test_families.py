"""Pairs of family members: a derivation decides each of them once, whatever its length and direction."""

import random
from itertools import combinations

import numpy as np
import pytest
from helpers import brute, core, slow
from helpers.core import decoder, order, pack, randomize

from spacy_linearize.core.hashing import hash_text
from spacy_linearize.core.records import Bag
from spacy_linearize.core.search.learn import update
from spacy_linearize.core.search.stepper import Stepper
from spacy_linearize.trees import FREE, ROOT

TEMPLATE = "X.w Y.w"
BITS = 16


def bare(**settings):
    return core.make(groups=(), templates=(TEMPLATE,), table_bits=BITS, **settings)


def make(direction="left_to_right", system="order_first"):
    return randomize(bare(system=system, direction=direction))


def score_of_order(heads, forms, found, table):
    """The sum over all families, from the finished order alone."""
    place = {k: i for i, k in enumerate(found)}
    children = {h: [k for k in range(len(heads)) if heads[k] == h] for h in range(len(heads))}
    begin = dict(place)
    for k in sorted(found, key=lambda k: depth(heads, k), reverse=True):
        begin[k] = min([place[k], *(begin[c] for c in children[k])])
    total = 0.0
    for h, dependents in children.items():
        for a, b in combinations([h, *dependents], 2):
            first, second = sorted((a, b), key=lambda k: place[k] if k == h else begin[k])
            roles = (2 if first == h else 1, 2 if second == h else 1)
            first_part = slow.mix(slow.mix(hash_text(TEMPLATE), roles[0]), forms[first])
            second_part = slow.mix(slow.mix(0, roles[1]), forms[second])
            total += table[slow.slot_of(first_part, second_part, BITS)]
    return total


def depth(heads, k):
    n = 0
    while heads[k] >= 0:
        k, n = heads[k], n + 1
    return n


@pytest.mark.parametrize("direction", ["left_to_right", "right_to_left"])
@pytest.mark.parametrize("n", [1, 5, 20, 63, 64, 65, 150])
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_every_pair_of_a_family_is_decided_once(direction, n, share):
    """Also where a subtree reaches over several blocks of bits."""
    engine = make(direction)
    table = decoder(engine).weights.to_array().astype(float)
    rng = random.Random(n)
    heads = brute.random_forest(rng, n, share)
    forms = [rng.getrandbits(64) for _ in range(n)]
    state = Stepper(decoder(engine), pack(engine, forms=forms, heads=heads))
    while not state.is_final:
        state = state.step(rng.randrange(len(state.legal)))
    assert state.total == pytest.approx(score_of_order(heads, forms, state.order, table), abs=1e-3)


def test_the_score_of_a_search_is_that_of_its_order():
    engine = make()
    table = decoder(engine).weights.to_array().astype(float)
    rng = random.Random(1)
    for _ in range(50):
        n = rng.randint(1, 15)
        heads = brute.random_forest(rng, n, 0.8)
        forms = [rng.getrandbits(64) for _ in range(n)]
        best = order(engine, forms=forms, heads=heads, beam_width=4, tree=False)[0]
        assert best.score == pytest.approx(score_of_order(heads, forms, best.order.tolist(), table), abs=1e-3)


def test_learning_changes_the_pairs_that_differ():
    """One dependent on the wrong side of its head: two weights change, by 1 and -1."""
    engine = bare()
    forms = [hash_text("dogs"), hash_text("bark")]
    heads, labels = np.array([1, ROOT], dtype=np.int32), np.zeros(2, dtype=np.uint64)
    bag = Bag(forms=forms, heads=heads)
    wrong = order(engine, bag, tree=False)[0].order
    gold = (wrong[::-1], heads, labels, labels)
    assert update(decoder(engine), [(engine.pack(bag), *gold)], widths=[4], rule="max_violation") == (1, 2)
    assert (order(engine, bag, tree=False)[0].order == wrong[::-1]).all()
    table = decoder(engine).weights.to_array()
    assert sorted(table[table != 0].tolist()) == [-0.5, 0.5]  # half of the time


@pytest.mark.parametrize("n", [128, 2000])
def test_a_family_that_is_too_large_has_no_scores(n):
    engine = make()
    heads = [ROOT, *[0] * n]
    best = order(engine, forms=range(1, n + 2), heads=heads, beam_width=1, tree=False)[0]
    assert sorted(best.order.tolist()) == list(range(n + 1))
    assert best.score == 0


def test_no_pairs_without_arcs():
    engine = make()
    assert order(engine, forms=[1, 2, 3], heads=[FREE] * 3, tree=False)[0].score == 0
