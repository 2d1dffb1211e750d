"""Both directions at once: every order that one of two searches finds, ranked by the sum of both scores."""

import random

import brute
import pytest
import slow

from spacy_linearize.core.bag.bag import FREE, ROOT
from spacy_linearize.core.engine import Engine
from spacy_linearize.core.search import directions as both
from spacy_linearize.core.settings import Settings

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
    return both.decode_both([engine.decoders], [bag], widths=[width], weights=[0.0], n_best=n_best)[0]


def make(system, seed=0):
    settings = Settings(
        system=system,
        direction="both",
        groups=("unigram", "linearization", "next", "tree"),
        labelled=False,
        table_bits=16,
        attach_bits=8,
    )
    engine = Engine(settings)
    for i, decoder in enumerate(engine.decoders):
        slow.random_weights(decoder.weights, seed=2 * seed + i)
    return engine


def both_scores(engine, bag, order, heads, tags):
    """The sum of the scores of both directions."""
    labels = [0] * len(order)
    return sum(decoder.score(bag, list(order), list(heads), tags, labels) for decoder in engine.decoders)


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
    bag = engine.bag(forms=forms, tags=tags, heads=heads)
    expected = sums_by_brute_force(engine, bag, forms, tags, heads)
    results = decode_both(engine, bag, width=FULL, n_best=FULL)
    found = [tuple(forms[k] for k in order) for _, order, *_ in results]
    scores = [score for score, *_ in results]
    assert len(found) == len(set(found))
    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx([expected[words] for words in found], abs=1e-6)
    assert set(found) == set(expected)
    # The first ones are the same however many are asked for.
    for n_best in (1, 2, 3):
        fewer = decode_both(engine, bag, width=FULL, n_best=n_best)
        assert [score for score, *_ in fewer] == scores[:n_best]
        assert [order.tolist() for _, order, *_ in fewer] == [order.tolist() for _, order, *_ in results[:n_best]]


@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_a_narrow_beam_scores_what_it_returns_by_both(system):
    engine = make(system)
    rng = random.Random(5)
    for _ in range(30):
        n = rng.randint(2, 12)
        forms = [rng.randint(1, 6) for _ in range(n)]
        tags = [rng.randint(1, 3) for _ in range(n)]
        bag = engine.bag(forms=forms, tags=tags, heads=brute.random_forest(rng, n, rng.choice([0, 0.5, 1])))
        best_of_each = [decoder.decode(bag, width=4)[0] for decoder in engine.decoders]
        results = decode_both(engine, bag, width=4, n_best=8)
        assert 1 <= len(results) <= 8
        for score, order, found_tags, heads, _ in results:
            assert score == pytest.approx(both_scores(engine, bag, order.tolist(), heads, found_tags), abs=1e-6)
        sums = [both_scores(engine, bag, order.tolist(), heads, tags) for _, order, tags, heads, _ in best_of_each]
        assert results[0][0] >= max(sums) - 1e-6


@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_input_order_has_no_influence(system):
    engine = make(system)
    rng = random.Random(6)
    for _ in range(20):
        n = rng.randint(2, 10)
        forms = [rng.randint(1, 4) for _ in range(n)]
        heads = brute.random_forest(rng, n, rng.choice([0, 0.5, 1]))
        before = decode_both(engine, engine.bag(forms=forms, heads=heads), width=6, n_best=6)
        order = rng.sample(range(n), n)
        place = {k: i for i, k in enumerate(order)}
        shuffled = engine.bag(
            forms=[forms[k] for k in order],
            heads=[place[heads[k]] if heads[k] >= 0 else heads[k] for k in order],
        )
        after = decode_both(engine, shuffled, width=6, n_best=6)
        assert [score for score, *_ in after] == [score for score, *_ in before]
        assert [[forms[order[k]] for k in result[1]] for result in after] == [
            [forms[k] for k in result[1]] for result in before
        ]


@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_the_sequence_of_the_two_searches_has_no_influence_on_the_scores(system):
    engine = make(system)
    bag = engine.bag(forms=[1, 2, 3, 1, 2], tags=[1, 2, 3, 2, 1], heads=[1, FREE, FREE, 2, FREE])
    forth = decode_both(engine, bag, width=8, n_best=8)
    engine.decoders.reverse()
    back = decode_both(engine, bag, width=8, n_best=8)
    assert [score for score, *_ in back] == pytest.approx([score for score, *_ in forth])
    assert [result[1].tolist() for result in back] == [result[1].tolist() for result in forth]


@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_many_bags_at_once(system):
    """Each bag with its own width, as on its own."""
    engine = make(system)
    rng = random.Random(5)
    bags = [engine.bag(forms=[rng.randint(1, 4) for _ in range(rng.randint(0, 6))]) for _ in range(20)]
    widths = [rng.randint(1, 9) for _ in bags]
    together = both.decode_both([engine.decoders] * len(bags), bags, widths=widths, weights=[0.0] * len(bags), n_best=3)
    for bag, width, results in zip(bags, widths, together, strict=True):
        alone = decode_both(engine, bag, width=width, n_best=3)
        assert [(score, order.tolist()) for score, order, *_ in results] == [
            (score, order.tolist()) for score, order, *_ in alone
        ]
    assert both.decode_both([], [], widths=[], weights=[]) == []


def test_search_errors_are_those_of_a_single_search():
    engine = make("order_first")
    with pytest.raises(ValueError, match=r"SL022.*'beam_width' is 0"):
        decode_both(engine, engine.bag(forms=[1, 2]), width=0)
