"""The constituent that a word opens when it is shifted."""
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport BagC
from ..systems.state cimport NodeC, StateC
from .atoms cimport AtomsC

cdef void read_opened(BagC* bag, vector[NodeC]* nodes, const StateC* state, int k, AtomsC* atoms,
                      uint64_t* values) noexcept nogil
