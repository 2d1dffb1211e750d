"""Tables of weights: averages, weights that wait, whole multiples of a scale, and what is refused."""

from collections import Counter

import numpy as np
import pytest
from helpers.core import copy, decoder, exact, hide, make, order, train

from spacy_linearize.core.records import Bag
from spacy_linearize.core.search.stepper import Stepper
from spacy_linearize.core.weights import MAX_BITS, MAX_UPDATES, MIN_BITS, Weights
from spacy_linearize.errors import LinearizeError
from spacy_linearize.trees import ROOT


@pytest.mark.parametrize("bits", [MIN_BITS - 1, MAX_BITS + 1])
def test_sizes(bits):
    with pytest.raises(LinearizeError, match=r"SL022.*'table_bits'"):
        Weights(bits)


@pytest.mark.parametrize("min_updates", [0, MAX_UPDATES + 1])
def test_numbers_of_updates(min_updates):
    with pytest.raises(LinearizeError, match=r"SL022.*'min_updates'"):
        Weights(4, min_updates)


def test_all_0_at_first():
    weights = Weights(5)
    assert len(weights) == 32
    assert weights.to_array().tolist() == [0.0] * 32
    assert weights.scale == 0


def test_array_and_back():
    values = np.random.default_rng(0).normal(size=32).astype(np.float32)
    weights = Weights(5)
    weights.from_array(values)
    assert (weights.to_array() == values).all()
    assert weights.at([3, 0, 3]) == [float(values[3]), float(values[0]), float(values[3])]
    weights.to_array()[:] = 0  # a copy
    assert (weights.to_array() == values).all()
    for slot in (-1, 32):
        with pytest.raises(IndexError):
            weights.at([slot])


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_units_and_back(dtype):
    units = np.arange(-16, 16).astype(dtype)
    weights = Weights(5)
    weights.from_units(units, 0.25)
    assert weights.scale == 0.25
    assert weights.to_units().dtype == dtype
    assert (weights.to_units() == units).all()
    assert (weights.to_array() == units * np.float32(0.25)).all()
    assert weights.at(range(32)) == (units * 0.25).tolist()
    weights.from_array(np.ones(32, dtype=np.float32))
    assert weights.scale == 0
    assert weights.at([7]) == [1.0]


@pytest.mark.parametrize("wrong", [np.zeros(31, np.float32), np.zeros((2, 16), np.float32), np.zeros(32, np.int8)])
def test_arrays_that_do_not_fit(wrong):
    weights = Weights(5)
    with pytest.raises(LinearizeError, match="SL022"):
        weights.from_array(wrong)


@pytest.mark.parametrize("wrong", [np.zeros(31, np.int8), np.zeros(32, np.float32)])
def test_units_that_do_not_fit(wrong):
    with pytest.raises(LinearizeError, match="SL022"):
        Weights(5).from_units(wrong, 1.0)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_leave_the_table_alone(value):
    weights = Weights(5)
    weights.from_array(np.ones(32, dtype=np.float32))
    wrong = np.zeros(32, dtype=np.float32)
    wrong[9] = value
    with pytest.raises(LinearizeError, match=r"SL022.*not finite"):
        weights.from_array(wrong)
    assert weights.to_array().tolist() == [1.0] * 32


def test_averaging(mini):
    """The averaged weights are the mean of the weights after each example, the start included."""
    engine = make(table_bits=12, attach_bits=8, update="max_violation")
    engine.learn_lexicon(mini)
    s = mini[3]
    engine.update([(hide(s, tags=1, heads=1), s)])
    # One update at time 1 of 2: the mean is half of the weights, which are whole numbers.
    first = decoder(engine).weights.to_array()
    assert np.abs(first).max() > 0
    assert ((first * 2) % 1 == 0).all()
    one = Bag(forms=[1], tags=[1], heads=[ROOT], labels=[1])
    engine.update([(Bag(forms=[1]), one)])  # nothing to learn here
    assert decoder(engine).weights.to_array() == pytest.approx(first * 2 * 2 / 3)


class TestMinUpdates:
    def test_a_weight_waits(self):
        """Two words in the order that a model without weights does not choose: until there are some, every update adds
        to the same features, and takes from the same ones."""
        engine = make(min_updates=3, groups=("words",), update="max_violation")
        forms = np.array([5, 6])[order(engine, forms=[5, 6])[0].order[::-1]]
        gold = Bag(forms=forms, tags=[0, 0], heads=[ROOT, 0], labels=[0, 0])
        bag = Bag(forms=forms)

        def slots(words):
            stepper = Stepper(decoder(engine), engine.pack(bag))
            for word in words:
                i = [action[1] for action in stepper.legal].index(word)
                yield from (slot for _, slot in stepper.features(i))
                stepper = stepper.step(i)

        changes = [*((slot, 1) for slot in slots([0, 1])), *((slot, -1) for slot in slots([1, 0]))]
        met, weights = Counter(), Counter()
        for n_updates in range(1, 4):
            for slot, change in changes:
                met[slot] += 1
                weights[slot] += change * (met[slot] >= 3)
            assert any(weights.values()) == (n_updates == 3)
            assert engine.update([(bag, gold)]).violations == 1
            # The third of three updates counts for a quarter of the time.
            expected = {slot: weight / 4 for slot, weight in weights.items() if weight}
            table = decoder(engine).weights.to_array()
            assert {slot: table[slot] for slot in np.flatnonzero(table)} == expected
        assert engine.update([(bag, gold)]).violations == 0

    def test_what_is_not_0_waits_no_more(self, mini):
        """A model that was loaded goes on with its weights at once, also a compact one."""
        engine = make(min_updates=4, table_bits=16)
        train(engine, mini, epochs=3)
        engine.compact(0.01)
        loaded = copy(engine)
        before = decoder(loaded).weights.to_array()
        loaded.update([(hide(s, tags=1, heads=0), s) for s in mini[:3]])
        changed = decoder(loaded).weights.to_array() != before
        assert changed[before != 0].sum() > changed[before == 0].sum()

    def test_fewer_weights_do(self, mini):
        engines = [make(min_updates=n, table_bits=16, update="max_violation") for n in (1, 3)]
        for engine in engines:
            train(engine, mini, epochs=6)
            assert exact(engine, mini) >= 0.9
        all_of_them, fewer = (np.count_nonzero(decoder(engine).weights.to_array()) for engine in engines)
        assert fewer < 0.8 * all_of_them
        assert copy(engines[1]).settings.min_updates == 3
