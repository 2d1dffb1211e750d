"""What a word opens: read once for each word and base, except what depends on the rest of the state."""
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport BagC
from ..bag.forest cimport ForestC, is_below, is_shifted
from ..bag.word cimport FRAME, LABEL, N_ATTRIBUTES, TAG
from ..systems.state cimport NONE, NodeC, StateC
from .atoms cimport (
    COURSE, FRAME_OF_HEAD, HEAVY, LABEL_BELOW, N_OPENED, NEXT_TOP, NO_HEAD, OPENED, OPENED_SIZE, RELATION, START, TAG_BELOW,
    AtomsC, HeavyC, OpeningC,
)


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
    """Read the atoms that do not depend on the state."""
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
    values[OPENED_SIZE - OPENED] = size if size < 4 else 4 if size < 7 else 5
    values[HEAVY - OPENED] = 1      # not heavy, or found later
    values[COURSE - OPENED] = 3 * outside + (1 if k == base else 2 if k == c else 3)
    for i in range(RELATION, NEXT_TOP):
        values[i - OPENED] = 0
    if bag.forest.has_arcs:
        values[RELATION - OPENED] = START   # or found later
        values[TAG_BELOW - OPENED] = values[LABEL_BELOW - OPENED] = NO_HEAD
        if c2 != NONE:
            values[TAG_BELOW - OPENED] = bag.words[c2].columns[<int>TAG]
            values[LABEL_BELOW - OPENED] = bag.words[c2].columns[<int>LABEL]
        if bag.forest.head[k] >= 0:
            values[FRAME_OF_HEAD - OPENED] = bag.words[bag.forest.head[k]].columns[<int>FRAME]


cdef inline int dependent_with(ForestC* forest, int head, int k) noexcept nogil:
    """The dependent of a head whose subtree holds k. Searched upwards from k and along the dependents at the same time:
    either path may be long."""
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
    cdef bint counted = counts(bag, state, c)   # among the siblings, though it is not its own sibling
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
    """The sizes of a word's dependents, read once for a state: comparing all pairs would be quadratic."""
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
