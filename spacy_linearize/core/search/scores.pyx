"""What an action adds to the score of a state: features, pairs, and the language model.

Sums that actions share are computed once and cached: see the scopes in `features.plan`, and `features.families`.
"""
from libc.math cimport NAN, isnan
from libc.stdint cimport uint32_t
from libcpp.pair cimport pair

from ..features.atoms cimport MANY
from ..features.families cimport PairC, PairsC, find_pair_slots, score_pairs, start_pairs, sum_up
from ..features.plan cimport (
    COMPONENT, CONSTITUENT, EVERY_SHIFT, N_SCOPES, NEIGHBOURS, WORD, drop_out, extract, extract_action, find_slots,
    has_templates, start_extraction, write_slots,
)
from ..systems.state cimport NONE, SHIFT, ActionC, StateC
from ..weights cimport ask_for, sum_weights
from .ngram_scores cimport NgramContextC, ask_for_ngram, ngram_score, read_context, start_ngrams
from .workspace cimport QueuedC, ShiftSumsC, SumC

cdef enum:
    MAX_NEIGHBOURS = 512    # in larger bags, sums of neighbours are not cached, to save memory


cdef int start_scores(SearchC* search, WorkspaceC* workspace) except -1 nogil:
    """Allocate the memory for a bag, and score what does not depend on states."""
    cdef int n = search.context.bag.forest.n
    cdef SumC unknown
    start_extraction(&workspace.extraction, search.plan, n)
    score_all_pairs(search, workspace)
    unknown.stamp = 0
    unknown.value = 0
    workspace.by_constituent.assign(n, unknown)
    workspace.by_component.assign(n, unknown)
    # A system that builds trees gives tags and labels of its own to the word before.
    if n <= MAX_NEIGHBOURS and not search.builds_trees:
        workspace.by_neighbours.assign(<size_t>(n + 1) * n, NAN)
    else:
        workspace.by_neighbours.clear()
    if search.ngram_weight:
        start_ngrams(search, workspace)
    return 0


cdef int score_all_pairs(SearchC* search, WorkspaceC* workspace) except -1 nogil:
    """Score the pairs of every family."""
    cdef PairsC* pairs = &workspace.pairs
    cdef PairC pair
    cdef int m, n_slots
    start_pairs(pairs, search.pair_plan, search.context.bag)
    for pair.family in range(search.context.bag.forest.n):
        m = pairs.size[pair.family]
        for pair.first in range(m):
            for pair.second in range(m):
                if pair.first != pair.second:
                    n_slots = find_pair_slots(pairs, search.pair_plan, &pair, search.table.shift)
                    n_slots = drop_out(&workspace.extraction, pairs.slots.data(), n_slots)
                    pairs.scores[pairs.first_score[pair.family] + pair.first * m + pair.second] = \
                        sum_weights(&search.table, pairs.slots.data(), n_slots)
    return sum_up(pairs, search.context.bag)


cdef int score_actions(SearchC* search, WorkspaceC* workspace, const StateC* state, int first) except -1 nogil:
    """Rank the actions from number `first` on, which are all those of one state. The slots of all their weights are
    computed before any weight is read, so that many can be prefetched at a time."""
    cdef int i, last = workspace.actions.size()
    cdef double shared = 0, score
    cdef bint shared_is_known = False
    cdef ActionC* action
    cdef NgramContextC context
    if first == last:
        return 0
    extract(search.plan, search.context.bag, search.context.nodes, state, &workspace.extraction)
    if search.ngram_weight:
        read_context(search, workspace, state, &context)
    start_queue(search, workspace, last - first)
    for i in range(first, last):
        action = &workspace.actions[i]
        extract_action(search.plan, search.context.bag, search.context.nodes, state, action, &workspace.extraction)
        if action.type == SHIFT:
            if not shared_is_known:
                put_in_queue(search, workspace, EVERY_SHIFT, &shared)
                shared_is_known = True
            queue_shift(search, workspace, state, action.word, &workspace.shift_sums[i - first])
            if search.ngram_weight:
                ask_for_ngram(search, workspace, state, &context, action.word)
        else:
            workspace.shift_sums[i - first].own[0] = sum_of_all(search, workspace)
    read_queue(search, workspace)
    for i in range(first, last):
        action = &workspace.actions[i]
        if action.type == SHIFT:
            score = shared + sum_of_shift(search, workspace, state, action.word, &workspace.shift_sums[i - first])
            if search.ngram_weight:
                score += ngram_score(search, workspace, state, &context, action.word)
        else:
            score = workspace.shift_sums[i - first].own[0]
        workspace.ranks.push_back(pair[double, int](-(state.score + score), i))
    return 0


cdef inline int start_queue(SearchC* search, WorkspaceC* workspace, int n_actions) except -1 nogil:
    """Allocate the memory for all sums that some actions can need."""
    cdef size_t n_slots = <size_t>(n_actions + 1) * search.plan.templates.size()
    if workspace.slots.size() < n_slots:
        workspace.slots.resize(n_slots)
    if <int>workspace.shift_sums.size() < n_actions:
        workspace.shift_sums.resize(n_actions)
    workspace.queue.clear()
    workspace.n_slots = 0
    return 0


