"""What the two systems can reach is exactly what a brute force finds, for every small forest, in both directions."""

from collections import Counter

import brute
import pytest

from spacy_linearize.core.bag.bag import PackedBag
from spacy_linearize.core.features.plan import Features
from spacy_linearize.core.lexicon import Lexicon
from spacy_linearize.core.search.beam import Decoder
from spacy_linearize.core.search.stepper import Stepper
from spacy_linearize.core.systems.joint import Joint
from spacy_linearize.core.systems.order_first import OrderFirst
from spacy_linearize.core.weights import Weights


def make_decoder(system, mirrored):
    return Decoder(system(), Features([]), Weights(4), Lexicon(), mirrored=mirrored, labelled=False)


def explore(state, mirrored):
    """Count the derivations of each (order, arcs), and the dead ends."""
    found, dead = Counter(), 0
    todo = [state]
    while todo:
        state = todo.pop()
        if state.is_final:
            order = state.order[::-1] if mirrored else state.order
            found[order, tuple(sorted(state.arcs.items()))] += 1
        else:
            dead += not state.legal
            todo.extend(state.step(i) for i in range(len(state.legal)))
    return found, dead


def check(heads, system, mirrored):
    bag = PackedBag([101 + k for k in range(len(heads))], heads=list(heads))
    found, dead = explore(Stepper(make_decoder(system, mirrored), bag), mirrored)
    want = brute.expected(heads)
    if system is Joint:
        want = {(o, tuple((d, h) for d, h in enumerate(t) if h >= 0)) for o, t in want}
    else:
        want = {(order, ()) for order, _ in want}
    assert set(found) == want, heads
    assert dead == 0, heads
    assert max(found.values()) == 1, heads


def test_there_are_374_forests_of_up_to_4_words():
    assert sum(len(brute.forests(n)) for n in range(1, 5)) == 374


@pytest.mark.parametrize("mirrored", [False, True], ids=["ltr", "rtl"])
@pytest.mark.parametrize("system", [OrderFirst, Joint])
class TestReach:
    def test_every_forest_of_up_to_4_words(self, system, mirrored):
        for n in range(1, 5):
            for heads in brute.forests(n):
                check(heads, system, mirrored)

    def test_300_forests_of_5_words(self, system, mirrored):
        for heads in brute.sample(5, 300, seed=5, shares=(0.6, 0.8, 1.0)):
            check(heads, system, mirrored)

    def test_50_forests_of_6_words(self, system, mirrored):
        for heads in brute.sample(6, 50, seed=6, shares=(0.8, 1.0)):
            check(heads, system, mirrored)

    def test_nothing_and_one_word(self, system, mirrored):
        decoder = make_decoder(system, mirrored)
        assert Stepper(decoder, PackedBag([])).is_final
        assert decoder.decode(PackedBag([]), width=4)[0][1].tolist() == []
        assert decoder.decode(PackedBag([7]), width=4)[0][1].tolist() == [0]

    def test_gold_is_the_one_derivation(self, system, mirrored):
        """Following the gold action leads to every (order, tree) of a forest."""
        decoder = make_decoder(system, mirrored)
        for heads in brute.sample(4, 40, seed=4):
            bag = PackedBag([101 + k for k in range(4)], heads=list(heads))
            for order, tree in sorted(brute.expected(heads))[::7]:
                state = Stepper(decoder, bag)
                while not state.is_final:
                    state = state.step(state.gold(order, tree, [0] * 4, [0] * 4))
                assert (state.order[::-1] if mirrored else state.order) == order
                if system is Joint:
                    assert state.arcs == {d: h for d, h in enumerate(tree) if h >= 0}


@pytest.mark.parametrize("mirrored", [False, True], ids=["ltr", "rtl"])
@pytest.mark.parametrize("system", [OrderFirst, Joint])
def test_twins_are_shifted_in_one_sequence_only(system, mirrored):
    """With equal words, each different sentence has one derivation, and none is lost."""
    forms = [11, 11, 12, 12, 12]
    for heads in brute.sample(5, 60, seed=8):
        bag = PackedBag(forms, heads=list(heads))
        found, dead = explore(Stepper(make_decoder(system, mirrored), bag), mirrored)
        assert dead == 0

        def canonical(order, arcs, forms=forms, heads=heads):
            """The sentence as words with places of built and given heads: the same whatever twin has which name."""
            place = {k: i for i, k in enumerate(order)}
            arcs = dict(arcs)
            rows = [(forms[k], place.get(arcs.get(k, -1), -1), place.get(heads[k], heads[k])) for k in order]
            return tuple(rows)

        sentences = Counter(canonical(order, arcs) for order, arcs in found)
        want = brute.expected(heads)
        if system is OrderFirst:
            want = {canonical(order, ()) for order, _ in want}
        else:
            want = {canonical(order, [(d, h) for d, h in enumerate(tree) if h >= 0]) for order, tree in want}
        assert set(sentences) == want, heads
        assert max(sentences.values()) == 1, heads


def test_words_are_twins_only_if_all_that_is_given_is_equal():
    decoder = make_decoder(OrderFirst, False)
    given = [True, False]
    for heads in ([-1, -2], [-1, -1], [-2, -1], [1, -1], [-1, 0]):
        for a in given:
            for b in given:
                bag = PackedBag([7, 7], tags=[3, 3], given=[a, b], heads=heads)
                twins = heads == [-1, -1] and a == b
                assert len(Stepper(decoder, bag).legal) == (1 if twins else 2), (heads, a, b)
    assert len(Stepper(decoder, PackedBag([7, 7], labels=[1, 2])).legal) == 2
    assert len(Stepper(decoder, PackedBag([7, 7], labels=[1, 1])).legal) == 1
