"""The table of a language model: filled once, then read by the search. See `estimate` for how one is made.

Every n-gram takes four bytes: 16 bits of its hash, and codes of 8 bits for its probability and its backoff. Each length
has its own two code books. At this load a lookup of an n-gram that is not there passes 8.5 slots on average, so that it
finds another one about once in eight thousand times.
"""
import numpy as np
from libc.math cimport isfinite
from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libcpp.vector cimport vector

from ..hashing cimport mix

from ...errors import error

LOAD = 0.75     # load factor: a lower one makes the table larger, a higher one makes lookups longer
cdef int LOWEST = -32   # smaller logarithms are clipped to this

BEGIN_KEY, END_KEY, UNKNOWN_KEY = BEGIN, END, UNKNOWN
HIGHEST_ORDER = MAX_ORDER


cdef void look_back(const NgramsC* model, HistoryC* history) noexcept nogil:
    """Complete a history of which n and words are set, with words that the model knows: cut it to what was seen, and
    sum up the backoffs."""
    cdef const SlotC* slot
    cdef uint64_t h = SEED
    cdef int n, longest = min(history.n, model.order - 1)
    cdef int own[MAX_ORDER]
    history.n = 0
    for n in range(1, longest + 1):
        h = mix(h, history.words[n - 1])
        slot = find(model, h)
        if slot == NULL:
            break
        own[n] = model.backoffs[n - 1][slot.backoff]
        history.n = n
    history.backoff[history.n] = 0
    for n in range(history.n, 0, -1):
        history.backoff[n - 1] = history.backoff[n] + own[n]


cdef uint64_t known_word(const NgramsC* model, uint64_t form, uint64_t suffix, uint64_t shape) noexcept nogil:
    """The word itself if the model knows it, else its class by suffix and shape, that by shape, or UNKNOWN."""
    cdef uint64_t key
    if find(model, mix(SEED, form)) != NULL:
        return form
    key = class_of(suffix, shape)
    if find(model, mix(SEED, key)) != NULL:
        return key
    key = class_of(0, shape)
    return key if find(model, mix(SEED, key)) != NULL else <uint64_t>UNKNOWN


cdef inline uint64_t class_of(uint64_t suffix, uint64_t shape) noexcept nogil:
    return mix(mix(CLASS_SEED, suffix), shape)


cdef int match(const NgramsC* model, const HistoryC* history, uint64_t word, int* units) noexcept nogil:
    """Find the longest n-gram of a known word (see `known_word`) after others, all of whose ends are there, too. In a model
    that was made here, that is the longest one. Sets the natural logarithm of the probability, in units of 1 / UNITS.

    RETURNS: How many words of the history the n-gram has, or -1 if there is not even a 1-gram.
    """
    cdef uint64_t h = mix(SEED, word)
    cdef const SlotC* slot = find(model, h)
    cdef int n
    if slot == NULL:
        units[0] = history.backoff[0] + LOWEST * UNITS
        return -1
    units[0] = history.backoff[0] + model.probabilities[0][slot.probability]
    for n in range(1, history.n + 1):
        h = mix(h, history.words[n - 1])
        slot = find(model, h)
        if slot == NULL:
            return n - 1
        units[0] = history.backoff[n] + model.probabilities[n][slot.probability]
    return history.n


cdef int log_units(const NgramsC* model, const HistoryC* history, uint64_t word) noexcept nogil:
    """The natural logarithm of the probability of a known word after others, in units of 1 / UNITS."""
    cdef int units = 0
    match(model, history, word, &units)
    return units


cdef double log_probability(const NgramsC* model, const HistoryC* history, uint64_t word) noexcept nogil:
    """The natural logarithm of the probability of a known word after others."""
    return log_units(model, history, word) / <double>UNITS


def class_keys(suffixes, shapes):
    """The keys of the classes of words with these suffixes (0 for any) and shapes.

    suffixes, shapes (ndarray): Keys of type uint64.
    """
    cdef const uint64_t[:] suffix = suffixes, shape = shapes
    cdef Py_ssize_t i
    keys = np.empty(len(suffix), dtype=np.uint64)
    cdef uint64_t[::1] key = keys
    for i in range(len(suffix)):
        key[i] = class_of(suffix[i], shape[i])
    return keys


