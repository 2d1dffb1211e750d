"""Smoothing: against the formulas, and against the slow estimator of the tests."""

import itertools
import math
from collections import Counter
from functools import cache

import numpy as np
import pytest
from helpers import kneser_ney as slow
from helpers.texts import CORPORA, entries_of, make_corpus, model_from, probability_after, text_from
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_linearize.core.ngrams.counts import Text, count
from spacy_linearize.core.ngrams.estimate import Vocabulary
from spacy_linearize.core.ngrams.kneser_ney import discounts_of, smooth
from spacy_linearize.core.ngrams.table import BEGIN_KEY as BEGIN
from spacy_linearize.core.ngrams.table import END_KEY as END
from spacy_linearize.core.ngrams.table import UNKNOWN_KEY as UNKNOWN

UNSEEN = 77  # a word of no corpus


class Formulas:
    """Interpolated modified Kneser-Ney smoothing, written as the equations have it. Slow and obvious on purpose."""

    def __init__(self, sentences, order, min_count):
        self.order, self.min_count = order, min_count
        padded = [(BEGIN, *sentence, END) for sentence in sentences]
        self.seen = Counter(
            s[i:j] for s in padded for i in range(len(s)) for j in range(i + 1, len(s) + 1) if j - i <= order
        )
        self.words = {w for s in padded for w in s[1:]}

    @cache  # noqa: B019
    def c(self, gram):
        if len(gram) == self.order or gram[0] == BEGIN:
            return self.seen[gram]
        return len({longer[0] for longer in self.seen if len(longer) == len(gram) + 1 and longer[1:] == gram})

    @cache  # noqa: B019
    def discounts(self, n):
        """D1, D2 and D3+ of the n-grams of a length."""
        counts = [self.c(gram) for gram in self.seen if len(gram) == n and gram != (BEGIN,)]
        n1, n2, n3, n4 = (counts.count(i) for i in (1, 2, 3, 4))
        if 0 in (n1, n2, n3):
            return 0.5, 1.0, 1.5
        y = n1 / (n1 + 2 * n2)
        estimates = 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3
        return tuple(np.clip(d, 0.05 * i, 0.95 * i) for i, d in enumerate(estimates, start=1))

    def taken(self, gram):
        """What a shorter history gets from an n-gram that was seen."""
        if len(gram) >= 3 and self.seen[gram] < self.min_count:
            return self.c(gram)
        return self.discounts(len(gram))[min(self.c(gram), 3) - 1]

    @cache  # noqa: B019
    def p(self, history, word):
        history = history[max(0, len(history) - self.order + 1) :]
        shorter = self.p(history[1:], word) if history else 1 / (len(self.words) + 1)
        followers = [(*history, w) for w in self.words if (*history, w) in self.seen]
        if not followers:
            return shorter
        total = sum(self.c(gram) for gram in followers)
        gram = (*history, word)
        own = self.c(gram) - self.taken(gram) if gram in followers else 0
        return own / total + sum(self.taken(g) for g in followers) / total * shorter


def histories(order, words):
    """Every history that the model looks back at, also with a word it does not know."""
    for n in range(order):
        yield from itertools.product([*words, UNSEEN], repeat=n)
        if n:
            yield from ((BEGIN, *rest) for rest in itertools.product([*words, UNSEEN], repeat=n - 1))


@pytest.mark.parametrize("min_count", [1, 2, 3])
@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("corpus", CORPORA)
def test_probabilities_are_those_of_the_formulas(corpus, order, min_count):
    sentences = CORPORA[corpus]
    model, vocabulary, _ = model_from(sentences, order, min_counts=(1, 1, min_count))
    entries, formulas = entries_of(model, vocabulary.keys), Formulas(sentences, order, min_count)
    words = sorted(formulas.words - {END})
    for history in itertools.islice(histories(order, words), 3000):
        found = [probability_after(entries, history, word) for word in [*words, END, UNKNOWN]]
        assert found == pytest.approx([formulas.p(history, word) for word in [*words, END, UNKNOWN]], rel=1e-5)
        assert sum(found) == pytest.approx(1, abs=1e-5)


def check_against_the_slow_estimator(sentences, order, min_count):
    model, vocabulary, _ = model_from(sentences, order, min_counts=(1, 1, min_count))
    found = entries_of(model, vocabulary.keys)
    expected = {gram: (math.exp(p), math.exp(b)) for gram, p, b in slow.estimate(sentences, order, min_count)}
    assert found.keys() == expected.keys()
    assert model.sizes[0] == len(vocabulary.keys)
    for gram, values in expected.items():
        assert found[gram] == pytest.approx(values, abs=1e-6)


