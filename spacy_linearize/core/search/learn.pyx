"""Updates of the weights for a beam search.

The update compares prefixes of derivations at one step of the search: the gold one, and what the beam holds beside it.
With the rules of the perceptron that is the best one of the beam, at a step where the model prefers it (Huang et al.
2012). `early` takes the step where the gold derivation falls out of the beam (Collins and Roark 2004), `max_violation`
the step where the two scores are furthest apart.

`softmax` takes that step, too, or the last one where the gold derivation wins, and makes it more probable beside all
others in the beam: each of these counts as much as it is probable. (Zhou et al. 2015 and Andor et al. 2016 do this where
the gold derivation falls out of the beam.)
"""
from libc.math cimport exp
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport PackedBag
from ..features.families cimport PairC, decided_pairs, find_pair_slots
from ..features.plan cimport N_SCOPES, drop_out, extract, extract_action, find_slots, make_mask
from ..systems.derivation cimport TargetC, make_target
from ..systems.state cimport SHIFT, ActionC, StateC, n_blocks, start
from ..weights cimport Weights
from .beam cimport Decoder, Workspace, actions_to, advance, is_same, start_search
from .scores cimport is_forced, score_action
from .workspace cimport SearchC, WorkspaceC

from ...errors import error

RULES = ("softmax", "max_violation", "early")
# A score is a sum over templates, each with weights of the size of an update. So scores grow with the templates, and what
# divides them to make probabilities of them does so, too.
TEMPERATURE = 0.5                # for each template
cdef double MIN_SHARE = 0.01     # less probable derivations do not count


cdef struct RivalC:
    int trace           # a state of the beam that is not gold
    double score
    double share        # of the update


cdef struct StepC:
    ActionC gold            # the gold action
    double gold_score       # of the gold derivation, this action included
    double best_score       # of the first state in the beam
    bint best_is_gold
    bint gold_in_beam
    int first_rival, end_of_rivals  # best first


def update(Decoder decoder not None, PackedBag bag not None, order, heads, tags, labels, *, int width,
           str rule="softmax", double dropout=0.0, uint64_t seed=0):
    """Decode a training example and learn from it.

    order, heads, tags, labels: The gold order and tree, see `system.make_target`.
    width (int): Of the beam.
    rule (str): One of RULES.
    dropout (float): Share of features to leave out, chosen by the seed.
    seed (int): Should differ from example to example.
    RETURNS (Tuple[bool, int]): Whether the gold derivation lost, and how many actions the update compared.
    """
    cdef Weights weights = decoder.weights
    cdef TargetC gold = make_target(bag, order, heads, tags, labels, decoder.mirrored,
                                decoder.system.builds_trees)
    weights.start_training()
    cdef Workspace workspace = decoder.take_workspace()
    cdef SearchC search = decoder.prepare(bag, workspace, weights.for_training(), width)
    workspace.c.extraction.dropout = make_mask(dropout, seed)
    cdef double temperature = TEMPERATURE * max(
        1, len(decoder.features.templates) + len(decoder.features.pair_templates))
    cdef bint early = rule == "early", is_soft = rule == "softmax"
    cdef bint lost
    cdef vector[StepC] steps
    cdef vector[RivalC] rivals
    cdef int lost_word, at, n_compared = 0
    with nogil:
        lost_word = search_beside_gold(&search, &workspace.c, &gold, early, &steps, &rivals)
    if lost_word >= 0:
        raise error("SL011", words=[bag.layout.position[lost_word]], texts=bag.texts)
    at = early_step(steps) if early else worst_step(steps)
    lost = at >= 0
    if is_soft and not steps.empty():
        if not lost:
            at = <int>steps.size() - 1
        share_out(steps, at, rivals, temperature)
    if at >= 0:
        with nogil:
            n_compared = learn_from(&search, &workspace.c, weights, steps, at, rivals)
    weights.tick()
    decoder.return_workspace(workspace)
    return lost, n_compared


