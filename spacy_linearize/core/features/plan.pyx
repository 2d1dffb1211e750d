"""Extraction of features: hashes of a state and of an action, then slots of the weight table."""
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport BagC
from ..hashing cimport mix, slot_of
from ..systems.state cimport NONE, ActionC, NodeC, StateC
from .atoms cimport read_action, read_state, start_atoms

from ..hashing import hash_text
from . import atom_table, numbers  # which compares the two
from .atom_table import ACTION_ATOMS, OF_ACTIONS, OF_MEMBERS, OF_STATES, PAIR_ATOMS, STATE_ATOMS, TABLE, atoms_of
from .templates import fingerprint

cdef enum:
    NOT_HASHED = -1


cdef int start_extraction(ExtractionC* extraction, PlanC* plan, int n) except -1 nogil:
    """Allocate the memory for a bag."""
    start_atoms(&extraction.atoms, n)
    extraction.fired.resize(plan.templates.size())
    extraction.slots.resize(plan.templates.size())
    # One row more, for actions that have none of their own.
    extraction.ready.resize((extraction.atoms.openings.size() + 1) * plan.parts.size() + 1)
    return 0


cdef void extract(PlanC* plan, BagC* bag, vector[NodeC]* nodes, const StateC* state, ExtractionC* out) noexcept nogil:
    """Read a state. Its templates are hashed when their scope is first asked for."""
    cdef int scope
    read_state(&plan.needs, bag, nodes, state, &out.atoms)
    for scope in range(N_SCOPES):
        out.n_fired[scope] = NOT_HASHED


cdef void hash_scope(PlanC* plan, ExtractionC* extraction, int scope) noexcept nogil:
    """Hash the state parts of the templates of a scope."""
    cdef const uint64_t* values = extraction.atoms.state
    cdef const TemplateC* template
    cdef FiredC* fired = extraction.fired.data() + plan.scope_start[scope]
    cdef uint64_t h
    cdef int t, i, atom, n = 0
    for t in range(plan.scope_start[scope], plan.scope_start[scope + 1]):
        template = &plan.templates[t]
        h = template.seed
        for i in range(template.first_atom, template.last_atom):
            atom = plan.state_atoms[i]
            if values[atom] == 0:
                break
            h = mix(h, values[atom])
        else:
            fired[n].hash = h
            fired[n].part = template.part
            fired[n].template = t
            n += 1
    extraction.n_fired[scope] = n


cdef void extract_action(PlanC* plan, BagC* bag, vector[NodeC]* nodes, const StateC* state, const ActionC* action,
                         ExtractionC* out) noexcept nogil:
    """Read an action of the state that was extracted last."""
    cdef size_t n_parts = plan.parts.size()
    read_action(&plan.needs, bag, nodes, state, action, &out.atoms)
    if out.atoms.opening != NONE:
        out.row = out.ready.data() + <size_t>out.atoms.opening * n_parts
        if not out.atoms.is_new_opening:
            return
    else:
        out.row = out.ready.data() + out.atoms.openings.size() * n_parts
    out.row[0] = 0
    hash_parts(plan, plan.lasting, out)


cdef inline void hash_parts(PlanC* plan, vector[int]& parts, ExtractionC* extraction) noexcept nogil:
    """Hash some action parts, each after its parent. The hash of one that has an atom which is missing is NOT_THERE."""
    cdef const uint64_t* values = extraction.atoms.action
    cdef const PartC* part
    cdef uint64_t h
    cdef size_t i
    for i in range(parts.size()):
        part = &plan.parts[parts[i]]
        h = extraction.row[part.parent]
        if h != NOT_THERE:
            h = mix(h, values[part.atom]) if values[part.atom] else NOT_THERE
        extraction.row[parts[i]] = h


cdef int find_slots(PlanC* plan, ExtractionC* extraction, int scope, int shift) noexcept nogil:
    """Write the slots of an action's features to extraction.slots, for one scope. Returns how many there are."""
    return write_slots(plan, extraction, scope, shift, extraction.slots.data())


cdef int write_slots(PlanC* plan, ExtractionC* extraction, int scope, int shift, uint32_t* slots) noexcept nogil:
    """The same as `find_slots`, but writes to another array."""
    cdef uint64_t* row = extraction.row
    cdef const FiredC* fired = extraction.fired.data() + plan.scope_start[scope]
    cdef uint64_t h
    cdef int i, n = 0
    if extraction.n_fired[scope] == NOT_HASHED:
        hash_scope(plan, extraction, scope)
    hash_parts(plan, plan.changing[scope], extraction)
    for i in range(extraction.n_fired[scope]):
        h = row[fired[i].part]
        slots[n] = slot_of(fired[i].hash, h, shift)
        n += h != NOT_THERE
    return drop_out(extraction, slots, n)


cdef int drop_out(const ExtractionC* extraction, uint32_t* slots, int n) noexcept nogil:
    """Leave out the features that dropout hides. Returns how many are left."""
    cdef int i, kept = 0
    if extraction.dropout.below == 0:
        return n
    for i in range(n):
        if <uint32_t>mix(extraction.dropout.seed, slots[i]) >= extraction.dropout.below:
            slots[kept] = slots[i]
            kept += 1
    return kept


