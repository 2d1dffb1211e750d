"""Updates of the weights for a beam search.

The update compares prefixes of derivations at one step of the search: the gold one, and what the beam holds beside it.
With the rules of the perceptron that is the best one of the beam, at a step where the model prefers it (Huang et al.
2012). `early` takes the step where the gold derivation falls out of the beam (Collins and Roark 2004), `max_violation`
the step where the two scores are furthest apart.

`softmax` takes that step, too, or the last one where the gold derivation wins, and makes it more probable beside all
others in the beam: each of these is weighted by its probability. (Zhou et al. 2015 and Andor et al. 2016 do this where
the gold derivation falls out of the beam.)

Derivations share prefixes, and a weight is changed once for each action that some of them took, not once for each of
them. So every state of the beams is kept until the example is done: no state is made, and no state's atoms are read, a
second time for each derivation that went through it.
"""
from libc.math cimport exp
from libc.stdint cimport uint64_t
from libcpp.algorithm cimport sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from ..features.families cimport PairC, decided_pairs, find_pair_slots
from ..features.plan cimport N_SCOPES, drop_out, extract, extract_action, find_slots, make_mask
from ..hashing cimport mix
from ..systems.derivation cimport TargetC, make_target
from ..systems.state cimport SHIFT, ActionC, StateC, copy_state, n_blocks, start
from ..weights cimport Weights
from .beam cimport Decoder, Workspace, advance, is_same, start_search
from .scores cimport score_action
from .workspace cimport SearchC, WorkspaceC

from ...errors import error

RULES = ("softmax", "max_violation", "early")
# A score is a sum over templates, each with weights of the size of an update. So scores grow with the number of
# templates, and the temperature of the softmax grows with it.
TEMPERATURE = 0.5                # for each template
cdef double MIN_SHARE = 0.01     # less probable derivations do not count


cdef struct PointC:
    # A state that was reached: in the beam, or by the gold derivation outside of it.
    StateC state        # its bits are in LessonC
    ActionC action      # that led to it ...
    int parent          # ... from this point
    float change        # to the weights of that action


cdef struct StepC:
    int gold            # the point where the gold derivation stands
    int first, end      # points of the beam, best first
    bint gold_in_beam


cdef cppclass LessonC:
    # The search over one example. The memory is reused for the next one.
    SearchC search
    WorkspaceC* workspace
    vector[PointC] points       # the start is the first
    vector[uint64_t] bits       # of their states
    vector[StepC] steps
    vector[double] shares       # of the update, by rank in the beam
    vector[pair[int, int]] changed  # points with their parents in front
    vector[ActionC] legal
    vector[PairC] pairs


def update(Decoder decoder not None, examples, *, widths, str rule="softmax", double dropout=0.0, uint64_t seed=0):
    """Decode training examples and learn from each, one after the other. The GIL is released once for all of them.

    examples (Sequence[Tuple]): Each a PackedBag with its gold order, heads, tags and labels, see
        `derivation.make_target`.
    widths (Sequence[int]): For each example, the width of the beam.
    rule (str): One of RULES.
    dropout (float): Share of features to leave out, chosen by the seed.
    seed (int): Should differ from call to call.
    RETURNS (Tuple[int, int]): How often the gold derivation lost, and how many actions the updates compared.
    """
    cdef Weights weights = decoder.weights
    cdef Workspace workspace = decoder.take_workspace()
    cdef vector[SearchC] searches
    cdef vector[TargetC] golds
    cdef LessonC lesson
    cdef double temperature = TEMPERATURE * max(1, len(decoder.features))
    cdef bint early = rule == "early", is_soft = rule == "softmax"
    cdef int at, lost_word = -1, n_lost = 0, n_compared = 0
    cdef size_t i
    weights.start_training()
    for (bag, order, heads, tags, labels), width in zip(examples, widths, strict=True):
        golds.push_back(make_target(bag, order, heads, tags, labels, decoder.mirrored, decoder.system.builds_trees))
        searches.push_back(decoder.prepare(bag, workspace, weights.for_training(), width))
    lesson.workspace = &workspace.c
    with nogil:
        for i in range(searches.size()):
            lesson.search = searches[i]
            workspace.c.extraction.dropout = make_mask(dropout, mix(seed, i))
            lost_word = search_beside_gold(&lesson, &golds[i], early)
            if lost_word >= 0:
                break
            at = early_step(&lesson) if early else worst_step(&lesson)
            n_lost += at >= 0
            if at < 0 and is_soft:
                at = <int>lesson.steps.size() - 1
            if at >= 0:
                share_out(&lesson, at, temperature if is_soft else 0)
                n_compared += learn_from(&lesson, at, weights)
            weights.tick()
    if lost_word >= 0:
        bag = examples[i][0]
        raise error("SL011", words=[bag.positions[lost_word]], texts=bag.texts)
    decoder.return_workspace(workspace)
    return n_lost, n_compared


