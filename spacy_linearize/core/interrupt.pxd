"""Ctrl-C in the middle of a long search. Loops that run without the interpreter's lock say how much they have done; once
in a while the lock is taken, and signals are looked at. Short calls never get that far."""

cdef enum:
    ENOUGH = 1 << 16    # candidates, or as much: some hundredths of a second


cdef int heed() except -1 nogil


cdef inline int did(long* work, long amount) except -1 nogil:
    """Count what has been done since signals were looked at last, and look again if that is a lot."""
    work[0] += amount
    if work[0] < ENOUGH:
        return 0
    work[0] = 0
    return heed()
