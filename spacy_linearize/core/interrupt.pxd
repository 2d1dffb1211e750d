"""Ctrl-C during a long search. Loops without the GIL count their work; from time to time they take the GIL and check for
signals. Short calls never get that far."""

cdef enum:
    ENOUGH = 1 << 16    # candidates, or as much: some hundredths of a second


cdef int heed() except -1 nogil


cdef inline int did(long* work, long amount) except -1 nogil:
    """Count work, and check for signals after a lot of it."""
    work[0] += amount
    if work[0] < ENOUGH:
        return 0
    work[0] = 0
    return heed()
