"""The forest of given arcs, in canonical sequence.

Words are numbered in preorder: a head comes before its dependents, and a subtree is a range of numbers. Then a test for
ancestry is a comparison, and a component is a slice.
"""
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

cdef enum:
    FREE = -1  # no head given
    ROOT = -2  # given as the root


cdef cppclass ForestC:
    int n
    bint has_arcs
    vector[int] head         # given head, FREE or ROOT
    vector[int] size         # words in the given subtree, itself included
    vector[int] top          # top of the component
    vector[int] depth        # how many heads stand above it
    vector[int] n_children
    vector[int] tops         # all component tops, ascending
    vector[int] twin         # the sibling just before with an equal subtree, or -1
    vector[int] twin_above   # nearest word from here upwards, itself included, that has a twin, or -1


cdef inline bint is_below(ForestC* forest, int k, int ancestor) noexcept nogil:
    return ancestor < k < ancestor + forest.size[ancestor]


cdef inline bint is_shifted(const uint64_t* shifted, int k) noexcept nogil:
    return (shifted[k >> 6] >> (k & 63)) & 1


cdef inline bint is_untouched(ForestC* forest, const uint64_t* shifted, int k) noexcept nogil:
    """Whether no word of k's subtree has been shifted."""
    cdef int last = k + forest.size[k] - 1, block
    cdef uint64_t from_first = ~(<uint64_t>0) << (k & 63), to_last = ~(<uint64_t>0) >> (63 - (last & 63))
    if k >> 6 == last >> 6:
        return (shifted[k >> 6] & from_first & to_last) == 0
    if shifted[k >> 6] & from_first or shifted[last >> 6] & to_last:
        return False
    for block in range((k >> 6) + 1, last >> 6):
        if shifted[block]:
            return False
    return True


cdef inline bint is_redundant(ForestC* forest, const uint64_t* shifted, int k) noexcept nogil:
    """Whether shifting k only repeats, under other names, what shifting a word of an equal subtree does."""
    cdef int a = forest.twin_above[k]
    while a >= 0:
        if is_untouched(forest, shifted, forest.twin[a]) and is_untouched(forest, shifted, a):
            return True
        a = forest.twin_above[forest.head[a]] if forest.head[a] >= 0 else -1
    return False


cdef class Layout:
    """A forest and the way back from canonical numbers to input positions."""
    cdef ForestC forest
    cdef vector[int] position   # canonical number -> input position
    cdef vector[int] number     # input position -> canonical number


cdef Layout lay_out(const int[:] heads, vector[uint64_t]& content, vector[uint64_t]& ties, object texts)
cdef bint is_whole_tree(const int[:] heads) except -1
