"""A bag of words as the search sees it: words in canonical sequence over the forest of given arcs."""
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from .forest cimport ForestC, Layout
from .precedence cimport PrecedenceC
from .word cimport WordC

cdef cppclass BagC:
    ForestC forest
    vector[WordC] words
    # The given dependents of word k are children_by_label[first_child[k]:first_child[k + 1]], equal labels side by
    # side; the same words once more with equal tags side by side.
    vector[int] first_child
    vector[int] children_by_label
    vector[int] children_by_tag
    vector[int] puncts          # the words that are punctuation, equal ones side by side
    # What a reader sees of word k is pieces[first_piece[k]:first_piece[k + 1]]: its form, or those it is made of.
    vector[int] first_piece
    vector[uint64_t] pieces
    bint asks                   # there is a question mark
    PrecedenceC precedence


cdef uint64_t hash_sentence(BagC* bag, vector[int]& order, bint mirrored) noexcept nogil


cdef class PackedBag:
    cdef BagC c
    cdef readonly Layout layout
    cdef readonly object texts
    cdef readonly list before   # pairs of input positions: the first stands before the second
    cdef readonly list cycle    # those of them that contradict each other, whatever the arcs
