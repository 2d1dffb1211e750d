"""Beam search over the actions of a transition system.

All states of the beam have taken the same number of actions. Every legal action of every state is scored, the best are
kept, and only these are applied. Ties go to the candidate that comes first: states are sorted by rank, and a state's
actions are in canonical sequence. So neither input order nor memory addresses have any influence.
"""
import numpy as np
from libc.stdint cimport uint64_t
from libcpp.algorithm cimport nth_element, reverse, sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from ..bag.bag cimport BagC
from ..bag.forest cimport FREE, ROOT
from ..bag.word cimport LABEL
from ..features.plan cimport make_mask
from ..interrupt cimport did
from ..systems.dead_ends cimport can_finish, legal_actions, start_dead_ends
from ..systems.derivation cimport make_target
from ..systems.state cimport NONE, RIGHTARC, SHIFT, ActionC, NodeC, StateC, copy_state, n_blocks, start
from ..systems.system cimport start_scratch
from ..weights cimport TableC
from .scores cimport score_action, score_actions, start_scores
from .workspace cimport SearchC, TraceC, WorkspaceC

from ...errors import error
from ..records import Order

KEEP_NODES = 1 << 17    # a workspace that has grown beyond this is given back to the system after use
# Any word of a tree may come first in it. A chain of n heads then has n candidates at each step, and the search is
# quadratic. No sentence begins that deep.
cdef int MAX_OPENED = 256


cdef int start_search(SearchC* search, WorkspaceC* workspace) except -1 nogil:
    """Make the memory ready for a bag, score what does not depend on states, and begin."""
    cdef int n = search.context.bag.forest.n
    start_scratch(&workspace.scratch, n)
    start_scores(search, workspace)
    workspace.nodes.clear()
    workspace.trace.clear()
    workspace.path.clear()
    if must_check(search):
        start_dead_ends(&workspace.dead_ends, not search.builds_trees)
    workspace.beam.resize(1)
    make_room(&workspace.bits, 1, n)
    start(&workspace.beam[0], workspace.bits.data(), n)
    return 0


cdef int advance(SearchC* search, WorkspaceC* workspace) except -1 nogil:
    """One step: from the beam to the best states that are one action further."""
    cdef int b, i, first, rank, n_ranks, kept = 0, n = search.context.bag.forest.n
    cdef bint is_checked
    cdef StateC* state
    cdef TraceC trace
    workspace.actions.clear()
    workspace.parents.clear()
    workspace.ranks.clear()
    for b in range(<int>workspace.beam.size()):
        first = workspace.actions.size()
        legal_actions(&search.context, search.system, &workspace.beam[b], &workspace.actions)
        workspace.parents.resize(workspace.actions.size(), b)
        score_actions(search, workspace, &workspace.beam[b], first)
        did(&workspace.work, <long>workspace.actions.size() - first)
    is_checked = must_check(search)
    n_ranks = select_best(&workspace.ranks, search.width if not is_checked else <int>workspace.ranks.size())
    workspace.next_beam.resize(min(n_ranks, search.width))
    make_room(&workspace.next_bits, workspace.next_beam.size(), n)
    for rank in range(n_ranks):
        if kept == search.width:
            break
        i = workspace.ranks[rank].second
        state = &workspace.next_beam[kept]
        copy_state(state, &workspace.beam[workspace.parents[i]], workspace.next_bits.data() + <size_t>kept * n_blocks(n), n)
        state.score = -workspace.ranks[rank].first
        search.system.apply(&search.context, state, &workspace.actions[i])
        if is_checked and can_finish(&workspace.dead_ends, &search.context, search.system, state,
                                     n_left(search, state), NULL) != 1:
            continue
        kept += 1
        trace.parent = state.trace
        trace.action = workspace.actions[i]
        workspace.trace.push_back(trace)
        state.trace = workspace.trace.size() - 1
    workspace.next_beam.resize(kept)
    workspace.beam.swap(workspace.next_beam)
    workspace.bits.swap(workspace.next_bits)
    return 0


cdef inline int make_room(vector[uint64_t]* bits, size_t n_states, int n) except -1 nogil:
    """Allocate the bits of this many states. No state may point at them: they move when they grow."""
    cdef size_t size = n_states * n_blocks(n) + 1
    if bits.size() < size:
        bits.resize(size)
    return 0


cdef inline bint must_check(SearchC* search) noexcept nogil:
    """Whether a state may turn out to be a dead end."""
    return search.context.bag.precedence.is_tangled or (
        search.context.bag.precedence.is_active and search.builds_trees)


