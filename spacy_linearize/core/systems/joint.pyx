"""The papers' system: SHIFT-k-tag, LEFTARC-label, RIGHTARC-label build order and tree together, in 2n - 1 actions.

After Liu et al. 2015 (figure 3) and Puduppully et al. 2016 (section 2). It departs from them in these points:
- Legality under given arcs is exact: every order and projective tree that keeps the given arcs has one derivation,
  and no reachable state is a dead end. The papers only sketch it.
- Left dependents are attached before right ones, which makes the derivation of a tree unique.
- The last word on the stack is the root; there is no action that pops it, so 2n - 1 actions instead of 2n.
"""
from cython.operator cimport dereference
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport BagC
from ..bag.forest cimport FREE, ROOT, ForestC, is_redundant, is_shifted
from ..bag.word cimport LABEL, TAG
from ..lexicon cimport labels_of, tags_of
from .derivation cimport TargetC
from .state cimport LEFTARC, NONE, RIGHTARC, SHIFT, ActionC, NodeC, StateC, left_arc, right_arc, shift
from .system cimport ContextC, ScratchC, TransitionSystem

cdef enum:
    NOBODY = -3     # no component, or no head, seen so far
    SEVERAL = -4    # more than one


cdef int n_steps(int n) noexcept nogil:
    return 2 * n - 1 if n > 0 else 0


cdef int legal(ContextC* context, const StateC* state, vector[ActionC]* actions) except -1 nogil:
    cdef ForestC* forest = &context.bag.forest
    cdef NodeC* s0
    cdef NodeC* s1
    cdef int head
    cdef bint left_is_open, left, right, must_left
    if state.depth < 2:
        return add_shifts(context, state, actions)
    s0 = &context.nodes[0][state.top]
    s1 = &context.nodes[0][s0.below]
    head = forest.head[s0.word]
    left_is_open = s0.right == NONE
    left = left_is_open and s1.pending == 0 and (
        forest.head[s1.word] == s0.word or (forest.head[s1.word] == FREE and forest.top[s0.word] != s1.word))
    right = s0.pending == 0 and (head == s1.word or (head == FREE and forest.top[s1.word] != s0.word))
    # A given dependent waits on the stack; or the root must take everything to its left; or the given head stands
    # below S1. A given head that is shifted stands on the stack for as long as its dependent is not attached.
    must_left = left_is_open and (s0.waiting > 0 or head == ROOT or (
        head >= 0 and head != s1.word and is_shifted(state.shifted, head)))
    if must_left:
        return add_arcs(context, LEFTARC, s0, s1, actions) if left else 0
    add_shifts(context, state, actions)
    if left:
        add_arcs(context, LEFTARC, s0, s1, actions)
    if right:
        add_arcs(context, RIGHTARC, s1, s0, actions)
    return 0


cdef int add_shifts(ContextC* context, const StateC* state, vector[ActionC]* actions) except -1 nogil:
    """The words that every stack item lets through.

    An item may demand that what comes next ends below it, or below its given head. Words of its own component then
    have to stand in a range of the canonical numbers; words of another component have to be movable: its top is FREE
    and no item of it stands as low as the one that demands. One walk down the stack gathers, for each component that
    owns an item, the range that is left, and whether another component demands something at or above its lowest item.
    """
    cdef ForestC* forest = &context.bag.forest
    cdef ScratchC* scratch = context.scratch
    cdef vector[NodeC]* nodes = context.nodes
    cdef int node = state.top, s, head, top, low, high
    cdef int demanding = NOBODY     # the component whose items demand something, so far
    cdef int heads_above = NOBODY   # the given head that the items above share
    cdef bint pending_above = False
    cdef bint demands
    scratch.stamp += 1
    while node != NONE:
        s = nodes[0][node].word
        head = forest.head[s]
        top = forest.top[s]
        low = s + 1
        high = s + forest.size[s]
        if nodes[0][node].pending > 0 or head == ROOT:
            demands = True
        elif head == FREE:
            demands = False
        elif is_shifted(state.shifted, head):
            demands = scratch.seen[head] != scratch.stamp   # its head stands below it
        else:
            demands = True
            low = head
            high = head + forest.size[head]
            if pending_above or not (heads_above == NOBODY or heads_above == head) \
                    or scratch.seen[forest.top[head]] == scratch.stamp:
                scratch.excluded[head] = scratch.stamp      # something above could not become its dependent
        if scratch.component[top] != scratch.stamp:
            scratch.component[top] = scratch.stamp
            scratch.low[top] = top
            scratch.high[top] = top + forest.size[top]
        if demands:
            scratch.low[top] = max(scratch.low[top], low)
            scratch.high[top] = min(scratch.high[top], high)
            demanding = top if demanding == NOBODY or demanding == top else SEVERAL
        if demanding != NOBODY and demanding != top:
            scratch.high[top] = 0
        scratch.seen[s] = scratch.stamp
        pending_above = pending_above or nodes[0][node].pending > 0
        if head != FREE:
            heads_above = head if heads_above == NOBODY or heads_above == head else SEVERAL
        node = nodes[0][node].below
    for top in forest.tops:
        if forest.head[top] == ROOT and demanding != NOBODY and demanding != top:
            continue
        if scratch.component[top] == scratch.stamp:
            add_range(context, state, scratch.low[top], scratch.high[top], actions)
        else:
            add_range(context, state, top, top + forest.size[top], actions)
    return 0


