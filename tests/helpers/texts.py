"""Texts of numbers for tests of language models."""

import random

import numpy as np

from spacy_linearize.core.ngrams.counts import Text, count
from spacy_linearize.core.ngrams.estimate import Vocabulary
from spacy_linearize.core.ngrams.kneser_ney import smooth
from spacy_linearize.core.ngrams.table import BEGIN_KEY


def make_corpus(n_sentences=30, n_words=5, seed=0, longest=6):
    """Short sentences in which some words, and some neighbours, are more frequent than others."""
    rng = random.Random(seed)
    return [
        [min(rng.randint(1, n_words), rng.randint(1, n_words)) for _ in range(rng.randint(1, longest))]
        for _ in range(n_sentences)
    ]


CORPORA = {
    "usual": make_corpus(),
    "few words": make_corpus(n_words=2, seed=1),
    "many words": make_corpus(n_words=9, seed=2),
    "one sentence": [[1, 2, 1, 3]],
    "one word": [[1]],
    "no count of one": [[1, 2]] * 7,
}
TWO = [make_corpus(40, 5), [[key + 2 for key in sentence] for sentence in make_corpus(60, 6, seed=1)]]
THREE = [*TWO, make_corpus(20, 9, seed=2)]


def text_from(sentences, folder=None):
    """A source of these sentences, which are lists of keys."""
    text = Text(folder)
    keys = np.array([key for sentence in sentences for key in sentence], dtype=np.uint64)
    text.add(keys, np.array([len(sentence) for sentence in sentences], dtype=np.int64))
    return text


def model_from(sentences, order=3, *, min_counts=(1,), memory=1 << 31):
    """A smoothed model, the vocabulary, and the text they come from."""
    text = text_from(sentences)
    vocabulary = Vocabulary.choose([text], 1)
    run = count(text, vocabulary.numbers[0], order)
    model, _ = smooth(run, order, len(vocabulary.keys), min_counts=min_counts, memory=memory)
    return model, vocabulary, text


def entries_of(model, keys):
    """The n-grams of a model, with keys for words: probability and backoff by n-gram."""
    found = {}
    for n in range(1, model.order + 1):
        columns = (column.tolist() for column in model.columns(n))
        for numbers, probability, backoff in zip(model.grams(n).tolist(), *columns, strict=True):
            if numbers != [0]:
                found[tuple(int(keys[number]) for number in numbers)] = probability, backoff
    return found


def probability_after(entries, history, word):
    """The definition of backoff: the n-gram itself, or a shorter one times the backoff of the context."""
    gram = (*history, word)
    if gram in entries:
        return entries[gram][0]
    weight = entries[history][1] if history in entries else 1.0
    return weight * probability_after(entries, history[1:], word)


def models_from(corpora, order):
    """A model of each corpus over the words of all."""
    texts = [text_from(sentences) for sentences in corpora]
    vocabulary = Vocabulary.choose(texts, 1)
    models = []
    for text, numbers in zip(texts, vocabulary.numbers, strict=True):
        run = count(text, numbers, order)
        models.append(smooth(run, order, len(vocabulary.keys))[0])
    return models, vocabulary


def sums_by_context(entries):
    """What the probabilities after each context add up to."""
    words = [gram[0] for gram in entries if len(gram) == 1 and gram != (BEGIN_KEY,)]
    contexts = {()} | {gram[:-1] for gram in entries if len(gram) > 1}
    return np.array([sum(probability_after(entries, context, word) for word in words) for context in contexts])
