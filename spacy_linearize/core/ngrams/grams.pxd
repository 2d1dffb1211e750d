"""An n-gram in 16 bytes, so that counting is sorting numbers.

The last word of an n-gram stands first, then the word before it, and so on: n-grams with the same end are neighbours when
they are sorted (suffix order). Words are numbers below 2 ** WORD_BITS, five to a gram. What is left at the end of the
second number is a count.
"""
from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    MAX_ORDER = 5       # the longest n-grams
    WORD_BITS = 21
    MAX_WORDS = 1 << 21
    MAX_COUNT = (1 << 21) - 1   # of one gram; what was seen more often stands there several times

# Numbers of what stands beside the words
cdef enum:
    PADDING = 0         # before the beginning
    BEGIN_WORD = 1
    END_WORD = 2
    UNKNOWN_WORD = 3
    FIRST_WORD = 4


cdef struct GramC:
    uint64_t first      # three words
    uint64_t second     # two words and the count


cdef inline uint32_t word_at(const GramC* gram, int i) noexcept nogil:
    """A word of a gram; 0 is the last one, 1 the one before it."""
    if i < 3:
        return <uint32_t>(gram.first >> (WORD_BITS * (2 - i))) & (MAX_WORDS - 1)
    return <uint32_t>(gram.second >> (WORD_BITS * (5 - i))) & (MAX_WORDS - 1)


cdef inline uint32_t count_of(const GramC* gram) noexcept nogil:
    return <uint32_t>gram.second & MAX_COUNT


cdef inline GramC pack(const uint32_t* words) noexcept nogil:
    """A gram of MAX_ORDER words, the last one first, seen once."""
    cdef GramC gram
    gram.first = <uint64_t>words[0] << 2 * WORD_BITS | <uint64_t>words[1] << WORD_BITS | words[2]
    gram.second = <uint64_t>words[3] << 2 * WORD_BITS | <uint64_t>words[4] << WORD_BITS | 1
    return gram


cdef inline bint is_less(const GramC& a, const GramC& b) noexcept nogil:
    """Whether the words of one gram come before those of the other."""
    if a.first != b.first:
        return a.first < b.first
    return a.second >> WORD_BITS < b.second >> WORD_BITS


cdef inline bint is_same(const GramC& a, const GramC& b) noexcept nogil:
    return a.first == b.first and a.second >> WORD_BITS == b.second >> WORD_BITS
