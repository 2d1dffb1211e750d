"""Updates, beside a slow search that is written with `Stepper` alone."""

import random
from math import exp

import numpy as np
import pytest
from helpers import brute, core
from helpers.core import decoder, pack

from spacy_linearize.core.search.learn import RULES, TEMPERATURE, update
from spacy_linearize.core.search.stepper import Stepper
from spacy_linearize.trees import FREE, ROOT

pytestmark = pytest.mark.slow

BITS = 12


class Path:
    """A derivation as far as it goes: where it stands, and the features of each of its actions."""

    def __init__(self, state, features=(), is_gold=True):
        self.state, self.features, self.is_gold = state, features, is_gold

    def steps(self, gold):
        """All paths that are one action longer."""
        right = self.state.gold(*gold) if self.is_gold else None
        for i in range(len(self.state.legal)):
            slots = [slot for _, slot in self.state.features(i)]
            yield Path(self.state.step(i), (*self.features, slots), i == right)


def beams(decoder, bag, gold, width):
    """The beam of each step, with the gold path beside it."""
    beam, right = [Path(Stepper(decoder, bag))], Path(Stepper(decoder, bag))
    while not right.state.is_final:
        beam = sorted((new for path in beam for new in path.steps(gold)), key=lambda path: -path.state.total)[:width]
        right = next(path for path in right.steps(gold) if path.is_gold)
        yield beam, right


def expected_changes(decoder, bag, gold, width, rule, temperature):
    """What an update adds to each weight, and whether the gold path lost."""
    steps = list(beams(decoder, bag, gold, width))
    if rule == "early":
        fallen = [i for i, (beam, _) in enumerate(steps) if not any(path.is_gold for path in beam)]
        steps = steps[: fallen[0] + 1] if fallen else steps
    beam, right = steps[-1]
    lost = not beam[0].is_gold
    if lost and rule != "early":
        # Of equal ones the last step counts.
        beam, right = max((steps[-1], *steps), key=lambda step: step[0][0].state.total - step[1].state.total)
    shares = {path: 1.0 for path in beam[:1] if not path.is_gold}
    if rule == "softmax":
        odds = {path: exp((path.state.total - right.state.total) / temperature) for path in beam if not path.is_gold}
        shares = {path: one / (1 + sum(odds.values())) for path, one in odds.items()}
    changes = np.zeros(1 << BITS)
    for path, share in shares.items():
        if share >= 0.01:
            np.add.at(changes, [slot for slots in right.features for slot in slots], share)
            np.add.at(changes, [slot for slots in path.features for slot in slots], -share)
    return changes, lost


@pytest.mark.parametrize("system", ["order_first", "joint"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("width", [1, 3, 50])
def test_updates_are_those_of_the_slow_search(system, rule, width):
    groups = ("words", "tree", "pairs") if system == "order_first" else ("unigram", "words", "tree", "pairs")
    rng = random.Random(width)
    outcomes = []
    for _ in range(20):
        engine = core.make(system=system, groups=groups, labelled=False, table_bits=BITS, attach_bits=8)
        learner = decoder(core.randomize(engine))
        before = learner.weights.to_array()
        n = rng.randint(1, 5)
        given = brute.random_forest(rng, n)
        order, tree = rng.choice(sorted(brute.expected(given)))
        tags = [rng.randint(1, 3) for _ in range(n)]
        labels = [rng.randint(1, 3) if head != FREE else 0 for head in given]
        bag = pack(engine, forms=[rng.randint(1, 9) for _ in range(n)], tags=tags, heads=given, labels=labels)
        gold = (order, tree, tags, labels)
        temperature = TEMPERATURE * len(learner.features)
        changes, lost = expected_changes(learner, bag, gold, width, rule, temperature)
        assert update(learner, [(bag, *gold)], widths=[width], rule=rule)[0] == lost
        # One update at time 1 of 2: half of it is in the mean.
        found = 2 * (learner.weights.to_array() - before)
        assert found == pytest.approx(changes, abs=1e-4)
        outcomes.append((lost, bool(changes.any())))
    assert (True, True) in outcomes
    # Only the softmax has something to learn from a gold derivation that wins.
    assert ((False, True) in outcomes) == (rule == "softmax" and width > 1)


@pytest.mark.parametrize("rule", RULES)
def test_nothing_to_learn(rule):
    engine = core.make(table_bits=BITS, attach_bits=8)
    learner = decoder(engine)
    nothing, one_word = (pack(engine, forms=[]), [], [], [], []), (pack(engine, forms=[1]), [0], [ROOT], [0], [0])
    assert update(learner, [nothing, one_word], widths=[4, 4], rule=rule) == (0, 0)
    assert not learner.weights.to_array().any()


def test_examples_are_learned_from_one_by_one():
    """All at once is the same as one after the other, with beams of their own."""
    rng, engines = random.Random(0), [core.make(table_bits=BITS, attach_bits=8) for _ in range(2)]
    examples = [
        (
            {"forms": [rng.randint(1, 9) for _ in range(n)], "tags": [1] * n},
            [list(range(n)), [FREE] * n, [1] * n, [0] * n],
        )
        for n in (4, 6, 3, 5)
    ]
    widths = [3, 1, 8, 2]
    lost = update(decoder(engines[0]), [(pack(engines[0], **bag), *gold) for bag, gold in examples], widths=widths)
    parts = [
        update(decoder(engines[1]), [(pack(engines[1], **bag), *gold)], widths=[width])
        for (bag, gold), width in zip(examples, widths, strict=True)
    ]
    assert lost == tuple(map(sum, zip(*parts, strict=True)))
    tables = [decoder(engine).weights.to_array() for engine in engines]
    assert tables[0].any()
    assert (tables[0] == tables[1]).all()


def test_words_beyond_the_first_64():
    """Their bits are elsewhere."""
    n, rng = 66, random.Random(0)
    engine = core.make(groups=("words",), labelled=False, table_bits=BITS, attach_bits=8)
    learner = decoder(core.randomize(engine))
    before = learner.weights.to_array()
    tags = [rng.randint(1, 3) for _ in range(n)]
    bag = pack(engine, forms=[rng.randint(1, 9) for _ in range(n)], tags=tags)
    gold = (list(range(n)), [FREE] * n, tags, [0] * n)
    changes, lost = expected_changes(learner, bag, gold, 2, "softmax", TEMPERATURE * len(learner.features))
    assert update(learner, [(bag, *gold)], widths=[2])[0] == lost
    assert 2 * (learner.weights.to_array() - before) == pytest.approx(changes, abs=1e-4)
    assert changes.any()
