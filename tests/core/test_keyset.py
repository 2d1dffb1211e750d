"""The set of keys, against a set of Python."""

import random

import numpy as np

from spacy_linearize.core.keyset import KeySet


def test_is_a_set():
    rng = random.Random(1)
    keys, plain = KeySet(), set()
    for _ in range(300):
        drawn = [rng.choice([rng.randrange(50), rng.getrandbits(64)]) for _ in range(rng.randrange(40))]
        some = np.unique(np.array(drawn, dtype=np.uint64))
        rng.shuffle(some)
        assert keys.add(some).tolist() == [key not in plain for key in some.tolist()]
        plain.update(some.tolist())
        assert len(keys) == len(plain)
    assert keys.to_array().tolist() == sorted(plain)
    assert keys.to_array().dtype == np.uint64


def test_runs_are_few():
    keys = KeySet()
    for k in range(5000):
        keys.add(np.array([k * 7919], dtype=np.uint64))
    assert len(keys._runs) <= 14


def test_nothing():
    assert KeySet().to_array().tolist() == []
    assert KeySet().add(np.empty(0, dtype=np.uint64)).tolist() == []
