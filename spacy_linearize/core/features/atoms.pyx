"""Reading of atoms. What does not depend on the whole state is read once and kept for the states that share it."""
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport BagC
from ..bag.forest cimport FREE, ROOT, ForestC, is_below, is_shifted
from ..bag.word cimport FORM, FRAME, LABEL, N_ATTRIBUTES, TAG
from ..hashing cimport mix
from ..systems.state cimport NONE, SHIFT, ActionC, NodeC, StateC, S

# Values of atoms where there is no key to take. 0 is "not there": the template does not fire.
cdef enum:
    START = 1           # before the first word
    UNLABELLED = 2      # a given arc without a label
    NO_HEAD = 3         # the root
    SET = 4             # seed of sets
    ITSELF = 5          # the anchor, as its own neighbour

cdef enum:
    OPENINGS = 4        # for each word: what it opens depends on which of its ancestors is the anchor
    MAX_WORDS = 1024    # in larger bags, one: memory


cdef int start_atoms(AtomsC* atoms, int n) except -1 nogil:
    """Take the memory for a bag, and forget all about the one before."""
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
    cdef int positions[15]
    cdef int atom, node, i
    atoms.stamp += 1
    find_positions(bag, nodes, state, positions)
    for i in range(<int>needs.positions.size()):
        atom = needs.positions[i]
        node = positions[atom // N_ATTRIBUTES]
        if node != NONE:
            atoms.state[atom] = attribute_of(bag, &nodes[0][node], atom % N_ATTRIBUTES)
        else:
            atoms.state[atom] = START if atom >= W0 * N_ATTRIBUTES else 0
    atoms.state[<int>ASK] = 1 + bag.asks
    atoms.state[<int>REST] = min(MANY, bag.forest.n - state.n_shifted)
    if positions[<int>NEIGHBOUR] != NONE and positions[<int>NEIGHBOUR] == state.top and nodes[0][state.top].pending > 0:
        atoms.state[NEIGHBOUR * N_ATTRIBUTES + LABEL] = ITSELF
    elif positions[NEIGHBOUR + 1] != NONE and positions[NEIGHBOUR + 1] == state.top and nodes[0][state.top].pending > 0:
        atoms.state[(NEIGHBOUR + 1) * N_ATTRIBUTES + LABEL] = ITSELF
    if needs.marks:
        read_marks(bag, state, atoms)
    if needs.given_of_S0:
        if positions[0] != NONE:
            given_around(bag, state, nodes[0][positions[0]].word, atoms, &atoms.state[<int>GIVEN_OF_S0])
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
    atoms.state[<int>MARKS] = mix(SET, left)
    atoms.state[<int>ALL_MARKS] = mix(SET, all)


cdef inline void find_positions(BagC* bag, vector[NodeC]* nodes, const StateC* state, int* positions) noexcept nogil:
    """The node at each of POSITIONS, or NONE."""
    cdef int i, s, s1, head
    positions[<int>NEIGHBOUR] = positions[NEIGHBOUR + 1] = NONE
    s = state.top
    if s != NONE:
        if nodes[0][s].pending > 0:
            # Beside the anchor itself: what was put to its right last, then the anchor, then what is on its left.
            if nodes[0][s].right != NONE:
                positions[<int>NEIGHBOUR] = nodes[0][s].right
                positions[NEIGHBOUR + 1] = nodes[0][s].right2 if nodes[0][s].right2 != NONE else s
            else:
                positions[<int>NEIGHBOUR] = s
                positions[NEIGHBOUR + 1] = nodes[0][s].left
        else:
            head = bag.forest.head[nodes[0][s].word]
            s1 = nodes[0][s].below
            positions[<int>NEIGHBOUR] = s
            if s1 != NONE and bag.forest.head[nodes[0][s1].word] == head:
                positions[NEIGHBOUR + 1] = s1
    for i in range(2):
        s = S(nodes, state, i)
        positions[i] = s
        positions[2 + 4 * i] = nodes[0][s].left if s != NONE else NONE
        positions[3 + 4 * i] = nodes[0][s].left2 if s != NONE else NONE
        positions[4 + 4 * i] = nodes[0][s].right if s != NONE else NONE
        positions[5 + 4 * i] = nodes[0][s].right2 if s != NONE else NONE
    for i in range(3):
        positions[W0 + i] = state.recent[i]


cdef inline uint64_t attribute_of(BagC* bag, const NodeC* node, int attribute) noexcept nogil:
    """A column of the word, but tag and label as this derivation has them."""
    if attribute == TAG:
        return node.tag
    if attribute == LABEL:
        return node.label
    return bag.words[node.word].columns[attribute]


cdef void given_around(BagC* bag, const StateC* state, int k, AtomsC* atoms, uint64_t* values) noexcept nogil:
    """The GIVEN atoms of word k. Nothing is there in a bag without arcs; nothing about the head of a FREE word."""
    cdef FamilyC* family
    cdef int i, head = bag.forest.head[k]
    for i in range(N_GIVEN):
        values[i] = 0
    if not bag.forest.has_arcs:
        return
    family = family_of(bag, state, k, atoms)
    for i in range(2):
        values[i] = family.labels[i]
        values[2 + i] = family.tags[i]
    if head == FREE:
        return
    if head == ROOT:
        values[8] = NO_HEAD
        values[9] = values[10] = values[11] = NO_HEAD
        return
    family = family_of(bag, state, head, atoms)
    for i in range(2):
        values[4 + i] = family.labels[i]
        values[6 + i] = family.tags[i]
    # The word is not its own sibling: take out what only it brought in.
    i = 0 if is_shifted(state.shifted, k) else 1
    if atoms.only_label[k]:
        values[4 + i] = mix(SET, family.label_sums[i] - mix(SET, bag.words[k].columns[<int>LABEL]))
    if atoms.only_tag[k]:
        values[6 + i] = mix(SET, family.tag_sums[i] - mix(SET, bag.words[k].columns[<int>TAG]))
    values[8] = 2 if is_shifted(state.shifted, head) else 1
    values[9] = bag.words[k].columns[<int>LABEL] or UNLABELLED
    values[10] = bag.words[head].columns[<int>TAG] or UNLABELLED
    values[11] = bag.words[head].columns[<int>FORM]


cdef void read_anchor(BagC* bag, vector[NodeC]* nodes, const StateC* state, AtomsC* atoms) noexcept nogil:
    """The word that has to be finished first: S0 if something given is still to come below it, else its given head."""
    cdef uint64_t* values = &atoms.state[<int>OF_ANCHOR]
    cdef FamilyC* family
    cdef int i, h = NONE
    if state.top != NONE:
        h = nodes[0][state.top].word
        if nodes[0][state.top].pending == 0:
            h = bag.forest.head[h]
    atoms.anchor = h if h >= 0 else NONE
    for i in range(N_ANCHOR):
        values[i] = 0
    if h < 0:
        return
    family = family_of(bag, state, h, atoms)
    for i in range(N_ATTRIBUTES):
        values[i] = bag.words[h].columns[i]
    values += <int>N_ATTRIBUTES
    values[0] = 1 + is_shifted(state.shifted, h)
    for i in range(2):
        values[1 + i] = family.labels[i]
        values[3 + i] = family.tags[i]
    values[5] = 1
    for i in range(bag.first_child[h], bag.first_child[h + 1]):
        values[5] += 1 - is_shifted(state.shifted, bag.children_by_label[i])
    if values[5] > 4:
        values[5] = 4


cdef inline bint is_partial(BagC* bag) noexcept nogil:
    """Whether some arcs are given and some are missing."""
    return bag.forest.has_arcs and bag.forest.tops.size() > 1


cdef void read_tops(BagC* bag, vector[NodeC]* nodes, const StateC* state, AtomsC* atoms) noexcept nogil:
    """The top of the component that the last word belongs to, and how much is open and to come."""
    cdef uint64_t* values = &atoms.state[<int>LAST_TOP]
    cdef int i, k, n = 1
    for i in range(N_ATTRIBUTES + 2):
        values[i] = 0
    if not is_partial(bag):
        return
    for i in range(N_ATTRIBUTES):
        values[i] = START
    if state.recent[0] != NONE:
        k = bag.forest.top[nodes[0][state.recent[0]].word]
        for i in range(N_ATTRIBUTES):
            values[i] = bag.words[k].columns[i]
    values[<int>N_ATTRIBUTES] = 1 + min(3, state.depth)
    for k in bag.forest.tops:
        n += 1 - is_shifted(state.shifted, k)
    values[N_ATTRIBUTES + 1] = n if n < 5 else 5 if n < 8 else 6


cdef void read_opened(BagC* bag, vector[NodeC]* nodes, const StateC* state, int k, AtomsC* atoms,
                      uint64_t* values) noexcept nogil:
    """The constituent that word k opens below the anchor, or below the top of its own component."""
    cdef int base = atoms.anchor, key, i
    cdef bint outside = base == NONE or (base != k and not is_below(&bag.forest, k, base))
    cdef OpeningC* opening
    if outside:
        base = bag.forest.top[k]
    atoms.opening = k * atoms.n_openings + (base + outside) % atoms.n_openings
    opening = &atoms.openings[atoms.opening]
    key = 2 * base + outside
    atoms.is_new_opening = opening.base != key
    if atoms.is_new_opening:
        fill_opening(bag, k, base, outside, opening)
        opening.base = key
    for i in range(N_OPENED):
        values[i] = opening.values[i]
    atoms.constituent = opening.constituent
    if atoms.constituent != NONE:
        values[HEAVY - OPENED] = heaviness_of(bag, state, base, atoms.constituent, atoms)
    if bag.forest.has_arcs and state.recent[0] != NONE:
        values[RELATION - OPENED] = relation(bag, k, nodes[0][state.recent[0]].word)


cdef void fill_opening(BagC* bag, int k, int base, bint outside, OpeningC* opening) noexcept nogil:
    """What can be told without the state."""
    cdef uint64_t* values = opening.values
    cdef int c = k, c2 = NONE, i, size
    if k != base:
        c = dependent_with(&bag.forest, base, k)
        if c != k:
            c2 = dependent_with(&bag.forest, c, k)
    # The anchor, or the top of a component, as a constituent is not the same as one of its dependents.
    opening.constituent = c if k != base else NONE
    size = bag.forest.size[c]
    for i in range(N_ATTRIBUTES):
        values[i] = bag.words[c].columns[i]
    values += <int>N_ATTRIBUTES
    values[0] = size if size < 4 else 4 if size < 7 else 5
    values[1] = 1       # not heavy, or found later
    values[2] = 3 * outside + (1 if k == base else 2 if k == c else 3)
    values[3] = values[4] = values[5] = values[6] = 0
    if bag.forest.has_arcs:
        values[3] = START   # or found later
        values[4] = values[5] = NO_HEAD
        if c2 != NONE:
            values[4] = bag.words[c2].columns[<int>TAG]
            values[5] = bag.words[c2].columns[<int>LABEL]
        if bag.forest.head[k] >= 0:
            values[6] = bag.words[bag.forest.head[k]].columns[<int>FRAME]


cdef inline int dependent_with(ForestC* forest, int head, int k) noexcept nogil:
    """The dependent of a head that k is, or is below of. Looked for upwards from k and along the dependents at the same
    time: either way may be long."""
    cdef int up = k, side = head + 1
    while forest.head[up] != head:
        if k < side + forest.size[side]:
            return side
        side += forest.size[side]
        up = forest.head[up]
    return up


cdef inline uint64_t heaviness_of(BagC* bag, const StateC* state, int head, int c, AtomsC* atoms) noexcept nogil:
    """Whether a constituent is larger than all of its siblings that are not opened yet, smaller, or neither."""
    cdef HeavyC* heavy = &atoms.heavy[head]
    cdef int size = bag.forest.size[c]
    cdef bint counted = counts(bag, state, c)   # among the siblings, of which it is none
    if heavy.stamp != atoms.stamp:
        heavy.stamp = atoms.stamp
        weigh(bag, state, head, heavy)
    if heavy.n == counted:
        return 2
    if size > heavy.largest or (counted and size == heavy.largest and heavy.n_largest == 1):
        return 3
    if size < heavy.smallest or (counted and size == heavy.smallest and heavy.n_smallest == 1):
        return 4
    return 5


cdef inline bint counts(BagC* bag, const StateC* state, int k) noexcept nogil:
    return bag.words[k].punct == 0 and not is_shifted(state.shifted, k)


cdef inline void weigh(BagC* bag, const StateC* state, int head, HeavyC* heavy) noexcept nogil:
    """The sizes of a word's dependents, once for a state: comparing each with each would take their square."""
    cdef int i, k, size
    heavy.n = heavy.largest = heavy.n_largest = heavy.n_smallest = 0
    heavy.smallest = bag.forest.n + 1
    for i in range(bag.first_child[head], bag.first_child[head + 1]):
        k = bag.children_by_label[i]
        if not counts(bag, state, k):
            continue
        size = bag.forest.size[k]
        heavy.n += 1
        if size > heavy.largest:
            heavy.largest = size
            heavy.n_largest = 0
        if size < heavy.smallest:
            heavy.smallest = size
            heavy.n_smallest = 0
        heavy.n_largest += size == heavy.largest
        heavy.n_smallest += size == heavy.smallest


cdef inline uint64_t relation(BagC* bag, int k, int other) noexcept nogil:
    """How a word is related to another by given arcs: dependent, head, sibling, same component, none."""
    if bag.forest.head[k] == other:
        return 2
    if bag.forest.head[other] == k:
        return 3
    if bag.forest.head[other] >= 0 and bag.forest.head[other] == bag.forest.head[k]:
        return 4
    return 5 if bag.forest.top[other] == bag.forest.top[k] else 6


cdef FamilyC* family_of(BagC* bag, const StateC* state, int head, AtomsC* atoms) noexcept nogil:
    """The sets of labels and tags of a word's given dependents, computed once for a state. Index 0 is for those that
    are shifted, 1 for those that are not (s and ns in the names of the atoms)."""
    cdef FamilyC* family = &atoms.families[head]
    cdef int i
    if family.stamp != atoms.stamp:
        family.stamp = atoms.stamp
        gather(bag, state, head, LABEL, bag.children_by_label, family.label_sums, atoms.only_label)
        gather(bag, state, head, TAG, bag.children_by_tag, family.tag_sums, atoms.only_tag)
        for i in range(2):
            family.labels[i] = mix(SET, family.label_sums[i])
            family.tags[i] = mix(SET, family.tag_sums[i])
    return family


cdef inline void gather(BagC* bag, const StateC* state, int head, int attribute, vector[int]& children,
                        uint64_t* sums, vector[char]& only) noexcept nogil:
    """Sum up the set of an attribute over the dependents of a head. Equal values stand side by side in `children`."""
    cdef int i = bag.first_child[head], end = bag.first_child[head + 1], j, k
    cdef int count[2]
    cdef uint64_t value
    sums[0] = sums[1] = 0
    while i < end:
        value = bag.words[children[i]].columns[attribute]
        count[0] = count[1] = 0
        j = i
        while j < end and bag.words[children[j]].columns[attribute] == value:
            count[0 if is_shifted(state.shifted, children[j]) else 1] += 1
            j += 1
        for k in range(2):
            if count[k]:
                sums[k] += mix(SET, value)
        for k in range(i, j):
            only[children[k]] = count[0 if is_shifted(state.shifted, children[k]) else 1] == 1
        i = j


cdef void read_action(const NeedsC* needs, BagC* bag, vector[NodeC]* nodes, const StateC* state,
                      const ActionC* action, AtomsC* atoms) noexcept nogil:
    """Read the atoms of an action of the state that was read last."""
    cdef uint64_t* values = atoms.action
    cdef int i, top
    atoms.word = atoms.constituent = atoms.opening = NONE
    if action.type != SHIFT:
        for i in range(N_ACTION_ATOMS):
            values[i] = 0
        values[<int>ACTION] = mix(mix(0, action.type), action.symbol)
        return
    atoms.word = action.word
    for i in range(N_ATTRIBUTES):
        values[i] = bag.words[action.word].columns[i]
    if needs.given_of_L:
        given_around(bag, state, action.word, atoms, values + <int>GIVEN_OF_L)
    values[<int>ACTION] = mix(0, SHIFT)
    if needs.atomic_shift:
        values[<int>ACTION] = mix(mix(values[<int>ACTION], values[<int>FORM]), action.symbol)
    values[<int>IS_SHIFT] = SHIFT
    if needs.opened:
        read_opened(bag, nodes, state, action.word, atoms, values + <int>OPENED)
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
