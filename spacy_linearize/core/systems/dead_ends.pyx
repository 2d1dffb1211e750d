"""Depth-first search for one completion of a state. States are memoised, so that none is tried twice."""
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport PackedBag, BagC
from ..bag.forest cimport ROOT, ForestC, is_shifted, is_untouched
from ..bag.precedence cimport may_come, set_precedence
from ..hashing cimport mix
from ..interrupt cimport did
from .state cimport NONE, SHIFT, ActionC, NodeC, StateC, copy_state, n_blocks, start
from .system cimport ContextC, ScratchC, SystemC, TransitionSystem, start_scratch


cdef cppclass FrameC:
    # A state on the path, and its legal actions.
    StateC state
    vector[uint64_t] bits
    vector[ActionC] actions
    size_t next_action
    uint64_t key


cdef int start_dead_ends(DeadEndsC* dead_ends, bint remembers) except -1 nogil:
    dead_ends.known.clear()
    dead_ends.remembers = remembers
    dead_ends.n_tried = 0
    dead_ends.work = 0
    return 0


cdef int legal_actions(ContextC* context, SystemC* system, const StateC* state, vector[ActionC]* actions) except -1 nogil:
    """The legal actions of a state, without SHIFTs of words that have to wait for others."""
    cdef size_t i, kept = actions.size()
    cdef BagC* bag = context.bag
    i = kept
    system.legal(context, state, actions)
    if not bag.precedence.is_active:
        return 0
    while i < actions.size():
        if actions[0][i].type != SHIFT or may_come(&bag.precedence, &bag.forest, state.shifted, actions[0][i].word,
                                                   context.mirrored):
            actions[0][kept] = actions[0][i]
            kept += 1
        i += 1
    actions.resize(kept)
    return 0


cdef int can_finish(DeadEndsC* dead_ends, ContextC* context, SystemC* system, const StateC* state, int n_steps,
                    vector[int]* words) except -1 nogil:
    """Whether a state can be completed: 0 or 1; 2 if MAX_TRIED states did not tell.

    n_steps (int): How many actions are left.
    words (vector[int]*): Where to write the words of the completion, or NULL.
    """
    cdef vector[FrameC] way
    cdef size_t i
    cdef size_t n_nodes = context.nodes.size()
    cdef int found = 0
    cdef FrameC* last
    cdef ActionC action
    way.reserve(n_steps + 1)
    push(dead_ends, context, system, state, &way)
    while not way.empty():
        last = &way.back()
        if <int>way.size() > n_steps:
            found = 1
            break
        if dead_ends.remembers and dead_ends.known.count(last.key):
            if dead_ends.known[last.key]:
                found = 1
                break
            way.pop_back()
            continue
        if last.next_action == last.actions.size():
            if dead_ends.remembers:
                dead_ends.known[last.key] = False
            way.pop_back()
            continue
        if dead_ends.n_tried >= MAX_TRIED:
            found = 2
            break
        action = last.actions[last.next_action]
        last.next_action += 1
        push(dead_ends, context, system, &last.state, &way)
        system.apply(context, &way.back().state, &action)
        look(dead_ends, context, system, &way.back())
    if found == 1 and words != NULL:
        for i in range(way.size() - 1):
            words.push_back(way[i].actions[way[i].next_action - 1].word)
    if found == 1 and dead_ends.remembers:
        for i in range(way.size()):
            dead_ends.known[way[i].key] = True
    context.nodes.resize(n_nodes)
    return found


cdef int push(DeadEndsC* dead_ends, ContextC* context, SystemC* system, const StateC* state,
              vector[FrameC]* way) except -1 nogil:
    """Put a copy of a state on the path."""
    cdef int n = context.bag.forest.n
    cdef FrameC* frame
    way.resize(way.size() + 1)
    frame = &way.back()
    frame.bits.resize(n_blocks(n) + 1)
    copy_state(&frame.state, state, frame.bits.data(), n)
    if way.size() == 1:
        look(dead_ends, context, system, frame)
    return 0


