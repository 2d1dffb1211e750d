"""A short run of `benchmarks/fuzz_training.py`, which the sanitizer build runs too."""

import fuzz_training
import pytest

pytestmark = pytest.mark.slow


def test_training_with_whatever_may_come():
    assert fuzz_training.run(rounds=60, seed=0, long_every=20) > 100
