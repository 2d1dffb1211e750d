"""Lifted trees: which orders they allow, against brute force, and how few arcs a gold order lifts."""

import itertools
import random

import pytest
from helpers import brute
from helpers.core import make, order

from spacy_linearize.core.lift.lifting import apply_lifts, decorate, lift_given, lifts_of
from spacy_linearize.core.records import Bag
from spacy_linearize.trees import FREE, MAX_LIFTABLE, ROOT, is_projective, lift


def liftings(heads):
    """Every way to hang some words below ancestors of their heads."""
    choices = [brute.chain(heads, head) if head >= 0 else [head] for head in heads]
    return itertools.product(*choices)


def in_order(heads, positions):
    """Heads by place in an order."""
    place = {k: i for i, k in enumerate(positions)}
    return [place.get(heads[k], heads[k]) for k in positions]


class TestReach:
    @pytest.mark.parametrize("n", [1, 2, 3, 4])
    def test_every_lifting_of_every_forest(self, n):
        """The orders of a lifted forest, and no others; the heads stay the given ones."""
        engine = make(table_bits=4, attach_bits=4)
        for heads in brute.forests(n):
            bag = Bag(forms=range(1, n + 1), heads=heads)
            reached = set()
            for lifted in liftings(heads):
                lifts = tuple((k, h) for k, h in enumerate(lifted) if h != heads[k])
                forced = Bag(forms=bag.forms, heads=heads, lifts=lifts)
                found = order(engine, forced, beam_width=100, n_best=100, tree=False)
                assert {tuple(one.order.tolist()) for one in found} == {o for o, _ in brute.expected(lifted)}
                assert all(tuple(one.heads.tolist()) == heads and one.lifts == lifts for one in found)
                reached |= {tuple(one.order.tolist()) for one in found}
            if heads.count(ROOT) == 1 and FREE not in heads:
                assert reached == set(itertools.permutations(range(n)))

    @pytest.mark.parametrize("n", [1, 2, 3, 4])
    def test_every_order_of_every_tree_has_a_lifting(self, n):
        for heads in brute.forests(n):
            if FREE in heads:
                continue
            for positions in itertools.permutations(range(n)):
                own = in_order(heads, positions)
                lifted = lift(own)
                assert is_projective(lifted)
                assert tuple(lifted) in set(liftings(own))
                if is_projective(own):
                    assert lifted == own
                for mark in range(n):
                    assert is_projective(lift(own, [mark]))

    def test_what_cannot_be_lifted(self):
        """Arcs of two components that cross: no order of any lifting is this one."""
        assert lift([2, 3, FREE, FREE]) is None
        for n in range(1, 5):
            for heads in brute.forests(n):
                can_be = any(
                    tuple(range(n)) == positions for new in liftings(heads) for positions, _ in brute.expected(new)
                )
                assert (lift(heads) is not None) == can_be, heads

    @pytest.mark.parametrize("heads", [[2, 0, 1, 1], [3, 2, 1, ROOT], [9, ROOT, 1]])
    def test_what_is_no_forest(self, heads):
        """Cycles, and heads that are no positions."""
        assert lift(heads) is None

    def test_long_sentences(self):
        heads = [2, 3, ROOT, *[2] * (MAX_LIFTABLE - 2)]
        assert lift(heads) is None
        assert lift(heads[:-1]) == [2, 2, *heads[2:-1]]


class TestMarks:
    def test_a_mark_is_lowered_rather_than_two_words_lifted(self):
        """apples , pears and plums are good: the comma hangs below the predicate."""
        heads = [6, 6, 0, 4, 0, 6, ROOT]
        assert lift(heads, marks=[1]) == [6, 0, 0, 4, 0, 6, ROOT]
        assert lift(heads) == [6, 6, 6, 4, 6, 6, ROOT]

    def test_a_mark_with_dependents_stays(self):
        heads = [6, 6, 0, 1, 0, 6, ROOT]
        assert lift(heads, marks=[1])[1] == 6

    def test_a_mark_that_is_in_nobodys_way_stays(self):
        assert lift([1, ROOT, 1, 4, 1, 1], marks=[2, 5]) == [1, ROOT, 1, 4, 1, 1]


class TestBags:
    def test_labels_say_what_was_lifted(self):
        bag = Bag(forms=[1, 2, 3, 4], heads=[1, 2, ROOT, 2], labels=[11, 12, 13, 14])
        lifted = apply_lifts(bag, ((0, 2),))
        assert lifted.column("heads").tolist() == [2, 2, ROOT, 2]
        assert lifted.column("labels").tolist() == [decorate(11, 12), 12, 13, 14]
        assert lifts_of(bag, lifted.column("heads")) == ((0, 2),)

    def test_a_lowered_mark_keeps_its_label(self):
        bag = Bag(forms=[1, 2, 3], heads=[1, ROOT, 1], labels=[11, 12, 13])
        assert apply_lifts(bag, ((2, 0),)).column("labels").tolist() == [11, 12, 13]

    def test_units_are_lifted_with_their_tokens(self):
        tokens = Bag(forms=[1, 2, 3, 4], heads=[1, 2, ROOT, 2], labels=[11, 12, 13, 14])
        bag = Bag(
            forms=[1, 2, 3],
            heads=[1, 2, ROOT],
            labels=[11, 12, 13],
            tokens=tokens,
            members=[range(0, 1), range(1, 2), range(2, 4)],
            tops=[0, 1, 2],
        )
        lifted = apply_lifts(bag, ((0, 2),))
        assert lifted.tokens.column("heads").tolist() == [2, 2, ROOT, 2]
        assert lifted.tokens.column("labels")[0] == decorate(11, 12)

    def test_given_arcs_are_lifted_as_far_as_they_lead(self):
        """In training: a bag with some arcs of a gold tree is ordered in a part of the lifted gold tree."""
        rng = random.Random(0)
        n_free = 0
        for heads in brute.sample(7, 200, shares=(1.0,)):
            lifted = lift(heads)
            if lifted is None:
                continue
            bag = Bag(forms=range(7), heads=[h if rng.random() < 0.7 else FREE for h in heads])
            given, gold = bag.column("heads"), Bag(forms=range(7), heads=heads).column("heads")
            new = lift_given(given, gold, Bag(forms=range(7), heads=lifted).column("heads")).tolist()
            assert all(h in (FREE, right) for h, right in zip(new, lifted, strict=True))
            assert all(h == FREE or new[k] in (FREE, *brute.chain(given, h)) for k, h in enumerate(given) if h >= 0)
            n_free += sum(h == FREE != g for h, g in zip(new, given, strict=True))
        assert n_free
