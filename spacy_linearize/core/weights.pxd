"""One flat table of weights, found by hash. No keys, no growth: its size is chosen once."""
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector


cdef class Weights:
    cdef readonly int bits
    cdef readonly double scale      # if not 0, every weight is a whole multiple of this
    cdef double clock               # examples seen, plus one
    cdef bint is_mean_stale
    cdef vector[float] current      # empty until training starts
    cdef vector[double] weighted    # sum of each change times the clock at that time
    cdef vector[float] mean         # what decoding reads
    cdef vector[signed char] units  # the mean in multiples of the scale, if small: a quarter of the memory to read from

    cdef const signed char* units_for(self, const float* weights) noexcept nogil
    cdef int start_training(self) except -1
    cdef int tick(self) except -1
    cdef void add(self, uint32_t slot, float change) noexcept nogil
    cdef float* for_training(self) noexcept nogil
    cdef const float* for_decoding(self) except NULL
