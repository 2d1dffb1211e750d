"""The hash is frozen: models store weights by its values. If one of these numbers changes, old models are lost."""

import random

import slow

from spacy_linearize.core.features.templates import expand, fingerprint
from spacy_linearize.core.hashing import hash_text, mix_values, slot

PAPERS = ("unigram", "bigram", "trigram", "linearization", "lookahead", "lookahead_of_S0")


def test_golden_values():
    assert hash_text("") == GOLDEN["empty"]
    assert hash_text("dog") == GOLDEN["dog"]
    assert hash_text("Zoë") == GOLDEN["zoe"]
    assert mix_values([]) == 0
    assert mix_values([1]) == GOLDEN["mix 1"]
    assert mix_values([1, 2, 3]) == GOLDEN["mix 1 2 3"]
    assert slot(hash_text("dog"), mix_values([1]), 22) == GOLDEN["slot"]
    assert fingerprint(expand(PAPERS)) == GOLDEN["templates"]


def test_equals_the_slow_reference():
    rng = random.Random(0)
    for _ in range(1000):
        values = [rng.getrandbits(64) for _ in range(rng.randint(1, 5))]
        h = 0
        for value in values:
            h = slow.mix(h, value)
        assert mix_values(values) == h


def test_slots_fill_the_table_evenly():
    """Small numbers, as tests and tools use them for keys, spread as well as any others."""
    bits, template = 8, hash_text("S0.w L.w")
    counts = [0] * (1 << bits)
    for a in range(64):
        for b in range(64):
            counts[slot(mix_values([template, a]), mix_values([b]), bits)] += 1
    mean = 64 * 64 / len(counts)
    assert max(counts) < 3 * mean
    assert min(counts) > 0
    chi_square = sum((count - mean) ** 2 / mean for count in counts)
    assert chi_square < 330  # 99.9% for 255 degrees of freedom


def test_different_texts_get_different_keys():
    texts = {f"{a}{b}{c}" for a in "abcdefgh" for b in "abcdefgh" for c in ("", "é", "ß", "日")}
    assert len({hash_text(text) for text in texts}) == len(texts)
    assert 0 not in {hash_text(text) for text in texts}


GOLDEN = {
    "empty": 7953593613738545172,
    "dog": 9932458422668452606,
    "zoe": 15582996098980705088,
    "mix 1": 13874858863501469966,
    "mix 1 2 3": 5313477289782162893,
    "slot": 3620304,
    "templates": 2134217251088810306,
}
