"""Pruning: against the formula, and what must hold of whatever is left."""

from collections import Counter

import numpy as np
import pytest
from helpers.stolcke import worth_of
from helpers.texts import TWO, entries_of, make_corpus, model_from, models_from, sums_by_context

from spacy_linearize.core.ngrams.backoff import interpolate
from spacy_linearize.core.ngrams.prune import prune
from spacy_linearize.core.ngrams.table import BEGIN_KEY as BEGIN
from spacy_linearize.core.ngrams.table import END_KEY as END

CORPUS = make_corpus(300, 25, seed=3, longest=10)


def shares_of(sentences, order):
    """How often each n-gram was seen, as a share of all words and ends."""
    padded = [(BEGIN, *sentence, END) for sentence in sentences]
    seen = Counter(s[i : i + n] for s in padded for n in range(1, order) for i in range(len(s) - n + 1))
    n_words = sum(len(s) - 1 for s in padded)
    return {gram: number / n_words for gram, number in seen.items()}


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("order", [2, 3, 5])
def test_what_is_worth_most_is_kept(order, share):
    model, vocabulary, _ = model_from(CORPUS, order)
    entries = entries_of(model, vocabulary.keys)
    worth = worth_of(entries, shares_of(CORPUS, order))
    n_longer = int(share * len(worth))
    smaller = prune(model, model.n_words + n_longer)
    kept = {gram for gram in entries_of(smaller, vocabulary.keys) if len(gram) > 1}
    assert len(kept) == n_longer
    assert smaller.sizes[0] == model.n_words
    # Logarithms of 32 bits: n-grams of nearly the same worth may change places.
    if kept:
        least = min(worth[gram] for gram in kept)
        most = max(worth[gram] for gram in worth.keys() - kept)
        assert most <= least * 1.001 + 1e-9


@pytest.mark.parametrize("n_longer", [0, 1, 2, 10, 100, 500, 1000])
@pytest.mark.parametrize("order", [2, 3, 4, 5])
def test_what_is_left_is_a_model(order, n_longer):
    """Every n-gram has its context and its suffix, probabilities stay, and those after each context have the sum 1."""
    model, vocabulary, _ = model_from(CORPUS, order)
    before = entries_of(model, vocabulary.keys)
    smaller = prune(model, model.n_words + n_longer)
    assert sum(smaller.sizes) == min(model.n_words + n_longer, sum(model.sizes))
    after = entries_of(smaller, vocabulary.keys)
    for gram, (probability, _) in after.items():
        assert probability == before[gram][0]
        assert len(gram) == 1 or (gram[1:] in after and gram[:-1] in after)
    assert sums_by_context(after) == pytest.approx(1, abs=1e-4)


def test_a_mixture_can_be_pruned():
    models, vocabulary = models_from(TWO, 4)
    mixture = interpolate(models, [0.5, 0.5])
    half = sum(mixture.sizes) // 2
    smaller = prune(mixture, half)
    assert sum(smaller.sizes) == half
    assert sums_by_context(entries_of(smaller, vocabulary.keys)) == pytest.approx(1, abs=1e-4)


def test_more_room_loses_less():
    """The text is less probable with each n-gram that goes."""
    model, vocabulary, text = model_from(CORPUS, 3)
    numbers = vocabulary.numbers[0]
    n_longer = sum(model.sizes) - model.n_words
    last = None
    for share in (1.0, 0.6, 0.3, 0.1, 0.0):
        smaller = prune(model, model.n_words + int(share * n_longer))
        logarithm = np.log(smaller.probabilities(text.read(), numbers)).sum()
        assert last is None or logarithm < last
        last = logarithm


def test_nothing_is_pruned_that_fits():
    for order in (1, 3):
        model, _, _ = model_from(CORPUS, order)
        assert prune(model, sum(model.sizes)) is model
        assert prune(model, 10**9) is model
    model, _, _ = model_from(CORPUS, 1)
    assert prune(model, 0) is model  # words always stay


def test_ngrams_of_equal_worth():
    """Of many that are worth the same, as many stay as there is room for, and those first that others need."""
    model, vocabulary, _ = model_from([[i, i + 1, i + 2] for i in range(1, 300, 3)], 3)
    for n_longer in (1, 50, 101, 250):
        smaller = prune(model, model.n_words + n_longer)
        assert sum(smaller.sizes) == model.n_words + n_longer
        after = entries_of(smaller, vocabulary.keys)
        assert all(len(gram) == 1 or (gram[1:] in after and gram[:-1] in after) for gram in after)
