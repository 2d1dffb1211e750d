"""Perceptron updates for a beam search.

The update compares a prefix of the gold derivation with the best prefix of the same length in the beam, at a step where
the model prefers the wrong one (Huang et al. 2012). `early` takes the step where the gold derivation falls out of the
beam (Collins and Roark 2004), `max_violation` the step where the two scores are furthest apart.
"""
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from .bag cimport Bag
from .features cimport N_SCOPES, drop_out, extract, extract_action, find_slots, make_mask
from .pairs cimport PairC, decided_pairs, find_pair_slots
from .scores cimport SearchC, WorkspaceC, is_forced, score_action
from .search cimport Decoder, Workspace, actions_to, advance, is_same, start_search
from .state cimport SHIFT, ActionC, StateC, n_blocks, start
from .system cimport GoldC, make_gold
from .weights cimport Weights

from ..errors import error

RULES = ("max_violation", "early")


cdef struct StepC:
    ActionC gold            # the gold action
    double gold_score       # of the gold derivation, this action included
    double best_score       # of the first state in the beam
    int best                # its trace
    bint best_is_gold
    bint gold_in_beam


def update(Decoder decoder not None, Bag bag not None, order, heads, tags, labels, *, int width,
           str rule="max_violation", double dropout=0.0, uint64_t seed=0, double blind=0.0, uint64_t blind_seed=0):
    """Decode a training example and learn from it.

    order, heads, tags, labels: The gold order and tree, see `system.make_gold`.
    width (int): Of the beam.
    rule (str): "max_violation" or "early".
    dropout (float): Share of features to leave out, chosen by the seed.
    seed (int): Should differ from example to example.
    blind (float): Share of features that this learner never looks at, chosen by the blind_seed.
    RETURNS (Tuple[bool, int]): Whether the gold derivation lost, and how many actions the update compared.
    """
    cdef Weights weights = decoder.weights
    cdef GoldC gold = make_gold(bag, order, heads, tags, labels, decoder.mirrored,
                                decoder.system.builds_trees)
    weights.start_training()
    cdef Workspace workspace = decoder.take_workspace()
    cdef SearchC search = decoder.prepare(bag, workspace, weights.for_training(), width)
    workspace.c.extraction.masks[0] = make_mask(dropout, seed)
    workspace.c.extraction.masks[1] = make_mask(blind, blind_seed)
    cdef bint early = rule == "early"
    cdef vector[StepC] steps
    cdef vector[ActionC] predicted
    cdef int lost_word, at, first
    with nogil:
        lost_word = search_beside_gold(&search, &workspace.c, &gold, early, &steps)
    if lost_word >= 0:
        raise error("SL011", words=[bag.layout.position[lost_word]], texts=bag.texts)
    at = early_step(steps) if early else worst_step(steps)
    if at >= 0:
        predicted = actions_to(&workspace.c, steps[at].best)
        first = 0
        while is_same(&predicted[first], &steps[first].gold):
            first += 1
        with nogil:
            learn_from(&search, &workspace.c, weights, steps, predicted, first)
    weights.tick()
    decoder.return_workspace(workspace)
    return at >= 0, at + 1 - first if at >= 0 else 0


cdef int search_beside_gold(SearchC* search, WorkspaceC* workspace, GoldC* gold, bint early,
                            vector[StepC]* steps) except -2 nogil:
    """Advance the beam and the gold derivation side by side. Returns the word at which the gold derivation has no legal
    action, or -1 if all is well."""
    cdef int n = search.context.bag.forest.n, i, b
    cdef vector[uint64_t] bits
    cdef vector[ActionC] legal
    cdef StateC state
    cdef StepC step
    bits.resize(n_blocks(n) + 1)
    start_search(search, workspace)
    start(&state, bits.data(), n)
    for i in range(search.system.n_steps(n)):
        legal.clear()
        search.system.legal(&search.context, &state, &legal)
        search.system.gold(&search.context, &state, gold, &step.gold)
        if not is_among(&step.gold, legal):
            return step.gold.word if step.gold.type == SHIFT else gold.order[state.n_shifted - 1]
        state.score += score_action(search, workspace, &state, &step.gold, legal.size())
        search.system.apply(&search.context, &state, &step.gold)
        advance(search, workspace)
        step.gold_in_beam = False
        for b in range(<int>workspace.beam.size()):
            if workspace.beam[b].is_gold:
                workspace.beam[b].is_gold = is_same(&workspace.trace[workspace.beam[b].trace].action, &step.gold)
                step.gold_in_beam |= workspace.beam[b].is_gold
        step.gold_score = state.score
        step.best_score = workspace.beam[0].score
        step.best = workspace.beam[0].trace
        step.best_is_gold = workspace.beam[0].is_gold
        steps.push_back(step)
        if early and not step.gold_in_beam:
            break
    return -1


