"""A language model as the search reads it: quantised, behind one hash table, without Python."""
from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libcpp.vector cimport vector

from .grams cimport MAX_ORDER

# Keys of the special words: far above the numbers that spaCy has for its own symbols (a word may be one of
# them: "IS_ALPHA" is 1), and smaller than any hash is likely to be.
cdef enum:
    BEGIN = 0x7FFFFFF1
    END = 0x7FFFFFF2
    UNKNOWN = 0x7FFFFFF3    # a word that the model has no 1-gram of

cdef enum:
    SEED = 0x5EEDCAFE       # of the hashes. Not 0: otherwise the key 0, alone and repeated, would have one hash.
    CLASS_SEED = 0xC1A55    # of the keys of classes
    UNITS = 1024            # of a logarithm
    N_CODES = 256


cdef struct SlotC:
    # One n-gram: 4 bytes, found by its hash.
    uint16_t check          # the lowest bits of the hash; 0 in an empty slot
    uint8_t probability     # codes, see NgramsC
    uint8_t backoff


cdef cppclass NgramsC:
    int order               # 0: there is no model
    vector[SlotC] slots     # sorted by hash, with linear probing; the last slot is empty, so that every lookup ends
    uint64_t n_homes        # the slots at which a lookup may begin
    # By length - 1 and code: the natural logarithm of the probability of the last word after the others, in units of
    # 1 / UNITS, and the backoff: what is added where a word was not seen after the n-gram.
    int probabilities[MAX_ORDER][N_CODES]
    int backoffs[MAX_ORDER][N_CODES]


cdef inline uint64_t home_of(uint64_t h, uint64_t n_homes) noexcept nogil:
    """The slot where the lookup of a hash begins: its upper half, scaled to the number of homes."""
    return (h >> 32) * n_homes >> 32


cdef inline uint16_t check_of(uint64_t h) noexcept nogil:
    """The bits that a slot stores. Never 0, which marks an empty slot."""
    cdef uint16_t check = <uint16_t>h
    return check if check else 1


cdef inline const SlotC* find(const NgramsC* model, uint64_t h) noexcept nogil:
    """The slot of an n-gram, or NULL. Not for a model of order 0."""
    cdef const SlotC* slot = model.slots.data() + home_of(h, model.n_homes)
    cdef uint16_t check = check_of(h)
    while slot.check != 0:
        if slot.check == check:
            return slot
        slot += 1
    return NULL


cdef struct HistoryC:
    # The words before a place, the latest first, as far as the model has seen them together.
    int n
    uint64_t words[MAX_ORDER - 1]
    int backoff[MAX_ORDER]  # backoff[n]: what is added where the longest n-gram that was seen has n of these words


cdef void look_back(const NgramsC* model, HistoryC* history) noexcept nogil
cdef uint64_t known_word(const NgramsC* model, uint64_t form, uint64_t suffix, uint64_t shape) noexcept nogil
cdef int match(const NgramsC* model, const HistoryC* history, uint64_t word, int* units) noexcept nogil
cdef int log_units(const NgramsC* model, const HistoryC* history, uint64_t word) noexcept nogil
cdef double log_probability(const NgramsC* model, const HistoryC* history, uint64_t word) noexcept nogil

cdef class Ngrams:
    cdef NgramsC c
    cdef readonly int order
