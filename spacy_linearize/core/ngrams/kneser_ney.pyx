"""Modified Kneser-Ney smoothing with interpolation (Chen and Goodman 1999), after counting.

The longest n-grams count how often they were seen, the shorter ones after how many different words. N-grams in suffix
order stand beside all others with the same end, so one pass gives these counts for every length. A second one sums them up
by context. N-grams that are too rare are not kept in memory, and their probability goes to the shorter ones.

Departures from the paper: discounts are kept away from 0 and from the whole count, and have fixed values where too few
n-grams were seen to estimate any. An n-gram that begins a sentence has nothing before it, and keeps its count.
"""
import numpy as np
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector

from ..hashing cimport mix
from .backoff cimport Backoff, LevelC
from .grams cimport BEGIN_WORD, MAX_ORDER, PADDING, UNKNOWN_WORD, GramC, count_of, word_at

FIXED_DISCOUNTS = (0.0, 0.5, 1.0, 1.5)  # where too few n-grams were seen to estimate any
BYTES_OF_NGRAM = 64                     # what one takes while it is smoothed, about


cdef struct EndedC:
    # An n-gram whose occurrences have all been read.
    int n
    uint64_t seen       # how often
    uint64_t count      # what is smoothed


cdef cppclass GroupsC:
    # Where a pass over n-grams stands: the n-grams of every length that are not over yet.
    int order
    GramC gram
    uint64_t seen[MAX_ORDER + 1]
    uint64_t before[MAX_ORDER + 1]      # how many different words stand before it
    bint has_begun