cdef inline bint is_among(const ActionC* action, vector[ActionC]& legal) noexcept nogil:
    """Whether an action is legal, whatever its tag or label: a gold tag or label may be one that was never seen."""
    cdef size_t i
    for i in range(legal.size()):
        if legal[i].type == action.type and legal[i].word == action.word:
            return True
    return False


cdef int early_step(vector[StepC]& steps) noexcept nogil:
    """The last step taken, if the gold derivation is not the best there; else -1."""
    cdef int last = <int>steps.size() - 1
    return last if last >= 0 and not steps[last].best_is_gold else -1


cdef int worst_step(vector[StepC]& steps) noexcept nogil:
    """The step with the largest violation, if the gold derivation loses in the end; else -1."""
    cdef int i, worst = early_step(steps)
    if worst < 0:
        return -1
    for i in range(<int>steps.size()):
        if not steps[i].best_is_gold and \
                steps[i].best_score - steps[i].gold_score > steps[worst].best_score - steps[worst].gold_score:
            worst = i
    return worst


cdef int learn_from(SearchC* search, WorkspaceC* workspace, Weights weights, vector[StepC]& steps,
                    vector[ActionC]& predicted, int first) except -1 nogil:
    cdef vector[ActionC] gold
    cdef size_t i
    for i in range(predicted.size()):
        gold.push_back(steps[i].gold)
    # Up to the first difference both derivations have the same features.
    add_features(search, workspace, weights, gold, first, 1)
    add_features(search, workspace, weights, predicted, first, -1)
    return 0


cdef int add_features(SearchC* search, WorkspaceC* workspace, Weights weights, vector[ActionC]& actions, int first,
                      float change) except -1 nogil:
    """Replay a derivation and change the weights of its features from one step on."""
    cdef int n = search.context.bag.forest.n, i, f, scope, n_features
    cdef vector[uint64_t] bits
    cdef vector[ActionC] legal
    cdef StateC state
    bits.resize(n_blocks(n) + 1)
    start(&state, bits.data(), n)
    for i in range(<int>actions.size()):
        if i >= first:
            legal.clear()
            search.system.legal(&search.context, &state, &legal)
            if not is_forced(&actions[i], legal.size()):
                extract(search.plan, search.context.bag, search.context.nodes, &state, &workspace.extraction)
                extract_action(search.plan, search.context.bag, search.context.nodes, &state, &actions[i],
                               &workspace.extraction)
                for scope in range(N_SCOPES):
                    n_features = find_slots(search.plan, &workspace.extraction, scope, search.table.shift)
                    for f in range(n_features):
                        weights.add(workspace.extraction.slots[f], change)
                if actions[i].type == SHIFT:
                    add_pairs(search, workspace, weights, &state, actions[i].word, change)
        search.system.apply(&search.context, &state, &actions[i])
    return 0


cdef int add_pairs(SearchC* search, WorkspaceC* workspace, Weights weights, const StateC* state, int word,
                   float change) except -1 nogil:
    """Change the weights of the pairs that a SHIFT decides."""
    cdef vector[PairC] found
    cdef size_t i
    cdef int f, n_features
    decided_pairs(&workspace.pairs, search.context.bag, state, word, &found)
    for i in range(found.size()):
        n_features = find_pair_slots(&workspace.pairs, search.pair_plan, &found[i], search.table.shift)
        n_features = drop_out(&workspace.extraction, workspace.pairs.slots.data(), n_features)
        for f in range(n_features):
            weights.add(workspace.pairs.slots[f], change)
    return 0
