"""A short run of `benchmarks/fuzz_training.py`, which the sanitizer build runs too."""

import os

import fuzz_training
import pytest

pytestmark = pytest.mark.slow
ROUNDS = int(os.environ.get("FUZZ_ROUNDS", "60"))  # for a longer run with the sanitizer build


def test_training_with_whatever_may_come():
    assert fuzz_training.run(rounds=ROUNDS, seed=0, long_every=20) > 100
