"""A word as the search sees it: columns of 64-bit keys."""
from libc.stdint cimport uint64_t


cdef enum Attribute:
    FORM
    TAG
    LABEL
    LOWER
    SUFFIX
    SHAPE
    MARKER      # the marker among its given dependents, such as a preposition
    FRAME       # the set of the labels of its given dependents
    COMPANY     # the set of their tags
    N_ATTRIBUTES


cdef struct WordC:
    uint64_t columns[N_ATTRIBUTES + 0]  # by Attribute; 0 where nothing is known
    bint tag_given        # the tag came with the bag, and must stay
    int punct             # 1: punctuation; 2: a question mark
