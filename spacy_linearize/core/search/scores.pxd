"""Scores of actions: features, families and the language model."""
from ..systems.state cimport SHIFT, ActionC, StateC
from .workspace cimport SearchC, WorkspaceC


cdef inline bint is_forced(const ActionC* action, int n_legal) noexcept nogil:
    """An arc without an alternative is applied without a score."""
    return n_legal == 1 and action.type != SHIFT


cdef int start_scores(SearchC* search, WorkspaceC* workspace) except -1 nogil
cdef int score_actions(SearchC* search, WorkspaceC* workspace, const StateC* state, int first) except -1 nogil
cdef double score_action(SearchC* search, WorkspaceC* workspace, const StateC* state, const ActionC* action,
                         int n_legal) except? -1 nogil
