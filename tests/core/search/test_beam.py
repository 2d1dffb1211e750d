"""The promises of the search, on random bags with random weights."""

import random
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest
from helpers import brute, core
from helpers.core import decoder, order, pack, search
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_linearize.core.attach.attach import MAX_CHART
from spacy_linearize.core.features.templates import DEFAULT_GROUPS
from spacy_linearize.core.records import Bag
from spacy_linearize.core.search.stepper import Stepper
from spacy_linearize.errors import LinearizeError
from spacy_linearize.trees import FREE, ROOT

COLUMNS = ("forms", "tags", "heads", "labels", "lowers", "puncts")


@cache
def engine_of(system, direction="left_to_right", tags="usual"):
    """An engine with random weights, and a lexicon that knows a few tags and labels."""
    groups = (*DEFAULT_GROUPS, "unigram") if system == "joint" else DEFAULT_GROUPS  # arcs of the joint system count too
    engine = core.make(
        system=system, direction=direction, groups=groups, markers=(1, 2), tags=tags, table_bits=16, attach_bits=12
    )
    core.randomize(engine, seed=10)
    rng = random.Random(0)
    engine.learn_lexicon(
        Bag(
            forms=[rng.randint(1, 9) for _ in range(5)],
            tags=[rng.randint(1, 4) for _ in range(5)],
            heads=[1, ROOT, 1, 4, 1],
            labels=[rng.randint(1, 4) for _ in range(5)],
        )
        for _ in range(20)
    )
    return engine


@st.composite
def bags(draw, max_words=40):
    """Random columns: few different words, so that twins come up; any share of tags, arcs and labels."""
    n = draw(st.integers(0, max_words))
    rng = random.Random(draw(st.integers(0, 2**32)))
    tag_share, arc_share, label_share = (rng.choice([0, 0.2, 0.5, 0.9, 1]) for _ in range(3))
    return {
        "forms": [rng.randint(1, rng.choice([2, 9, 50])) for _ in range(n)],
        "tags": [rng.randint(1, 4) if rng.random() < tag_share else 0 for _ in range(n)],
        "heads": list(brute.random_forest(rng, n, arc_share)) if n else [],
        "labels": [rng.randint(1, 4) if rng.random() < label_share else 0 for _ in range(n)],
        "lowers": [rng.randint(1, 3) for _ in range(n)],
        "puncts": [rng.choice([0, 0, 0, 1, 2]) for _ in range(n)],
    }


def shuffle(columns, positions):
    """The same bag, handed in in another order."""
    place = {k: i for i, k in enumerate(positions)}
    shuffled = {name: [columns[name][k] for k in positions] for name in COLUMNS}
    shuffled["heads"] = [place[h] if h >= 0 else h for h in shuffled["heads"]]
    return shuffled


def rows(columns, result):
    """A result as the sentence it stands for: words with tags, labels, and places of heads."""
    place = {k: i for i, k in enumerate(result.order.tolist())}
    return [
        (columns["forms"][k], int(result.tags[k]), place.get(int(result.heads[k]), -1), int(result.labels[k]))
        for k in result.order.tolist()
    ]


systems = st.sampled_from(["order_first", "joint"])
directions = st.sampled_from(["left_to_right", "right_to_left", "both"])


@settings(max_examples=150, deadline=None)
@given(bags(), systems, directions, st.integers(1, 9), st.randoms(use_true_random=False))
def test_promises(columns, system, direction, width, rng):
    engine = engine_of(system, direction)
    n = len(columns["forms"])
    results = order(engine, beam_width=width, n_best=3, **columns)
    assert 1 <= len(results) <= 3
    assert [r.score for r in results] == sorted((r.score for r in results), reverse=True)
    for result in results:
        assert sorted(result.order.tolist()) == list(range(n))
        heads = result.heads.tolist()
        assert heads.count(ROOT) == min(n, 1)
        assert FREE not in heads
        assert brute.is_forest(heads)
        assert brute.is_projective(heads, result.order.tolist())
        for k in range(n):
            assert columns["tags"][k] in (0, result.tags[k])
            assert columns["heads"][k] in (FREE, heads[k])
            assert columns["labels"][k] in (0, result.labels[k])
    # The same output for a shuffled input, and once more.
    shuffled = shuffle(columns, rng.sample(range(n), n))
    again = order(engine, beam_width=width, n_best=3, **shuffled)
    assert [rows(shuffled, r) for r in again] == [rows(columns, r) for r in results]
    assert [r.score for r in again] == [r.score for r in results]


