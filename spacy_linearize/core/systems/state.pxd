"""States of a derivation: plain structs over an arena of stack nodes.

A node is never changed once it is made: an arc makes a new node for its head and leaves the old one to the other
hypotheses that still use it. So a state is a few numbers and a row of bits, and copying one is cheap at any length.
"""
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport BagC
from ..bag.forest cimport is_shifted
from ..bag.word cimport LABEL

cdef enum:
    NONE = -1   # no such node

cdef enum ActionType:
    SHIFT = 1
    LEFTARC     # S1 <- S0
    RIGHTARC    # S1 -> S0


cdef struct ActionC:
    int type
    int word            # SHIFT: the word that comes next
    uint64_t symbol     # SHIFT: its tag; arcs: the label


cdef struct NodeC:
    int word
    int below           # the next stack node
    int pending         # given dependents that are not attached yet
    int waiting         # those of them that stand on the stack, to the left
    int n_dependents    # attached
    int left            # outermost dependents, and the second outermost ones
    int left2
    int right
    int right2
    uint64_t tag
    uint64_t label      # of the arc to its head, given or chosen


cdef struct StateC:
    double score
    int top             # stack node S0
    int depth           # of the stack
    int n_shifted
    int recent[4]       # nodes of the last words, the latest first
    int trace           # the search's record of how the state was reached
    bint is_gold        # learning: whether every action so far was the gold one
    uint64_t* shifted   # a bit for each word


cdef inline void start(StateC* state, uint64_t* shifted, int n) noexcept nogil:
    cdef int i
    state.score = 0
    state.top = NONE
    state.depth = 0
    state.n_shifted = 0
    state.trace = -1
    state.is_gold = True
    state.shifted = shifted
    for i in range(4):
        state.recent[i] = NONE
    for i in range(n_blocks(n)):
        shifted[i] = 0


cdef inline int n_blocks(int n) noexcept nogil:
    """How many 64-bit blocks hold a bit for each of n words."""
    return (n + 63) >> 6


cdef inline void copy_state(StateC* target, const StateC* source, uint64_t* shifted, int n) noexcept nogil:
    """Copy source to target, whose bits live at `shifted`."""
    cdef int i
    target[0] = source[0]
    target.shifted = shifted
    for i in range(n_blocks(n)):
        shifted[i] = source.shifted[i]


cdef inline int S(vector[NodeC]* nodes, const StateC* state, int i) noexcept nogil:
    """The i-th stack node from the top, or NONE."""
    cdef int node = state.top
    while i > 0 and node != NONE:
        node = nodes[0][node].below
        i -= 1
    return node


cdef inline int shift(vector[NodeC]* nodes, BagC* bag, StateC* state, int word, uint64_t tag) except -1 nogil:
    cdef NodeC node
    cdef int i
    node.word = word
    node.below = state.top
    node.pending = bag.forest.n_children[word]
    node.waiting = 0
    for i in range(bag.first_child[word], bag.first_child[word + 1]):
        node.waiting += is_shifted(state.shifted, bag.children_by_label[i])
    node.n_dependents = 0
    node.left = node.left2 = node.right = node.right2 = NONE
    node.tag = tag
    node.label = bag.words[word].columns[<int>LABEL]
    nodes.push_back(node)
    state.top = nodes.size() - 1
    state.depth += 1
    state.n_shifted += 1
    state.recent[3] = state.recent[2]
    state.recent[2] = state.recent[1]
    state.recent[1] = state.recent[0]
    state.recent[0] = state.top
    state.shifted[word >> 6] |= (<uint64_t>1) << (word & 63)
    return 0


cdef inline int attach_dependent(vector[NodeC]* nodes, BagC* bag, StateC* state, int head_node, int dependent_node,
                                 uint64_t label, int below, bint is_left) except -1 nogil:
    """Make the stack end in `below` and head_node, with dependent_node as its new outermost dependent."""
    cdef NodeC head = nodes[0][head_node]
    cdef NodeC dependent = nodes[0][dependent_node]
    cdef bint given = bag.forest.head[dependent.word] == head.word
    if dependent.label != label:
        dependent.label = label
        nodes.push_back(dependent)
        dependent_node = nodes.size() - 1
    if is_left:
        head.left2 = head.left
        head.left = dependent_node
        head.waiting -= given
    else:
        head.right2 = head.right
        head.right = dependent_node
    head.pending -= given
    head.n_dependents += 1
    head.below = below
    nodes.push_back(head)
    state.top = nodes.size() - 1
    state.depth -= 1
    return 0


cdef inline int left_arc(vector[NodeC]* nodes, BagC* bag, StateC* state, uint64_t label) except -1 nogil:
    cdef int s0 = state.top, s1 = nodes[0][s0].below
    return attach_dependent(nodes, bag, state, s0, s1, label, nodes[0][s1].below, True)


cdef inline int right_arc(vector[NodeC]* nodes, BagC* bag, StateC* state, uint64_t label) except -1 nogil:
    cdef int s0 = state.top, s1 = nodes[0][s0].below
    return attach_dependent(nodes, bag, state, s1, s0, label, nodes[0][s1].below, False)


cdef inline void drop(vector[NodeC]* nodes, StateC* state) noexcept nogil:
    """Take a finished component off the stack."""
    state.top = nodes[0][state.top].below
    state.depth -= 1