cdef inline int n_left(SearchC* search, const StateC* state) noexcept nogil:
    """How many actions a state still needs to be final. Every arc makes the stack one word shorter."""
    cdef int n_taken = 2 * state.n_shifted - state.depth if search.builds_trees else state.n_shifted
    return search.system.n_steps(search.context.bag.forest.n) - n_taken


cdef int select_best(vector[pair[double, int]]* ranks, int width) except -1 nogil:
    """Prune to the width of the beam: move the best candidates to the front, sorted. Returns how many these are."""
    if <int>ranks.size() > width:
        nth_element(ranks.begin(), ranks.begin() + width, ranks.end())
        sort(ranks.begin(), ranks.begin() + width)
        return width
    sort(ranks.begin(), ranks.end())
    return ranks.size()


cdef int run(SearchC* search, WorkspaceC* workspace) except -1 nogil:
    """The whole search; the beam then holds the best derivations."""
    cdef int step
    start_search(search, workspace)
    for step in range(search.system.n_steps(search.context.bag.forest.n)):
        advance(search, workspace)
    return 0


cdef double score_derivation(SearchC* search, WorkspaceC* workspace, TargetC* gold) except? -1 nogil:
    """The score of the derivation of a gold order and tree, in the workspace of a search over the same bag. The prefix
    that it shares with the derivation scored before is not scored again."""
    cdef int n = search.context.bag.forest.n, n_steps = search.system.n_steps(n), step
    cdef ActionC action
    cdef StateC* state
    if workspace.path.empty():
        workspace.path.resize(n_steps + 1)
        workspace.path_bits.resize(<size_t>(n_steps + 1) * n_blocks(n) + 1)
        start(&workspace.path[0], workspace.path_bits.data(), n)
        workspace.path_actions.clear()
    for step in range(n_steps):
        state = &workspace.path[step]
        search.system.oracle(&search.context, state, gold, &action)
        if step < <int>workspace.path_actions.size():
            if is_same(&action, &workspace.path_actions[step]):
                continue
            workspace.path_actions.resize(step)
        copy_state(state + 1, state, workspace.path_bits.data() + <size_t>(step + 1) * n_blocks(n), n)
        (state + 1).score += score_action(search, workspace, state, &action)
        search.system.apply(&search.context, state + 1, &action)
        workspace.path_actions.push_back(action)
    return workspace.path[n_steps].score


cdef vector[ActionC] actions_to(WorkspaceC* workspace, int trace) noexcept nogil:
    """The derivation that ends in a trace."""
    cdef vector[ActionC] actions
    while trace >= 0:
        actions.push_back(workspace.trace[trace].action)
        trace = workspace.trace[trace].parent
    reverse(actions.begin(), actions.end())
    return actions


cdef class Workspace:
    """Memory of one search at a time. Decoders keep a few for reuse."""

    def __cinit__(self):
        self.c.work = 0


