"""What all transition systems share: a name, and scratch memory."""


cdef class TransitionSystem:
    """Base of the transition systems.

    name (str): What settings call it.
    builds_trees (bool): Whether its actions build the whole tree, so that it needs one to learn from.
    """
    name = ""
    builds_trees = False


cdef int start_scratch(ScratchC* scratch, int n) except -1 nogil:
    scratch.stamp = 0
    scratch.seen.assign(n, 0)
    scratch.excluded.assign(n, 0)
    scratch.component.assign(n, 0)
    scratch.low.resize(n)
    scratch.high.resize(n)
    return 0
