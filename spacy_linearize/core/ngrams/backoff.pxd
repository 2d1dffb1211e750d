"""A language model while it is made: n-grams with their probabilities and backoffs, by length.

The n-grams of a length stand in suffix order (see `grams.pxd`), each behind the n-gram that it ends with: its suffix, one
word shorter. What comes before its last word is its context. Both have to be there for every n-gram. The words themselves
are the 1-grams, all of them, by number.
"""
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector


cdef cppclass LevelC:
    # The n-grams of one length.
    vector[uint32_t] word       # the first word, the one that the suffix lacks
    vector[uint32_t] suffix     # the place of the suffix, one level below
    vector[uint32_t] context    # the place of the context, there too
    vector[float] mass          # how often it was seen, as a share of all words
    vector[float] probability   # of its last word after the others
    vector[float] backoff       # what the probabilities of shorter n-grams are multiplied with where it is the context


cdef class Backoff:
    cdef vector[LevelC] levels  # number n - 1: the n-grams of n words
    cdef readonly int order
    cdef readonly size_t n_words

    cdef double after(self, const uint32_t* words, int n) noexcept nogil
    cdef int find(self, const uint32_t* words, int n, uint32_t* places) noexcept nogil


cdef int set_backoffs(Backoff model) except -1 nogil
cdef int sum_by_context(LevelC* level, LevelC* below, vector[double]* seen, vector[double]* shorter) except -1 nogil
