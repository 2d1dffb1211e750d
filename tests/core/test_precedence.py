"""Precedences: an answer exactly when there is one, against brute force over forests and random pairs."""

import itertools
import random

import brute
import pytest
import slow

from spacy_linearize.core.bag.bag import FREE, ROOT
from spacy_linearize.core.engine import Engine
from spacy_linearize.core.settings import Settings
from spacy_linearize.core.systems.dead_ends import some_order
from spacy_linearize.core.systems.order_first import OrderFirst
from spacy_linearize.errors import LinearizeError

SYSTEMS = [("order_first", "left_to_right"), ("order_first", "both"), ("joint", "right_to_left"), ("joint", "both")]


def make(system="order_first", direction="left_to_right"):
    engine = Engine(Settings(system=system, direction=direction, table_bits=10, attach_bits=8, labelled=False))
    for seed, decoder in enumerate(engine.decoders):
        slow.random_weights(decoder.weights, seed)
    return engine


def random_pairs(rng, n):
    """A few pairs, mostly ones that some order keeps."""
    order = rng.sample(range(n), n)
    pairs = []
    for _ in range(rng.randint(1, n)):
        first, second = sorted(rng.sample(range(n), 2), key=order.index if rng.random() < 0.8 else None)
        pairs.append((first, second) if rng.random() < 0.95 else (second, first))
    return pairs


def keeps(order, pairs):
    return all(order.index(first) < order.index(second) for first, second in pairs)


def orders_with(forest, pairs):
    """Every order that keeps the arcs and the pairs, by brute force."""
    return {order for order, _ in brute.expected(forest) if keeps(order, pairs)}


def answer(engine, width, **columns):
    """The results, or the error."""
    try:
        return engine.order(engine.bag(**columns), beam_width=width, n_best=width), None
    except LinearizeError as problem:
        return [], problem


def check(engine, forest, pairs, width):
    """The engine answers exactly when there is an order, and names what is in the way when there is none."""
    n, possible = len(forest), orders_with(forest, pairs)
    results, problem = answer(engine, width, forms=range(1, n + 1), heads=forest, before=pairs)
    if problem is not None:
        assert not possible, (forest, pairs, str(problem))
        assert problem.code == "SL008"
        named = named_pairs(str(problem))
        assert set(named) <= set(pairs)
        assert not orders_with(forest, named)
        for pair in named:
            assert orders_with(forest, [other for other in named if other != pair]), (forest, pairs, named)
        return None
    found = [tuple(result.order.tolist()) for result in results]
    assert possible.issuperset(found), (forest, pairs, found)
    for result in results:
        assert brute.is_projective(result.heads.tolist(), result.order.tolist())
    return found


def named_pairs(message):
    """Back from "word 1 before word 2, word 2 before word 0" to pairs."""
    parts = message.split(": ")[1].removesuffix(". Leave one of them out.").split(", ")
    return [tuple(int(word.removeprefix("word ")) for word in part.split(" before ")) for part in parts]


@pytest.mark.parametrize("n", [2, 3, 4])
def test_every_order_is_reached(n):
    """With a beam that holds everything: all orders that there are, and no other."""
    engine = make()
    rng = random.Random(n)
    for forest in brute.forests(n):
        for _ in range(4):
            pairs = random_pairs(rng, n)
            found = check(engine, forest, pairs, 30)
            assert found is None or set(found) == orders_with(forest, pairs)


@pytest.mark.parametrize(("system", "direction"), SYSTEMS)
def test_an_answer_exactly_when_there_is_one(system, direction):
    """All forests of up to 5 words, with narrow beams."""
    engine = make(system, direction)
    rng = random.Random(1)
    n_none = 0
    for forest in itertools.chain(*(brute.forests(n) for n in (2, 3, 4, 5))):
        n_none += check(engine, forest, random_pairs(rng, len(forest)), rng.choice([1, 3])) is None
    assert n_none > 100


def test_does_not_depend_on_input_order():
    engine = make(direction="both")
    rng = random.Random(3)
    for _ in range(200):
        n = rng.randint(2, 8)
        forms = [rng.randint(1, 4) for _ in range(n)]
        heads = brute.random_forest(rng, n)
        pairs = random_pairs(rng, n)
        shuffle = rng.sample(range(n), n)  # new position -> old position
        place = {old: new for new, old in enumerate(shuffle)}
        moved = {
            "forms": [forms[old] for old in shuffle],
            "heads": [place.get(heads[old], heads[old]) for old in shuffle],
            "before": [(place[first], place[second]) for first, second in pairs],
        }
        answers = []
        for columns in ({"forms": forms, "heads": heads, "before": pairs}, moved):
            results, problem = answer(engine, 4, **columns)
            rows = [([columns["forms"][k] for k in result.order], round(result.score, 6)) for result in results]
            answers.append((rows, problem and problem.code))
        assert answers[0] == answers[1], (forms, heads, pairs)


