"""What the search makes of a language model."""

import itertools
import random

import pytest
from helpers import core
from helpers.kneser_ney import estimate
from helpers.texts import make_corpus
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spacy_linearize.core.ngrams.table import END_KEY as END

UNSEEN = 77  # a word of no corpus


def decoder_with_model(system, mirrored, order, entries=None):
    """Either way the model is one of sentences as they are read."""
    direction = "right_to_left" if mirrored else "left_to_right"
    engine = core.make(system=system, direction=direction, table_bits=8, attach_bits=8)
    decoder = core.decoder(engine)
    decoder.ngrams.fill_grams(order, estimate(make_corpus(40, 6, seed=4), order) if entries is None else entries)
    return engine, decoder


def without_context(model, words):
    """The sum of what the model says of each word on its own."""
    return sum(model.score([word], whole=False) for word in words)


@pytest.mark.parametrize(
    ("system", "forms"),
    [
        ("order_first", [1, 2, 3, 4, 5]),
        ("order_first", [2, 1, 3, 1, UNSEEN]),
        ("order_first", [1]),
        ("joint", [1, 2, 3, 4]),
        ("joint", [1, 3, 1, UNSEEN]),
    ],
)
@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("mirrored", [False, True])
def test_search_finds_the_best_order(mirrored, order, system, forms):
    """With no other weights and a beam for everything, the language model alone decides. From right to left, the end of
    the sentence is there from the start: only what the words before it change is told."""
    weight = 0.7
    engine, decoder = decoder_with_model(system, mirrored, order)
    model, bag = decoder.ngrams, core.pack(engine, forms=forms)
    taken_off = without_context(model, [*forms, END] if mirrored else forms)
    brute = {words: weight * (model.score(words) - taken_off) for words in itertools.permutations(forms)}
    found = {}
    for result in core.search([decoder], bag, width=1000, n_best=1000, ngram_weight=weight):
        words = tuple(forms[k] for k in result.order)
        assert result.score == pytest.approx(brute[words], abs=1e-9)
        again = decoder.score(bag, result.order, result.heads, result.tags, result.labels, ngram_weight=weight)
        assert again == pytest.approx(result.score, abs=1e-9)
        found.setdefault(words, result.score)
    assert found.keys() == brute.keys()
    assert brute[next(iter(found))] == pytest.approx(max(brute.values()), abs=1e-9)


def thinned(entries, rng):
    """Some n-grams less, but none that begins a longer one: as other toolkits prune their models. The end of an n-gram
    may be missing then."""
    kept = {gram: (gram, probability, backoff) for gram, probability, backoff in entries}
    for gram in sorted(kept, key=lambda gram: (-len(gram), gram)):
        if len(gram) > 1 and rng.random() < 0.4 and not any(other[:-1] == gram for other in kept):
            del kept[gram]
    return list(kept.values())


@settings(max_examples=60, deadline=None)
@example(forms=[1, 1, 2], order=5, is_thinned=True, rng=random.Random(1))  # the end of an n-gram is missing
@given(
    st.lists(st.sampled_from([1, 2, 3, 4, 5, 6, UNSEEN]), min_size=1, max_size=5),
    st.integers(1, 5),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_both_directions_rank_alike(forms, order, is_thinned, rng):
    """Their scores of the same order differ by one number, whatever the order."""
    entries = estimate(make_corpus(25, 6, seed=rng.randrange(1000)), order)
    if is_thinned:
        entries = thinned(entries, rng)
    scores = []
    for mirrored in (False, True):
        engine, decoder = decoder_with_model("order_first", mirrored, order, entries)
        results = core.search([decoder], core.pack(engine, forms=forms), width=1000, n_best=1000, ngram_weight=1.0)
        scores.append({tuple(forms[k] for k in result.order): result.score for result in results})
    forth, back = scores
    assert forth.keys() == back.keys() == set(itertools.permutations(forms))
    of_end = without_context(decoder.ngrams, [END])
    assert forth == pytest.approx({words: score + of_end for words, score in back.items()}, abs=1e-9)


def test_search_without_a_model_or_a_weight():
    engine, decoder = decoder_with_model("order_first", False, 3)
    bag = core.pack(engine, forms=[1, 2, 3])

    def score(bag, ngram_weight):
        return core.search([decoder], bag, width=8, ngram_weight=ngram_weight)[0].score

    assert score(bag, 0.0) == 0
    assert score(bag, 1.0) != 0
    decoder.ngrams.fill([])
    assert score(bag, 1.0) == 0
    assert score(core.pack(engine, forms=[]), 1.0) == 0