cdef class Smoother:
    """One language model in the making.

    run (Run): All n-grams of a text, from `count`.
    order (int): Their length.
    n_words (int): How many words there are, with the special ones (see `grams.pxd`).
    min_counts (Sequence[int]): By length, how often an n-gram must be seen to be kept; not less than for shorter ones.
    """
    cdef object run
    cdef int order
    cdef vector[uint64_t] min_counts
    cdef Backoff model
    cdef vector[vector[uint32_t]] counts        # by length and place
    cdef vector[vector[uint64_t]] numbers       # by length: how many n-grams have the count 1, 2, 3 and 4
    cdef vector[vector[double]] discounts       # by length: of the count 1, 2, and more
    cdef vector[vector[double]] totals          # by length and context: the sum of the counts ...
    cdef vector[vector[double]] freed           # ... and what is left to the shorter n-grams
    cdef vector[vector[uint64_t]] hashed        # by length: n-grams behind a hash table ...
    cdef vector[vector[uint32_t]] places        # ... and where they stand
    cdef vector[size_t] at                      # by length: the n-grams that the second pass has met

    def __init__(self, run, int order, size_t n_words, min_counts):
        self.run = run
        self.order = order
        self.min_counts = [1, *min_counts]
        self.model = Backoff(order, n_words)
        for column in range(order + 1):
            self.numbers.push_back(vector[uint64_t](5))
        self.counts.resize(order + 1)
        self.discounts.resize(order + 1)
        self.totals.resize(order + 1)
        self.freed.resize(order + 1)
        self.hashed.resize(order + 1)
        self.places.resize(order + 1)
        self.at.resize(order + 1)
        self.counts[1].resize(n_words)

    def smooth(self, size_t most):
        """Run both passes and estimate the model.

        most (int): How many n-grams may be kept. With more, there is no model.
        RETURNS (Optional[Backoff]): The model.
        """
        if not self.read_all(False, most):
            return None
        for n in range(1, self.order + 1):
            self.discounts[n] = discounts_of(self.numbers[n])
            self.totals[n].resize(self.model.levels[n - 2].word.size() if n > 1 else 1)
            self.freed[n].resize(self.totals[n].size())
        self.make_indexes()
        self.read_all(True, most)
        with nogil:
            self.interpolate()
        return self.model

    cdef bint read_all(self, bint is_second, size_t most) except -1:
        """Go through the n-grams of all lengths. Returns whether there is room for them."""
        cdef GroupsC groups
        cdef const uint64_t[:, ::1] rows
        cdef GramC gram
        cdef Py_ssize_t i
        cdef size_t n_kept
        groups.order = self.order
        groups.has_begun = False
        for chunk in self.run.chunks():
            rows = chunk
            with nogil:
                for i in range(rows.shape[0]):
                    gram.first, gram.second = rows[i, 0], rows[i, 1]
                    self.take(&groups, &gram, is_second)
            n_kept = sum(self.model.sizes)
            if n_kept > most:
                return False
        if groups.has_begun:
            self.end_groups(&groups, 0, is_second)
        return True

    cdef int take(self, GroupsC* groups, const GramC* gram, bint is_second) except -1 nogil:
        """The next gram: what it does not go on with is over."""
        cdef int same = 0, n
        if groups.has_begun:
            while same < groups.order and word_at(gram, same) == word_at(&groups.gram, same):
                same += 1
            self.end_groups(groups, same, is_second)
        else:
            groups.has_begun = True
        for n in range(same + 1, groups.order + 1):
            groups.seen[n] = groups.before[n] = 0
        groups.gram = gram[0]
        groups.seen[groups.order] += count_of(gram)
        return 0

    cdef int end_groups(self, GroupsC* groups, int same, bint is_second) except -1 nogil:
        """The n-grams of more than `same` words are over."""
        cdef EndedC ended
        cdef uint32_t first
        for ended.n in range(groups.order, same, -1):
            first = word_at(&groups.gram, ended.n - 1)
            ended.seen = groups.seen[ended.n]
            if ended.n > 1:
                groups.seen[ended.n - 1] += ended.seen
                groups.before[ended.n - 1] += first != PADDING
            if first == PADDING:
                continue
            ended.count = groups.before[ended.n]
            if ended.n == groups.order or first == BEGIN_WORD:
                ended.count = ended.seen
            if is_second:
                self.sum_up(&groups.gram, &ended)
            else:
                self.keep(&groups.gram, &ended)
        return 0

    cdef int keep(self, const GramC* gram, const EndedC* ended) except -1 nogil:
        """The first pass: an n-gram, if it was seen often enough. Its suffix is over next, and stands there then."""
        cdef LevelC* level = &self.model.levels[ended.n - 1]
        cdef uint32_t word = word_at(gram, 0)
        if ended.count < 5:
            self.numbers[ended.n][ended.count] += 1
        if ended.n == 1:
            self.counts[1][word] = <uint32_t>ended.count
            level.mass[word] = <float>ended.seen
        elif ended.seen >= self.min_counts[ended.n]:
            level.word.push_back(word_at(gram, ended.n - 1))
            level.suffix.push_back(word if ended.n == 2 else <uint32_t>self.model.levels[ended.n - 2].word.size())
            level.mass.push_back(<float>ended.seen)
            self.counts[ended.n].push_back(<uint32_t>ended.count)
        return 0

    cdef int sum_up(self, const GramC* gram, const EndedC* ended) except -1 nogil:
        """The second pass: what an n-gram adds to its context."""
        cdef LevelC* level = &self.model.levels[ended.n - 1]
        cdef bint is_kept = ended.n == 1 or ended.seen >= self.min_counts[ended.n]
        cdef long long context = self.context_of(gram, ended.n)
        if is_kept and ended.n > 1:
            level.context.push_back(<uint32_t>context)  # more frequent than the whole: it is there
        if context >= 0:
            self.totals[ended.n][context] += ended.count
            self.freed[ended.n][context] += self.discounts[ended.n][min(ended.count, 3)] if is_kept else ended.count
        return 0

    cdef long long context_of(self, const GramC* gram, int n) noexcept nogil:
        """The place of the words before the last one, or -1."""
        cdef uint64_t h = 0
        cdef size_t slot, mask
        cdef int i
        if n == 1:
            return 0
        if n == 2:
            return word_at(gram, 1)
        for i in range(1, n):
            h = mix(h, word_at(gram, i))
        mask = self.hashed[n - 1].size() - 1
        slot = h & mask
        while self.hashed[n - 1][slot]:
            if self.hashed[n - 1][slot] == h:
                return self.places[n - 1][slot]
            slot = (slot + 1) & mask
        return -1

    cdef int make_indexes(self) except -1:
        """Find n-grams that are contexts by their words."""
        cdef vector[uint64_t] below, own
        cdef LevelC* level
        cdef size_t i, slot, size
        cdef int n
        for n in range(1, self.order):
            level = &self.model.levels[n - 1]
            own.resize(level.word.size())
            for i in range(own.size()):
                own[i] = mix(below[level.suffix[i]] if n > 1 else 0, level.word[i])
            below.swap(own)
            if n == 1:
                continue
            size = 16
            while size < 2 * below.size():
                size *= 2
            self.hashed[n].assign(size, 0)
            self.places[n].resize(size)
            for i in range(below.size()):
                slot = below[i] & (size - 1)
                while self.hashed[n][slot]:
                    slot = (slot + 1) & (size - 1)
                self.hashed[n][slot] = below[i]
                self.places[n][slot] = <uint32_t>i
        return 0

    cdef int interpolate(self) except -1 nogil:
        """Probabilities and backoffs, from the shortest n-grams to the longest."""
        cdef LevelC* level
        cdef LevelC* below
        cdef double share, shorter, n_seen = 0
        cdef size_t i, context
        cdef int n
        level = &self.model.levels[0]
        for i in range(level.word.size()):
            n_seen += level.mass[i]
        # Every word but the beginning, and UNKNOWN whether it was seen or not
        shorter = 1.0 / (level.word.size() - 2)
        for n in range(1, self.order + 1):
            level = &self.model.levels[n - 1]
            below = &self.model.levels[n - 2] if n > 1 else level
            level.probability.resize(level.word.size())
            level.backoff.assign(level.word.size(), 1)
            for i in range(level.word.size()):
                context = level.context[i] if n > 1 else 0
                share = self.freed[n][context] / self.totals[n][context] if self.totals[n][context] else 1
                if n > 1:
                    below.backoff[context] = <float>share
                    shorter = below.probability[level.suffix[i]]
                level.probability[i] = <float>(share * shorter)
                if self.counts[n][i]:
                    level.probability[i] += <float>(
                        (self.counts[n][i] - self.discounts[n][min(self.counts[n][i], 3)]) / self.totals[n][context])
                if n_seen:
                    level.mass[i] /= <float>n_seen
            if n == 1:
                level.probability[<int>PADDING] = 0
                level.probability[<int>BEGIN_WORD] = 1  # never looked up itself, but it is a context
        # How often sentences begin: the sum over the 2-grams that begin them.
        if self.order > 1:
            level, below = &self.model.levels[1], &self.model.levels[0]
            for i in range(level.word.size()):
                if level.word[i] == BEGIN_WORD:
                    below.mass[<int>BEGIN_WORD] += level.mass[i]
        return 0


