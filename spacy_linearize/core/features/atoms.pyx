"""Reads atoms. What does not depend on the whole state is read once and cached for the states that share it."""
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport BagC
from ..bag.forest cimport is_shifted
from ..bag.word cimport FORM, LABEL, N_ATTRIBUTES, TAG
from ..hashing cimport SET, mix
from ..systems.state cimport NONE, SHIFT, ActionC, NodeC, StateC, S
from .given cimport family_of, given_around
from .openings cimport read_opened

cdef enum:
    OPENINGS = 4        # for each word: what it opens depends on which of its ancestors is the anchor
    MAX_WORDS = 1024    # larger bags cache one for each word, to save memory

cdef enum:
    OF_EACH = AT_S1_LEFT - AT_S0_LEFT   # positions of dependents of S0, and as many of S1


cdef int start_atoms(AtomsC* atoms, int n) except -1 nogil:
    """Allocate the memory for a bag, and clear what was cached for the one before."""
    cdef FamilyC no_family
    cdef HeavyC not_heavy
    cdef OpeningC no_opening
    no_family.stamp = not_heavy.stamp = 0
    no_opening.base = -1
    atoms.stamp = 0
    atoms.families.assign(n, no_family)
    atoms.heavy.assign(n, not_heavy)
    atoms.only_label.resize(n)
    atoms.only_tag.resize(n)
    atoms.n_openings = OPENINGS if n <= MAX_WORDS else 1
    atoms.openings.assign(<size_t>n * atoms.n_openings, no_opening)
    return 0