cdef class Ngrams:
    """A language model over keys of words. Empty until it is filled; then `order` is above 0."""

    def __init__(self):
        self.order = self.c.order = 0
        self.c.n_homes = 0

    def __len__(self):
        cdef size_t i, n = 0
        for i in range(self.c.slots.size()):
            n += self.c.slots[i].check != 0
        return n

    def fill(self, levels) -> None:
        """Replace the content by n-grams. Without any the model is empty, and its order 0.

        levels (Sequence[Tuple[ndarray, ndarray, ndarray]]): For each length, the hashes of the n-grams, each once, and
            the natural logarithms of their probabilities and backoffs.
        """
        n_grams = sum(len(hashes) for hashes, _, _ in levels)
        if not n_grams:
            self.from_arrays(empty_arrays())
            return
        check_order(len(levels))
        books, codes = [], []
        for _, probabilities, backoffs in levels:
            for logarithms in (probabilities, backoffs):
                book, coded = quantise(np.clip(logarithms, <double>LOWEST, -<double>LOWEST))
                books.append(book)
                codes.append(coded)
        hashes = np.concatenate([own for own, _, _ in levels])
        # Sorted, so that the table does not depend on the sequence in which the n-grams come.
        sequence = np.argsort(hashes, kind="stable")
        hashes = hashes[sequence]
        if not np.diff(hashes).all():
            raise error("SL057", gram="with one hash", order=len(levels), problem="two are the same")
        n_homes = int(n_grams // LOAD) + 1
        arrays = place(hashes, np.concatenate(codes[::2])[sequence], np.concatenate(codes[1::2])[sequence], n_homes)
        self.from_arrays({"homes": np.array([n_homes], dtype=np.uint64), "books": np.concatenate(books), **arrays})

    def fill_grams(self, order, entries) -> None:
        """Replace the content by n-grams, each with its words.

        order (int): Length of the longest n-grams.
        entries (Iterable[Tuple[Tuple[int, ...], float, float]]): Each n-gram once: the keys of its words, and the
            natural logarithms of its probability and of its backoff.
        """
        check_order(order)
        hashes, logarithms = [[] for _ in range(order)], [[] for _ in range(order)]
        for gram, probability, backoff in entries:
            if not 1 <= len(gram) <= order:
                raise error("SL057", gram=gram, order=order, problem=f"it has {len(gram)} words")
            if not (isfinite(probability) and isfinite(backoff)):
                raise error("SL057", gram=gram, order=order, problem="a logarithm is not a finite number")
            hashes[len(gram) - 1].append(hash_of(gram))
            logarithms[len(gram) - 1].append((probability, backoff))
        levels = []
        for own, values in zip(hashes, logarithms):
            columns = np.array(values, dtype=np.float64).reshape(len(own), 2)
            levels.append((np.array(own, dtype=np.uint64), columns[:, 0], columns[:, 1]))
        self.fill(levels)

    def score(self, words, suffixes=None, shapes=None, *, bint whole=True) -> float:
        """The natural logarithm of the probability of words in order; 0 if the model is empty.

        words (Sequence[int]): The keys of the words.
        suffixes, shapes (Optional[Sequence[int]]): Those of their suffixes and shapes, for words that are not known.
        whole (bool): Whether they are a whole sentence, whose beginning and end count.
        """
        cdef HistoryC history
        cdef vector[uint64_t] keys
        cdef double total = 0
        cdef int i, place
        if self.order == 0:
            return 0.0
        nothing = [0] * len(words)
        if whole:
            keys.push_back(BEGIN)
        suffixes = nothing if suffixes is None else suffixes
        shapes = nothing if shapes is None else shapes
        for key, suffix, shape in zip(words, suffixes, shapes):
            keys.push_back(known_word(&self.c, key, suffix, shape))
        if whole:
            keys.push_back(END)
        for place in range(whole, <int>keys.size()):
            history.n = min(<int>MAX_ORDER - 1, place)
            for i in range(history.n):
                history.words[i] = keys[place - 1 - i]
            look_back(&self.c, &history)
            total += log_probability(&self.c, &history, keys[place])
        return total

    def to_arrays(self):
        """The table, as arrays by name."""
        if self.order == 0:
            return empty_arrays()
        cdef size_t i, size = self.c.slots.size()
        checks = np.empty(size, dtype=np.uint16)
        codes = np.empty(size, dtype=np.uint8), np.empty(size, dtype=np.uint8)
        cdef uint16_t[::1] check = checks
        cdef uint8_t[::1] probability = codes[0], backoff = codes[1]
        for i in range(size):
            check[i] = self.c.slots[i].check
            probability[i] = self.c.slots[i].probability
            backoff[i] = self.c.slots[i].backoff
        books = np.empty((self.order, 2, N_CODES), dtype=np.float32)
        for n in range(self.order):
            books[n, 0] = np.asarray(<int[:N_CODES]>self.c.probabilities[n]) / np.float32(UNITS)
            books[n, 1] = np.asarray(<int[:N_CODES]>self.c.backoffs[n]) / np.float32(UNITS)
        homes = np.array([self.c.n_homes], dtype=np.uint64)
        return {"homes": homes, "books": books.ravel(), "checks": checks, "probabilities": codes[0], "backoffs": codes[1]}

    def from_arrays(self, arrays) -> None:
        """Replace the content by what `to_arrays` gave. Arrays that cannot be a table are refused."""
        cdef const uint16_t[::1] check = aligned(arrays["checks"], np.uint16)
        cdef const uint8_t[::1] probability = aligned(arrays["probabilities"], np.uint8)
        cdef const uint8_t[::1] backoff = aligned(arrays["backoffs"], np.uint8)
        cdef const float[::1] book = aligned(arrays["books"], np.float32)
        cdef vector[SlotC] slots
        cdef size_t i, size = len(check)
        cdef int order = len(book) // (2 * N_CODES), n, code
        cdef uint64_t n_homes = arrays["homes"][0] if len(arrays["homes"]) == 1 else 0
        if size == 0 and order == 0 and n_homes == 0:
            self.c.slots.swap(slots)
            self.order = self.c.order = 0
            self.c.n_homes = 0
            return
        # A lookup goes on to the next empty slot: without one it would never end.
        if not (len(probability) == len(backoff) == size and 0 < n_homes < size and check[size - 1] == 0
                and size < (1 << 31) - 1 and 1 <= order <= MAX_ORDER and len(book) == order * 2 * N_CODES
                and np.isfinite(book).all() and (np.abs(book) <= -LOWEST).all()):
            raise error("SL022", key="ngrams", value=f"a table of {size} places for {n_homes} and {len(book)} codes",
                        expected="a table that ends with an empty place, and codes for each length of n-grams")
        slots.resize(size)
        for i in range(size):
            slots[i].check = check[i]
            slots[i].probability = probability[i]
            slots[i].backoff = backoff[i]
        self.c.slots.swap(slots)
        self.order = self.c.order = order
        self.c.n_homes = n_homes
        for n in range(order):
            for code in range(N_CODES):
                self.c.probabilities[n][code] = <int>round(book[2 * n * N_CODES + code] * UNITS)
                self.c.backoffs[n][code] = <int>round(book[(2 * n + 1) * N_CODES + code] * UNITS)


def empty_arrays():
    """The table of a model without n-grams."""
    types = {"homes": np.uint64, "books": np.float32, "checks": np.uint16, "probabilities": np.uint8, "backoffs": np.uint8}
    return {name: np.zeros(0, dtype=dtype) for name, dtype in types.items()}


def aligned(values, dtype):
    """An array that points into a file may begin at any byte."""
    return np.require(values, dtype=dtype, requirements=["C", "A"])


cdef int check_order(order) except -1:
    if not 1 <= order <= MAX_ORDER:
        raise error("SL022", key="order", value=order, expected=f"1 to {MAX_ORDER}")
    return 0


def hash_of(gram) -> int:
    """The hash of an n-gram.

    gram (Sequence[int]): The keys of its words.
    """
    cdef uint64_t h = SEED
    for key in reversed(gram):
        h = mix(h, <uint64_t>key)
    return h


def quantise(logarithms):
    """Codes of 8 bits for numbers, and the code book that tells what each code stands for. 0 keeps a code of its own.
    If there are more values than codes, they are split into bins of equal size; a code stands for the mean of its bin.

    RETURNS (Tuple[ndarray, ndarray]): The code book and the codes.
    """
    book = np.zeros(N_CODES, dtype=np.float32)
    is_other = logarithms != 0
    values, numbers = np.unique(logarithms[is_other], return_inverse=True)
    codes = np.zeros(len(logarithms), dtype=np.uint8)
    if len(values):
        if len(values) >= N_CODES:
            frequency = np.cumsum(np.bincount(numbers))
            bins = (frequency - 1) * (N_CODES - 1) // len(numbers)
        else:
            bins = np.arange(len(values))
        own = bins[numbers]
        counts = np.bincount(own, minlength=N_CODES - 1)
        sums = np.bincount(own, weights=logarithms[is_other], minlength=N_CODES - 1)
        book[1:] = sums / np.maximum(counts, 1)
        codes[is_other] = own + 1
    return book, codes


def place(hashes, probabilities, backoffs, uint64_t n_homes):
    """Put n-grams into a table with linear probing, sorted by hash: each into the first empty slot from its home on."""
    cdef const uint64_t[::1] h = hashes
    cdef uint64_t at = 0
    cdef Py_ssize_t i
    places = np.empty(len(h), dtype=np.uint64)
    cdef uint64_t[::1] slot = places
    for i in range(len(h)):
        at = max(at, home_of(h[i], n_homes))
        slot[i] = at
        at += 1
    size = max(int(at), n_homes) + 1
    checks = np.zeros(size, dtype=np.uint16)
    lowest = (hashes & 0xFFFF).astype(np.uint16)
    checks[places] = np.where(lowest == 0, 1, lowest)
    columns = {"checks": checks}
    for name, codes in (("probabilities", probabilities), ("backoffs", backoffs)):
        columns[name] = np.zeros(size, dtype=np.uint8)
        columns[name][places] = codes
    return columns
