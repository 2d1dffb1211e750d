"""One flat table of weights, found by hash. No keys, no growth: its size is chosen once."""
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector


cdef extern from *:
    """
    #if defined(__GNUC__)
    #define PREFETCH(address) __builtin_prefetch(address)
    #else
    #define PREFETCH(address) ((void)(address))
    #endif
    """
    void prefetch "PREFETCH"(const void* address) noexcept nogil


cdef struct TableC:
    # Weights to read: as they are, or as multiples of a scale, which take a quarter of the memory. The other is NULL.
    const float* floats
    const signed char* units
    double scale
    int shift               # 64 - bits of the table


cdef inline double sum_weights(const TableC* table, const uint32_t* slots, int n) noexcept nogil:
    """The sum of the weights at some places."""
    cdef double total = 0
    cdef int i, units = 0
    if table.units != NULL:
        for i in range(n):
            units += table.units[slots[i]]
        return table.scale * units
    for i in range(n):
        total += table.floats[slots[i]]
    return total


cdef inline void ask_for(const TableC* table, const uint32_t* slots, int n) noexcept nogil:
    """Let the memory fetch the weights at some places, to be read a little later. Bytes are mostly in a cache: to ask for
    them costs more than it brings."""
    cdef int i
    if table.units == NULL:
        for i in range(n):
            prefetch(table.floats + slots[i])


cdef class Weights:
    cdef readonly int bits
    cdef readonly double scale      # if not 0, every weight is a whole multiple of this
    cdef readonly int min_updates   # a weight stays 0 until so many updates have met it
    cdef double clock               # examples seen, plus one
    cdef bint is_mean_stale
    cdef vector[float] current      # empty until training starts
    cdef vector[double] weighted    # sum of each change times the clock at that time
    cdef vector[unsigned char] met  # updates that have met each weight, up to min_updates; empty if that is 1
    cdef vector[float] mean         # what decoding reads, or ...
    cdef vector[signed char] units  # ... instead, the same in multiples of the scale, if these are small

    cdef int _replace(self, vector[float] mean, vector[signed char] units, double scale) except -1
    cdef int make_sure(self) except -1
    cdef int start_training(self) except -1
    cdef void tick(self) noexcept nogil
    cdef void add(self, const uint32_t* slots, int n, float change) noexcept nogil
    cdef TableC for_training(self) noexcept nogil
    cdef TableC for_decoding(self) except *