cdef void read_state(const NeedsC* needs, BagC* bag, vector[NodeC]* nodes, const StateC* state,
                     AtomsC* atoms) noexcept nogil:
    """Read the atoms of a state."""
    cdef int positions[N_POSITIONS]
    cdef int atom, node, i
    atoms.stamp += 1
    find_positions(bag, nodes, state, positions)
    for i in range(<int>needs.positions.size()):
        atom = needs.positions[i]
        node = positions[atom // N_ATTRIBUTES]
        if node != NONE:
            atoms.state[atom] = attribute_of(bag, &nodes[0][node], atom % N_ATTRIBUTES)
        else:
            atoms.state[atom] = START if atom >= AT_W0 * N_ATTRIBUTES else 0
    atoms.state[ASK] = 1 + bag.asks
    atoms.state[REST] = min(MANY, bag.forest.n - state.n_shifted)
    if positions[AT_P] != NONE and positions[AT_P] == state.top and nodes[0][state.top].pending > 0:
        atoms.state[AT_P * N_ATTRIBUTES + LABEL] = ITSELF
    elif positions[AT_P2] != NONE and positions[AT_P2] == state.top and nodes[0][state.top].pending > 0:
        atoms.state[AT_P2 * N_ATTRIBUTES + LABEL] = ITSELF
    if needs.marks:
        read_marks(bag, state, atoms)
    if needs.given_of_S0:
        if positions[AT_S0] != NONE:
            given_around(bag, state, nodes[0][positions[AT_S0]].word, atoms, &atoms.state[GIVEN_OF_S0])
        else:
            for i in range(N_GIVEN):
                atoms.state[GIVEN_OF_S0 + i] = 0
    if needs.anchor or needs.opened:
        read_anchor(bag, nodes, state, atoms)
    if needs.tops:
        read_tops(bag, nodes, state, atoms)


cdef void read_marks(BagC* bag, const StateC* state, AtomsC* atoms) noexcept nogil:
    """The sets of punctuation still to come, and of all punctuation. Equal marks stand side by side."""
    cdef int i, k, last = NONE
    cdef uint64_t left = 0, all = 0, form = 0
    cdef bint is_left = False   # one of the marks of this form is still to come
    for i in range(<int>bag.puncts.size()):
        k = bag.puncts[i]
        if last == NONE or bag.words[k].columns[<int>FORM] != form:
            form = bag.words[k].columns[<int>FORM]
            all += mix(SET, form)
            is_left = False
        last = k
        if not is_left and not is_shifted(state.shifted, k):
            left += mix(SET, form)
            is_left = True
    atoms.state[MARKS] = mix(SET, left)
    atoms.state[ALL_MARKS] = mix(SET, all)


cdef inline void find_positions(BagC* bag, vector[NodeC]* nodes, const StateC* state, int* positions) noexcept nogil:
    """The node at each of POSITIONS, or NONE."""
    cdef int i, s, s1, head
    positions[AT_P] = positions[AT_P2] = NONE
    s = state.top
    if s != NONE:
        if nodes[0][s].pending > 0:
            # Beside the anchor itself: what was put to its right last, then the anchor, then what is on its left.
            if nodes[0][s].right != NONE:
                positions[AT_P] = nodes[0][s].right
                positions[AT_P2] = nodes[0][s].right2 if nodes[0][s].right2 != NONE else s
            else:
                positions[AT_P] = s
                positions[AT_P2] = nodes[0][s].left
        else:
            head = bag.forest.head[nodes[0][s].word]
            s1 = nodes[0][s].below
            positions[AT_P] = s
            if s1 != NONE and bag.forest.head[nodes[0][s1].word] == head:
                positions[AT_P2] = s1
    for i in range(2):   # the positions of S1 follow those of S0, and there are equally many
        s = S(nodes, state, i)
        positions[AT_S0 + i] = s
        positions[AT_S0_LEFT + OF_EACH * i] = nodes[0][s].left if s != NONE else NONE
        positions[AT_S0_LEFT2 + OF_EACH * i] = nodes[0][s].left2 if s != NONE else NONE
        positions[AT_S0_RIGHT + OF_EACH * i] = nodes[0][s].right if s != NONE else NONE
        positions[AT_S0_RIGHT2 + OF_EACH * i] = nodes[0][s].right2 if s != NONE else NONE
    for i in range(3):
        positions[AT_W0 + i] = state.recent[i]


cdef inline uint64_t attribute_of(BagC* bag, const NodeC* node, int attribute) noexcept nogil:
    """An attribute of the word. Its tag and label are those that this derivation has given it."""
    if attribute == TAG:
        return node.tag
    if attribute == LABEL:
        return node.label
    return bag.words[node.word].columns[attribute]


cdef void read_anchor(BagC* bag, vector[NodeC]* nodes, const StateC* state, AtomsC* atoms) noexcept nogil:
    """The word that has to be finished first: S0 if something given is still to come below it, else its given head."""
    cdef uint64_t* values = atoms.state
    cdef FamilyC* family
    cdef int i, h = NONE
    if state.top != NONE:
        h = nodes[0][state.top].word
        if nodes[0][state.top].pending == 0:
            h = bag.forest.head[h]
    atoms.anchor = h if h >= 0 else NONE
    for i in range(ANCHOR, LAST_TOP):
        values[i] = 0
    if h < 0:
        return
    family = family_of(bag, state, h, atoms)
    for i in range(N_ATTRIBUTES):
        values[ANCHOR + i] = bag.words[h].columns[i]
    values[ANCHOR_IS_SHIFTED] = 1 + is_shifted(state.shifted, h)
    for i in range(2):
        values[ANCHOR_CHILD_LABELS + i] = family.labels[i]
        values[ANCHOR_CHILD_TAGS + i] = family.tags[i]
    values[ANCHOR_REST] = 1
    for i in range(bag.first_child[h], bag.first_child[h + 1]):
        values[ANCHOR_REST] += 1 - is_shifted(state.shifted, bag.children_by_label[i])
    if values[ANCHOR_REST] > 4:
        values[ANCHOR_REST] = 4


cdef inline bint is_partial(BagC* bag) noexcept nogil:
    """Whether some arcs are given and some are missing."""
    return bag.forest.has_arcs and bag.forest.tops.size() > 1


cdef void read_tops(BagC* bag, vector[NodeC]* nodes, const StateC* state, AtomsC* atoms) noexcept nogil:
    """The top of the component that the last word belongs to, and how much is open and to come."""
    cdef uint64_t* values = atoms.state
    cdef int i, k, n = 1
    for i in range(LAST_TOP, N_STATE_ATOMS):
        values[i] = 0
    if not is_partial(bag):
        return
    for i in range(N_ATTRIBUTES):
        values[LAST_TOP + i] = START
    if state.recent[0] != NONE:
        k = bag.forest.top[nodes[0][state.recent[0]].word]
        for i in range(N_ATTRIBUTES):
            values[LAST_TOP + i] = bag.words[k].columns[i]
    values[DEPTH] = 1 + min(3, state.depth)
    for k in bag.forest.tops:
        n += 1 - is_shifted(state.shifted, k)
    values[TOPS] = n if n < 5 else 5 if n < 8 else 6


cdef void read_action(const NeedsC* needs, BagC* bag, vector[NodeC]* nodes, const StateC* state,
                      const ActionC* action, AtomsC* atoms) noexcept nogil:
    """Read the atoms of an action of the state that was read last."""
    cdef uint64_t* values = atoms.action
    cdef int i, top
    atoms.word = atoms.constituent = atoms.opening = NONE
    if action.type != SHIFT:
        for i in range(N_ACTION_ATOMS):
            values[i] = 0
        values[ACTION] = mix(mix(0, action.type), action.symbol)
        return
    atoms.word = action.word
    for i in range(N_ATTRIBUTES):
        values[i] = bag.words[action.word].columns[i]
    if needs.given_of_L:
        given_around(bag, state, action.word, atoms, values + GIVEN_OF_L)
    values[ACTION] = mix(0, SHIFT)
    if needs.atomic_shift:
        values[ACTION] = mix(mix(values[ACTION], values[<int>FORM]), action.symbol)
    values[IS_SHIFT] = SHIFT
    if needs.opened:
        read_opened(bag, nodes, state, action.word, atoms, values + OPENED)
    else:
        atoms.opening = action.word * atoms.n_openings
        atoms.is_new_opening = atoms.openings[atoms.opening].base < 0
        atoms.openings[atoms.opening].base = 0
    if needs.tops:
        top = bag.forest.top[action.word]
        for i in range(N_ATTRIBUTES):
            values[NEXT_TOP + i] = bag.words[top].columns[i] if is_partial(bag) else 0
    if values[<int>TAG] != action.symbol:
        # The joint system has chosen another tag than the word's own.
        values[<int>TAG] = action.symbol
        if atoms.is_new_opening:
            atoms.openings[atoms.opening].base = -1
        atoms.opening = NONE
