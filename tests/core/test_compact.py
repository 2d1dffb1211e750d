"""Models made small: light weights dropped, the others rounded to multiples of a step."""

import numpy as np
import pytest
from helpers.core import copy, decoder, decoders, exact, from_bytes, hide, make, order, plain, to_bytes, train


@pytest.fixture(scope="module")
def engine(mini):
    engine = make(direction="both", table_bits=16, ngram_order=3)
    train(engine, mini, epochs=6)
    return engine


@pytest.fixture(scope="module")
def compact(engine):
    compact = copy(engine)
    compact.compact(0.02)
    return compact


def test_weights_are_multiples(engine, compact):
    full = [*decoders(engine), engine.attacher]
    for one, other in zip([*decoders(compact), compact.attacher], full, strict=True):
        table, before, scale = one.weights.to_array(), other.weights.to_array(), np.float32(one.weights.scale)
        assert other.weights.scale == 0
        units = np.rint(table / scale)
        assert scale > 0
        assert np.abs(units).max() <= 127
        assert (units.astype(np.float32) * scale == table).all()
        assert (table[np.abs(before) < 0.02] == 0).all()
        fits = (np.abs(before) >= 0.02) & (np.abs(before) <= 127 * scale)
        assert np.abs(table - before)[fits].max(initial=0) <= scale / 2 * 1.0001
        too_large = np.abs(before) > 127 * scale
        assert (table[too_large] == np.sign(before[too_large]) * np.float32(127) * scale).all()


@pytest.mark.parametrize(("prune", "is_cut"), [(0.0, False), (0.001, True), (0.02, True), (10.0, False)])
def test_steps(engine, prune, is_cut):
    """They are as fine as the largest weight allows, and never coarser than what is dropped."""
    compact = copy(engine)
    compact.compact(prune)
    for one, other in zip(decoders(compact), decoders(engine), strict=True):
        largest = np.abs(other.weights.to_array()).max()
        assert (np.abs(one.weights.to_array()).max() < 0.99 * largest) == (is_cut or largest < prune)
        assert 0 < one.weights.scale <= (prune or largest) * 1.0001


def test_round_trip(engine, compact, mini):
    data = to_bytes(compact)
    assert len(data) < 0.5 * len(to_bytes(engine))
    loaded = from_bytes(data)
    assert to_bytes(loaded) == data
    for one, other in zip(decoders(compact), decoders(loaded), strict=True):
        assert one.weights.scale == other.weights.scale
        assert (one.weights.to_array() == other.weights.to_array()).all()
    for s in mini[:20]:
        a, b = (order(e, hide(s, tags=0.5, heads=0.5), n_best=3) for e in (compact, loaded))
        assert plain(a) == plain(b)


def test_orders_nearly_as_well(engine, compact, mini):
    for tags, heads in ((1, 1), (0, 0)):
        assert exact(compact, mini, tags, heads) >= exact(engine, mini, tags, heads) - 0.05


def test_twice_changes_nothing(compact):
    again = copy(compact)
    again.compact(0.02)
    assert to_bytes(again) == to_bytes(compact)


def test_training_goes_on(compact, mini):
    loaded = copy(compact)
    loaded.update([(hide(s), s) for s in mini[:10]])
    assert to_bytes(loaded) != to_bytes(compact)
    assert decoder(loaded).weights.scale == 0


def test_training_goes_on_from_the_compact_weights(mini):
    """Whether or not the model was stored in between."""
    engine = make()
    train(engine, mini[:20], epochs=1)
    engine.compact(0.5)
    loaded = copy(engine)
    for e in (engine, loaded):
        e.update([(hide(s, tags=1, heads=1), s) for s in mini[:5]])
    assert to_bytes(engine) == to_bytes(loaded)


def test_an_empty_model():
    engine = make()
    engine.compact(0.1)
    assert to_bytes(copy(engine)) == to_bytes(engine)
    assert not decoder(engine).weights.to_array().any()


def test_bags_without_arcs_have_a_threshold_of_their_own(mini):
    engine = make(table_bits=14)
    train(engine, mini[:30], epochs=1)
    before = {name: one.weights.to_array() for name, one in engine.experts}
    engine.compact(0.5, free_prune=0.1)
    for name, one in engine.experts:
        least = 0.1 if name.startswith("free") else 0.5
        kept = one.weights.to_array() != 0
        assert (kept == (np.abs(before[name]) >= least)).mean() > 0.999  # but for what is rounded to 0
        assert kept.any()