def discounts_of(numbers):
    """What is taken from an n-gram with the count 1, 2, or more: Chen and Goodman's estimate.

    numbers (Sequence[int]): How many n-grams have the count 0, 1, 2, 3 and 4.
    """
    _, n1, n2, n3, n4 = numbers
    if not (n1 and n2 and n3):
        return list(FIXED_DISCOUNTS)
    y = n1 / (n1 + 2 * n2)
    discounts = [0.0, 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3]
    return [min(max(discount, 0.05 * i), 0.95 * i) for i, discount in enumerate(discounts)]


def smooth(run, int order, size_t n_words, *, min_counts=(), size_t memory=1 << 31):
    """Estimate a language model from n-grams that have been counted.

    run (Run): All n-grams of a text, from `counts.count`.
    order (int): Their length.
    n_words (int): How many words there are, with the special ones (see `grams.pxd`).
    min_counts (Sequence[int]): By length, how often an n-gram must be seen to be kept; the last counts for all greater
        lengths. 1-grams are all kept.
    memory (int): How many bytes to take at most: where the n-grams do not fit, they have to be seen more often, the
        longest first.
    RETURNS (Tuple[Backoff, List[int]]): The model, and the minimum counts that were used in the end.
    """
    *_, last = min_counts or (1,)
    least = np.maximum.accumulate([1, *min_counts[1:], *[last] * order][:order]).tolist()
    while True:
        model = Smoother(run, order, n_words, least).smooth(max(n_words + 1000, memory // BYTES_OF_NGRAM))
        if model is not None:
            return model, least
        # The longest n-grams first: there are most of them, and the model loses least without them.
        rarest = min(least[1:])
        place = max(n for n in range(1, order) if least[n] == rarest)
        least[place] += 1
