"""Sets of labels and tags over the given dependents of words. Each family is read once for a state."""
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport BagC
from ..bag.forest cimport FREE, ROOT, is_shifted
from ..bag.word cimport FORM, LABEL, TAG
from ..hashing cimport SET, mix
from ..systems.state cimport StateC
from .atoms cimport (
    CHILD_LABELS, CHILD_TAGS, FORM_OF_HEAD, HEAD_IS_SHIFTED, LABEL_TO_HEAD, N_GIVEN, NO_HEAD, SIBLING_LABELS, SIBLING_TAGS,
    TAG_OF_HEAD, UNLABELLED, AtomsC, FamilyC,
)


cdef void given_around(BagC* bag, const StateC* state, int k, AtomsC* atoms, uint64_t* values) noexcept nogil:
    """The GIVEN atoms of word k. A bag without arcs has none of them; a FREE word has none about its head."""
    cdef FamilyC* family
    cdef int i, head = bag.forest.head[k]
    for i in range(N_GIVEN):
        values[i] = 0
    if not bag.forest.has_arcs:
        return
    family = family_of(bag, state, k, atoms)
    for i in range(2):
        values[CHILD_LABELS + i] = family.labels[i]
        values[CHILD_TAGS + i] = family.tags[i]
    if head == FREE:
        return
    if head == ROOT:
        for i in range(HEAD_IS_SHIFTED, N_GIVEN):
            values[i] = NO_HEAD
        return
    family = family_of(bag, state, head, atoms)
    for i in range(2):
        values[SIBLING_LABELS + i] = family.labels[i]
        values[SIBLING_TAGS + i] = family.tags[i]
    # The word is not its own sibling: remove from the sets what only it contributed.
    i = 0 if is_shifted(state.shifted, k) else 1
    if atoms.only_label[k]:
        values[SIBLING_LABELS + i] = mix(SET, family.label_sums[i] - mix(SET, bag.words[k].columns[<int>LABEL]))
    if atoms.only_tag[k]:
        values[SIBLING_TAGS + i] = mix(SET, family.tag_sums[i] - mix(SET, bag.words[k].columns[<int>TAG]))
    values[HEAD_IS_SHIFTED] = 2 if is_shifted(state.shifted, head) else 1
    values[LABEL_TO_HEAD] = bag.words[k].columns[<int>LABEL] or UNLABELLED
    values[TAG_OF_HEAD] = bag.words[head].columns[<int>TAG] or UNLABELLED
    values[FORM_OF_HEAD] = bag.words[head].columns[<int>FORM]


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