@settings(max_examples=40, deadline=None)
@given(bags(12), directions)
def test_tags_are_searched_within_what_is_given(columns, direction):
    engine = engine_of("joint", direction, "search")
    result = order(engine, beam_width=8, **columns)[0]
    assert sorted(result.order.tolist()) == list(range(len(columns["forms"])))
    assert all(t in (0, r) for t, r in zip(columns["tags"], result.tags.tolist(), strict=True))


@settings(max_examples=40, deadline=None)
@given(bags(12), systems, directions)
def test_number_of_steps(columns, system, direction):
    engine = engine_of(system, direction)
    state = Stepper(decoder(engine), pack(engine, **columns))
    n = len(columns["forms"])
    while not state.is_final:
        state = state.step(0)
    assert state.n_actions == (n if system == "order_first" else max(0, 2 * n - 1))


@settings(max_examples=60, deadline=None)
@given(bags(15), systems)
def test_both_directions_rank_by_the_sum(columns, system):
    """What each search finds is scored by both, and the score of a derivation is the same however it was found."""
    engine = engine_of(system, "both")
    # Tokens that all read differently: a search then returns every order of its beam.
    n = len(columns["forms"])
    units = {"tokens": Bag(forms=range(1, n + 1)), "members": [range(k, k + 1) for k in range(n)], "tops": range(n)}
    bag = pack(engine, **columns, **units)
    best = order(engine, beam_width=4, n_best=8, **columns)
    sums = {}
    for one in core.decoders(engine):
        for found in search([one], bag, width=8, n_best=8):
            target = (found.order, found.heads, found.tags, found.labels)
            assert one.score(bag, *target) == pytest.approx(found.score, abs=1e-4)
            total = sum(other.score(bag, *target) for other in core.decoders(engine))
            words = tuple(found.order.tolist())
            sums[words] = max(total, sums.get(words, total))
    scores = [result.score for result in best]
    assert scores == sorted(scores, reverse=True)
    assert {tuple(result.order.tolist()) for result in best} <= set(sums)
    if system == "order_first":
        assert scores[0] == pytest.approx(max(sums.values()), abs=1e-4)


def best_by_brute_force(engine, bag):
    best, todo = None, [Stepper(decoder(engine), bag)]
    while todo:
        state = todo.pop()
        if state.is_final:
            best = state.total if best is None else max(best, state.total)
        else:
            todo.extend(state.step(i) for i in range(len(state.legal)))
    return best


@pytest.mark.parametrize("direction", ["left_to_right", "right_to_left"])
@pytest.mark.parametrize("system", ["order_first", "joint"])
@pytest.mark.parametrize(
    "heads",
    [
        [FREE] * 4,
        [FREE] * 5,
        [1, FREE, FREE, 1, FREE],
        [ROOT, FREE, 1, FREE, 3],
        [1, ROOT, 1, 4, 1],
        [2, 0, ROOT, 2, 2],
    ],
)
def test_a_wide_beam_finds_the_best(system, direction, heads):
    """And no narrower one claims more."""
    groups = ("unigram", "next")
    engine = core.make(system=system, direction=direction, groups=groups, labelled=False, table_bits=16)
    core.randomize(engine, seed=len(heads))
    bag = Bag(forms=range(1, len(heads) + 1), tags=[1, 2, 1, 2, 3][: len(heads)], heads=heads)
    best = best_by_brute_force(engine, engine.pack(bag))
    assert order(engine, bag, beam_width=50_000, tree=False)[0].score == pytest.approx(best, abs=1e-6)
    for width in (1, 2, 4, 16):
        assert order(engine, bag, beam_width=width, tree=False)[0].score <= best + 1e-6


@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_threads_give_the_same_results(system):
    engine = engine_of(system)
    rng = random.Random(7)
    columns = [
        {
            "forms": [rng.randint(1, 30) for _ in range(15)],
            "tags": [rng.randint(0, 4) for _ in range(15)],
            "heads": brute.random_forest(rng, 15, 0.5),
        }
        for _ in range(60)
    ]

    def run(c):
        result = order(engine, beam_width=8, **c)[0]
        return result.order.tolist(), result.heads.tolist(), result.score

    alone = [run(c) for c in columns]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, columns * 4)) == alone * 4


