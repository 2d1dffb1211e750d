"""What a transition system is: four functions. A new one is one file that fills a SystemC, as `order_first` does."""
from libcpp.vector cimport vector

from ..bag.bag cimport BagC
from ..lexicon cimport LexiconC
from .derivation cimport TargetC
from .state cimport ActionC, NodeC, StateC


cdef cppclass ScratchC:
    # Reused memory of the legality checks; `stamp` marks entries as set in the current call.
    int stamp
    vector[int] seen         # word -> stamp: stands on the stack
    vector[int] excluded     # word -> stamp: must not be shifted now
    vector[int] component    # component top -> stamp: owns a stack item
    vector[int] low          # component top -> words that may be shifted, as a range
    vector[int] high


cdef struct ContextC:
    # All that stays the same during one search.
    BagC* bag
    LexiconC* lexicon
    vector[NodeC]* nodes
    ScratchC* scratch
    bint labelled       # joint: choose labels for free arcs
    bint search_tags    # joint: choose among a word's tags
    bint mirrored       # right to left: the state's left is the sentence's right
    int max_opened      # order first: a SHIFT opens at most so many levels of a tree at once


ctypedef int (*n_steps_t)(int n) noexcept nogil
ctypedef int (*legal_t)(ContextC* context, const StateC* state, vector[ActionC]* actions) except -1 nogil
ctypedef int (*apply_t)(ContextC* context, StateC* state, const ActionC* action) except -1 nogil
ctypedef int (*oracle_t)(ContextC* context, const StateC* state, TargetC* gold, ActionC* action) except -1 nogil

cdef struct SystemC:
    n_steps_t n_steps   # how many actions order n words
    legal_t legal       # appends the legal actions of a state; never none before the last step
    apply_t apply       # changes the state
    oracle_t oracle     # the one action that leads towards the gold order and tree


cdef class TransitionSystem:
    cdef SystemC c


cdef int start_scratch(ScratchC* scratch, int n) except -1 nogil
