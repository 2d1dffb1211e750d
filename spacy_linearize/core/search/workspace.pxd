"""The data of a search. One SearchC describes it; one WorkspaceC is the memory it runs in."""
from libc.stdint cimport uint32_t, uint64_t
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from ..features.families cimport PairPlanC, PairsC
from ..features.plan cimport ExtractionC, PlanC
from ..ngrams.table cimport NgramsC
from ..systems.dead_ends cimport DeadEndsC
from ..systems.state cimport SHIFT, ActionC, NodeC, StateC
from ..systems.system cimport ContextC, ScratchC, SystemC
from ..weights cimport TableC


cdef struct TraceC:
    # How a state was reached.
    int parent          # the trace of the state before, or -1
    ActionC action


cdef struct SumC:
    int stamp           # that of the extraction, if the sum is known
    double value


cdef struct QueuedC:
    # A sum of weights that is still to be read.
    int n               # how many of the queued slots are its own
    double* value


cdef struct ShiftSumsC:
    # What the score of a SHIFT is made of, beside pairs and the language model.
    double* neighbours
    double* constituent
    double* component
    double own[4]       # that of the word, and those that no other SHIFT shares


cdef cppclass WorkspaceC:
    long work                       # since the last check for signals, see `interrupt`
    vector[NodeC] nodes
    vector[TraceC] trace
    ScratchC scratch
    DeadEndsC dead_ends                    # where precedences may lead into a dead end
    ExtractionC extraction
    PairsC pairs
    vector[StateC] beam
    vector[StateC] next_beam
    vector[uint64_t] bits           # which words each state of the beam has shifted
    vector[uint64_t] next_bits
    vector[ActionC] actions         # all legal actions of all states of the beam ...
    vector[int] parents             # ... the state each belongs to ...
    vector[pair[double, int]] ranks # ... and its negative score with its number, so that "smaller" is better
    vector[StateC] path             # the states of the derivation that was scored last ...
    vector[uint64_t] path_bits
    vector[ActionC] path_actions    # ... and how it goes on from each
    vector[ShiftSumsC] shift_sums   # by action of the current state
    vector[QueuedC] queue           # sums to read, one behind the other ...
    vector[uint32_t] slots          # ... and the places of their weights
    int n_slots
    vector[SumC] by_constituent     # sums over templates of these scopes, for the current state
    vector[SumC] by_component
    vector[double] by_neighbours    # by word before and word: the same for all states, NaN if not known; or empty
    # For the language model:
    vector[uint64_t] known_words    # by word: its form, or UNKNOWN
    vector[int] unigrams            # by word: its logarithm without a history, in units
    vector[int] own_backoffs        # by word: its backoff, in units
    vector[int] bigrams             # as by_neighbours: the slot of the 2-gram


cdef struct SearchC:
    ContextC context
    SystemC* system
    bint builds_trees   # the system, as it goes along
    PlanC* plan
    PairPlanC* pair_plan
    TableC table
    int width           # of the beam
    const NgramsC* ngrams
    double ngram_weight # 0: the language model is not asked