cdef inline int put_in_queue(SearchC* search, WorkspaceC* workspace, int scope, double* value) except -1 nogil:
    """Queue the sum over the templates of a scope for the action that was read last."""
    cdef QueuedC queued
    cdef uint32_t* slots = workspace.slots.data() + workspace.n_slots
    queued.n = write_slots(search.plan, &workspace.extraction, scope, search.table.shift, slots)
    queued.value = value
    ask_for(&search.table, slots, queued.n)
    workspace.n_slots += queued.n
    workspace.queue.push_back(queued)
    return 0


cdef inline void read_queue(SearchC* search, WorkspaceC* workspace) noexcept nogil:
    cdef const uint32_t* slots = workspace.slots.data()
    cdef size_t i
    for i in range(workspace.queue.size()):
        workspace.queue[i].value[0] = sum_weights(&search.table, slots, workspace.queue[i].n)
        slots += workspace.queue[i].n


cdef int queue_shift(SearchC* search, WorkspaceC* workspace, const StateC* state, int word,
                     ShiftSumsC* sums) except -1 nogil:
    """Queue what a SHIFT adds to the score that all SHIFTs of its state share, unless it is cached. Its atoms have been
    read."""
    cdef int stamp = workspace.extraction.atoms.stamp, c = workspace.extraction.atoms.constituent
    cdef int n = search.context.bag.forest.n
    cdef SumC* known
    # The templates that look at the word before and at the word to come.
    sums.neighbours = &sums.own[1]
    if not workspace.by_neighbours.empty() and n - state.n_shifted >= MANY:
        sums.neighbours = workspace.by_neighbours.data() + <size_t>(word_before(search, state) + 1) * n + word
    if sums.neighbours == &sums.own[1] or isnan(sums.neighbours[0]):
        put_in_queue(search, workspace, NEIGHBOURS, sums.neighbours)
    sums.constituent = &sums.own[2]
    sums.own[2] = 0
    if has_templates(search.plan, CONSTITUENT):
        if c == NONE:
            put_in_queue(search, workspace, CONSTITUENT, sums.constituent)
        else:
            known = &workspace.by_constituent[c]
            sums.constituent = &known.value
            if known.stamp != stamp:
                put_in_queue(search, workspace, CONSTITUENT, sums.constituent)
                known.stamp = stamp
    sums.component = &sums.own[3]
    sums.own[3] = 0
    if has_templates(search.plan, COMPONENT):
        known = &workspace.by_component[search.context.bag.forest.top[word]]
        sums.component = &known.value
        if known.stamp != stamp:
            put_in_queue(search, workspace, COMPONENT, sums.component)
            known.stamp = stamp
    return put_in_queue(search, workspace, WORD, &sums.own[0])


cdef inline double sum_of_shift(SearchC* search, WorkspaceC* workspace, const StateC* state, int word,
                                const ShiftSumsC* sums) noexcept nogil:
    """What a SHIFT adds to the score that all SHIFTs of its state share, when all sums have been read."""
    cdef double score = sums.neighbours[0] + sums.constituent[0]
    score += sums.component[0] + sums.own[0]
    return score + score_pairs(&workspace.pairs, search.context.bag, state, word, workspace.extraction.atoms.stamp)


cdef inline int word_before(SearchC* search, const StateC* state) noexcept nogil:
    """The word placed last, or -1."""
    return search.context.nodes[0][state.recent[0]].word if state.recent[0] != NONE else -1


cdef inline double sum_of(SearchC* search, WorkspaceC* workspace, int scope) noexcept nogil:
    """The weights of an action's features, over the templates of a scope."""
    cdef int n = find_slots(search.plan, &workspace.extraction, scope, search.table.shift)
    return sum_weights(&search.table, workspace.extraction.slots.data(), n)


cdef inline double sum_of_all(SearchC* search, WorkspaceC* workspace) noexcept nogil:
    cdef double total = 0
    cdef int scope
    for scope in range(N_SCOPES):
        total += sum_of(search, workspace, scope)
    return total


cdef double score_action(SearchC* search, WorkspaceC* workspace, const StateC* state, const ActionC* action) except? -1 nogil:
    """The score that an action adds to a state."""
    cdef NgramContextC context
    cdef double shared = 0, score
    extract(search.plan, search.context.bag, search.context.nodes, state, &workspace.extraction)
    extract_action(search.plan, search.context.bag, search.context.nodes, state, action, &workspace.extraction)
    if action.type != SHIFT:
        return sum_of_all(search, workspace)
    start_queue(search, workspace, 1)
    put_in_queue(search, workspace, EVERY_SHIFT, &shared)
    queue_shift(search, workspace, state, action.word, &workspace.shift_sums[0])
    read_queue(search, workspace)
    score = shared + sum_of_shift(search, workspace, state, action.word, &workspace.shift_sums[0])
    if search.ngram_weight:
        read_context(search, workspace, state, &context)
        score += ngram_score(search, workspace, state, &context, action.word)
    return score
