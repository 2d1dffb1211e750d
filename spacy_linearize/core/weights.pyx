"""Averaged weights: decoding always reads the mean over training, computed when it is first asked for."""
import numpy as np
from libc.stdint cimport uint32_t
from libcpp.vector cimport vector

from ..errors import error

cdef extern from *:
    """
    #include <stddef.h>
    #if defined(__linux__)
    #include <stdint.h>
    #include <sys/mman.h>
    #endif

    /* Reads at random places need a page lookup each: with fewer, larger pages more lookups are cached. */
    static void ask_for_huge_pages(void* start, size_t size) {
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        const uintptr_t page = 4096;
        uintptr_t first = ((uintptr_t)start + page - 1) & ~(page - 1);
        uintptr_t end = ((uintptr_t)start + size) & ~(page - 1);
        if (end > first) madvise((void*)first, end - first, MADV_HUGEPAGE);
    #else
        (void)start; (void)size;
    #endif
    }
    """
    void ask_for_huge_pages(void* start, size_t size) noexcept nogil

MIN_BITS, MAX_BITS = 4, 30
MAX_UPDATES = 255


ctypedef fused number:
    float
    signed char


cdef int make_room(vector[number]& table, size_t size) except -1:
    """Allocate memory for a table before it is filled."""
    table.reserve(size)
    ask_for_huge_pages(table.data(), size * sizeof(number))
    return 0