cdef int search_beside_gold(LessonC* lesson, TargetC* gold, bint early) except -2 nogil:
    """Advance the beam and the gold derivation side by side. Returns the word at which the gold derivation has no legal
    action, or -1 if all is well."""
    cdef SearchC* search = &lesson.search
    cdef WorkspaceC* workspace = lesson.workspace
    cdef int n = search.context.bag.forest.n, i, b, at = 0, gold_point = 0, first_before = 0, first_trace = -1
    cdef ActionC action
    cdef StateC state
    cdef StepC step
    lesson.points.clear()
    lesson.bits.clear()
    lesson.steps.clear()
    start_search(search, workspace)
    add_point(lesson, &workspace.beam[0], &action, -1)
    for i in range(search.system.n_steps(n)):
        state = state_at(lesson, gold_point)
        search.system.oracle(&search.context, &state, gold, &action)
        advance(search, workspace)
        if workspace.beam.empty():  # precedences led all states into dead ends
            break
        step.gold = -1
        step.first = lesson.points.size()
        for b in range(<int>workspace.beam.size()):
            if workspace.beam[b].is_gold:
                workspace.beam[b].is_gold = is_same(&workspace.trace[workspace.beam[b].trace].action, &action)
                if workspace.beam[b].is_gold:
                    step.gold = lesson.points.size()
            # The traces of a step follow each other, as its points do.
            at = workspace.trace[workspace.beam[b].trace].parent - first_trace + first_before
            add_point(lesson, &workspace.beam[b], &workspace.trace[workspace.beam[b].trace].action, at)
        step.end = lesson.points.size()
        step.gold_in_beam = step.gold >= 0
        if not step.gold_in_beam:
            at = follow_gold(lesson, gold_point, &action)
            if at < 0:
                return action.word if action.type == SHIFT else gold.order[state.n_shifted - 1]
            step.gold = at
        gold_point = step.gold
        first_before = step.first
        first_trace = workspace.beam[0].trace
        lesson.steps.push_back(step)
        if early and not step.gold_in_beam:
            break
    return -1


cdef int add_point(LessonC* lesson, const StateC* state, const ActionC* action, int parent) except -1 nogil:
    """Keep a state. Returns its number."""
    cdef PointC point
    cdef int i
    point.state = state[0]
    point.action = action[0]
    point.parent = parent
    point.change = 0
    for i in range(n_blocks(lesson.search.context.bag.forest.n)):
        lesson.bits.push_back(state.shifted[i])
    lesson.points.push_back(point)
    return <int>lesson.points.size() - 1


cdef inline StateC state_at(LessonC* lesson, int point) noexcept nogil:
    """The state of a point. Good until a point is added: bits move then."""
    cdef StateC state = lesson.points[point].state
    state.shifted = lesson.bits.data() + <size_t>point * n_blocks(lesson.search.context.bag.forest.n)
    return state


cdef int follow_gold(LessonC* lesson, int point, const ActionC* action) except -2 nogil:
    """Take the gold action outside of the beam. Returns the new point, or -1 if the action is not legal."""
    cdef SearchC* search = &lesson.search
    cdef StateC state = state_at(lesson, point)
    cdef StateC further
    cdef vector[uint64_t] bits
    cdef int n = search.context.bag.forest.n
    lesson.legal.clear()
    search.system.legal(&search.context, &state, &lesson.legal)
    if not is_among(action, lesson.legal):
        return -1
    bits.resize(n_blocks(n) + 1)
    copy_state(&further, &state, bits.data(), n)
    further.score += score_action(search, lesson.workspace, &state, action)
    search.system.apply(&search.context, &further, action)
    return add_point(lesson, &further, action, point)


cdef inline bint is_among(const ActionC* action, vector[ActionC]& legal) noexcept nogil:
    """Whether an action is legal, whatever its tag or label: a gold tag or label may be one that was never seen."""
    cdef size_t i
    for i in range(legal.size()):
        if legal[i].type == action.type and legal[i].word == action.word:
            return True
    return False


cdef inline double lead(LessonC* lesson, int step) noexcept nogil:
    """How far the best state of a beam is ahead of the gold derivation."""
    return lesson.points[lesson.steps[step].first].state.score - lesson.points[lesson.steps[step].gold].state.score


cdef int early_step(LessonC* lesson) noexcept nogil:
    """The last step taken, if the gold derivation is not the best there; else -1."""
    cdef int last = <int>lesson.steps.size() - 1
    return last if last >= 0 and lesson.steps[last].gold != lesson.steps[last].first else -1


