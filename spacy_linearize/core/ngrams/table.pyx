"""The table of a language model: filled once, then read by the search. See `kneser_ney` for how one is made."""
import numpy as np
from libc.math cimport isfinite, lround
from libc.stdint cimport int16_t, uint16_t, uint32_t, uint64_t
from libcpp.algorithm cimport sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from ..hashing cimport mix

from ...errors import error

cdef enum:
    SEED = 0x5EEDCAFE   # of the hashes. Not 0: then the key 0, alone and repeated, would be one and the same n-gram.
    LOWEST = -32768     # the smallest logarithm, in units

BEGIN_KEY, END_KEY, UNKNOWN_KEY = BEGIN, END, UNKNOWN
HIGHEST_ORDER = MAX_ORDER


cdef void look_back(const NgramsC* model, HistoryC* history) noexcept nogil:
    """Complete a history of which n and words are set: let UNKNOWN stand for the words that the model does not know,
    cut it to what was seen, and sum up the backoffs."""
    cdef const EntryC* entry
    cdef uint64_t h = SEED
    cdef int n, longest = min(history.n, model.order - 1)
    cdef int own[4]
    history.n = 0
    for n in range(1, longest + 1):
        history.words[n - 1] = known_word(model, history.words[n - 1])
        h = mix(h, history.words[n - 1])
        entry = find(model, h)
        if entry == NULL:
            break
        own[n] = entry.backoff
        history.n = n
    history.backoff[history.n] = 0
    for n in range(history.n, 0, -1):
        history.backoff[n - 1] = history.backoff[n] + own[n]


cdef uint64_t known_word(const NgramsC* model, uint64_t word) noexcept nogil:
    """The word itself, or UNKNOWN."""
    return word if find(model, mix(SEED, word)) != NULL else UNKNOWN


cdef int seen_units(const NgramsC* model, const HistoryC* history, int shortest, uint64_t word) noexcept nogil:
    """As `log_units`, from n-grams with `shortest` words before the last one, or more. NOT_SEEN, if there is none."""
    cdef uint64_t hashes[4]
    cdef const EntryC* entry
    cdef int n
    # hashes[n]: the word with n words before it. The first word that goes into a hash is the last of the n-gram.
    hashes[0] = mix(SEED, word)
    for n in range(history.n):
        hashes[n + 1] = mix(hashes[n], history.words[n])
    for n in range(history.n, shortest - 1, -1):
        entry = find(model, hashes[n])
        if entry != NULL:
            return history.backoff[n] + entry.probability
    return NOT_SEEN


cdef int log_units(const NgramsC* model, const HistoryC* history, uint64_t word) noexcept nogil:
    """The natural logarithm of the probability of a known word (see `known_word`) after others, in units of 1 / UNITS."""
    cdef int units = seen_units(model, history, 0, word)
    return units if units != NOT_SEEN else history.backoff[0] + LOWEST


cdef double log_probability(const NgramsC* model, const HistoryC* history, uint64_t word) noexcept nogil:
    """The natural logarithm of the probability of a word after others."""
    return log_units(model, history, known_word(model, word)) / <double>UNITS


