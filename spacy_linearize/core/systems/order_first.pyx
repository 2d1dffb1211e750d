"""Order first: only SHIFTs, n steps; given arcs close by themselves, free arcs are left to `attach`.

With the full tree given this is the full-tree system of Liu et al. 2015 (section 3.2.3), with nothing given it is
plain ordering. It departs from the paper in these points:
- A partial tree is handled by one rule, exact for any forest of given arcs (the paper gives a heuristic).
- The stack holds only open words: those with given dependents still to come, or whose given head is still to come.
  A finished component without a head is dropped, as nothing that follows can concern it.
- A given arc is applied as soon as it can be, as part of the SHIFT that makes it possible, and is not scored.
"""
from libcpp.vector cimport vector

from ..bag.bag cimport BagC
from ..bag.forest cimport FREE, ForestC, is_redundant, is_shifted
from ..bag.word cimport LABEL, TAG
from .derivation cimport TargetC
from .state cimport NONE, SHIFT, ActionC, NodeC, StateC, drop, left_arc, right_arc, shift
from .system cimport ContextC, ScratchC, TransitionSystem


cdef int n_steps(int n) noexcept nogil:
    return n


cdef int legal(ContextC* context, const StateC* state, vector[ActionC]* actions) except -1 nogil:
    cdef ForestC* forest = &context.bag.forest
    cdef vector[NodeC]* nodes = context.nodes
    cdef ScratchC* scratch = context.scratch
    cdef int node, anchor, top
    if state.depth == 0:
        return add_shifts(context, state, 0, forest.n, actions)
    # What has to be finished first: S0, if something given is still to come below it, else S0's given head.
    anchor = nodes[0][state.top].word
    if nodes[0][state.top].pending == 0:
        anchor = forest.head[anchor]
    add_shifts(context, state, anchor, anchor + forest.size[anchor], actions)
    # Besides, any component that nothing ties to a place and that is not open yet. One that is open and has words
    # left always owns a stack item.
    if <int>forest.tops.size() == 1:
        return 0
    scratch.stamp += 1
    node = state.top
    while node != NONE:
        scratch.component[forest.top[nodes[0][node].word]] = scratch.stamp
        node = nodes[0][node].below
    for top in forest.tops:
        if forest.head[top] == FREE and scratch.component[top] != scratch.stamp:
            add_shifts(context, state, top, top + forest.size[top], actions)
    return 0


cdef int add_shifts(ContextC* context, const StateC* state, int low, int high, vector[ActionC]* actions) except -1 nogil:
    cdef ForestC* forest = &context.bag.forest
    cdef ActionC action
    cdef int k = low, deepest = forest.depth[low] + context.max_opened
    action.type = SHIFT
    while k < high:
        if forest.depth[k] > deepest:
            k += forest.size[k]     # nor anything below it
            continue
        if not is_shifted(state.shifted, k) and not is_redundant(forest, state.shifted, k):
            action.word = k
            action.symbol = context.bag.words[k].columns[<int>TAG]
            actions.push_back(action)
        k += 1
    return 0


cdef int apply(ContextC* context, StateC* state, const ActionC* action) except -1 nogil:
    shift(context.nodes, context.bag, state, action.word, action.symbol)
    return close(context, state)


cdef int close(ContextC* context, StateC* state) except -1 nogil:
    """Apply every given arc that can be applied, and drop what is complete."""
    cdef vector[NodeC]* nodes = context.nodes
    cdef BagC* bag = context.bag
    cdef int s0, s1, top, below
    while state.depth > 0:
        s0 = state.top
        s1 = nodes[0][s0].below
        top = nodes[0][s0].word
        below = nodes[0][s1].word if s1 != NONE else NONE
        if s1 != NONE and bag.forest.head[below] == top:
            left_arc(nodes, bag, state, bag.words[below].columns[<int>LABEL])
        elif nodes[0][s0].pending > 0:
            break
        elif s1 != NONE and bag.forest.head[top] == below:
            right_arc(nodes, bag, state, bag.words[top].columns[<int>LABEL])
        elif bag.forest.head[top] < 0:
            drop(nodes, state)
        else:
            break
    return 0


cdef int oracle(ContextC* context, const StateC* state, TargetC* gold, ActionC* action) except -1 nogil:
    action.type = SHIFT
    action.word = gold.order[state.n_shifted]
    action.symbol = context.bag.words[action.word].columns[<int>TAG]
    return 0


cdef class OrderFirst(TransitionSystem):
    """The default system: orders the words, and leaves free arcs to `attach`."""
    name = "order_first"

    def __cinit__(self):
        self.c.n_steps = n_steps
        self.c.legal = legal
        self.c.apply = apply
        self.c.oracle = oracle