def test_equal_words_are_told_apart_by_their_ties():
    """Of two equal words, the one that has to come last comes last."""
    engine = make()
    for pairs in ([(0, 1)], [(1, 0)], [(2, 0), (1, 2)], [(2, 1), (0, 2)]):
        best = engine.order(engine.bag(forms=[7, 7, 8], before=pairs), beam_width=2)[0]
        assert keeps(best.order.tolist(), pairs)


@pytest.mark.parametrize("length", [2, 9, 20, 70])
def test_ends_of_long_chains(length):
    """Equal words in two fixed sequences, which only their last words tell apart."""
    engine = make(direction="both")
    rng = random.Random(length)
    forms = [7] * length + [8] + [7] * length + [9]
    pairs = [(k, k + 1) for k in range(len(forms) - 1) if k != length]
    found = set()
    for _ in range(6):
        shuffle = rng.sample(range(len(forms)), len(forms))
        place = {old: new for new, old in enumerate(shuffle)}
        moved = [forms[old] for old in shuffle]
        bag = engine.bag(forms=moved, before=[(place[first], place[second]) for first, second in pairs])
        results = engine.order(bag, beam_width=4, n_best=4)
        found.add(tuple((tuple(moved[k] for k in result.order), result.score) for result in results))
    assert len(found) == 1


def test_a_long_bag_with_many_ties():
    """Far more than could be enumerated, with components that would have to cross."""
    engine = make(direction="both")
    rng = random.Random(4)
    for n in (30, 80):
        tree = brute.random_forest(rng, n, 0.7)
        gold = engine.order(engine.bag(forms=range(1, n + 1), heads=tree), beam_width=2)[0].order.tolist()
        pairs = [tuple(sorted(rng.sample(range(n), 2), key=gold.index)) for _ in range(n)]
        found = engine.order(engine.bag(forms=range(1, n + 1), heads=tree, before=pairs), beam_width=2)[0]
        assert keeps(found.order.tolist(), pairs)


def test_crossing_components_are_a_conflict():
    """a1 < b1 < a2 < b2 with arcs a1-a2 and b1-b2: all three are needed to make it impossible."""
    pairs = [(0, 2), (2, 1), (1, 3)]
    with pytest.raises(
        LinearizeError, match=r"SL008.*word 0 before word 2, word 2 before word 1, word 1 before word 3"
    ):
        make().order(make().bag(forms=[1, 2, 3, 4], heads=[FREE, 0, FREE, 2], before=[*pairs]))


def test_a_smallest_circle_is_named():
    pairs = [(0, 1), (1, 2), (2, 3), (3, 0), (1, 0)]
    engine = make()
    with pytest.raises(LinearizeError, match=r"SL008.*: word 0 'a' before word 1 'b', word 1 'b' before word 0 'a'\."):
        engine.bag(forms=[1, 2, 3, 4], before=pairs, texts=list("abcd"))
    # In a tree: the subject's subtree as a whole is before and after the verb.
    with pytest.raises(LinearizeError, match="SL008"):
        engine.bag(forms=[1, 2, 3], heads=[1, 2, ROOT], before=[(0, 2), (2, 1)])


@pytest.mark.parametrize("pair", [(0, 0), (0, 3), (-1, 0), (0,), (0, 1, 2), "ab", 5, None, ("a", "b")])
def test_bad_pairs(pair):
    engine = make()
    with pytest.raises(LinearizeError, match="SL007"):
        engine.bag(forms=[1, 2, 3], before=[pair])


def test_some_order_is_one_exactly_when_there_is_one():
    """What a bag falls back to, when precedences lead all states of the beam into dead ends."""
    engine = make()
    rng = random.Random(5)
    n_none = 0
    for forest in itertools.chain(*(brute.forests(n) for n in (2, 3)), brute.sample(4, 150), brute.sample(5, 100)):
        pairs = random_pairs(rng, len(forest))
        try:
            bag = engine.bag(forms=range(1, len(forest) + 1), heads=forest, before=pairs)
        except LinearizeError:
            continue
        order, possible = some_order(bag, OrderFirst()), orders_with(forest, pairs)
        assert order is None if not possible else tuple(order) in possible, (forest, pairs, order)
        n_none += order is None
    assert n_none > 5


@pytest.mark.parametrize(("system", "direction"), SYSTEMS)
def test_an_answer_when_the_beam_has_none(system, direction, monkeypatch):
    """It has its score, like any other."""
    engine = make(system, direction)
    monkeypatch.setattr(engine, "_ranked", lambda bags, widths, n_best: [[] for _ in bags])
    bag = engine.bag(forms=[1, 2, 3, 4, 5], heads=[FREE, 0, FREE, 2, FREE], before=[(1, 3), (4, 0)])
    best = engine.order(bag, beam_width=2)[0]
    assert tuple(best.order.tolist()) in orders_with((FREE, 0, FREE, 2, FREE), [(1, 3), (4, 0)])
    assert brute.is_projective(best.heads.tolist(), best.order.tolist())
    assert best.heads.tolist().count(ROOT) == 1
    columns = (best.order, best.heads, best.tags, best.labels)
    assert best.score == pytest.approx(sum(decoder.score(bag, *columns) for decoder in engine.decoders_for(bag)))
