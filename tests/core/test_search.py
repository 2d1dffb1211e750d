"""The promises of the search, on random bags with random weights."""

import itertools
import random
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import brute
import pytest
import slow
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_linearize.core.attach.attach import MAX_CHART
from spacy_linearize.core.bag.bag import FREE, ROOT
from spacy_linearize.core.engine import Engine
from spacy_linearize.core.features.templates import DEFAULT_GROUPS
from spacy_linearize.core.records import Sentence
from spacy_linearize.core.search.stepper import Stepper
from spacy_linearize.core.settings import Settings
from spacy_linearize.errors import LinearizeError

COLUMNS = ("forms", "tags", "heads", "labels", "lowers", "puncts")


@cache
def engine_of(system, direction="left_to_right", tags="usual"):
    """An engine with random weights, and a lexicon that knows a few tags and labels."""
    groups = (*DEFAULT_GROUPS, "unigram") if system == "joint" else DEFAULT_GROUPS  # arcs of the joint system count too
    engine = Engine(
        Settings(
            system=system,
            direction=direction,
            groups=groups,
            markers=(1, 2),
            tags=tags,
            table_bits=16,
            attach_bits=12,
        )
    )
    for i, decoder in enumerate(engine.decoders):
        slow.random_weights(decoder.weights, seed=10 + i)
    slow.random_weights(engine.attacher.weights, seed=2)
    rng = random.Random(0)
    engine.learn_lexicon(
        Sentence(
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


def shuffle(columns, order):
    """The same bag, handed in in another order."""
    place = {k: i for i, k in enumerate(order)}
    shuffled = {name: [columns[name][k] for k in order] for name in COLUMNS}
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
    bag = engine.bag(**columns)
    results = engine.order(bag, beam_width=width, n_best=3)
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
    order = rng.sample(range(n), n)
    shuffled = shuffle(columns, order)
    again = engine.order(engine.bag(**shuffled), beam_width=width, n_best=3)
    assert [rows(shuffled, r) for r in again] == [rows(columns, r) for r in results]
    assert [r.score for r in again] == [r.score for r in results]


@settings(max_examples=40, deadline=None)
@given(bags(12), directions)
def test_tags_are_searched_within_what_is_given(columns, direction):
    engine = engine_of("joint", direction, "search")
    result = engine.order(engine.bag(**columns), beam_width=8)[0]
    assert sorted(result.order.tolist()) == list(range(len(columns["forms"])))
    assert all(t in (0, r) for t, r in zip(columns["tags"], result.tags.tolist(), strict=True))


@settings(max_examples=40, deadline=None)
@given(bags(12), systems, directions)
def test_number_of_steps(columns, system, direction):
    engine = engine_of(system, direction)
    state = Stepper(engine.decoder, engine.bag(**columns))
    n = len(columns["forms"])
    while not state.is_final:
        state = state.step(0)
    assert state.n_actions == (n if system == "order_first" else max(0, 2 * n - 1))


@settings(max_examples=60, deadline=None)
@given(bags(15), systems)
def test_both_directions_rank_by_the_sum(columns, system):
    """What each search finds is scored by both, and the score of a derivation is the same however it was found."""
    engine = engine_of(system, "both")
    bag = engine.bag(**columns)
    best = engine.order(bag, beam_width=4, n_best=8)
    sums = {}
    for decoder in engine.decoders:
        for score, order, tags, heads, labels in decoder.decode(bag, width=8, n_best=8):
            assert decoder.score(bag, order, heads, tags, labels) == pytest.approx(score, abs=1e-4)
            total = sum(other.score(bag, order, heads, tags, labels) for other in engine.decoders)
            sums[tuple(order.tolist())] = max(total, sums.get(tuple(order.tolist()), total))
    scores = [result.score for result in best]
    assert scores == sorted(scores, reverse=True)
    assert {tuple(result.order.tolist()) for result in best} <= set(sums)
    if system == "order_first":
        assert scores[0] == pytest.approx(max(sums.values()), abs=1e-4)


def best_by_brute_force(engine, bag):
    best, todo = None, [Stepper(engine.decoder, bag)]
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
    settings = Settings(system=system, direction=direction, groups=("unigram", "next"), labelled=False, table_bits=16)
    engine = Engine(settings)
    slow.random_weights(engine.decoder.weights, seed=len(heads))
    bag = engine.bag(forms=range(1, len(heads) + 1), tags=[1, 2, 1, 2, 3][: len(heads)], heads=heads)
    best = best_by_brute_force(engine, bag)
    assert engine.order(bag, beam_width=50_000, tree=False)[0].score == pytest.approx(best, abs=1e-6)
    for width in (1, 2, 4, 16):
        assert engine.order(bag, beam_width=width, tree=False)[0].score <= best + 1e-6


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
        result = engine.order(engine.bag(**c), beam_width=8)[0]
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
    result = engine.order(engine.bag(forms=forms, heads=heads), beam_width=1, tree=False)[0]
    assert sorted(result.order.tolist()) == list(range(n))


@pytest.mark.parametrize("share", [0, 0.5, 0.95])
def test_long_bags_keep_their_arcs_and_get_no_others(share):
    """Beyond the length of a chart: what is missing stays missing, with a warning."""
    n = MAX_CHART + 1
    rng = random.Random(3)
    heads = [FREE, *(rng.randrange(k) if rng.random() < share else FREE for k in range(1, n))]
    engine = engine_of("order_first")
    bag = engine.bag(forms=[rng.randint(1, 500) for _ in range(n)], heads=heads)
    with pytest.warns(UserWarning, match=f"SL195.*has {n} words.*'sents'"):
        result = engine.order(bag, beam_width=1)[0]
    assert sorted(result.order.tolist()) == list(range(n))
    assert result.heads.tolist() == heads


def test_the_root_of_a_long_bag_is_known(recwarn):
    n = MAX_CHART + 1
    engine = engine_of("order_first")
    result = engine.order(engine.bag(forms=range(1, n + 1), heads=[FREE, *[0] * (n - 1)]), beam_width=1)[0]
    assert result.heads.tolist() == [ROOT, *[0] * (n - 1)]
    assert not recwarn.list


@pytest.mark.parametrize("direction", ["left_to_right", "both"])
def test_a_sentence_does_not_begin_deep_in_a_chain(direction):
    """Or a chain of heads would have as many candidates as words at every step. A precedence may still ask for it."""
    n = 400
    for seed in range(5):
        engine = Engine(Settings(direction=direction, table_bits=12, attach_bits=8))
        for decoder in engine.decoders:
            slow.random_weights(decoder.weights, seed=seed)
        chain = {"forms": range(1, n + 1), "heads": [ROOT, *range(n - 1)]}
        order = engine.order(engine.bag(**chain), beam_width=2)[0].order.tolist()
        assert sorted(order) == list(range(n))
        assert order[0] <= 256
        last_first = engine.bag(**chain, before=[(n - 1, k) for k in range(n - 1)])
        assert engine.order(last_first, beam_width=2)[0].order[0] == n - 1


def test_thousands_of_orders_of_a_bag():
    engine = engine_of("order_first", "both")
    results = engine.order(engine.bag(forms=range(1, 8)), beam_width=8, n_best=6000)
    assert len({tuple(result.order.tolist()) for result in results}) == len(results) == 5040
    scores = [result.score for result in results]
    assert scores == sorted(scores, reverse=True)


def test_no_tree_and_no_doubles_from_the_joint_system():
    engine = engine_of("joint")
    bag = engine.bag(forms=[1, 2, 3, 4], heads=[1, FREE, FREE, FREE])
    assert engine.order(bag, beam_width=8, tree=False)[0].heads.tolist() == [1, FREE, FREE, FREE]
    results = engine.order(bag, beam_width=64, n_best=10)
    orders = [tuple(r.order.tolist()) for r in results]
    assert len(orders) == len(set(orders)) > 1
    with pytest.raises(LinearizeError, match=r"SL022.*'n_best' is 0"):
        engine.order(bag, n_best=0)


def test_a_beam_has_a_width():
    engine = engine_of("order_first")
    with pytest.raises(LinearizeError, match=r"SL022.*'beam_width' is 0"):
        engine.order(engine.bag(forms=[1, 2]), beam_width=0)


@pytest.mark.parametrize("direction", ["left_to_right", "both"])
@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_a_beam_takes_memory_for_what_it_holds(system, direction):
    """As wide as can be asked for, it would not fit into any memory."""
    engine = engine_of(system, direction)
    bag = engine.bag(forms=[1, 2, 3], heads=[FREE, 0, FREE])
    wide, enough = (engine.order(bag, beam_width=width, n_best=9) for width in (2**31 - 1, 10_000))
    assert [(r.order.tolist(), r.score) for r in wide] == [(r.order.tolist(), r.score) for r in enough]


READINGS = {
    "different": [[5, 1], [6, 1], [2]],
    "equal": [[5, 1], [5, 1], [2]],
    "borders": [[1, 2], [1], [2]],  # (1 2) 1 2 and 1 2 (1 2) are the same to a reader
    "turned": [[1, 2], [2, 1], [1, 2, 1]],
    "nothing": [[], [1], [1]],
}


@pytest.mark.parametrize("pieces", READINGS.values(), ids=READINGS)
@pytest.mark.parametrize("direction", ["left_to_right", "right_to_left", "both"])
@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_every_reading_once(system, direction, pieces):
    """Words that are made of others: what a reader can tell apart is found, and nothing twice."""
    engine = engine_of(system, direction)
    bag = engine.bag(forms=[own[-1] if own else 0 for own in pieces], pieces=pieces, traits=[1, 2, 3])
    results = engine.order(bag, beam_width=1000, n_best=1000)
    found = [tuple(form for k in r.order.tolist() for form in pieces[k]) for r in results]
    assert len(found) == len(set(found))
    assert set(found) == {sum(map(tuple, order), ()) for order in itertools.permutations(pieces)}


@pytest.mark.parametrize("direction", ["left_to_right", "both"])
def test_words_that_read_the_same_are_no_other_order(direction):
    """Whatever else tells them apart."""
    engine = engine_of("order_first", direction)
    bag = engine.bag(forms=[1, 1, 2], traits=[1, 2, 3])
    assert len(engine.order(bag, beam_width=100, n_best=100)) == 3


def test_keys_of_readings():
    bag = engine_of("order_first").bag(forms=[1, 2, 2], pieces=[[1, 2], [1], [2]])
    assert bag.sentence_key([0, 1, 2]) == bag.sentence_key([1, 2, 0]) != bag.sentence_key([2, 1, 0])
    for order in ([0, 1, 3], [0, 1, -1]):
        with pytest.raises(IndexError):
            bag.sentence_key(order)
    with pytest.raises(LinearizeError, match=r"SL006.*'order' has 2 entries"):
        bag.sentence_key([0, 1])


def test_open_bags_are_those_with_arcs_to_add():
    engine = engine_of("order_first")
    for heads, is_open in (([], False), ([FREE], False), ([FREE, FREE], True), ([FREE, 0], False), ([ROOT, 0], False)):
        assert engine.bag(forms=range(1, len(heads) + 1), heads=heads).is_open == is_open
