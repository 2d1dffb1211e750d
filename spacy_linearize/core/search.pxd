"""The beam, as data. One SearchC describes a search; one WorkspaceC is the memory it runs in."""
from libc.stdint cimport uint64_t
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from .bag cimport Bag
from .features cimport ExtractionC, Features, PlanC
from .lexicon cimport Lexicon
from .pairs cimport PairPlanC, PairsC
from .reach cimport ReachC
from .ngrams cimport Ngrams, NgramsC
from .state cimport SHIFT, ActionC, NodeC, StateC
from .system cimport ContextC, GoldC, ScratchC, SystemC, TransitionSystem
from .weights cimport TableC, Weights


cdef struct TraceC:
    # How a state was reached.
    int parent          # the trace of the state before, or -1
    ActionC action


cdef struct SumC:
    int stamp           # that of the extraction, if the sum is known
    double value


cdef cppclass WorkspaceC:
    long work                       # since signals were looked at, see `interrupt`
    vector[NodeC] nodes
    vector[TraceC] trace
    ScratchC scratch
    ReachC reach                    # where precedences may lead into a dead end
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
    vector[SumC] by_constituent     # sums over templates of these scopes, for the current state
    vector[SumC] by_component
    vector[double] by_neighbours    # by word before and word: the same for all states, NaN if not known; or empty
    # For the language model:
    vector[uint64_t] known_words    # by word: its form, or UNKNOWN
    vector[double] unigrams         # by word: its logarithmic probability without a history
    vector[int] bigrams             # as by_neighbours: that after one word, in units


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


cdef class Workspace:
    cdef WorkspaceC c


cdef class Decoder:
    cdef readonly TransitionSystem system
    cdef readonly Features features
    cdef readonly Weights weights
    cdef readonly Lexicon lexicon
    cdef readonly Ngrams ngrams
    cdef readonly bint mirrored
    cdef readonly bint labelled
    cdef readonly bint search_tags
    cdef list pool      # workspaces at rest

    cdef Workspace take_workspace(self)
    cdef int return_workspace(self, Workspace workspace) except -1
    cdef SearchC prepare(self, Bag bag, Workspace workspace, TableC table, int width) except *


cdef inline bint is_forced(const ActionC* action, int n_legal) noexcept nogil:
    """An arc without an alternative is applied without a score."""
    return n_legal == 1 and action.type != SHIFT


cdef inline bint is_same(const ActionC* a, const ActionC* b) noexcept nogil:
    return a.type == b.type and a.word == b.word and a.symbol == b.symbol


cdef int start_search(SearchC* search, WorkspaceC* workspace) except -1 nogil
cdef int advance(SearchC* search, WorkspaceC* workspace) except -1 nogil
cdef double score_action(SearchC* search, WorkspaceC* workspace, const StateC* state, const ActionC* action,
                         int n_legal) except? -1 nogil
cdef vector[ActionC] actions_to(WorkspaceC* workspace, int trace) noexcept nogil
cdef int run(SearchC* search, WorkspaceC* workspace) except -1 nogil
cdef double score_derivation(SearchC* search, WorkspaceC* workspace, GoldC* gold) except? -1 nogil
cdef int read_off(SearchC* search, WorkspaceC* workspace, int rank, GoldC* result) except -1 nogil
cdef to_arrays(Bag bag, GoldC* result, double score, bint mirrored)
