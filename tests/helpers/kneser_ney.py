"""A slow and obvious estimator of language models, to compare the compiled one with.

Modified Kneser-Ney smoothing with interpolation (Chen and Goodman 1999): the highest order counts how often, the lower
ones after how many different words. The result is kept as ARPA files have it: the probability of each n-gram that was
seen, and the weight with which a context backs off to a shorter one.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import log

from spacy_linearize.core.ngrams.table import BEGIN_KEY as BEGIN
from spacy_linearize.core.ngrams.table import END_KEY as END
from spacy_linearize.core.ngrams.table import UNKNOWN_KEY as UNKNOWN

Gram = tuple[int, ...]
Entry = tuple[Gram, float, float]  # an n-gram, and the natural logarithms of its probability and of its backoff

ALWAYS_KEPT = 2  # n-grams up to this length stay, however rare they are
FIXED_DISCOUNTS = [0.0, 0.5, 1.0, 1.5]  # where too few n-grams were seen to estimate any


def estimate(sentences: Iterable[Iterable[int]], order: int = 3, min_count: int = 1) -> list[Entry]:
    """The n-grams of a language model, as `Ngrams.fill_grams` takes them.

    sentences (Iterable[Iterable[int]]): For each sentence the keys of its words.
    order (int): Length of the longest n-grams, 1 to 5.
    min_count (int): n-grams of three words and more that were seen less often are dropped, and what they had goes to
        the shorter ones.
    RETURNS (List[Entry]): Nothing, if there is no sentence.
    """
    return smooth(count(sentences, order), min_count)


def count(sentences: Iterable[Iterable[int]], order: int) -> list[Counter[Gram]]:
    """How often each n-gram was seen, by length: the counter number n is that of n words. Sentences begin with BEGIN,
    which is no word to predict."""
    counts: list[Counter[Gram]] = [Counter() for _ in range(order + 1)]
    for sentence in sentences:
        keys = (BEGIN, *(int(key) for key in sentence), END)
        for n in range(1, order + 1):
            counts[n].update(keys[i : i + n] for i in range(len(keys) - n + 1))
    del counts[1][BEGIN,]
    return counts


def smooth(counts: Sequence[Counter[Gram]], min_count: int = 1) -> list[Entry]:
    """Probabilities and backoffs by modified Kneser-Ney smoothing."""
    order = len(counts) - 1
    used = with_continuations(counts)
    if not used[1]:
        return []
    probability: dict[Gram, float] = {}
    backoff: dict[Gram, float] = {}
    uniform = 1 / (len(used[1]) + 1)  # over the words, END and UNKNOWN
    for n in range(1, order + 1):
        # A part of an n-gram is not rarer than the whole: where one is kept, so are all shorter ones in it.
        kept = {gram for gram, seen in counts[n].items() if n <= ALWAYS_KEPT or seen >= min_count}
        discounts = discounts_of(used[n])
        total: Counter[Gram] = Counter()
        freed: defaultdict[Gram, float] = defaultdict(float)
        for gram, c in used[n].items():
            total[gram[:-1]] += c
            freed[gram[:-1]] += discounts[min(c, 3)] if gram in kept else c
        for context in total:
            backoff[context] = freed[context] / total[context]
        for gram, c in used[n].items():
            if gram in kept:
                context = gram[:-1]
                shorter = probability[gram[1:]] if n > 1 else uniform
                probability[gram] = (c - discounts[min(c, 3)]) / total[context] + backoff[context] * shorter
    probability[UNKNOWN,] = backoff[()] * uniform
    probability[BEGIN,] = 1.0  # never asked for, but a context
    return [(gram, log(p), log(backoff.get(gram, 1.0))) for gram, p in probability.items()]


def with_continuations(counts: Sequence[Counter[Gram]]) -> list[Counter[Gram]]:
    """The counts to smooth: below the highest order, after how many different words an n-gram was seen. What begins a
    sentence has nothing before it and keeps its count."""
    used = list(counts)
    for n in range(1, len(counts) - 1):
        used[n] = Counter(gram[1:] for gram in counts[n + 1])
        for gram, seen in counts[n].items():
            if gram[0] == BEGIN:
                used[n][gram] = seen
    return used


def discounts_of(counts: Counter[Gram]) -> list[float]:
    """What is taken from an n-gram that was seen once, twice, or more often: by Chen and Goodman's estimate, kept away
    from nothing and from all. Their formulas divide by how many were seen once, twice and three times."""
    n = Counter(counts.values())
    if not (n[1] and n[2] and n[3]):
        return FIXED_DISCOUNTS
    y = n[1] / (n[1] + 2 * n[2])
    discounts = [0.0, 1 - 2 * y * n[2] / n[1], 2 - 3 * y * n[3] / n[2], 3 - 4 * y * n[4] / n[3]]
    return [min(max(discount, 0.05 * i), 0.95 * i) for i, discount in enumerate(discounts)]