cdef int add_range(ContextC* context, const StateC* state, int low, int high, vector[ActionC]* actions) except -1 nogil:
    cdef BagC* bag = context.bag
    cdef ScratchC* scratch = context.scratch
    cdef vector[uint64_t]* tags
    cdef ActionC action
    cdef int k
    action.type = SHIFT
    for k in range(low, high):
        if is_shifted(state.shifted, k) or scratch.excluded[k] == scratch.stamp \
                or is_redundant(&bag.forest, state.shifted, k):
            continue
        action.word = k
        tags = NULL
        if context.search_tags and not bag.words[k].tag_given:
            tags = tags_of(context.lexicon, bag.words[k].columns)
        action.symbol = bag.words[k].columns[<int>TAG]
        add_choices(action, tags, actions)
    return 0


cdef int add_choices(ActionC action, vector[uint64_t]* symbols, vector[ActionC]* actions) except -1 nogil:
    """An action as it is, or, if there are tags or labels to choose from, one with each of them."""
    cdef size_t i
    if symbols == NULL:
        actions.push_back(action)
        return 0
    for i in range(symbols.size()):
        action.symbol = dereference(symbols)[i]
        actions.push_back(action)
    return 0


cdef int add_arcs(ContextC* context, int arc, const NodeC* head, const NodeC* dependent,
                  vector[ActionC]* actions) except -1 nogil:
    cdef uint64_t given = context.bag.words[dependent.word].columns[<int>LABEL]
    cdef vector[uint64_t]* labels = NULL
    cdef ActionC action
    action.type = arc
    action.word = NONE
    if context.labelled and not given:
        labels = labels_of(context.lexicon, head.tag, dependent.tag, (arc == LEFTARC) != context.mirrored)
    action.symbol = given
    return add_choices(action, labels, actions)


cdef int apply(ContextC* context, StateC* state, const ActionC* action) except -1 nogil:
    if action.type == SHIFT:
        return shift(context.nodes, context.bag, state, action.word, action.symbol)
    if action.type == LEFTARC:
        return left_arc(context.nodes, context.bag, state, action.symbol)
    return right_arc(context.nodes, context.bag, state, action.symbol)


cdef int oracle(ContextC* context, const StateC* state, TargetC* gold, ActionC* action) except -1 nogil:
    cdef NodeC* s0
    cdef NodeC* s1
    cdef int dependent = NONE
    if state.depth >= 2:
        s0 = &context.nodes[0][state.top]
        s1 = &context.nodes[0][s0.below]
        if gold.head[s1.word] == s0.word:
            action.type = LEFTARC
            dependent = s1.word
        elif gold.head[s0.word] == s1.word and s0.n_dependents == gold.n_dependents[s0.word]:
            action.type = RIGHTARC
            dependent = s0.word
    if dependent != NONE:
        action.word = NONE
        action.symbol = context.bag.words[dependent].columns[<int>LABEL]
        if context.labelled and not action.symbol:
            action.symbol = gold.label[dependent]
    else:
        action.type = SHIFT
        action.word = gold.order[state.n_shifted]
        action.symbol = context.bag.words[action.word].columns[<int>TAG]
        if context.search_tags:
            action.symbol = gold.tag[action.word]
    return 0


cdef class Joint(TransitionSystem):
    """The papers' system: order and tree in one derivation."""
    name = "joint"
    builds_trees = True

    def __cinit__(self):
        self.c.n_steps = n_steps
        self.c.legal = legal
        self.c.apply = apply
        self.c.oracle = oracle
