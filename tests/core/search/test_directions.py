"""Both directions at once: every order that one of two searches finds, ranked by the sum of both scores."""

import random

import pytest
from helpers import brute, core
from helpers.core import decoders, pack, search

from spacy_linearize.core.search.directions import decode
from spacy_linearize.trees import FREE, ROOT

FULL = 50_000  # wide enough for every derivation of five words
# Forms, tags and heads: different words, words with the same form, twins, and twins with dependents.
BAGS = {
    "free": ([1, 2, 3, 4], [1, 2, 3, 4], [FREE] * 4),
    "tree": ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [1, ROOT, 3, 1, 1]),
    "partial": ([1, 2, 3, 4], [1, 2, 1, 2], [1, FREE, FREE, 2]),
    "root": ([1, 2, 3, 4], [1, 2, 1, 2], [ROOT, FREE, FREE, 2]),
    "same form": ([1, 2, 1, 3], [1, 2, 3, 4], [1, FREE, FREE, FREE]),
    "twins": ([1, 1, 2, 3], [1, 1, 2, 3], [FREE] * 4),
    "twin heads": ([1, 2, 1, 2, 3], [1, 2, 1, 2, 3], [1, 4, 3, 4, ROOT]),
    "all the same": ([1, 1, 1, 1], [1, 1, 1, 1], [FREE] * 4),
    "one": ([1], [1], [FREE]),
    "none": ([], [], []),
}


def decode_both(engine, bag, *, width, n_best=1):
    return search(decoders(engine), bag, width=width, n_best=n_best)


def make(system, seed=0):
    groups = ("unigram", "linearization", "next", "tree")
    engine = core.make(system=system, direction="both", groups=groups, labelled=False, table_bits=16, attach_bits=8)
    return core.randomize(engine, seed=2 * seed)


def both_scores(engine, bag, order, heads, tags):
    """The sum of the scores of both directions."""
    labels = [0] * len(order)
    return sum(decoder.score(bag, list(order), list(heads), tags, labels) for decoder in decoders(engine))


def sums_by_brute_force(engine, bag, forms, tags, heads):
    """For every sequence of words the highest sum of any order and tree that has it."""
    pairs = brute.expected(tuple(heads)) if forms else {((), ())}
    if engine.settings.system == "order_first":
        pairs = {(order, tuple(heads)) for order, _ in pairs}
    sums = {}
    for order, tree in pairs:
        words = tuple(forms[k] for k in order)
        total = both_scores(engine, bag, order, tree, tags)
        sums[words] = max(total, sums.get(words, total))
    return sums


@pytest.mark.parametrize("name", BAGS)
@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_a_full_beam_ranks_every_sequence_of_words_as_brute_force_does(system, name):
    forms, tags, heads = BAGS[name]
    engine = make(system, seed=len(name))
    bag = pack(engine, forms=forms, tags=tags, heads=heads)
    expected = sums_by_brute_force(engine, bag, forms, tags, heads)
    results = decode_both(engine, bag, width=FULL, n_best=FULL)
    found = [tuple(forms[k] for k in result.order) for result in results]
    scores = [result.score for result in results]
    assert len(found) == len(set(found))
    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx([expected[words] for words in found], abs=1e-6)
    assert set(found) == set(expected)
    # The first ones are the same however many are asked for.
    for n_best in (1, 2, 3):
        fewer = decode_both(engine, bag, width=FULL, n_best=n_best)
        assert core.plain(fewer) == core.plain(results[:n_best])


@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_a_narrow_beam_scores_what_it_returns_by_both(system):
    engine = make(system)
    rng = random.Random(5)
    for _ in range(30):
        n = rng.randint(2, 12)
        forms = [rng.randint(1, 6) for _ in range(n)]
        tags = [rng.randint(1, 3) for _ in range(n)]
        bag = pack(engine, forms=forms, tags=tags, heads=brute.random_forest(rng, n, rng.choice([0, 0.5, 1])))
        best_of_each = [search([decoder], bag, width=4)[0] for decoder in decoders(engine)]
        results = decode_both(engine, bag, width=4, n_best=8)
        assert 1 <= len(results) <= 8
        for r in results:
            assert r.score == pytest.approx(both_scores(engine, bag, r.order.tolist(), r.heads, r.tags), abs=1e-6)
        sums = [both_scores(engine, bag, r.order.tolist(), r.heads, r.tags) for r in best_of_each]
        assert results[0].score >= max(sums) - 1e-6


@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_input_order_has_no_influence(system):
    engine = make(system)
    rng = random.Random(6)
    for _ in range(20):
        n = rng.randint(2, 10)
        forms = [rng.randint(1, 4) for _ in range(n)]
        heads = brute.random_forest(rng, n, rng.choice([0, 0.5, 1]))
        before = decode_both(engine, pack(engine, forms=forms, heads=heads), width=6, n_best=6)
        order = rng.sample(range(n), n)
        place = {k: i for i, k in enumerate(order)}
        shuffled = pack(
            engine,
            forms=[forms[k] for k in order],
            heads=[place[heads[k]] if heads[k] >= 0 else heads[k] for k in order],
        )
        after = decode_both(engine, shuffled, width=6, n_best=6)
        assert [result.score for result in after] == [result.score for result in before]
        assert [[forms[order[k]] for k in result.order] for result in after] == [
            [forms[k] for k in result.order] for result in before
        ]


@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_the_sequence_of_the_two_searches_has_no_influence_on_the_scores(system):
    engine = make(system)
    bag = pack(engine, forms=[1, 2, 3, 1, 2], tags=[1, 2, 3, 2, 1], heads=[1, FREE, FREE, 2, FREE])
    forth = decode_both(engine, bag, width=8, n_best=8)
    back = search(decoders(engine)[::-1], bag, width=8, n_best=8)
    assert [result.score for result in back] == pytest.approx([result.score for result in forth])
    assert [result.order.tolist() for result in back] == [result.order.tolist() for result in forth]


@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_many_bags_at_once(system):
    """Each bag with its own width and number of results, as on its own."""
    engine = make(system)
    rng = random.Random(5)
    bags = [pack(engine, forms=[rng.randint(1, 4) for _ in range(rng.randint(0, 6))]) for _ in range(20)]
    widths = [rng.randint(1, 9) for _ in bags]
    numbers = [rng.randint(1, 4) for _ in bags]
    for own in (decoders(engine), decoders(engine)[:1], decoders(engine)[1:]):
        together = decode([own] * len(bags), bags, widths=widths, weights=[0.0] * len(bags), n_best=numbers)
        alone = [search(own, bag, width=width, n_best=n) for bag, width, n in zip(bags, widths, numbers, strict=True)]
        assert [core.plain(results) for results in together] == [core.plain(results) for results in alone]
    assert decode([], [], widths=[], weights=[], n_best=[]) == []


def test_lists_of_other_lengths():
    engine = make("order_first")
    bag = pack(engine, forms=[1, 2])
    right = {"widths": [1, 1], "weights": [0.0, 0.0], "n_best": [1, 1]}
    for columns in ({"widths": [1]}, {"widths": [1, 1], "weights": [0.0]}, {"weights": [0.0] * 3}, {"n_best": [1]}):
        with pytest.raises(ValueError, match=r"shorter|longer"):
            decode([decoders(engine)] * 2, [bag, bag], **{**right, **columns})


def test_search_errors_are_those_of_a_single_search():
    engine = make("order_first")
    with pytest.raises(ValueError, match=r"SL022.*'beam_width' is 0"):
        decode_both(engine, pack(engine, forms=[1, 2]), width=0)
