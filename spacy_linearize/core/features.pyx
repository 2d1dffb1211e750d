"""Extraction of features: atoms of a state, then slots of the weight table for each action."""
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector

from .bag cimport FORM, FRAME, LABEL, N_ATTRIBUTES, TAG, BagC
from .constraints cimport FREE, ROOT, is_shifted
from .hashing cimport mix, slot_of
from .pairs cimport N_MEMBER_ATOMS
from .state cimport NONE, SHIFT, ActionC, NodeC, StateC, S

from .hashing import hash_text
from .templates import ACTION_ATOMS, ATTRIBUTES, MEMBER_ATTRIBUTES, PAIR_ATOMS, STATE_ATOMS, fingerprint
from .templates import NEXT_TOP as NEXT_TOP_ATOMS

# Numbers of atoms, in the sequence of STATE_ATOMS and ACTION_ATOMS.
cdef enum:
    N_POSITIONS = 15
    NEIGHBOUR = 10      # P and P2
    W0 = 12
    REST = 135          # N_POSITIONS * N_ATTRIBUTES
    MARKS = 136
    ALL_MARKS = 137
    ASK = 138
    GIVEN_OF_S0 = 139
    N_GIVEN = 12
    OF_ANCHOR = 151
    N_ANCHOR = 15
    LAST_TOP = 166
    GIVEN_OF_L = 9
    ACTION = 21
    IS_SHIFT = 22
    OPENED = 23
    NEXT_TOP = 39

# Values of atoms where there is no key to take. 0 is "not there": the template does not fire.
cdef enum:
    START = 1           # before the first word
    UNLABELLED = 2      # a given arc without a label
    NO_HEAD = 3         # the root
    SET = 4             # seed of sets
    ITSELF = 5          # the anchor, as its own neighbour


cdef int start_extraction(ExtractionC* extraction, PlanC* plan, int n) except -1 nogil:
    cdef FamilyC nothing
    nothing.stamp = 0
    extraction.stamp = 0
    extraction.hashes.resize(plan.templates.size())
    extraction.fired.resize(plan.templates.size())
    extraction.slots.resize(plan.templates.size())
    extraction.part_start.resize(plan.parts.size() + 1)
    extraction.families.assign(n, nothing)
    extraction.only_label.resize(n)
    extraction.only_tag.resize(n)
    extraction.static_hashes.resize(<size_t>n * plan.parts.size())
    extraction.has_static.assign(n, False)
    return 0


