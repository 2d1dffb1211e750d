"""What a derivation leads to: an order and a tree, in canonical numbers."""
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport PackedBag


cdef cppclass TargetC:
    # An order and tree in canonical numbers; the order runs in the direction of the search.
    vector[int] order
    vector[int] head
    vector[int] n_dependents
    vector[uint64_t] tag
    vector[uint64_t] label


cdef TargetC make_target(PackedBag bag, order, heads, tags, labels, bint mirrored, bint needs_tree) except *