cdef class Decoder:
    """Orders bags with a transition system, features and weights. May be used from several threads at once, as long as
    none of them trains.

    mirrored (bool): Build the sentence from right to left.
    labelled (bool): Choose labels for the arcs that the system adds.
    search_tags (bool): Let the system choose among the tags of a word whose tag is not given.
    ngrams (Optional[Ngrams]): The language model, if it is to be shared. By default the decoder has an empty one.
    """

    def __init__(self, TransitionSystem system not None, Features features not None, Weights weights not None,
                 Lexicon lexicon not None, *, bint mirrored=False, bint labelled=True, bint search_tags=False,
                 Ngrams ngrams=None):
        self.system = system
        self.features = features
        self.weights = weights
        self.lexicon = lexicon
        self.mirrored = mirrored
        self.labelled = labelled
        self.search_tags = search_tags
        self.ngrams = Ngrams() if ngrams is None else ngrams
        self.pool = []

    def score(self, PackedBag bag not None, order, heads, tags, labels, *, double ngram_weight=0) -> float:
        """The score of the one derivation that leads to an order, and to a tree if the system builds one.

        order (Sequence[int]): Input positions in order.
        heads, tags, labels (Sequence[int]): By input position. They must keep what is given.
        """
        cdef TargetC gold = make_target(bag, order, heads, tags, labels, self.mirrored, self.system.builds_trees)
        cdef Workspace workspace = self.take_workspace()
        cdef SearchC search = self.prepare(bag, workspace, self.weights.for_decoding(), 1)
        search.ngram_weight = ngram_weight if self.ngrams.order else 0
        cdef double total
        with nogil:
            start_search(&search, &workspace.c)
            total = score_derivation(&search, &workspace.c, &gold)
        self.return_workspace(workspace)
        return total

    cdef SearchC prepare(self, PackedBag bag, Workspace workspace, TableC table, int width) except *:
        cdef SearchC search
        if width < 1:
            raise error("SL022", key="beam_width", value=width, expected="1 or more")
        search.context.bag = &bag.c
        search.context.lexicon = &self.lexicon.c
        search.context.nodes = &workspace.c.nodes
        search.context.scratch = &workspace.c.scratch
        search.context.labelled = self.labelled
        search.context.search_tags = self.search_tags
        search.context.mirrored = self.mirrored
        search.context.max_opened = bag.c.forest.n
        search.system = &self.system.c
        search.builds_trees = self.system.builds_trees
        search.plan = &self.features.plan
        search.pair_plan = &self.features.pair_plan
        search.table = table
        search.width = width
        search.ngrams = &self.ngrams.c
        search.ngram_weight = 0
        workspace.c.extraction.dropout = make_mask(0, 0)
        return search

    cdef SearchC prepare_decoding(self, PackedBag bag, Workspace workspace, int width, double ngram_weight) except *:
        """As `prepare`, with the averaged weights and the language model, and without what no sentence needs."""
        cdef SearchC search = self.prepare(bag, workspace, self.weights.for_decoding(), width)
        search.ngram_weight = ngram_weight if self.ngrams.order else 0
        if not bag.c.precedence.is_active:  # a precedence may need any word
            search.context.max_opened = MAX_OPENED
        return search

    cdef Workspace take_workspace(self):
        try:
            return self.pool.pop()
        except IndexError:
            return Workspace()

    cdef int return_workspace(self, Workspace workspace) except -1:
        if workspace.c.nodes.capacity() <= KEEP_NODES:
            self.pool.append(workspace)
        return 0


cdef int read_off(SearchC* search, WorkspaceC* workspace, int rank, TargetC* result) except -1 nogil:
    """What a state of the last beam stands for. Replays its derivation, which adds nodes and nothing else."""
    cdef BagC* bag = search.context.bag
    cdef int n = bag.forest.n, i, s0, s1
    cdef vector[ActionC] actions = actions_to(workspace, workspace.beam[rank].trace)
    cdef vector[NodeC]* nodes = &workspace.nodes
    cdef vector[uint64_t] bits
    cdef StateC state
    result.order.resize(n)
    result.head = bag.forest.head
    result.n_dependents.assign(n, 0)
    result.tag.resize(n)
    result.label.resize(n)
    bits.resize(n_blocks(n) + 1)
    start(&state, bits.data(), n)
    for i in range(n):
        result.label[i] = bag.words[i].columns[<int>LABEL]
    for i in range(<int>actions.size()):
        if actions[i].type == SHIFT:
            result.order[state.n_shifted] = actions[i].word
            result.tag[actions[i].word] = actions[i].symbol
        else:
            s0 = nodes[0][state.top].word
            s1 = nodes[0][nodes[0][state.top].below].word
            if actions[i].type == RIGHTARC:
                s0, s1 = s1, s0
            result.head[s1] = s0
            result.label[s1] = actions[i].symbol
        search.system.apply(&search.context, &state, &actions[i])
    if state.depth == 1 and result.head[nodes[0][state.top].word] == FREE:
        result.head[nodes[0][state.top].word] = ROOT
    for i in range(n):
        if result.head[i] >= 0:
            result.n_dependents[result.head[i]] += 1
    return 0


cdef to_order(PackedBag bag, TargetC* target, double score, bint mirrored):
    """A result in input positions."""
    cdef int n = bag.c.forest.n, i, k
    order, heads = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    tags, labels = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.uint64)
    cdef int[::1] order_view = order, head_view = heads
    cdef uint64_t[::1] tag_view = tags, label_view = labels
    for i in range(n):
        order_view[n - 1 - i if mirrored else i] = bag.layout.position[target.order[i]]
        k = bag.layout.position[i]
        head_view[k] = target.head[i]
        if target.head[i] >= 0:
            head_view[k] = bag.layout.position[target.head[i]]
        tag_view[k] = target.tag[i]
        label_view[k] = target.label[i]
    return Order(order=order, tags=tags, heads=heads, labels=labels, score=score)
