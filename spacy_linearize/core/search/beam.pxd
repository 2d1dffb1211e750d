"""The beam search, and the decoder that runs it."""
from libcpp.vector cimport vector

from ..bag.bag cimport PackedBag
from ..features.plan cimport Features
from ..lexicon cimport Lexicon
from ..ngrams.table cimport Ngrams
from ..systems.derivation cimport TargetC
from ..systems.state cimport ActionC
from ..systems.system cimport TransitionSystem
from ..weights cimport TableC, Weights
from .workspace cimport SearchC, WorkspaceC


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
    cdef SearchC prepare(self, PackedBag bag, Workspace workspace, TableC table, int width) except *
    cdef SearchC prepare_decoding(self, PackedBag bag, Workspace workspace, int width, double ngram_weight) except *


cdef inline bint is_same(const ActionC* a, const ActionC* b) noexcept nogil:
    return a.type == b.type and a.word == b.word and a.symbol == b.symbol


cdef int start_search(SearchC* search, WorkspaceC* workspace) except -1 nogil
cdef int advance(SearchC* search, WorkspaceC* workspace) except -1 nogil
cdef vector[ActionC] actions_to(WorkspaceC* workspace, int trace) noexcept nogil
cdef int run(SearchC* search, WorkspaceC* workspace) except -1 nogil
cdef double score_derivation(SearchC* search, WorkspaceC* workspace, TargetC* gold) except? -1 nogil
cdef int read_off(SearchC* search, WorkspaceC* workspace, int rank, TargetC* result) except -1 nogil
cdef to_order(PackedBag bag, TargetC* target, double score, bint mirrored)
