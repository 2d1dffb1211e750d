"""Bags as the search reads them: what a reader sees of units, what tells words apart, and what is kept."""

import itertools
import random

import numpy as np
import pytest
from helpers import brute, core
from helpers.core import order, pack, search

from spacy_linearize.core.records import Bag
from spacy_linearize.errors import LinearizeError
from spacy_linearize.trees import FREE, ROOT

READINGS = {
    "different": [[5, 1], [6, 1], [2]],
    "equal": [[5, 1], [5, 1], [2]],
    "borders": [[1, 2], [1], [2]],  # (1 2) 1 2 and 1 2 (1 2) are the same to a reader
    "turned": [[1, 2], [2, 1], [1, 2, 1]],
    "nothing": [[], [1], [1]],
}


def units(pieces, **columns):
    """A bag of units, each with these tokens, of which the last one is its top."""
    ends = list(itertools.accumulate(map(len, pieces)))
    return Bag(
        forms=[own[-1] if own else 0 for own in pieces],
        tokens=Bag(forms=[form for own in pieces for form in own]),
        members=[range(end - len(own), end) for own, end in zip(pieces, ends, strict=True)],
        tops=[end - 1 for end in ends],
        **columns,
    )


@pytest.mark.parametrize("lowers", [None, [1, 2, 3]], ids=["", "all different"])
@pytest.mark.parametrize("pieces", READINGS.values(), ids=READINGS)
@pytest.mark.parametrize("direction", ["left_to_right", "right_to_left", "both"])
@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_every_reading_once(system, direction, pieces, lowers):
    """Words that are made of others: what a reader can tell apart is found, and nothing twice."""
    engine = core.randomize(core.make(system=system, direction=direction))
    results = search(engine.experts["partial"], engine.pack(units(pieces, lowers=lowers)), width=1000, n_best=1000)
    found = [tuple(form for k in r.order.tolist() for form in pieces[k]) for r in results]
    assert len(found) == len(set(found))
    assert set(found) == {sum(map(tuple, order), ()) for order in itertools.permutations(pieces)}


@pytest.mark.parametrize("direction", ["left_to_right", "both"])
def test_words_that_read_the_same_are_no_other_order(direction):
    """Whatever else tells them apart."""
    engine = core.randomize(core.make(direction=direction))
    assert len(order(engine, forms=[1, 1, 2], lowers=[1, 2, 3], beam_width=100, n_best=100)) == 3


def test_open_bags_are_those_with_arcs_to_add():
    engine = core.make()
    for heads, is_open in (([], False), ([FREE], False), ([FREE, FREE], True), ([FREE, 0], False), ([ROOT, 0], False)):
        assert pack(engine, forms=range(1, len(heads) + 1), heads=heads).is_open == is_open


def test_bags_with_arcs():
    engine = core.make()
    for heads, has_arcs in (([], False), ([FREE, FREE], False), ([ROOT, FREE], False), ([FREE, 0], True)):
        assert pack(engine, forms=range(1, len(heads) + 1), heads=heads).has_arcs == has_arcs


def test_columns_are_by_input_position():
    rng = random.Random(0)
    for _ in range(50):
        n = rng.randint(0, 9)
        columns = {"forms": [rng.randint(1, 5) for _ in range(n)], "tags": [rng.randint(0, 5) for _ in range(n)]}
        heads = brute.random_forest(rng, n) if n else ()
        bag = pack(core.make(), **columns, heads=heads)
        assert bag.column(0).tolist() == columns["forms"]
        assert bag.column(1).tolist() == columns["tags"]
        assert bag.heads.tolist() == list(heads)
        assert sorted(bag.positions) == list(range(n))


def test_what_is_kept_tells_equal_words_apart_and_nothing_else():
    """Equal words are numbered by it; what the search finds stays the same."""
    engine = core.randomize(core.make())
    bags = [Bag(forms=[7, 7, 8], kept=kept) for kept in ([5, 6, 0], [6, 5, 0])]
    first, second = (core.pack(engine, forms=bag.forms, kept=bag.kept).positions for bag in bags)
    swap = {0: 1, 1: 0, 2: 2}
    assert first == [swap[k] for k in second]
    plain, one, other = (order(engine, bag)[0] for bag in (Bag(forms=[7, 7, 8]), *bags))
    assert plain.score == one.score == other.score
    assert one.order.tolist() == [swap[k] for k in other.order.tolist()]


@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_orders_of_units_are_orders_of_their_tokens(system):
    """The tokens of a unit stay side by side, and their arcs, and those between the units, are kept."""
    tokens = Bag(forms=[1, 2, 3, 4, 5], heads=[1, FREE, FREE, 2, FREE], tags=[1, 2, 3, 4, 5], labels=[9, 0, 0, 8, 0])
    bag = Bag(
        forms=[2, 3, 5], tags=[2, 3, 5], tokens=tokens, members=[range(2), range(2, 4), range(4, 5)], tops=[1, 2, 4]
    )
    engine = core.randomize(core.make(system=system, direction="both"))
    for tree in (True, False):
        for found in order(engine, bag, n_best=6, tree=tree):
            positions, heads = found.order.tolist(), found.heads.tolist()
            assert sorted(positions) == list(range(5))
            assert positions.index(1) == positions.index(0) + 1
            assert positions.index(3) == positions.index(2) + 1
            assert brute.keeps(heads, tokens.heads)
            assert found.tags.tolist() == tokens.tags
            assert all(given in (0, label) for given, label in zip(tokens.labels, found.labels.tolist(), strict=True))
            if tree:
                assert heads.count(ROOT) == 1
                assert brute.is_forest(heads)
                assert brute.is_projective(heads, positions)
            else:
                assert heads == tokens.heads


@pytest.mark.parametrize("members", [[], [range(1)], [range(1), range(1, 2), range(2, 3)]])
def test_units_of_another_number(members):
    with pytest.raises(LinearizeError, match=rf"SL006.*'members' has {len(members)} entries for 2 words"):
        pack(core.make(), forms=[1, 2], tokens=Bag(forms=[1, 2, 3]), members=members, tops=[0, 1])


@pytest.mark.parametrize("own", [range(1, 3), range(-1, 1), range(5, 6), range(2, 1)])
def test_units_whose_tokens_are_not_there(own):
    with pytest.raises(IndexError):
        pack(core.make(), forms=[1, 2], tokens=Bag(forms=[1, 2]), members=[range(1), own], tops=[0, 1])


def test_columns_of_a_bag():
    bag = Bag(forms=[1, 2])
    assert bag.column("forms").dtype == bag.column("tags").dtype == np.uint64
    assert bag.column("heads").dtype == np.int32
    assert bag.column("heads").tolist() == [FREE, FREE]
    assert bag.column("labels").tolist() == [0, 0]
    with pytest.raises(LinearizeError, match=r"SL006.*'labels' has 1 entries for 2 words"):
        Bag(forms=[1, 2], labels=[1]).column("labels")
