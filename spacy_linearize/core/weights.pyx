"""Averaged weights: decoding always reads the mean over training, computed when it is first asked for."""
import numpy as np
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector

from ..errors import error

MIN_BITS, MAX_BITS = 4, 30


cdef class Weights:
    """A table of 2 ** bits weights, all 0.

    bits (int): Size of the table as a power of two, 4 to 30.
    """

    def __init__(self, int bits):
        if not MIN_BITS <= bits <= MAX_BITS:
            raise error("SL022", key="table_bits", value=bits, expected=f"{MIN_BITS} to {MAX_BITS}")
        self.bits = bits
        self.clock = 1
        self.scale = 0
        self.is_mean_stale = False
        self.mean.resize((<size_t>1) << bits)

    cdef int start_training(self) except -1:
        """Training goes on from the mean: a model that was loaded, or one that was trained before."""
        if self.current.empty():
            self.current = self.mean
            self.weighted.resize(self.mean.size())
        self.scale = 0
        return 0

    cdef int tick(self) except -1:
        """One more example has been seen."""
        self.clock += 1
        self.is_mean_stale = True
        return 0

    cdef void add(self, uint32_t slot, float change) noexcept nogil:
        self.current[slot] += change
        self.weighted[slot] += change * self.clock

    cdef float* for_training(self) noexcept nogil:
        return self.current.data()

    cdef const float* for_decoding(self) except NULL:
        cdef size_t i
        if self.is_mean_stale:
            for i in range(self.mean.size()):
                self.mean[i] = <float>(self.current[i] - self.weighted[i] / self.clock)
            self.is_mean_stale = False
        return self.mean.data()

    def _forget_training(self):
        self.current.clear()
        self.current.shrink_to_fit()
        self.weighted.clear()
        self.weighted.shrink_to_fit()
        self.clock = 1
        self.is_mean_stale = False

    def to_array(self):
        """A copy of the averaged weights."""
        return np.array(<const float[:self.mean.size()]>self.for_decoding(), dtype=np.float32)

    def from_array(self, values, double scale=0) -> None:
        """Replace all weights. Anything that is not a finite number is refused.

        scale (float): If not 0, all weights are whole multiples of this, -127 to 127.
        """
        values = np.ascontiguousarray(values, dtype=np.float32)
        if values.shape != (self.mean.size(),) or not np.isfinite(values).all():
            raise error("SL022", key="weights", value=f"{values.size} values",
                        expected=f"{self.mean.size()} finite numbers")
        cdef const float[::1] view = values
        self._forget_training()
        self.scale = scale
        self.mean.assign(&view[0], &view[0] + view.shape[0])

    def __len__(self):
        return self.mean.size()