BEFORE_ATOMS = atoms_of(OF_STATES, atom_table.BAG, atom_table.BEFORE)
SHIFT_ATOMS = atoms_of(OF_ACTIONS, atom_table.SHIFTS)
WORD_ATOMS = atoms_of(OF_ACTIONS, atom_table.SHIFTS, atom_table.WORD, atom_table.COMPONENT)
NEIGHBOUR_ATOMS = WORD_ATOMS | atoms_of(OF_ACTIONS, atom_table.NEIGHBOURS)
CONSTITUENT_ATOMS = atoms_of(OF_ACTIONS, atom_table.SHIFTS, atom_table.CONSTITUENT, atom_table.SIBLINGS)
COMPONENT_ATOMS = atoms_of(OF_ACTIONS, atom_table.SHIFTS, atom_table.COMPONENT)
# Those that do not change as long as the word and what it opens stay the same.
LASTING_ATOMS = WORD_ATOMS | atoms_of(OF_ACTIONS, atom_table.CONSTITUENT, atom_table.OPENING)


def scope_of(state_atoms, action_atoms, atomic_shift):
    """What the sum of a template's weights depends on."""
    if action_atoms <= (SHIFT_ATOMS if atomic_shift else SHIFT_ATOMS | {"A"}):
        return EVERY_SHIFT
    if state_atoms <= BEFORE_ATOMS and action_atoms <= NEIGHBOUR_ATOMS:
        return NEIGHBOURS
    if action_atoms <= CONSTITUENT_ATOMS:
        return CONSTITUENT
    return COMPONENT if action_atoms <= COMPONENT_ATOMS else WORD


cdef class Features:
    """The compiled plan of a list of templates.

    templates (List[str]): As `templates.expand` returns them.
    atomic_shift (bool): Whether a SHIFT is one atomic action with its word and tag, as in Liu et al. 2015. By default
        the action is SHIFT alone, as in Puduppully et al. 2016, and word and tag come in by templates that name L.
    """

    def __init__(self, templates, *, bint atomic_shift=False):
        cdef int scope
        self.fingerprint = fingerprint(templates, "atomic_shift" if atomic_shift else "")
        self.templates, self.pair_templates = [], []
        scopes, parts = [[] for _ in range(N_SCOPES)], {(): 0}
        for template in templates:
            atoms = set(template.split())
            if atoms & set(PAIR_ATOMS):
                self._add_pair_template(template)
            else:
                scopes[scope_of(atoms & set(STATE_ATOMS), atoms & set(ACTION_ATOMS), atomic_shift)].append(template)
        self.plan.parts.resize(1)
        for scope in range(N_SCOPES):
            self.plan.scope_start[scope] = self.plan.templates.size()
            self._add_scope(scope, scopes[scope], parts)
        self.plan.scope_start[N_SCOPES] = self.plan.templates.size()
        self._find_needs({atom for template in self.templates for atom in template.split()}, atomic_shift)

    def _add_pair_template(self, template):
        members = {"X": [], "Y": [], "Z": []}
        for atom in template.split():
            member, attribute = atom.split(".")
            members[member].append(list(OF_MEMBERS).index(attribute))
        self.pair_templates.append(template)
        self.pair_plan.seeds.push_back(hash_text(template))
        self.pair_plan.first_atoms.push_back(members["X"])
        self.pair_plan.second_atoms.push_back(members["Y"])
        self.pair_plan.head_atoms.push_back(members["Z"])

    def _add_scope(self, int scope, templates, parts):
        """Add the templates of a scope, those with the same action part side by side."""
        by_part, changing = {}, set()
        for template in templates:
            atoms = template.split()
            by_part.setdefault(tuple(atom for atom in ACTION_ATOMS if atom in atoms), []).append(template)
        for action_atoms in sorted(by_part):
            part = self._add_part(action_atoms, parts)
            prefixes = [action_atoms[:k] for k in range(1, len(action_atoms) + 1)]
            changing |= {parts[prefix] for prefix in prefixes if not LASTING_ATOMS.issuperset(prefix)}
            for template in by_part[action_atoms]:
                self._add_template(template, part)
        self.plan.changing[scope] = sorted(changing)

    def _add_part(self, action_atoms, parts):
        """Add an action part, and those that it begins with. Returns its number.

        parts (Dict[Tuple[str, ...], int]): The numbers of those that are there.
        """
        cdef PartC part
        if action_atoms not in parts:
            *before, last = action_atoms
            part.parent = self._add_part(tuple(before), parts)
            part.atom = ACTION_ATOMS.index(last)
            parts[action_atoms] = self.plan.parts.size()
            if LASTING_ATOMS.issuperset(action_atoms):
                self.plan.lasting.push_back(self.plan.parts.size())
            self.plan.parts.push_back(part)
        return parts[action_atoms]

    def _add_template(self, template, part):
        cdef TemplateC compiled
        compiled.seed = hash_text(template)
        compiled.part = part
        compiled.first_atom = self.plan.state_atoms.size()
        for atom in template.split():
            if atom in STATE_ATOMS:
                self.plan.state_atoms.push_back(STATE_ATOMS.index(atom))
        compiled.last_atom = self.plan.state_atoms.size()
        self.plan.templates.push_back(compiled)
        self.templates.append(template)

    def _find_needs(self, atoms, atomic_shift):
        blocks = {TABLE[atom].block for atom in atoms}
        self.plan.needs.positions = [
            i for i, atom in enumerate(OF_STATES) if atom.block == "positions" and atom.name in atoms
        ]
        self.plan.needs.given_of_S0 = "given of S0" in blocks
        self.plan.needs.given_of_L = "given of L" in blocks
        self.plan.needs.anchor = "anchor" in blocks
        self.plan.needs.opened = "opened" in blocks
        self.plan.needs.tops = "tops" in blocks
        self.plan.needs.marks = "marks" in blocks
        self.plan.needs.atomic_shift = atomic_shift

    def __len__(self):
        return len(self.templates) + len(self.pair_templates)