@pytest.mark.parametrize("min_count", [1, 2, 3])
@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_the_slow_estimator_says_the_same(order, min_count):
    check_against_the_slow_estimator(make_corpus(400, 30, longest=12), order, min_count)


KEYS = st.integers(0, 2**64 - 1).filter(lambda key: not BEGIN <= key <= UNKNOWN) | st.integers(0, 3)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(KEYS, min_size=1, max_size=8), min_size=1), st.integers(1, 5), st.integers(1, 3))
def test_of_any_sentences_the_slow_estimator_says_the_same(sentences, order, min_count):
    check_against_the_slow_estimator(sentences, order, min_count)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_perplexity_is_that_of_the_definition(order):
    """The mean is over all words and ends of sentences. Words that are not known are UNKNOWN."""
    model, vocabulary, _ = model_from(make_corpus(200, 12), order)
    others = [*make_corpus(50, 12, seed=9), [3, UNSEEN, 4], [UNSEEN]]
    other = text_from(others)
    known = vocabulary.keys.tolist()
    numbers = np.array([known.index(k) if k in known else 3 for k in other.words()[:, 0].tolist()], dtype=np.uint32)
    found = model.probabilities(other.read(), numbers)
    expected = {gram: (math.exp(p), math.exp(b)) for gram, p, b in slow.estimate(make_corpus(200, 12), order)}
    logarithms = []
    for sentence in others:
        keys = [key if key in known else UNKNOWN for key in sentence]
        keys = (BEGIN, *keys, END)
        for i in range(1, len(keys)):
            logarithms.append(math.log(probability_after(expected, keys[max(0, i - order + 1) : i], keys[i])))
    assert np.log(found) == pytest.approx(logarithms, rel=1e-5)
    assert math.exp(-np.log(found).mean()) == pytest.approx(math.exp(-np.mean(logarithms)), rel=1e-6)


def test_rare_long_ngrams_can_be_dropped():
    sentences = CORPORA["usual"]
    every, kept = (entries_of(model_from(sentences, 4, min_counts=(1, 1, n))[0], range(99)) for n in (1, 2))
    assert len(kept) < len(every)
    assert {gram for gram in every if len(gram) < 3} <= kept.keys() < every.keys()


def test_counts_asked_for_do_not_fall_with_length():
    """Else an n-gram could be kept whose context is not."""
    for min_counts, expected in (
        ((1,), [1, 1, 1, 1]),
        ((1, 3, 2), [1, 3, 3, 3]),
        ((5,), [1, 5, 5, 5]),
        ((1, 1, 2), [1, 1, 2, 2]),
    ):
        text = text_from(CORPORA["usual"])
        vocabulary = Vocabulary.choose([text], 1)
        run = count(text, vocabulary.numbers[0], 4)
        model, least = smooth(run, 4, len(vocabulary.keys), min_counts=min_counts)
        assert least == expected
        seen = Formulas(CORPORA["usual"], 4, 1).seen
        for gram in entries_of(model, vocabulary.keys):
            assert len(gram) == 1 or seen[gram] >= expected[len(gram) - 1]


def test_too_little_memory_asks_for_higher_counts():
    text = text_from(make_corpus(3000, 60, longest=12))
    vocabulary = Vocabulary.choose([text], 1)
    run = count(text, vocabulary.numbers[0], 4)
    model, least = smooth(run, 4, len(vocabulary.keys), memory=1)
    assert least[0] == 1
    assert min(least[1:]) > 1
    assert sum(model.sizes) <= len(vocabulary.keys) + 1000
    exact, _ = smooth(run, 4, len(vocabulary.keys), min_counts=least)
    assert entries_of(exact, vocabulary.keys) == entries_of(model, vocabulary.keys)


def test_nothing_to_smooth():
    """Words that other texts have are all equally probable then."""
    model, least = smooth(count(Text(), np.zeros(0), 3), 3, 9)
    assert (model.sizes, least) == ([9, 0, 0], [1, 1, 1])
    assert model.columns(1)[0][2:] == pytest.approx(np.full(7, 1 / 7))


def test_discounts_stay_between_nothing_and_all():
    assert discounts_of([0] * 5) == [0, 0.5, 1, 1.5]
    assert discounts_of([0, 1, 1, 0, 1]) == [0, 0.5, 1, 1.5]
    for numbers in ([0, 1, 1, 1, 0], [0, 1, 1, 1, 50], [0, 50, 1, 1, 1], [0, 1, 50, 1, 1], [0, 1, 1, 50, 1]):
        discounts = discounts_of(numbers)
        assert all(0 < d < i for i, d in enumerate(discounts[1:], start=1))
