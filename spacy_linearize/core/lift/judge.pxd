"""A yes or no from a linear model over templates of atoms."""
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector

from ..weights cimport TableC, Weights


cdef class Judge:
    cdef readonly Weights weights
    cdef public bint is_trained     # until then the answer is always no
    cdef readonly tuple templates
    cdef vector[uint64_t] seeds
    cdef vector[vector[int]] atoms_of
    cdef vector[uint32_t] slots     # of the last question

    cdef double ask(self, const TableC* table, const uint64_t* atoms) except? -1
    cdef int learn(self, const uint64_t* atoms, bint right) except -1
