"""What an action adds to the score of a state: features, pairs, and the language model.

Nothing is summed up twice that can be kept: see the scopes of `features`, and `pairs`.
"""
from libc.math cimport NAN, isnan
from libc.stdint cimport uint64_t
from libcpp.pair cimport pair

from ..bag.word cimport FORM
from ..features.atoms cimport MANY
from ..features.families cimport PairC, PairsC, find_pair_slots, score_pairs, start_pairs, sum_up
from ..features.plan cimport (
    COMPONENT, CONSTITUENT, EVERY_SHIFT, N_SCOPES, NEIGHBOURS, WORD, drop_out, extract, extract_action, find_slots,
    start_extraction,
)
from ..ngrams.table cimport (
    BEGIN, END, NOT_SEEN, UNITS, HistoryC, known_word, log_probability, log_units, look_back, seen_units,
)
from ..systems.state cimport NONE, SHIFT, ActionC, StateC
from ..weights cimport sum_weights
from .workspace cimport SumC

cdef enum:
    MAX_NEIGHBOURS = 512    # in larger bags, sums of neighbours are not cached: memory


cdef int start_scores(SearchC* search, WorkspaceC* workspace) except -1 nogil:
    """Take the memory for a bag, and score what does not depend on states."""
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


cdef int start_ngrams(SearchC* search, WorkspaceC* workspace) except -1 nogil:
    """The unigram probability of each word."""
    cdef int n = search.context.bag.forest.n, k
    cdef HistoryC nothing
    workspace.known_words.resize(n)
    workspace.unigrams.resize(n)
    workspace.bigrams.assign(workspace.by_neighbours.size(), NOT_SEEN)
    nothing.n = 0
    look_back(search.ngrams, &nothing)
    for k in range(n):
        workspace.known_words[k] = known_word(search.ngrams, search.context.bag.words[k].columns[<int>FORM])
        workspace.unigrams[k] = log_probability(search.ngrams, &nothing, workspace.known_words[k])
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
    """Rank the actions from number `first` on, which are all those of one state."""
    cdef int i, last = workspace.actions.size()
    cdef double shared = 0, score
    cdef bint shared_is_known = False
    cdef ActionC* action
    cdef HistoryC history
    if first == last:
        return 0
    if is_forced(&workspace.actions[first], last - first):
        workspace.ranks.push_back(pair[double, int](-state.score, first))
        return 0
    extract(search.plan, search.context.bag, search.context.nodes, state, &workspace.extraction)
    if search.ngram_weight:
        read_history(search, workspace, state, &history)
    for i in range(first, last):
        action = &workspace.actions[i]
        extract_action(search.plan, search.context.bag, search.context.nodes, state, action, &workspace.extraction)
        if action.type == SHIFT:
            if not shared_is_known:
                shared = sum_of(search, workspace, EVERY_SHIFT)
                shared_is_known = True
            score = shared + score_shift(search, workspace, state, action.word)
            if search.ngram_weight:
                score += ngram_score(search, workspace, state, &history, action.word)
        else:
            score = sum_of_all(search, workspace)
        workspace.ranks.push_back(pair[double, int](-(state.score + score), i))
    return 0


cdef double score_shift(SearchC* search, WorkspaceC* workspace, const StateC* state, int word) noexcept nogil:
    """What a SHIFT adds to the score that all SHIFTs of its state share. Its atoms have been read."""
    cdef int stamp = workspace.extraction.atoms.stamp, c = workspace.extraction.atoms.constituent
    cdef double score = sum_of_neighbours(search, workspace, state, word)
    cdef SumC* known
    if c != NONE:
        known = &workspace.by_constituent[c]
        if known.stamp != stamp:
            known.value = sum_of(search, workspace, CONSTITUENT)
            known.stamp = stamp
        score += known.value
    else:
        score += sum_of(search, workspace, CONSTITUENT)
    known = &workspace.by_component[search.context.bag.forest.top[word]]
    if known.stamp != stamp:
        known.value = sum_of(search, workspace, COMPONENT)
        known.stamp = stamp
    score += known.value + sum_of(search, workspace, WORD)
    return score + score_pairs(&workspace.pairs, search.context.bag, state, word, stamp)


