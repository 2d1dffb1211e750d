"""Short runs of benchmarks/soak.py."""

import sys

import pytest
import soak
import spacy

pytestmark = pytest.mark.slow


@pytest.mark.skipif(sys.platform == "win32", reason="resident memory is read as on Unix")
def test_memory_stays_flat(trained_path):
    """New words in every Doc would add up to far more than this, if they or anything else were kept."""
    growth = soak.soak_memory(spacy.load(trained_path), 6000, n_points=6)
    assert growth < 200  # bytes a Doc; a Doc has some 500 bytes of new words alone


def test_threads_agree(trained_path):
    assert soak.soak_threads(spacy.load(trained_path), 8, minutes=0.03, n_docs=40) == 0