cdef class Ngrams:
    """A language model over keys of words. Empty until it is filled; then `order` is above 0."""

    def __init__(self):
        self.take(0, vector[EntryC]())

    def __len__(self):
        cdef size_t i, n = 0
        for i in range(self.c.table.size()):
            n += self.c.table[i].check != 0
        return n

    def fill(self, order, entries):
        """Replace the content by n-grams. Without any the model is empty, and its order 0.

        order (int): Length of the longest n-grams, 1 to 4.
        entries (Iterable[Tuple[Tuple[int, ...], float, float]]): Each n-gram once: the keys of its words, and the
            natural logarithms of its probability and of its backoff.
        """
        check_order(order)
        cdef vector[pair[uint64_t, uint32_t]] hashed
        cdef vector[EntryC] table
        cdef uint64_t h
        cdef size_t i
        entries = list(entries)
        hashed.reserve(len(entries))
        for gram, probability, backoff in entries:
            if not 1 <= len(gram) <= order:
                raise error("SL057", gram=gram, order=order, problem=f"it has {len(gram)} words")
            if not (isfinite(probability) and isfinite(backoff)):
                raise error("SL057", gram=gram, order=order, problem="a logarithm is not a finite number")
            h = hash_of(gram)
            hashed.push_back(pair[uint64_t, uint32_t](h, pack(quantised(probability), quantised(backoff))))
        if hashed.empty():
            self.take(0, table)
            return
        # Sorted, so that the table does not depend on the sequence in which the n-grams come.
        sort(hashed.begin(), hashed.end())
        for i in range(1, hashed.size()):
            if hashed[i].first == hashed[i - 1].first:
                raise error("SL057", gram=gram_of(entries, hashed[i].first), order=order, problem="it is given twice")
        table.resize(table_size(hashed.size()))
        for i in range(hashed.size()):
            put(table, hashed[i].first, hashed[i].second)
        self.take(order, table)

    def score(self, words, *, bint whole=True) -> float:
        """The natural logarithm of the probability of words in order; 0 if the model is empty.

        words (Sequence[int]): The keys of the words.
        whole (bool): Whether they are a whole sentence, whose beginning and end count.
        """
        cdef HistoryC history
        cdef vector[uint64_t] keys
        cdef double total = 0
        cdef int i, place
        if self.order == 0:
            return 0.0
        if whole:
            keys.push_back(BEGIN)
        for key in words:
            keys.push_back(<uint64_t>key)
        if whole:
            keys.push_back(END)
        for place in range(whole, <int>keys.size()):
            history.n = min(MAX_ORDER - 1, place)
            for i in range(history.n):
                history.words[i] = keys[place - 1 - i]
            look_back(&self.c, &history)
            total += log_probability(&self.c, &history, keys[place])
        return total

    def to_array(self):
        """The table, as numbers of 64 bits."""
        cdef size_t i
        values = np.empty(self.c.table.size(), dtype=np.uint64)
        cdef uint64_t[::1] view = values
        for i in range(self.c.table.size()):
            view[i] = (<uint64_t>self.c.table[i].check) << 32 | pack(self.c.table[i].probability, self.c.table[i].backoff)
        return values

    def from_array(self, order, values):
        """Replace the content by what `to_array` gave."""
        # Aligned: arrays that point into a file may begin at any byte.
        values = np.require(values, dtype=np.uint64, requirements=["C", "A"])
        if values.ndim != 1:
            raise error("SL022", key="ngrams", value=f"an array of {values.ndim} dimensions", expected="flat")
        cdef const uint64_t[::1] view = values
        cdef size_t i, n_free = 0, size = view.shape[0]
        cdef vector[EntryC] table
        if size == 0 and order == 0:
            self.take(0, table)
            return
        check_order(order)
        table.resize(size)
        for i in range(size):
            table[i].check = <uint32_t>(view[i] >> 32)
            table[i].probability = <int16_t><uint16_t>(view[i] >> 16)
            table[i].backoff = <int16_t><uint16_t>view[i]
            n_free += table[i].check == 0
        # A search goes on to the next free place: without one it would never end.
        if size & (size - 1) or n_free == 0:
            raise error("SL022", key="ngrams", value=f"a table of {size} places, {n_free} of them free",
                        expected="a table whose size is a power of two, with a free place")
        self.take(order, table)

    cdef int take(self, int order, vector[EntryC] table) except -1:
        """Replace the content, all at once: whatever was wrong has been found by now."""
        self.c.table.swap(table)
        self.c.mask = 0
        if order:
            self.c.mask = self.c.table.size() - 1
        self.order = self.c.order = order
        return 0


cdef int check_order(order) except -1:
    if not 1 <= order <= MAX_ORDER:
        raise error("SL022", key="order", value=order, expected=f"1 to {MAX_ORDER}")
    return 0


cdef uint64_t hash_of(gram) except? 0:
    cdef uint64_t h = SEED
    for key in reversed(gram):
        h = mix(h, <uint64_t>key)
    return h


cdef gram_of(entries, uint64_t h):
    """The first n-gram with a hash."""
    for gram, _, _ in entries:
        if hash_of(gram) == h:
            return gram


cdef size_t table_size(size_t n) noexcept:
    """The places for n entries: a power of two, of which a quarter at least stays free."""
    cdef size_t size = 16
    while size * 3 < n * 4:
        size *= 2
    return size


cdef int put(vector[EntryC]& table, uint64_t h, uint32_t packed) except -1:
    cdef uint64_t mask = table.size() - 1, i = h & mask
    while table[i].check != 0:
        i = (i + 1) & mask
    table[i].check = (<uint32_t>(h >> 32)) | 1
    table[i].probability = <int16_t><uint16_t>(packed >> 16)
    table[i].backoff = <int16_t><uint16_t>packed
    return 0


cdef inline uint32_t pack(int16_t probability, int16_t backoff) noexcept nogil:
    return <uint32_t><uint16_t>probability << 16 | <uint16_t>backoff


cdef int16_t quantised(double logarithm) noexcept:
    # Cut before it is rounded: what is out of the range of a long cannot be.
    return <int16_t>lround(max(<double>LOWEST, min(<double>(-LOWEST - 1), logarithm * UNITS)))
