"""What the language model adds to the score of a SHIFT."""
from libc.stdint cimport uint64_t

from ..ngrams.grams cimport MAX_ORDER
from ..ngrams.table cimport HistoryC
from ..systems.state cimport StateC
from .workspace cimport SearchC, WorkspaceC


cdef struct AheadC:
    # Words to the right of a place, the nearest first: what a search from right to left has placed.
    int n
    uint64_t words[MAX_ORDER - 1]
    uint64_t hashes[MAX_ORDER - 1]  # of the first 1, 2, ... of these words
    int units[MAX_ORDER - 1]        # the logarithm of each after those before it here


cdef struct NgramContextC:
    # What was placed last: one of the two, by the direction of the search.
    HistoryC history
    AheadC ahead


cdef int start_ngrams(SearchC* search, WorkspaceC* workspace) except -1 nogil
cdef void read_context(SearchC* search, WorkspaceC* workspace, const StateC* state, NgramContextC* context) noexcept nogil
cdef void ask_for_ngram(SearchC* search, WorkspaceC* workspace, const StateC* state, const NgramContextC* context,
                        int word) noexcept nogil
cdef double ngram_score(SearchC* search, WorkspaceC* workspace, const StateC* state, const NgramContextC* context,
                        int word) noexcept nogil
