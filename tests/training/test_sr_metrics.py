"""Metrics of the Surface Realisation shared tasks, beside values computed by hand."""

from math import exp, log, log2

import pytest

from spacy_linearize.training.sr_metrics import closeness, edit_distance, nist, sr_scores

SHE = ["She", "opened", "the", "door", "."]


def test_bleu_is_lower_cased_and_smoothed():
    right = sr_scores([(SHE, SHE)])
    assert right["sr_bleu"] == pytest.approx(1)
    assert right["sr_dist"] == 1
    assert sr_scores([([word.upper() for word in SHE], SHE)]) == pytest.approx(right)
    # Five words, then of 4, 3 and 2 n-grams 2, 1 and 0 are right: "opened the", "the door", "opened the door".
    other = sr_scores([([".", "opened", "the", "door", "She"], SHE)])
    assert other["sr_bleu"] == pytest.approx((1 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)


def test_nist_by_hand():
    # Each word occurs once: a word tells log2(5), the words that follow it nothing.
    assert nist([(SHE, SHE)]) == pytest.approx(log2(5))
    # "a" tells log2(4 / 2), "b" and "c" log2(4); "a b" and "a c" tell log2(2 / 1).
    gold = ["a", "b", "a", "c"]
    words, pairs = (2 * 1 + 2 * 2) / 4, (1 + 0 + 1) / 3
    assert nist([(gold, gold)]) == pytest.approx(words + pairs)
    assert nist([(["b", "a", "c", "a"], gold)]) == pytest.approx(words + (0 + 1) / 3)


def test_nist_of_short_outputs():
    penalty = exp(log(0.5) * (log(3 / 5) / log(1.5)) ** 2)
    assert nist([(SHE[:3], SHE)]) == pytest.approx(log2(5) * penalty)
    assert nist([([], SHE)]) == 0


def test_edit_distance():
    assert edit_distance(SHE, SHE) == 0
    assert edit_distance([], SHE) == 5
    assert edit_distance(["opened", "She", "the", "door", "."], SHE) == 2
    assert edit_distance(["the", "door", "opened"], ["door", "opened"]) == 1
    # Over all pairs, not a mean of their shares.
    assert closeness([(SHE, SHE), (["Yes"], ["No"])]) == pytest.approx(1 - 1 / 6)
