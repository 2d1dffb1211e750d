"""An n-gram language model behind one hash table, to be read without Python."""
from libc.stdint cimport int16_t, uint32_t, uint64_t
from libcpp.vector cimport vector

cdef enum:
    MAX_ORDER = 4   # a state remembers the three words before

# Keys of what stands beside the words: far above the numbers that spaCy has for its own symbols (a word may be one of
# them: "IS_ALPHA" is 1), and smaller than any hash is likely to be.
cdef enum:
    BEGIN = 0x7FFFFFF1
    END = 0x7FFFFFF2
    UNKNOWN = 0x7FFFFFF3    # a word that the model has no 1-gram of


cdef enum:
    UNITS = 1024            # of a logarithm
    NOT_SEEN = 0x7FFFFFFF   # no logarithm


cdef struct EntryC:
    # One n-gram: 8 bytes, found by its hash. Logarithms are natural, in units of 1 / UNITS.
    uint32_t check          # the upper half of the hash; 0 in an empty place
    int16_t probability     # of its last word after the others
    int16_t backoff         # what is added where it is a context that was not seen with a word


cdef cppclass NgramsC:
    int order               # 0: there is no model
    vector[EntryC] table    # empty, or 2 ** k places of which one at least is free: there every search ends
    uint64_t mask           # number of places - 1


cdef inline const EntryC* find(const NgramsC* model, uint64_t h) noexcept nogil:
    """The entry of an n-gram, or NULL. Not for a model of order 0."""
    cdef uint64_t i = h & model.mask
    cdef uint32_t check = (<uint32_t>(h >> 32)) | 1
    while model.table[i].check != 0:
        if model.table[i].check == check:
            return &model.table[i]
        i = (i + 1) & model.mask
    return NULL


cdef struct HistoryC:
    # The words before a place, the latest first, as far as the model has seen them together.
    int n
    uint64_t words[3]
    int backoff[4]          # backoff[n]: what is added where an n-gram with n of these words is the longest that was seen


cdef void look_back(const NgramsC* model, HistoryC* history) noexcept nogil
cdef uint64_t known_word(const NgramsC* model, uint64_t word) noexcept nogil
cdef int seen_units(const NgramsC* model, const HistoryC* history, int shortest, uint64_t word) noexcept nogil
cdef int log_units(const NgramsC* model, const HistoryC* history, uint64_t word) noexcept nogil
cdef double log_probability(const NgramsC* model, const HistoryC* history, uint64_t word) noexcept nogil

cdef class Ngrams:
    cdef NgramsC c
    cdef readonly int order

    cdef int take(self, int order, vector[EntryC] table) except -1
