"""A derivation step by step, as tests and explanations go through it."""

import random

import pytest
from helpers import brute, core
from helpers.core import decoder, pack

from spacy_linearize.core.features.templates import PAIR_ATOMS
from spacy_linearize.core.search.stepper import Stepper
from spacy_linearize.trees import FREE, ROOT


@pytest.fixture(scope="module", params=["order_first", "joint"])
def engine(request):
    return core.randomize(core.make(system=request.param, direction="right_to_left", labelled=False))


def test_actions_that_are_not_there(engine):
    state = Stepper(decoder(engine), pack(engine, forms=[1, 2]))
    for method in (state.step, state.score, state.features, state.instances):
        with pytest.raises(IndexError):
            method(len(state.legal))


def test_a_state_stays_as_it_is(engine):
    state = Stepper(decoder(engine), pack(engine, forms=[1, 2, 3], heads=[1, FREE, FREE]))
    before = state.legal, state.stack, state.order, state.total, state.n_actions
    after = [state.step(i) for i in range(len(state.legal))]
    assert (state.legal, state.stack, state.order, state.total, state.n_actions) == before
    assert len({one.order for one in after}) == len(after)


def test_features_are_the_instances_without_what_they_see(engine):
    """Their weights add up to the score of the action."""
    rng = random.Random(1)
    weights = decoder(engine).weights
    for _ in range(20):
        n = rng.randint(1, 8)
        heads = brute.random_forest(rng, n)
        columns = {"forms": [rng.randint(1, 5) for _ in range(n)], "labels": [rng.randint(1, 3) for _ in range(n)]}
        state = Stepper(decoder(engine), pack(engine, heads=heads, **columns))
        while not state.is_final:
            for i in range(len(state.legal)):
                instances = state.instances(i)
                assert state.features(i) == [(template, slot) for template, _, slot in instances]
                assert sum(weights.at(slot for _, _, slot in instances)) == pytest.approx(state.score(i), abs=1e-4)
                for template, seen, _ in instances:
                    if template.split()[0] in PAIR_ATOMS:
                        family, first, second = seen
                        assert all(k == family or heads[k] == family for k in (first, second))
                    else:
                        assert list(seen) == template.split()
                        assert all(seen.values())
            state = state.step(rng.randrange(len(state.legal)))


def test_no_gold_action_beside_the_gold_derivation(engine):
    """Once a derivation has left the gold order, there is no gold action any more."""
    bag = pack(engine, forms=[1, 2], tags=[3, 4])
    state = Stepper(decoder(engine), bag)
    assert state.gold([0, 1], [1, ROOT], [3, 4], [0, 0]) >= 0
    state = state.step(state.gold([0, 1], [1, ROOT], [3, 4], [0, 0]))
    assert state.gold([1, 0], [1, ROOT], [3, 4], [0, 0]) == -1
