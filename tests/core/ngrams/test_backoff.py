"""Mixing language models, and what each should count."""

import itertools

import numpy as np
import pytest
from helpers.texts import THREE, TWO, entries_of, models_from, probability_after, sums_by_context, text_from

from spacy_linearize.core.ngrams.backoff import interpolate
from spacy_linearize.core.ngrams.estimate import Vocabulary, mixture_weights
from spacy_linearize.core.ngrams.table import BEGIN_KEY as BEGIN
from spacy_linearize.core.ngrams.table import END_KEY as END
from spacy_linearize.core.ngrams.table import UNKNOWN_KEY as UNKNOWN
from spacy_linearize.core.ngrams.table import hash_of


@pytest.mark.parametrize(
    ("corpora", "weights"),
    [(TWO, [0.3, 0.7]), (TWO, [0.999, 0.001]), (THREE, [0.2, 0.5, 0.3]), (THREE, [0.0, 0.0, 1.0])],
)
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_probabilities_are_weighted_means(order, corpora, weights):
    models, vocabulary = models_from(corpora, order)
    sources = [entries_of(model, vocabulary.keys) for model in models]
    mixture = entries_of(interpolate(models, weights), vocabulary.keys)
    assert mixture.keys() == set().union(*sources)
    for gram, (found, _) in mixture.items():
        own = [probability_after(source, gram[:-1], gram[-1]) for source in sources]
        assert found == pytest.approx(np.dot(weights, own), rel=1e-5)
    assert sums_by_context(mixture) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("weights", [[1.0, 0.0], [0.0, 1.0]])
def test_a_weight_of_all_gives_the_model_itself(weights):
    models, vocabulary = models_from(TWO, 3)
    single = entries_of(models[weights.index(1.0)], vocabulary.keys)
    mixture = entries_of(interpolate(models, weights), vocabulary.keys)
    words = [*range(1, 8), END, UNKNOWN]
    for history in itertools.chain([(), (BEGIN,)], itertools.product([*range(1, 8), BEGIN], range(1, 8))):
        for word in words:
            expected = probability_after(single, history, word)
            assert probability_after(mixture, history, word) == pytest.approx(expected, rel=1e-3)


def test_one_model_stays_as_it_is():
    (model,), _ = models_from(TWO[:1], 3)
    assert interpolate([model], [1.0]) is model


def test_probabilities_of_a_mixture():
    """Those of a text are the same, be they looked up in the table or by the definition."""
    models, vocabulary = models_from(TWO, 4)
    mixture = interpolate(models, [0.4, 0.6])
    text = text_from(TWO[0])
    found = mixture.probabilities(text.read(), Vocabulary.choose([text], 1).numbers[0])
    assert len(found) == sum(len(sentence) + 1 for sentence in TWO[0])
    numbers = np.array([vocabulary.keys.tolist().index(key) for key in text.words()[:, 0].tolist()], dtype=np.uint32)
    found = mixture.probabilities(text.read(), numbers)
    entries, expected = entries_of(mixture, vocabulary.keys), []
    for sentence in TWO[0]:
        keys = (BEGIN, *sentence, END)
        expected += [probability_after(entries, keys[max(0, i - 3) : i], keys[i]) for i in range(1, len(keys))]
    assert found == pytest.approx(expected, rel=1e-5)
    assert len(mixture.probabilities([], numbers)) == 0


def test_hashes_are_those_of_the_table():
    (model,), vocabulary = models_from(TWO[:1], 3)
    for n in (1, 2, 3):
        hashes = model.hashes(n, vocabulary.keys).tolist()
        grams = vocabulary.keys[model.grams(n)].tolist()
        assert hashes == [hash_of(gram) for gram in grams]


def test_weights_make_held_out_words_more_probable():
    rng = np.random.default_rng(0)
    probabilities = rng.random((3, 500))
    weights = mixture_weights(probabilities)
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()

    def likelihood(weights):
        return np.log(weights @ probabilities).mean()

    assert likelihood(weights) > likelihood(np.full(3, 1 / 3))
    for other in rng.dirichlet(np.ones(3), size=300):
        assert likelihood(weights) >= likelihood(other) - 1e-4


def test_weights_of_a_known_mixture_are_found():
    """Words that were drawn from two distributions, three times as many from one of them."""
    rng = np.random.default_rng(1)
    distributions = rng.dirichlet(np.full(50, 0.3), size=2)
    words = rng.choice(50, size=20_000, p=np.array([0.75, 0.25]) @ distributions)
    assert mixture_weights(distributions[:, words]) == pytest.approx([0.75, 0.25], abs=0.02)


def test_a_source_that_knows_nothing_counts_for_nothing():
    assert mixture_weights(np.array([[0.5, 0.25, 0.5], [1e-9, 1e-9, 1e-9]])) == pytest.approx([1, 0], abs=1e-6)
