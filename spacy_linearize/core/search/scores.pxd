"""Scores of actions: features, families and the language model."""
from ..systems.state cimport ActionC, StateC
from .workspace cimport SearchC, WorkspaceC


cdef int start_scores(SearchC* search, WorkspaceC* workspace) except -1 nogil
cdef int score_actions(SearchC* search, WorkspaceC* workspace, const StateC* state, int first) except -1 nogil
cdef double score_action(SearchC* search, WorkspaceC* workspace, const StateC* state, const ActionC* action) except? -1 nogil
