"""Which words have to stand before which: hard constraints on the order, in canonical numbers.

Within one component a pair is lifted to the family where the two part ways: as subtrees are unbroken, one member of the
family (a dependent with its subtree, or the head alone) has to be complete before the other begins. Between components it
stays a pair of words.
"""
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from .forest cimport ForestC, is_shifted, is_untouched


cdef cppclass PrecedenceC:
    bint is_active
    bint is_tangled         # there are several components and arcs: allowed steps may lead into a dead end
    # For each direction of the search, and each word: what has to be placed before ...
    vector[vector[int]] words[2]        # ... the word: words of other components
    vector[vector[int]] of_head[2]      # ... the word as a head: subtrees of its dependents
    vector[vector[int]] of_member[2]    # ... its subtree: subtrees of its siblings, and the head h as ~h


cdef inline bint is_complete(ForestC* forest, const uint64_t* shifted, int k) noexcept nogil:
    """Whether all words of k's subtree have been shifted."""
    cdef int i
    for i in range(k, k + forest.size[k]):
        if not is_shifted(shifted, i):
            return False
    return True


cdef inline bint may_come(PrecedenceC* precedence, ForestC* forest, const uint64_t* shifted, int k,
                          bint mirrored) noexcept nogil:
    """Whether all that has to stand before word k, or before what it opens, has been placed."""
    cdef size_t i
    cdef int c = k, x
    for i in range(precedence.words[mirrored][k].size()):
        if not is_shifted(shifted, precedence.words[mirrored][k][i]):
            return False
    for i in range(precedence.of_head[mirrored][k].size()):
        if not is_complete(forest, shifted, precedence.of_head[mirrored][k][i]):
            return False
    while forest.head[c] >= 0 and is_untouched(forest, shifted, c):
        for i in range(precedence.of_member[mirrored][c].size()):
            x = precedence.of_member[mirrored][c][i]
            if not (is_shifted(shifted, ~x) if x < 0 else is_complete(forest, shifted, x)):
                return False
        c = forest.head[c]
    return True


cdef int set_precedence(PrecedenceC* precedence, ForestC* forest, pairs) except -1
cdef list find_contradiction(ForestC* forest, pairs)
