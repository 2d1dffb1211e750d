"""Language models while they are made: reading them, and mixing several into one."""
import numpy as np
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector

from ..hashing cimport mix
from .grams cimport BEGIN_WORD, END_WORD, MAX_ORDER
from .table cimport SEED

cdef double LEAST = 1e-9    # share of a distribution that is always left to the shorter n-grams


cdef class Backoff:
    """A language model with backoff over numbers of words.

    order (int): The length of its longest n-grams.
    n_words (int): How many words it knows, with the special ones (see `grams.pxd`).
    """

    def __init__(self, int order, size_t n_words):
        cdef LevelC* words
        self.order = order
        self.n_words = n_words
        self.levels.resize(order)
        words = &self.levels[0]
        words.word.resize(n_words)
        words.suffix.resize(n_words)
        words.context.resize(n_words)
        words.mass.resize(n_words)
        words.probability.resize(n_words)
        words.backoff.assign(n_words, 1)
        cdef size_t i
        for i in range(n_words):
            words.word[i] = <uint32_t>i

    @property
    def sizes(self):
        """How many n-grams there are, by length."""
        return [int(self.levels[n].word.size()) for n in range(self.order)]

    def grams(self, int n):
        """The n-grams of a length: the numbers of the words of each in a row, from left to right."""
        cdef Py_ssize_t size = self.levels[n - 1].word.size(), i
        grams = np.empty((size, n), dtype=np.uint32)
        cdef uint32_t[:, ::1] row = grams
        cdef uint32_t place
        cdef int m
        for i in range(size):
            place = <uint32_t>i
            for m in range(n):
                row[i, m] = self.levels[n - 1 - m].word[place]
                place = self.levels[n - 1 - m].suffix[place]
        return grams

    def columns(self, int n):
        """The probabilities and the backoffs of the n-grams of a length."""
        cdef LevelC* level = &self.levels[n - 1]
        return copy_of(&level.probability), copy_of(&level.backoff)

    def hashes(self, int n, keys):
        """The hashes of the n-grams of a length, as `table` has them.

        keys (ndarray): For each word by number, its key.
        """
        cdef const uint64_t[::1] key = keys
        cdef LevelC* level
        cdef size_t i
        cdef int m
        below = np.full(1, SEED, dtype=np.uint64)
        cdef uint64_t[::1] shorter = below, hashed
        for m in range(n):
            level = &self.levels[m]
            hashed = np.empty(level.word.size(), dtype=np.uint64)
            for i in range(level.word.size()):
                hashed[i] = mix(shorter[level.suffix[i] if m else 0], key[level.word[i]])
            shorter = hashed
        return np.asarray(shorter)

    cdef double after(self, const uint32_t* words, int n) noexcept nogil:
        """The probability of the first of these words after the others, its history, the nearest word first."""
        cdef uint32_t places[MAX_ORDER]
        cdef uint32_t contexts[MAX_ORDER]
        cdef int found = self.find(words, n, places), known, m
        cdef double probability = self.levels[found - 1].probability[places[found - 1]]
        known = self.find(words + 1, n - 1, contexts) if n > 1 else 0
        for m in range(found, known + 1):
            probability *= self.levels[m - 1].backoff[contexts[m - 1]]
        return probability

    cdef int find(self, const uint32_t* words, int n, uint32_t* places) noexcept nogil:
        """The places of the longest n-gram of these words in the model, and of its suffixes. Returns its length."""
        cdef LevelC* level
        cdef size_t first, last, middle
        cdef int m
        places[0] = words[0]
        for m in range(1, min(n, self.order)):
            level = &self.levels[m]
            first, last = 0, level.word.size()
            while first < last:
                middle = (first + last) // 2
                if level.suffix[middle] < places[m - 1] or \
                        level.suffix[middle] == places[m - 1] and level.word[middle] < words[m]:
                    first = middle + 1
                else:
                    last = middle
            if first == level.word.size() or level.suffix[first] != places[m - 1] or level.word[first] != words[m]:
                return m
            places[m] = <uint32_t>first
        return min(n, self.order)

    def probabilities(self, chunks, numbers):
        """The probability of each word of sentences, and of their ends.

        chunks (Iterable[ndarray]): As `Text.read` gives them.
        numbers (ndarray): For each word of the text, in the sequence of `Text.words`, its number here.
        """
        cdef vector[uint32_t] renumbered = np.concatenate([[0], numbers]).astype(np.uint32)
        cdef vector[uint32_t] sentence
        cdef vector[double] found
        cdef const uint32_t[::1] numbered
        cdef uint32_t words[MAX_ORDER]
        cdef size_t i, place, n
        cdef int m, length
        for chunk in chunks:
            numbered = chunk
            for i in range(<size_t>len(numbered)):
                if numbered[i]:
                    sentence.push_back(renumbered[numbered[i]])
                    continue
                n = sentence.size()
                length = 1
                words[0] = BEGIN_WORD
                for place in range(n + 1):
                    length = min(length + 1, self.order)
                    for m in range(length - 1, 0, -1):
                        words[m] = words[m - 1]
                    words[0] = sentence[place] if place < n else <uint32_t>END_WORD
                    found.push_back(self.after(words, length))
                sentence.clear()
        return np.array(<const double[:found.size()]>found.data()) if found.size() else np.zeros(0)


cdef copy_of(vector[float]* values):
    return np.array(<const float[:values.size()]>values.data()) if values.size() else np.zeros(0, dtype=np.float32)