cdef class Weights:
    """A table of 2 ** bits weights, all 0.

    bits (int): Size of the table as a power of two, 4 to 30.
    min_updates (int): A weight stays 0 until this many updates have met it, 1 to 255. Features that are met only once
        or twice are mostly noise, and make up most of a model's size.
    """

    def __init__(self, int bits, int min_updates=1):
        if not MIN_BITS <= bits <= MAX_BITS:
            raise error("SL022", key="table_bits", value=bits, expected=f"{MIN_BITS} to {MAX_BITS}")
        if not 1 <= min_updates <= MAX_UPDATES:
            raise error("SL022", key="min_updates", value=min_updates, expected=f"1 to {MAX_UPDATES}")
        self.bits = bits
        self.min_updates = min_updates
        self.clock = 1
        self.scale = 0
        self.is_mean_stale = False

    cdef int make_sure(self) except -1:
        """Allocate the table, unless weights were loaded: a table that is loaded need not be filled with 0 first."""
        if self.mean.empty() and self.units.empty():
            make_room[float](self.mean, (<size_t>1) << self.bits)
            self.mean.resize((<size_t>1) << self.bits)
        return 0

    cdef int start_training(self) except -1:
        """Start training from the mean: that of a model that was loaded, or of one that was trained before."""
        self.make_sure()
        if not self.units.empty():
            self.from_array(self.to_array())
        if self.current.empty():
            make_room[float](self.current, self.mean.size())
            self.current.assign(self.mean.begin(), self.mean.end())
            self.weighted.resize(self.mean.size())
            self._start_counting()
        self.scale = 0
        return 0

    def _start_counting(self):
        """Start counting updates. A weight that is not 0 has been met often enough before."""
        cdef size_t i
        if self.min_updates > 1:
            self.met.assign(self.mean.size(), 0)
            for i in range(self.mean.size()):
                if self.mean[i] != 0:
                    self.met[i] = self.min_updates

    cdef void tick(self) noexcept nogil:
        """One more example has been seen."""
        self.clock += 1
        self.is_mean_stale = True

    cdef void add(self, const uint32_t* slots, int n, float change) noexcept nogil:
        """Change the weights at some places."""
        cdef float* current = self.current.data()
        cdef double* weighted = self.weighted.data()
        cdef unsigned char* met = self.met.data()
        cdef bint is_counted = not self.met.empty()
        cdef int i
        cdef uint32_t slot
        for i in range(n):
            slot = slots[i]
            # One that is not 0 has been met often enough. The search has just read it; the counter is elsewhere.
            if is_counted and current[slot] == 0 and met[slot] < self.min_updates:
                met[slot] += 1
                if met[slot] < self.min_updates:
                    continue
            current[slot] += change
            weighted[slot] += change * self.clock

    cdef TableC for_training(self) noexcept nogil:
        cdef TableC table
        table.floats = self.current.data()
        table.units = NULL
        table.scale = 1
        table.shift = 64 - self.bits
        return table

    cdef TableC for_decoding(self) except *:
        cdef TableC table
        self.make_sure()
        self._take_mean()
        table.floats = self.mean.data() if self.units.empty() else NULL
        table.units = self.units.data() if not self.units.empty() else NULL
        table.scale = self.scale
        table.shift = 64 - self.bits
        return table

    def _take_mean(self):
        cdef size_t i
        if self.is_mean_stale:
            for i in range(self.mean.size()):
                self.mean[i] = <float>(self.current[i] - self.weighted[i] / self.clock)
            self.is_mean_stale = False

    def _forget_training(self):
        self.current.clear()
        self.current.shrink_to_fit()
        self.weighted.clear()
        self.weighted.shrink_to_fit()
        self.met.clear()
        self.met.shrink_to_fit()
        self.clock = 1
        self.is_mean_stale = False

    def to_array(self):
        """A copy of the averaged weights."""
        if not self.units.empty():
            units = np.asarray(<const signed char[:self.units.size()]>self.units.data())
            return units.astype(np.float32) * np.float32(self.scale)
        self.make_sure()
        self._take_mean()
        return np.array(<const float[:self.mean.size()]>self.mean.data(), dtype=np.float32)

    def at(self, slots):
        """The averaged weights at some places, as a list of numbers."""
        cdef TableC table = self.for_decoding()
        cdef uint32_t slot
        values = []
        for key in slots:
            if not 0 <= key < len(self):
                raise IndexError(key)
            slot = key
            values.append(sum_weights(&table, &slot, 1))
        return values

    def from_array(self, values) -> None:
        """Replace all weights. Anything that is not a finite number is refused."""
        self._check(values, "f")
        values = np.ascontiguousarray(values, dtype=np.float32)
        if not np.isfinite(values).all():
            raise error("SL022", key="weights", value="a table with values that are not finite", expected="finite numbers")
        cdef const float[::1] view = values
        cdef vector[float] mean
        make_room[float](mean, view.shape[0])
        mean.assign(&view[0], &view[0] + view.shape[0])
        self._replace(mean, vector[schar](), 0)

    def from_units(self, units, double scale) -> None:
        """Replace all weights by whole multiples of a scale. If these are bytes, they stay bytes, and take a quarter of
        the memory.

        units (ndarray): Of int8 or int16.
        """
        self._check(units, "i")
        cdef const signed char[::1] view
        cdef vector[schar] small
        if units.dtype.itemsize > 1:
            self.from_array(units.astype(np.float32) * np.float32(scale))
            self.scale = scale
            return
        view = np.ascontiguousarray(units, dtype=np.int8)
        make_room[schar](small, view.shape[0])
        small.assign(&view[0], &view[0] + view.shape[0])
        self._replace(vector[float](), small, scale)

    def to_units(self):
        """The weights as whole multiples of the scale, which must not be 0: int8, or int16 if these are larger."""
        if not self.units.empty():
            return np.array(<const signed char[:self.units.size()]>self.units.data(), dtype=np.int8)
        return np.rint(self.to_array() / np.float32(self.scale)).astype(np.int16)

    def _check(self, values, kind) -> None:
        if values.shape != (len(self),) or values.dtype.kind != kind:
            raise error("SL022", key="weights", value=f"{values.size} values of type {values.dtype}",
                        expected=f"{len(self)} numbers of kind '{kind}'")

    cdef int _replace(self, vector[float] mean, vector[schar] units, double scale) except -1:
        self._forget_training()
        self.mean.swap(mean)
        self.units.swap(units)
        self.scale = scale
        return 0

    def __len__(self):
        return (<size_t>1) << self.bits
