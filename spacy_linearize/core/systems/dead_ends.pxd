"""Whether a state can be finished, where precedences may have led into a dead end."""
from libc.stdint cimport uint64_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .state cimport ActionC, StateC
from .system cimport ContextC, SystemC

cdef enum:
    MAX_TRIED = 1000000     # states that are tried for one bag before giving up


cdef cppclass DeadEndsC:
    # What is known of the states of one bag.
    unordered_map[uint64_t, bint] known     # by hash of the state: whether it can be finished
    bint remembers                          # memoise: the hash covers all that legality depends on
    int n_tried
    long work                               # since the last check for signals, see `interrupt`


cdef int start_dead_ends(DeadEndsC* dead_ends, bint remembers) except -1 nogil
cdef int legal_actions(ContextC* context, SystemC* system, const StateC* state, vector[ActionC]* actions) except -1 nogil
cdef int can_finish(DeadEndsC* dead_ends, ContextC* context, SystemC* system, const StateC* state, int n_steps,
                    vector[int]* words) except -1 nogil