cdef int look(DeadEndsC* dead_ends, ContextC* context, SystemC* system, FrameC* frame) except -1 nogil:
    """Find the legal actions of a state."""
    dead_ends.n_tried += 1
    frame.next_action = 0
    frame.key = key_of(context, &frame.state)
    frame.actions.clear()
    if not is_stuck(context, &frame.state):
        legal_actions(context, system, &frame.state, &frame.actions)
    # Words that are not legal are checked, too, but cost far less than candidates that are scored.
    return did(&dead_ends.work, 1 + context.bag.forest.n // 8)


cdef uint64_t key_of(ContextC* context, const StateC* state) noexcept nogil:
    """A hash of the words placed and of the stack. Where a system adds arcs of its own, more would count."""
    cdef uint64_t h = 0
    cdef int i, node = state.top
    for i in range(n_blocks(context.bag.forest.n)):
        h = mix(h, state.shifted[i])
    while node != NONE:
        h = mix(mix(h, 1 + context.nodes[0][node].word), context.nodes[0][node].pending)
        node = context.nodes[0][node].below
    return h


cdef bint is_stuck(ContextC* context, const StateC* state) noexcept nogil:
    """Whether the open component on top of the stack evidently cannot be finished: it waits, directly or through
    components that would have to be placed inside it, for a word of a component that can continue only after it."""
    cdef ForestC* forest = &context.bag.forest
    cdef vector[int] needed
    cdef vector[char] is_needed
    cdef size_t i, j
    cdef int top, k, p
    if state.depth == 0 or not context.bag.precedence.is_tangled:
        return False
    is_needed.resize(forest.n)
    needed.push_back(forest.top[context.nodes[0][state.top].word])
    is_needed[needed[0]] = True
    i = 0
    while i < needed.size():
        top = needed[i]
        i += 1
        for k in range(top, top + forest.size[top]):
            if is_shifted(state.shifted, k):
                continue
            for j in range(context.bag.precedence.words[context.mirrored][k].size()):
                p = context.bag.precedence.words[context.mirrored][k][j]
                if is_shifted(state.shifted, p) or is_needed[forest.top[p]]:
                    continue
                p = forest.top[p]
                if forest.head[p] == ROOT or not is_untouched(forest, state.shifted, p):
                    return True
                is_needed[p] = True
                needed.push_back(p)
    return False


def some_order(PackedBag bag not None, TransitionSystem system not None):
    """Any order that meets all constraints, or None if none was found. Both directions are tried: one of them may be
    far easier.

    system (TransitionSystem): One whose actions are SHIFTs only; which orders there are does not depend on it.
    RETURNS (Optional[List[int]]): Input positions.
    """
    cdef vector[int] words
    cdef int n_tried, found
    for mirrored in (False, True):
        n_tried = 0
        found = can_order(bag, system, bag.before, &n_tried, mirrored, &words)
        if found == 1:
            order = [bag.layout.position[k] for k in words]
            return order[::-1] if mirrored else order
        if found == 0:
            break
    return None


def conflict(PackedBag bag not None, TransitionSystem system not None):
    """A minimal set of precedences that cannot be kept together (as far as MAX_TRIED states tell), or None if it
    could not be decided whether they are in conflict.

    bag (PackedBag): One with a cycle, or that a search found no order for.
    system (TransitionSystem): One that adds no arcs of its own; which orders there are does not depend on it.
    RETURNS (Optional[List[Tuple[int, int]]]): Pairs of input positions, as they were given.
    """
    cdef int n_tried = 0
    needed = bag.cycle or bag.before
    # There may even be an order, which a search in the other direction did not find in time.
    if not bag.cycle and can_order(bag, system, needed, &n_tried, False, NULL) != 0:
        return None
    n_tried = 0     # one limit for all searches below: an error should not take longer than an answer
    for pair in needed:
        rest = [other for other in needed if other != pair]
        if can_order(bag, system, rest, &n_tried, False, NULL) == 0:
            needed = rest
    return needed


cdef int can_order(PackedBag bag, TransitionSystem system, pairs, int* n_tried, bint mirrored,
                   vector[int]* words) except -1:
    """As `can_finish`, for a bag with some of its precedences.

    n_tried (int*): How many states have been tried so far; those of this call are added.
    """
    cdef BagC copy = bag.c
    cdef vector[NodeC] nodes
    cdef vector[uint64_t] bits
    cdef ScratchC scratch
    cdef ContextC context
    cdef DeadEndsC dead_ends
    cdef StateC state
    cdef int found
    set_precedence(&copy.precedence, &copy.forest,
                   [(bag.layout.number[first], bag.layout.number[second]) for first, second in pairs])
    context.bag = &copy
    context.nodes = &nodes
    context.scratch = &scratch
    context.mirrored = mirrored
    context.labelled = context.search_tags = False
    context.max_opened = copy.forest.n
    bits.resize(n_blocks(copy.forest.n) + 1)
    start(&state, bits.data(), copy.forest.n)
    start_scratch(&scratch, copy.forest.n)
    start_dead_ends(&dead_ends, True)
    dead_ends.n_tried = n_tried[0]
    with nogil:
        found = can_finish(&dead_ends, &context, &system.c, &state, copy.forest.n, words)
    n_tried[0] = dead_ends.n_tried
    return found
