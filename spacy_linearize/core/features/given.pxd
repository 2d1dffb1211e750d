"""What is given around a word: its dependents, its siblings, its head."""
from libc.stdint cimport uint64_t

from ..bag.bag cimport BagC
from ..systems.state cimport StateC
from .atoms cimport AtomsC, FamilyC

cdef FamilyC* family_of(BagC* bag, const StateC* state, int head, AtomsC* atoms) noexcept nogil
cdef void given_around(BagC* bag, const StateC* state, int k, AtomsC* atoms, uint64_t* values) noexcept nogil