cdef int search_beside_gold(SearchC* search, WorkspaceC* workspace, TargetC* gold, bint early,
                            vector[StepC]* steps, vector[RivalC]* rivals) except -2 nogil:
    """Advance the beam and the gold derivation side by side. The best rival of each step has the whole share. Returns the
    word at which the gold derivation has no legal action, or -1 if all is well."""
    cdef int n = search.context.bag.forest.n, i, b
    cdef vector[uint64_t] bits
    cdef vector[ActionC] legal
    cdef StateC state
    cdef StepC step
    cdef RivalC rival
    bits.resize(n_blocks(n) + 1)
    start_search(search, workspace)
    start(&state, bits.data(), n)
    for i in range(search.system.n_steps(n)):
        legal.clear()
        search.system.legal(&search.context, &state, &legal)
        search.system.oracle(&search.context, &state, gold, &step.gold)
        if not is_among(&step.gold, legal):
            return step.gold.word if step.gold.type == SHIFT else gold.order[state.n_shifted - 1]
        state.score += score_action(search, workspace, &state, &step.gold, legal.size())
        search.system.apply(&search.context, &state, &step.gold)
        advance(search, workspace)
        if workspace.beam.empty():  # precedences led all states into dead ends
            break
        step.gold_in_beam = False
        step.first_rival = rivals.size()
        for b in range(<int>workspace.beam.size()):
            if workspace.beam[b].is_gold:
                workspace.beam[b].is_gold = is_same(&workspace.trace[workspace.beam[b].trace].action, &step.gold)
                step.gold_in_beam |= workspace.beam[b].is_gold
            if not workspace.beam[b].is_gold:
                rival.trace = workspace.beam[b].trace
                rival.score = workspace.beam[b].score
                rival.share = <int>rivals.size() == step.first_rival
                rivals.push_back(rival)
        step.end_of_rivals = rivals.size()
        step.gold_score = state.score
        step.best_score = workspace.beam[0].score
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


cdef int share_out(vector[StepC]& steps, int at, vector[RivalC]& rivals, double temperature) noexcept nogil:
    """Give each rival at a step its probability as its share."""
    cdef double best = max(steps[at].gold_score, steps[at].best_score)
    cdef double total = exp((steps[at].gold_score - best) / temperature)
    cdef int r
    for r in range(steps[at].first_rival, steps[at].end_of_rivals):
        rivals[r].share = exp((rivals[r].score - best) / temperature)
        total += rivals[r].share
    for r in range(steps[at].first_rival, steps[at].end_of_rivals):
        rivals[r].share /= total
    return 0


cdef int learn_from(SearchC* search, WorkspaceC* workspace, Weights weights, vector[StepC]& steps, int at,
                    vector[RivalC]& rivals) except -1 nogil:
    """Move weights from the features of each rival at a step to those of the gold derivation. Returns how many actions
    differ at most."""
    cdef vector[ActionC] gold
    cdef vector[vector[ActionC]] predicted
    cdef vector[vector[float]] losses
    cdef vector[float] gains, loss
    cdef int i, r, first, earliest = at + 1
    for i in range(at + 1):
        gold.push_back(steps[i].gold)
    gains.assign(at + 1, 0)
    for r in range(steps[at].first_rival, steps[at].end_of_rivals):
        if rivals[r].share < MIN_SHARE:
            continue
        predicted.push_back(actions_to(workspace, rivals[r].trace))
        # Up to the first difference both derivations have the same features.
        first = 0
        while is_same(&predicted.back()[first], &gold[first]):
            first += 1
        earliest = min(earliest, first)
        loss.assign(at + 1, 0)
        for i in range(first, at + 1):
            loss[i] = -<float>rivals[r].share
            gains[i] += <float>rivals[r].share
        losses.push_back(loss)
    add_features(search, workspace, weights, gold, gains)
    for r in range(<int>predicted.size()):
        add_features(search, workspace, weights, predicted[r], losses[r])
    return at + 1 - earliest


cdef int add_features(SearchC* search, WorkspaceC* workspace, Weights weights, vector[ActionC]& actions,
                      vector[float]& changes) except -1 nogil:
    """Replay a derivation and change the weights of the features of each action."""
    cdef int n = search.context.bag.forest.n, i, f, scope, n_features
    cdef vector[uint64_t] bits
    cdef vector[ActionC] legal
    cdef StateC state
    bits.resize(n_blocks(n) + 1)
    start(&state, bits.data(), n)
    for i in range(<int>actions.size()):
        if changes[i] != 0:
            legal.clear()
            search.system.legal(&search.context, &state, &legal)
            if not is_forced(&actions[i], legal.size()):
                extract(search.plan, search.context.bag, search.context.nodes, &state, &workspace.extraction)
                extract_action(search.plan, search.context.bag, search.context.nodes, &state, &actions[i],
                               &workspace.extraction)
                for scope in range(N_SCOPES):
                    n_features = find_slots(search.plan, &workspace.extraction, scope, search.table.shift)
                    for f in range(n_features):
                        weights.add(workspace.extraction.slots[f], changes[i])
                if actions[i].type == SHIFT:
                    add_pairs(search, workspace, weights, &state, actions[i].word, changes[i])
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