cdef inline double sum_of_neighbours(SearchC* search, WorkspaceC* workspace, const StateC* state,
                                     int word) noexcept nogil:
    """The templates that look at the word before and at the word to come."""
    cdef int n = search.context.bag.forest.n
    cdef double* known
    if workspace.by_neighbours.empty() or n - state.n_shifted < MANY:
        return sum_of(search, workspace, NEIGHBOURS)
    known = workspace.by_neighbours.data() + <size_t>(word_before(search, state) + 1) * n + word
    if isnan(known[0]):
        known[0] = sum_of(search, workspace, NEIGHBOURS)
    return known[0]


cdef inline int word_before(SearchC* search, const StateC* state) noexcept nogil:
    """The word placed last, or -1."""
    return search.context.nodes[0][state.recent[0]].word if state.recent[0] != NONE else -1


cdef inline void read_history(SearchC* search, WorkspaceC* workspace, const StateC* state,
                              HistoryC* history) noexcept nogil:
    """The words placed last, as the history of the language model."""
    cdef int i, node
    history.n = 3
    for i in range(3):
        node = state.recent[i]
        if node == NONE:
            history.words[i] = BEGIN
            history.n = i + 1
            break
        history.words[i] = workspace.known_words[search.context.nodes[0][node].word]
    look_back(search.ngrams, history)


cdef inline double ngram_score(SearchC* search, WorkspaceC* workspace, const StateC* state, const HistoryC* history,
                               int word) noexcept nogil:
    """The weighted score of the next word by the language model. Its unigram probability is subtracted: the sum of these
    is the same for every complete order, and so stands for the future cost of the words that are left."""
    cdef uint64_t form = workspace.known_words[word]
    cdef double score = log_after(search, workspace, state, history, word) - workspace.unigrams[word]
    cdef HistoryC longer
    cdef int i
    if state.n_shifted + 1 == search.context.bag.forest.n:
        longer.n = min(3, history.n + 1)
        longer.words[0] = form
        for i in range(1, longer.n):
            longer.words[i] = history.words[i - 1]
        look_back(search.ngrams, &longer)
        score += log_probability(search.ngrams, &longer, END)
    return search.ngram_weight * score


cdef inline double log_after(SearchC* search, WorkspaceC* workspace, const StateC* state, const HistoryC* history,
                             int word) noexcept nogil:
    """The log probability of a word after a history. Bigrams are cached."""
    cdef uint64_t form = workspace.known_words[word]
    cdef HistoryC last
    cdef int* known
    cdef int units
    if workspace.bigrams.empty() or history.n == 0:
        return log_probability(search.ngrams, history, form)
    units = seen_units(search.ngrams, history, 2, form)
    if units == NOT_SEEN:
        known = workspace.bigrams.data() + <size_t>(word_before(search, state) + 1) * search.context.bag.forest.n + word
        if known[0] == NOT_SEEN:
            last = history[0]
            last.n = 1
            last.backoff[0] -= last.backoff[1]
            last.backoff[1] = 0
            known[0] = log_units(search.ngrams, &last, form)
        units = history.backoff[1] + known[0]
    return units / <double>UNITS


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


cdef double score_action(SearchC* search, WorkspaceC* workspace, const StateC* state, const ActionC* action,
                         int n_legal) except? -1 nogil:
    """The score that one of n_legal actions adds to a state."""
    cdef HistoryC history
    cdef double score
    if is_forced(action, n_legal):
        return 0
    extract(search.plan, search.context.bag, search.context.nodes, state, &workspace.extraction)
    extract_action(search.plan, search.context.bag, search.context.nodes, state, action, &workspace.extraction)
    if action.type != SHIFT:
        return sum_of_all(search, workspace)
    score = sum_of(search, workspace, EVERY_SHIFT) + score_shift(search, workspace, state, action.word)
    if search.ngram_weight:
        read_history(search, workspace, state, &history)
        score += ngram_score(search, workspace, state, &history, action.word)
    return score