@pytest.mark.parametrize("system", ["order_first", "joint"])
@pytest.mark.parametrize("shape", ["free", "chain", "star", "partial", "equal"])
def test_a_thousand_words(system, shape):
    n = 1000
    rng = random.Random(0)
    forms = [1] * n if shape == "equal" else [rng.randint(1, 500) for _ in range(n)]
    heads = {
        "free": [FREE] * n,
        "equal": [FREE] * n,
        "chain": [ROOT, *range(n - 1)],
        "star": [ROOT, *[0] * (n - 1)],
        "partial": [FREE, *(rng.choice([FREE, rng.randrange(k)]) for k in range(1, n))],
    }[shape]
    engine = engine_of(system)
    result = order(engine, forms=forms, heads=heads, beam_width=1, tree=False)[0]
    assert sorted(result.order.tolist()) == list(range(n))


@pytest.mark.parametrize("share", [0, 0.5, 0.95])
def test_long_bags_keep_their_arcs_and_get_no_others(share):
    """Beyond the length of a chart: what is missing stays missing, with a warning."""
    n = MAX_CHART + 1
    rng = random.Random(3)
    heads = [FREE, *(rng.randrange(k) if rng.random() < share else FREE for k in range(1, n))]
    engine = engine_of("order_first")
    forms = [rng.randint(1, 500) for _ in range(n)]
    with pytest.warns(UserWarning, match=f"SL195.*has {n} words.*'sents'"):
        result = order(engine, forms=forms, heads=heads, beam_width=1)[0]
    assert sorted(result.order.tolist()) == list(range(n))
    assert result.heads.tolist() == heads


def test_the_root_of_a_long_bag_is_known(recwarn):
    n = MAX_CHART + 1
    engine = engine_of("order_first")
    result = order(engine, forms=range(1, n + 1), heads=[FREE, *[0] * (n - 1)], beam_width=1)[0]
    assert result.heads.tolist() == [ROOT, *[0] * (n - 1)]
    assert not recwarn.list


@pytest.mark.parametrize("direction", ["left_to_right", "both"])
def test_a_sentence_does_not_begin_deep_in_a_chain(direction):
    """Or a chain of heads would have as many candidates as words at every step. A precedence may still ask for it."""
    n = 400
    for seed in range(5):
        engine = core.randomize(core.make(direction=direction, table_bits=12, attach_bits=8), seed=seed)
        chain = {"forms": range(1, n + 1), "heads": [ROOT, *range(n - 1)]}
        found = order(engine, **chain, beam_width=2)[0].order.tolist()
        assert sorted(found) == list(range(n))
        assert found[0] <= 256
        last_first = order(engine, **chain, before=[(n - 1, k) for k in range(n - 1)], beam_width=2)
        assert last_first[0].order[0] == n - 1


def test_thousands_of_orders_of_a_bag():
    engine = engine_of("order_first", "both")
    results = order(engine, forms=range(1, 8), beam_width=8, n_best=6000)
    assert len({tuple(result.order.tolist()) for result in results}) == len(results) == 5040
    scores = [result.score for result in results]
    assert scores == sorted(scores, reverse=True)


def test_no_tree_and_no_doubles_from_the_joint_system():
    engine = engine_of("joint")
    bag = Bag(forms=[1, 2, 3, 4], heads=[1, FREE, FREE, FREE])
    assert order(engine, bag, beam_width=8, tree=False)[0].heads.tolist() == [1, FREE, FREE, FREE]
    results = order(engine, bag, beam_width=64, n_best=10)
    orders = [tuple(r.order.tolist()) for r in results]
    assert len(orders) == len(set(orders)) > 1
    with pytest.raises(LinearizeError, match=r"SL022.*'n_best' is 0"):
        order(engine, bag, n_best=0)


def test_a_beam_has_a_width():
    engine = engine_of("order_first")
    with pytest.raises(LinearizeError, match=r"SL022.*'beam_width' is 0"):
        order(engine, forms=[1, 2], beam_width=0)


@pytest.mark.parametrize("direction", ["left_to_right", "both"])
@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_a_beam_takes_memory_for_what_it_holds(system, direction):
    """As wide as can be asked for, it would not fit into any memory."""
    engine = engine_of(system, direction)
    bag = Bag(forms=[1, 2, 3], heads=[FREE, 0, FREE])
    wide, enough = (order(engine, bag, beam_width=width, n_best=9) for width in (2**31 - 1, 10_000))
    assert [(r.order.tolist(), r.score) for r in wide] == [(r.order.tolist(), r.score) for r in enough]