cdef int worst_step(LessonC* lesson) noexcept nogil:
    """The step with the largest violation, if the gold derivation loses in the end; else -1."""
    cdef int i, worst = early_step(lesson)
    if worst < 0:
        return -1
    for i in range(<int>lesson.steps.size()):
        if lesson.steps[i].gold != lesson.steps[i].first and lead(lesson, i) > lead(lesson, worst):
            worst = i
    return worst


cdef int share_out(LessonC* lesson, int at, double temperature) except -1 nogil:
    """Give each rival at a step its share of the update: its probability or, at temperature 0, all to the best."""
    cdef StepC* step = &lesson.steps[at]
    cdef double gold_score = lesson.points[step.gold].state.score
    cdef double best = max(gold_score, lesson.points[step.first].state.score)
    cdef double total = exp((gold_score - best) / temperature) if temperature else 1
    cdef int i
    lesson.shares.assign(step.end - step.first, 0)
    if not temperature:
        lesson.shares[0] = 1    # only a step where the gold derivation is not the best comes here
        return 0
    for i in range(step.end - step.first):
        if step.first + i != step.gold:
            lesson.shares[i] = exp((lesson.points[step.first + i].state.score - best) / temperature)
            total += lesson.shares[i]
    for i in range(step.end - step.first):
        lesson.shares[i] /= total
    return 0


cdef int learn_from(LessonC* lesson, int at, Weights weights) except -1 nogil:
    """Move weights from the features of each rival at a step to those of the gold derivation. Returns how many actions
    differ at most."""
    cdef StepC* step = &lesson.steps[at]
    cdef float share
    cdef int i, point, n_different, most = 0
    lesson.changed.clear()
    for i in range(step.end - step.first):
        if lesson.shares[i] < MIN_SHARE:
            continue
        share = <float>lesson.shares[i]
        point = step.first + i
        n_different = 0
        # Up to the first difference both derivations have the same features.
        while not lesson.points[point].state.is_gold:
            point = change_point(lesson, point, -share)
            n_different += 1
        most = max(most, n_different)
        point = step.gold
        while n_different:
            point = change_point(lesson, point, share)
            n_different -= 1
    # The features of points with the same parent are extracted from the same state.
    sort(lesson.changed.begin(), lesson.changed.end())
    for i in range(<int>lesson.changed.size()):
        point = lesson.changed[i].second
        add_features(lesson, point, i == 0 or lesson.changed[i - 1].first != lesson.changed[i].first, weights)
    return most


cdef inline int change_point(LessonC* lesson, int point, float change) except -1 nogil:
    """Note a change of the weights of the action that led to a point. Returns where that came from."""
    cdef PointC* own = &lesson.points[point]
    if own.change == 0:
        lesson.changed.push_back(pair[int, int](own.parent, point))
    own.change += change
    return own.parent


cdef int add_features(LessonC* lesson, int number, bint is_new_state, Weights weights) except -1 nogil:
    """Change the weights of the features of the action that led to a point."""
    cdef SearchC* search = &lesson.search
    cdef WorkspaceC* workspace = lesson.workspace
    cdef PointC* point = &lesson.points[number]
    cdef StateC state = state_at(lesson, point.parent)
    cdef int scope, n_features
    if is_new_state:
        extract(search.plan, search.context.bag, search.context.nodes, &state, &workspace.extraction)
    extract_action(search.plan, search.context.bag, search.context.nodes, &state, &point.action, &workspace.extraction)
    for scope in range(N_SCOPES):
        n_features = find_slots(search.plan, &workspace.extraction, scope, search.table.shift)
        weights.add(workspace.extraction.slots.data(), n_features, point.change)
    if point.action.type == SHIFT:
        add_pairs(lesson, &state, point.action.word, point.change, weights)
    return 0


cdef int add_pairs(LessonC* lesson, const StateC* state, int word, float change, Weights weights) except -1 nogil:
    """Change the weights of the pairs that a SHIFT decides."""
    cdef SearchC* search = &lesson.search
    cdef WorkspaceC* workspace = lesson.workspace
    cdef size_t i
    cdef int n_features
    lesson.pairs.clear()
    decided_pairs(&workspace.pairs, search.context.bag, state, word, &lesson.pairs)
    for i in range(lesson.pairs.size()):
        n_features = find_pair_slots(&workspace.pairs, search.pair_plan, &lesson.pairs[i], search.table.shift)
        n_features = drop_out(&workspace.extraction, workspace.pairs.slots.data(), n_features)
        weights.add(workspace.pairs.slots.data(), n_features, change)
    return 0
