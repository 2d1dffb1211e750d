"""Pruning a language model by relative entropy (Stolcke 1998, *Entropy-based Pruning of Backoff Language Models*).

An n-gram is worth what the model would lose without it: the relative entropy between the distributions after its context
with and without it, times how often the context is seen. The least valuable ones go until the model is as small as it
should be, then the backoffs are set anew. Departures: the frequency of a context is the one that was counted, because
the shorter n-grams of a Kneser-Ney model do not estimate it (Chelba et al. 2010); an n-gram stays as long as it is the
suffix, not only the context, of one that stays, for the search looks up histories word by word.
"""
import numpy as np
from libc.math cimport log
from libc.stdint cimport uint32_t
from libcpp.vector cimport vector

from .backoff cimport Backoff, LevelC, set_backoffs, sum_by_context

cdef double LEAST = 1e-9


def prune(Backoff model not None, size_t n_kept) -> Backoff:
    """A smaller model.

    n_kept (int): How many n-grams to keep, those of one word included, which always stay.
    RETURNS (Backoff): The model itself, if it has no more than that.
    """
    cdef vector[vector[float]] values
    cdef float[::1] level
    cdef list longer = []
    cdef int n
    if sum(model.sizes) <= n_kept or model.order == 1:
        return model
    with nogil:
        worth(model, &values)
    for n in range(1, model.order):
        if values[n].size():
            level = <float[:values[n].size()]>values[n].data()
            longer.append(np.asarray(level))
    n_longer = max(0, <long long>n_kept - <long long>model.n_words)
    everything = np.concatenate(longer)
    cut = np.partition(everything, len(everything) - n_longer)[len(everything) - n_longer] if n_longer else np.inf
    return without(model, &values, cut, n_longer - np.count_nonzero(everything > cut))


cdef int worth(Backoff model, vector[vector[float]]* values) except -1 nogil:
    """The value of each n-gram: at least that of any n-gram that needs it."""
    cdef LevelC* level
    cdef LevelC* below
    cdef vector[double] seen, shorter
    cdef double p, q, backoff, new_backoff, left
    cdef float value
    cdef size_t i
    cdef uint32_t context
    cdef int n
    values.resize(model.order)
    for n in range(model.order):
        values[0][n].assign(model.levels[n].word.size(), 0)
    for n in range(model.order - 1, 0, -1):
        level, below = &model.levels[n], &model.levels[n - 1]
        sum_by_context(level, below, &seen, &shorter)
        for i in range(level.word.size()):
            context = level.context[i]
            p, q, backoff = level.probability[i], below.probability[level.suffix[i]], below.backoff[context]
            left = max(LEAST, 1 - seen[context])
            new_backoff = (left + p) / max(LEAST, 1 - shorter[context] + q)
            value = <float>(below.mass[context] * (
                p * (log(p) - log(q) - log(new_backoff)) + left * (log(backoff) - log(new_backoff))))
            raise_to(&values[0][n][i], value)
            raise_to(&values[0][n - 1][context], values[0][n][i])
            raise_to(&values[0][n - 1][level.suffix[i]], values[0][n][i])
    return 0


cdef inline void raise_to(float* value, float least) noexcept nogil:
    if value[0] < least:
        value[0] = least


cdef Backoff without(Backoff model, vector[vector[float]]* values, double cut, size_t n_equal):
    """The model without the n-grams that are worth less than `cut`. Of those that are worth exactly `cut`, `n_equal`
    stay, the shortest first, because others need them."""
    cdef Backoff smaller = Backoff(model.order, model.n_words)
    cdef vector[uint32_t] place, next_place
    cdef LevelC* old
    cdef LevelC* new
    cdef size_t i
    cdef int n
    smaller.levels[0] = model.levels[0]
    for i in range(model.n_words):
        place.push_back(<uint32_t>i)
    for n in range(1, model.order):
        old, new = &model.levels[n], &smaller.levels[n]
        next_place.assign(old.word.size(), 0)
        for i in range(old.word.size()):
            if values[0][n][i] < cut or values[0][n][i] == cut and n_equal == 0:
                continue
            n_equal -= values[0][n][i] == cut
            next_place[i] = <uint32_t>new.word.size()
            new.word.push_back(old.word[i])
            new.suffix.push_back(place[old.suffix[i]])
            new.context.push_back(place[old.context[i]])
            new.mass.push_back(old.mass[i])
            new.probability.push_back(old.probability[i])
            new.backoff.push_back(1)
        place.swap(next_place)
    set_backoffs(smaller)
    return smaller
