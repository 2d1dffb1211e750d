"""Heads: cycles and crossing arcs, against brute force over every way to give heads to a few words."""

import itertools

import pytest
from helpers import brute

from spacy_linearize.trees import FREE, ROOT, crossing_words, find_cycle, is_projective, is_projective_forest


def all_heads(n):
    """Every way to give heads to n words, cycles and several roots included."""
    return itertools.product(*([FREE, ROOT, *(h for h in range(n) if h != k)] for k in range(n)))


def fits_a_tree(heads):
    """Whether the words stand in an order that some projective tree with these arcs has."""
    return any(order == tuple(range(len(heads))) for order, _ in brute.expected(tuple(heads)))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_projective_forests_are_those_that_some_projective_tree_has(n):
    for heads in all_heads(n):
        if brute.is_forest(heads):
            assert is_projective(heads) == is_projective_forest(heads) == fits_a_tree(heads), heads


def test_projective_forests_of_5_and_6_words():
    for heads in [*brute.sample(5, 200), *brute.sample(6, 60)]:
        assert is_projective(heads) == fits_a_tree(heads), heads


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
def test_cycles(n):
    for heads in all_heads(n):
        cycle = find_cycle(heads)
        assert bool(cycle) == any(brute.chain(heads, k) is None for k in range(n)), heads
        if cycle:
            assert cycle[0] == min(cycle)
            assert [heads[k] for k in cycle] == [*cycle[1:], cycle[0]]
            assert not is_projective_forest(heads)


def test_heads_that_are_no_positions_end_a_path():
    assert find_cycle([1, 99, -7, 2]) == []
    assert find_cycle([0]) == [0]
    assert find_cycle([1, 2, 1, ROOT]) == [1, 2]


def test_an_arc_over_the_root_or_the_top_of_its_component():
    assert is_projective([1, ROOT, 1])
    assert not is_projective([2, ROOT, FREE])
    assert not is_projective([2, 3, ROOT, 2])
    assert not is_projective([3, 0, FREE, 2])


@pytest.mark.parametrize("n", [3, 4, 5])
def test_crossing_words(n):
    """One whose arc alone is in the way, if there is one, else all that have an arc."""
    for heads in brute.forests(n) if n < 5 else brute.sample(5, 200):
        if is_projective(heads):
            continue
        words = crossing_words(heads)
        alone = [k for k in range(n) if heads[k] >= 0 and is_projective([*heads[:k], FREE, *heads[k + 1 :]])]
        assert words == (alone[:1] or [k for k in range(n) if heads[k] >= 0])


def test_long_chains():
    n = 20_000
    assert is_projective_forest([ROOT, *range(n - 1)])
    assert find_cycle([*range(1, n), 0]) == list(range(n))