cdef int extract(PlanC* plan, BagC* bag, vector[NodeC]* nodes, const StateC* state, ExtractionC* out) except -1 nogil:
    """Read the atoms of a state and hash the state part of every template."""
    cdef int positions[15]
    cdef int atom, node, p, t, i, n = 0
    cdef uint64_t h
    cdef TemplateC* template
    out.stamp += 1
    find_positions(bag, nodes, state, positions)
    for atom in plan.needed:
        if atom >= REST:
            continue
        node = positions[atom // N_ATTRIBUTES]
        if node != NONE:
            out.values[atom] = attribute_of(bag, &nodes[0][node], atom % N_ATTRIBUTES)
        else:
            out.values[atom] = START if atom >= W0 * N_ATTRIBUTES else 0
    out.values[<int>ASK] = 1 + bag.asks
    out.values[<int>REST] = min(4, bag.forest.n - state.n_shifted)
    if positions[<int>NEIGHBOUR] != NONE and positions[<int>NEIGHBOUR] == state.top and nodes[0][state.top].pending > 0:
        out.values[NEIGHBOUR * N_ATTRIBUTES + LABEL] = ITSELF
    elif positions[NEIGHBOUR + 1] != NONE and positions[NEIGHBOUR + 1] == state.top and nodes[0][state.top].pending > 0:
        out.values[(NEIGHBOUR + 1) * N_ATTRIBUTES + LABEL] = ITSELF
    if plan.needs_marks:
        read_marks(bag, state, out)
    if plan.needs_given_of_S0:
        if positions[0] != NONE:
            given_around(bag, state, nodes[0][positions[0]].word, out, &out.values[<int>GIVEN_OF_S0])
        else:
            for i in range(N_GIVEN):
                out.values[GIVEN_OF_S0 + i] = 0
    if plan.needs_anchor or plan.needs_opened:
        read_anchor(bag, nodes, state, out)
    if plan.needs_tops:
        read_tops(bag, nodes, state, out)
    for p in range(<int>plan.parts.size()):
        out.part_start[p] = n
        for t in range(plan.parts[p].first_template, plan.parts[p].last_template):
            template = &plan.templates[t]
            h = template.seed
            for i in range(template.first_atom, template.last_atom):
                atom = plan.state_atoms[i]
                if out.values[atom] == 0:
                    break
                h = mix(h, out.values[atom])
            else:
                out.hashes[n] = h
                out.fired[n] = t
                n += 1
    out.part_start[plan.parts.size()] = n
    return 0


cdef void read_marks(BagC* bag, const StateC* state, ExtractionC* out) noexcept nogil:
    """The sets of punctuation still to come, and of all punctuation."""
    cdef int i, k, j
    cdef uint64_t left = 0, all = 0, form
    cdef bint is_new, is_new_left
    for i in range(<int>bag.puncts.size()):
        k = bag.puncts[i]
        form = bag.words[k].columns[<int>FORM]
        is_new = is_new_left = True
        for j in range(i):
            if bag.words[bag.puncts[j]].columns[<int>FORM] == form:
                is_new = False
                if not is_shifted(state.shifted, bag.puncts[j]):
                    is_new_left = False
        if is_new:
            all += mix(SET, form)
        if is_new_left and not is_shifted(state.shifted, k):
            left += mix(SET, form)
    out.values[<int>MARKS] = mix(SET, left)
    out.values[<int>ALL_MARKS] = mix(SET, all)


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


cdef void given_around(BagC* bag, const StateC* state, int k, ExtractionC* out, uint64_t* values) noexcept nogil:
    """The GIVEN atoms of word k. Nothing is there in a bag without arcs; nothing about the head of a FREE word."""
    cdef FamilyC* family
    cdef int i, head = bag.forest.head[k]
    cdef bint own = is_shifted(state.shifted, k)
    cdef uint64_t labels[2]
    cdef uint64_t tags[2]
    for i in range(N_GIVEN):
        values[i] = 0
    if not bag.forest.has_arcs:
        return
    family = family_of(bag, state, k, out)
    for i in range(2):
        values[i] = mix(SET, family.labels[i])
        values[2 + i] = mix(SET, family.tags[i])
    if head == FREE:
        return
    if head == ROOT:
        values[8] = NO_HEAD
        values[9] = values[10] = values[11] = NO_HEAD
        return
    family = family_of(bag, state, head, out)
    for i in range(2):
        labels[i] = family.labels[i]
        tags[i] = family.tags[i]
    # The word is not its own sibling: take out what only it brought in.
    i = 0 if own else 1
    if out.only_label[k]:
        labels[i] -= label_member(bag, k)
    if out.only_tag[k]:
        tags[i] -= tag_member(bag, k)
    for i in range(2):
        values[4 + i] = mix(SET, labels[i])
        values[6 + i] = mix(SET, tags[i])
    values[8] = 2 if is_shifted(state.shifted, head) else 1
    values[9] = bag.words[k].columns[<int>LABEL] or UNLABELLED
    values[10] = bag.words[head].columns[<int>TAG] or UNLABELLED
    values[11] = bag.words[head].columns[<int>FORM]


cdef void read_anchor(BagC* bag, vector[NodeC]* nodes, const StateC* state, ExtractionC* out) noexcept nogil:
    """The word that has to be finished first: S0 if something given is still to come below it, else its given head."""
    cdef uint64_t* values = &out.values[<int>OF_ANCHOR]
    cdef FamilyC* family
    cdef int i, h = NONE
    if state.top != NONE:
        h = nodes[0][state.top].word
        if nodes[0][state.top].pending == 0:
            h = bag.forest.head[h]
    out.anchor = h if h >= 0 else NONE
    for i in range(N_ANCHOR):
        values[i] = 0
    if h < 0:
        return
    family = family_of(bag, state, h, out)
    for i in range(N_ATTRIBUTES):
        values[i] = bag.words[h].columns[i]
    values += <int>N_ATTRIBUTES
    values[0] = 1 + is_shifted(state.shifted, h)
    for i in range(2):
        values[1 + i] = mix(SET, family.labels[i])
        values[3 + i] = mix(SET, family.tags[i])
    values[5] = 1
    for i in range(bag.first_child[h], bag.first_child[h + 1]):
        values[5] += 1 - is_shifted(state.shifted, bag.children_by_label[i])
    if values[5] > 4:
        values[5] = 4


cdef inline bint is_partial(BagC* bag) noexcept nogil:
    """Whether some arcs are given and some are missing."""
    return bag.forest.has_arcs and bag.forest.tops.size() > 1


cdef void read_tops(BagC* bag, vector[NodeC]* nodes, const StateC* state, ExtractionC* out) noexcept nogil:
    """The top of the component that the last word belongs to, and how much is open and to come."""
    cdef uint64_t* values = &out.values[<int>LAST_TOP]
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


cdef void read_opened(BagC* bag, vector[NodeC]* nodes, const StateC* state, int k, ExtractionC* extraction,
                      uint64_t* values) noexcept nogil:
    """The constituent that word k opens below the anchor, or below the top of its own component."""
    cdef int base = extraction.anchor, c = k, c2 = NONE, size, last, i
    cdef bint outside = base == NONE or not (base <= k < base + bag.forest.size[base])
    if outside:
        base = bag.forest.top[k]
    if k != base:
        while bag.forest.head[c] != base:
            c2 = c
            c = bag.forest.head[c]
    # The anchor, or the top of a component, as a constituent is not the same as one of its dependents.
    extraction.constituent = c if k != base else NONE
    size = bag.forest.size[c]
    for i in range(N_ATTRIBUTES):
        values[i] = bag.words[c].columns[i]
    values += <int>N_ATTRIBUTES
    values[0] = size if size < 4 else 4 if size < 7 else 5
    values[1] = 1 if k == base else heaviness(bag, state, base, c)
    values[2] = 3 * outside + (1 if k == base else 2 if k == c else 3)
    values[3] = values[4] = values[5] = values[6] = 0
    if bag.forest.has_arcs:
        last = nodes[0][state.recent[0]].word if state.recent[0] != NONE else NONE
        values[3] = START if last == NONE else relation(bag, k, last)
        values[4] = values[5] = NO_HEAD
        if c2 != NONE:
            values[4] = bag.words[c2].columns[<int>TAG]
            values[5] = bag.words[c2].columns[<int>LABEL]
        if bag.forest.head[k] >= 0:
            values[6] = bag.words[bag.forest.head[k]].columns[<int>FRAME]


cdef inline uint64_t heaviness(BagC* bag, const StateC* state, int head, int c) noexcept nogil:
    """Whether a constituent is larger than all of its siblings that are not opened yet, smaller, or neither."""
    cdef int i, k
    cdef bint largest = True, smallest = True, alone = True
    for i in range(bag.first_child[head], bag.first_child[head + 1]):
        k = bag.children_by_label[i]
        if k != c and bag.words[k].punct == 0 and not is_shifted(state.shifted, k):
            alone = False
            if bag.forest.size[k] >= bag.forest.size[c]:
                largest = False
            if bag.forest.size[k] <= bag.forest.size[c]:
                smallest = False
    if alone:
        return 2
    return 3 if largest else 4 if smallest else 5


cdef inline uint64_t relation(BagC* bag, int k, int other) noexcept nogil:
    """How a word is related to another by given arcs: dependent, head, sibling, same component, none."""
    if bag.forest.head[k] == other:
        return 2
    if bag.forest.head[other] == k:
        return 3
    if bag.forest.head[other] >= 0 and bag.forest.head[other] == bag.forest.head[k]:
        return 4
    return 5 if bag.forest.top[other] == bag.forest.top[k] else 6


cdef inline uint64_t label_member(BagC* bag, int k) noexcept nogil:
    return mix(SET, bag.words[k].columns[<int>LABEL])


cdef inline uint64_t tag_member(BagC* bag, int k) noexcept nogil:
    return mix(SET, bag.words[k].columns[<int>TAG])


cdef FamilyC* family_of(BagC* bag, const StateC* state, int head, ExtractionC* out) noexcept nogil:
    """The sets of labels and tags of a word's given dependents, computed once for a state. Index 0 is for those that
    are shifted, 1 for those that are not (s and ns in the names of the atoms)."""
    cdef FamilyC* family = &out.families[head]
    if family.stamp != out.stamp:
        family.stamp = out.stamp
        gather(bag, state, head, LABEL, bag.children_by_label, family.labels, out.only_label)
        gather(bag, state, head, TAG, bag.children_by_tag, family.tags, out.only_tag)
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


cdef void read_action(PlanC* plan, BagC* bag, vector[NodeC]* nodes, const StateC* state, const ActionC* action,
                      ExtractionC* extraction) noexcept nogil:
    """Read the atoms of an action, for `find_slots`."""
    cdef uint64_t* values = extraction.action
    cdef int i
    extraction.word = extraction.constituent = NONE
    if action.type != SHIFT:
        for i in range(N_ACTION_ATOMS):
            values[i] = 0
        values[<int>ACTION] = mix(mix(0, action.type), action.symbol)
        return
    for i in range(N_ATTRIBUTES):
        values[i] = bag.words[action.word].columns[i]
    if plan.needs_given_of_L:
        given_around(bag, state, action.word, extraction, values + <int>GIVEN_OF_L)
    values[<int>ACTION] = mix(0, SHIFT)
    if plan.atomic_shift:
        values[<int>ACTION] = mix(mix(values[<int>ACTION], values[<int>FORM]), action.symbol)
    values[<int>IS_SHIFT] = SHIFT
    if plan.needs_opened:
        read_opened(bag, nodes, state, action.word, extraction, values + <int>OPENED)
    if plan.needs_tops:
        for i in range(N_ATTRIBUTES):
            values[NEXT_TOP + i] = 0
            if is_partial(bag):
                values[NEXT_TOP + i] = bag.words[bag.forest.top[action.word]].columns[i]
    # The joint system may choose another tag than the word's own; then no hash is ready.
    if values[<int>TAG] == action.symbol:
        extraction.word = action.word
        if not extraction.has_static[action.word]:
            hash_static_parts(plan, extraction)
    values[<int>TAG] = action.symbol


cdef void hash_static_parts(PlanC* plan, ExtractionC* extraction) noexcept nogil:
    """Hash, once for each word, the parts that do not depend on the state."""
    cdef size_t p, first = <size_t>extraction.word * plan.parts.size()
    for p in range(plan.parts.size()):
        if plan.parts[p].is_static:
            extraction.static_hashes[first + p] = hash_part(plan, extraction, &plan.parts[p])
    extraction.has_static[extraction.word] = True


cdef inline uint64_t hash_part(PlanC* plan, ExtractionC* extraction, const PartC* part) noexcept nogil:
    """The hash of an action part; 0 if one of its atoms is not there, and 1 if it should happen to be 0."""
    cdef uint64_t h = 0, value
    cdef int i
    for i in range(part.first_atom, part.last_atom):
        value = extraction.action[plan.action_atoms[i]]
        if value == 0:
            return 0
        h = mix(h, value)
    if h == 0 and part.first_atom != part.last_atom:
        return 1
    return h


cdef int find_slots(PlanC* plan, ExtractionC* extraction, int first_part, int last_part, int shift) noexcept nogil:
    """Write to extraction.slots where the features of an action stand, for a range of parts. Returns how many."""
    cdef uint64_t h
    cdef uint32_t* slots = extraction.slots.data()
    cdef const uint64_t* hashes = extraction.hashes.data()
    cdef const PartC* part
    cdef int p, i, n = 0
    for p in range(first_part, last_part):
        if extraction.part_start[p] == extraction.part_start[p + 1]:
            continue
        part = &plan.parts[p]
        if part.is_static and extraction.word != NONE:
            h = extraction.static_hashes[<size_t>extraction.word * plan.parts.size() + p]
        else:
            h = hash_part(plan, extraction, part)
        if h == 0 and part.first_atom != part.last_atom:
            continue
        for i in range(extraction.part_start[p], extraction.part_start[p + 1]):
            slots[n] = slot_of(hashes[i], h, shift)
            n += 1
    return drop_out(extraction, slots, n)


cdef int drop_out(const ExtractionC* extraction, uint32_t* slots, int n) noexcept nogil:
    """Leave out the features that a mask hides. Returns how many are left."""
    cdef int i, m, kept
    for m in range(2):
        if extraction.masks[m].below == 0:
            continue
        kept = 0
        for i in range(n):
            if <uint32_t>mix(extraction.masks[m].seed, slots[i]) >= extraction.masks[m].below:
                slots[kept] = slots[i]
                kept += 1
        n = kept
    return n


# Atoms of an action that are the same in every state.
STATIC_ATOMS = {"A", "SHIFT", *(f"L.{attribute}" for attribute in ATTRIBUTES), "Llp", "Lpp", "Lwp", "Lfp", *NEXT_TOP_ATOMS}
CONSTITUENT_ATOMS = {"SHIFT", "Csize", "Cheavy", *(f"C.{attribute}" for attribute in ATTRIBUTES)}
COMPONENT_ATOMS = {"SHIFT", *NEXT_TOP_ATOMS}


def scope_of(atoms, atomic_shift):
    """What the value of an action part depends on."""
    if atoms <= ({"SHIFT"} if atomic_shift else {"SHIFT", "A"}):
        return EVERY_SHIFT
    if atoms <= CONSTITUENT_ATOMS:
        return CONSTITUENT
    return COMPONENT if atoms <= COMPONENT_ATOMS else WORD


cdef class Features:
    """The compiled plan of a list of templates.

    templates (List[str]): As `templates.expand` returns them.
    atomic_shift (bool): Whether a SHIFT is one atomic action with its word and tag, as in Liu et al. 2015. By default
        the action is SHIFT alone, as in Puduppully et al. 2016, and word and tag come in by templates that name L.
    """

    def __init__(self, templates, *, bint atomic_shift=False):
        self.fingerprint = fingerprint(templates, "atomic_shift" if atomic_shift else "")
        self.plan.atomic_shift = atomic_shift
        self.plan.needs_given_of_S0 = self.plan.needs_given_of_L = False
        self.plan.needs_anchor = self.plan.needs_opened = self.plan.needs_tops = False
        numbers = N_STATE_ATOMS, N_ACTION_ATOMS, N_MEMBER_ATOMS
        if (len(STATE_ATOMS), len(ACTION_ATOMS), len(MEMBER_ATTRIBUTES)) != numbers:
            raise RuntimeError("templates.py, features.pxd and pairs.pxd name different atoms")
        state_number = {atom: i for i, atom in enumerate(STATE_ATOMS)}
        action_number = {atom: i for i, atom in enumerate(ACTION_ATOMS)}
        by_part = {}
        needed = set()
        self.pair_templates = []
        for template in templates:
            atoms = template.split()
            if atoms[0] in PAIR_ATOMS:
                self._add_pair_template(template)
                continue
            part = tuple(sorted(action_number[atom] for atom in atoms if atom in action_number))
            by_part.setdefault(part, []).append(template)
            needed.update(state_number[atom] for atom in atoms if atom in state_number)
            self.plan.needs_given_of_L |= any(GIVEN_OF_L <= atom < ACTION for atom in part)
            self.plan.needs_opened |= any(OPENED <= atom < NEXT_TOP for atom in part)
            self.plan.needs_tops |= any(atom >= NEXT_TOP for atom in part)
        self.plan.needed = sorted(needed)
        self.plan.needs_given_of_S0 = any(GIVEN_OF_S0 <= atom < OF_ANCHOR for atom in needed)
        self.plan.needs_anchor = any(OF_ANCHOR <= atom < LAST_TOP for atom in needed)
        self.plan.needs_tops |= any(atom >= LAST_TOP for atom in needed)
        self.plan.needs_marks = bool(needed & {MARKS, ALL_MARKS})
        scopes = {part: scope_of({ACTION_ATOMS[atom] for atom in part}, atomic_shift) for part in by_part}
        parts = sorted(by_part, key=lambda part: (scopes[part], part))
        self.templates = [template for part in parts for template in by_part[part]]
        for scope in range(N_SCOPES + 1):
            self.plan.scope_start[scope] = sum(scopes[part] < scope for part in parts)
        for part in parts:
            self._add_part(part, by_part[part], state_number)

    def _add_pair_template(self, template):
        members = {"X": [], "Y": [], "Z": []}
        for atom in template.split():
            member, attribute = atom.split(".")
            members[member].append(MEMBER_ATTRIBUTES.index(attribute))
        self.pair_templates.append(template)
        self.pair_plan.seeds.push_back(hash_text(template))
        self.pair_plan.first_atoms.push_back(members["X"])
        self.pair_plan.second_atoms.push_back(members["Y"])
        self.pair_plan.head_atoms.push_back(members["Z"])

    def _add_part(self, action_atoms, templates, state_number):
        cdef PartC part
        cdef TemplateC compiled
        part.first_atom = self.plan.action_atoms.size()
        for atom in action_atoms:
            self.plan.action_atoms.push_back(atom)
        part.last_atom = self.plan.action_atoms.size()
        part.first_template = self.plan.templates.size()
        for template in templates:
            compiled.seed = hash_text(template)
            compiled.first_atom = self.plan.state_atoms.size()
            for atom in template.split():
                if atom in state_number:
                    self.plan.state_atoms.push_back(state_number[atom])
            compiled.last_atom = self.plan.state_atoms.size()
            self.plan.templates.push_back(compiled)
        part.last_template = self.plan.templates.size()
        part.is_static = STATIC_ATOMS.issuperset(ACTION_ATOMS[atom] for atom in action_atoms)
        self.plan.parts.push_back(part)

    def __len__(self):
        return len(self.templates) + len(self.pair_templates)
