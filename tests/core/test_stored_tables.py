"""Tables of weights in model files: with what is 0 left out, and of any size."""

import numpy as np
import pytest

from spacy_linearize.core import store
from spacy_linearize.core.weights import Weights
from spacy_linearize.errors import LinearizeError


@pytest.mark.parametrize("slots", [[], [0], [254], [255], [256], [0, 255, 511, 767], [509, 510, 1275, 1276, 9999]])
def test_gaps_stand_for_slots(slots):
    gaps = store.gaps_of(np.array(slots, dtype=np.int64))
    assert gaps.dtype == np.uint8
    assert store.slots_of(gaps).tolist() == slots
    assert int((gaps < store.MAX_GAP).sum()) == len(slots)
    # The slots one after the other, as in `docs/model_format.md`.
    found, place = [], 0
    for gap in gaps.tolist():
        place += gap
        if gap < 255:
            found.append(place)
            place += 1
    assert found == slots


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
@pytest.mark.parametrize("share", [0, 0.001, 0.1, 0.45, 0.55, 1])
def test_compact_tables_are_stored_by_what_they_hold(share, dtype, monkeypatch):
    """Where most weights are 0, only the others are."""
    rng = np.random.default_rng(0)
    units = np.where(rng.random(1 << 12) < share, rng.integers(1, 100, 1 << 12), 0).astype(dtype)
    units[-1] = -3
    for small_bits in (12, 11):  # a table that is larger than a small one has all of its weights
        monkeypatch.setattr(store, "SMALL_BITS", small_bits)
        weights, again = Weights(12), Weights(12)
        weights.from_units(units, 0.5)
        arrays = store.pack_table(weights, "t")
        assert ("t.gaps" in arrays) == (share < 0.5 and small_bits == 12)
        store.check_table(arrays, "t", 12, "x")
        store.unpack_table(arrays, "t", again)
        assert (again.to_units() == units).all()
        assert again.scale == 0.5
        for bits in (11, 13):
            if "t.gaps" not in arrays or bits == 11:
                with pytest.raises(LinearizeError, match=r"SL032.*'t' does not fit"):
                    store.check_table(arrays, "t", bits, "x")


def test_gaps_that_do_not_fit():
    weights = Weights(10)
    weights.from_units(np.array([0, 5] + [0] * 1021 + [1], dtype=np.int8), 0.5)
    arrays = store.pack_table(weights, "t")
    store.check_table(arrays, "t", 10, "x")
    gaps = arrays["t.gaps"]
    for wrong in (gaps[:-1], np.append(gaps, 0), np.append(gaps, 255), gaps + np.uint8(1), gaps.astype(np.uint16)):
        with pytest.raises(LinearizeError, match=r"SL032.*t"):
            store.check_table({**arrays, "t.gaps": wrong.astype(wrong.dtype)}, "t", 10, "x")


def test_large_tables_that_are_all_but_empty(monkeypatch):
    """They are stored with a few zeros, by which a file shows that it is for a table of this size."""
    monkeypatch.setattr(store, "SMALL_BITS", 11)
    rng = np.random.default_rng(0)
    for bits in (10, 11, 12, 14):
        for n in (0, 1, 500):
            table = np.zeros(1 << bits, dtype=np.float32)
            table[rng.integers(0, 1 << bits, n)] = 1.5
            weights, again = Weights(bits), Weights(bits)
            weights.from_array(table)
            arrays = store.pack_table(weights, "t")
            store.check_table(arrays, "t", bits, "x")
            store.unpack_table(arrays, "t", again)
            assert (again.to_array() == table).all()
            bare = {key: array[:0] for key, array in arrays.items()}
            if bits <= 11:
                assert len(arrays["t.slots"]) == np.count_nonzero(table)
                store.check_table(bare, "t", bits, "x")
            else:
                with pytest.raises(LinearizeError, match="SL032"):
                    store.check_table(bare, "t", bits, "x")