def interpolate(models, weights):
    """One model out of several over the same words: each n-gram that one of them has gets the weighted mean of the
    probabilities that all of them give it, and backoffs are set so that the sums are 1 (linear interpolation).

    models (Sequence[Backoff]): Of the same order.
    weights (Sequence[float]): Their sum is 1.
    RETURNS (Backoff): The mixture.
    """
    cdef Backoff mixture, model
    cdef vector[SourceC] sources
    cdef size_t i
    cdef int n
    if len(models) == 1:
        return models[0]
    mixture = Backoff(models[0].order, models[0].n_words)
    sources.resize(len(models))
    for k in range(len(models)):
        model = models[k]
        start_source(model, weights[k], &sources[k])
        for i in range(mixture.n_words):
            mixture.levels[0].mass[i] += <float>(sources[k].weight * model.levels[0].mass[i])
            mixture.levels[0].probability[i] += <float>(sources[k].weight * model.levels[0].probability[i])
    for n in range(1, mixture.order):
        for k in range(len(models)):
            model = models[k]
            sources[k].level = &model.levels[n]
        with nogil:
            mix_level(&sources, &mixture.levels[n])
    set_backoffs(mixture)
    return mixture


cdef cppclass SourceC:
    # One of the models, beside their mixture.
    double weight
    LevelC* level                   # the n-grams of the length that is being mixed ...
    size_t at                       # ... and the first of them that is left
    vector[uint32_t] place          # by n-gram of the source: where it stands in the mixture, at the level below
    vector[uint32_t] next_place     # the same at this level
    vector[float] probability       # by n-gram of the mixture: what the source gives it, at the level below
    vector[float] next_probability
    vector[float] backoff           # by n-gram of the mixture: of the source, 1 if it is not there, at the level below
    vector[float] next_backoff


cdef int start_source(Backoff model, double weight, SourceC* source) except -1:
    cdef size_t i
    source.weight = weight
    for i in range(model.n_words):
        source.place.push_back(<uint32_t>i)
    source.probability = model.levels[0].probability
    source.backoff = model.levels[0].backoff
    return 0


cdef inline uint64_t next_of(SourceC* source) noexcept nogil:
    """The next n-gram of a source: the place of its suffix in the mixture, and its first word."""
    if source.at == source.level.word.size():
        return <uint64_t>-1
    return <uint64_t>source.place[source.level.suffix[source.at]] << 32 | source.level.word[source.at]


cdef int mix_level(vector[SourceC]* sources, LevelC* mixture) except -1 nogil:
    """Merge the n-grams of a length, which stand in the same sequence in all models."""
    cdef SourceC* source
    cdef uint64_t first
    cdef uint32_t suffix, context
    cdef double mass, probability
    cdef size_t k
    cdef bint is_there
    for k in range(sources.size()):
        sources[0][k].at = 0
    while True:
        first, context = <uint64_t>-1, 0
        for k in range(sources.size()):
            source = &sources[0][k]
            if next_of(source) < first:
                first = next_of(source)
                context = source.place[source.level.context[source.at]]
        if first == <uint64_t>-1:
            break
        suffix = <uint32_t>(first >> 32)
        mass = probability = 0
        for k in range(sources.size()):
            source = &sources[0][k]
            is_there = next_of(source) == first
            if is_there:
                mass += source.weight * source.level.mass[source.at]
            probability += source.weight * take_source(source, is_there, suffix, context, <uint32_t>mixture.word.size())
        mixture.word.push_back(<uint32_t>first)
        mixture.suffix.push_back(suffix)
        mixture.context.push_back(context)
        mixture.probability.push_back(<float>probability)
        mixture.mass.push_back(<float>mass)
        mixture.backoff.push_back(1)
    for k in range(sources.size()):
        next_level(&sources[0][k])
    return 0


cdef int next_level(SourceC* source) except -1 nogil:
    source.place.swap(source.next_place)
    source.probability.swap(source.next_probability)
    source.backoff.swap(source.next_backoff)
    source.next_place.clear()
    source.next_probability.clear()
    source.next_backoff.clear()
    return 0


cdef double take_source(SourceC* source, bint is_there, uint32_t suffix, uint32_t context,
                        uint32_t place) except -1 nogil:
    """The probability that a source gives the next n-gram of the mixture: its own, or by backing off."""
    cdef double probability
    if is_there:
        source.next_place.push_back(place)
        source.next_backoff.push_back(source.level.backoff[source.at])
        probability = source.level.probability[source.at]
        source.at += 1
    else:
        source.next_backoff.push_back(1)
        probability = source.backoff[context] * source.probability[suffix]
    source.next_probability.push_back(<float>probability)
    return probability


cdef int set_backoffs(Backoff model) except -1 nogil:
    """Set the backoffs so that the probabilities after each context sum to 1."""
    cdef LevelC* level
    cdef LevelC* below
    cdef vector[double] seen, shorter
    cdef size_t i
    cdef int n
    for n in range(1, model.order):
        level, below = &model.levels[n], &model.levels[n - 1]
        sum_by_context(level, below, &seen, &shorter)
        for i in range(below.word.size()):
            below.backoff[i] = 1
            if seen[i] > 0:
                below.backoff[i] = <float>(max(LEAST, 1 - seen[i]) / max(LEAST, 1 - shorter[i]))
    return 0


cdef int sum_by_context(LevelC* level, LevelC* below, vector[double]* seen, vector[double]* shorter) except -1 nogil:
    """For each context, the sum of the probabilities of its n-grams, and that of their suffixes."""
    cdef size_t i
    seen.assign(below.word.size(), 0)
    shorter.assign(below.word.size(), 0)
    for i in range(level.word.size()):
        seen[0][level.context[i]] += level.probability[i]
        shorter[0][level.context[i]] += below.probability[level.suffix[i]]
    return 0
