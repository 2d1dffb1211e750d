"""Extraction of features: hashes of a state and of an action, then slots of the weight table."""
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport BagC
from ..hashing cimport mix, slot_of
from ..systems.state cimport NONE, ActionC, NodeC, StateC
from .atoms cimport (
    ACTION, ALL_MARKS, GIVEN_OF_L, GIVEN_OF_S0, LAST_TOP, MARKS, N_ACTION_ATOMS, N_STATE_ATOMS, NEXT_TOP, OF_ANCHOR, OPENED, REST,
    read_action, read_state, start_atoms,
)
from .families cimport N_MEMBER_ATOMS

from ..hashing import hash_text
from .templates import ACTION_ATOMS, ATTRIBUTES, MEMBER_ATTRIBUTES, PAIR_ATOMS, STATE_ATOMS, fingerprint
from .templates import NEXT_TOP as NEXT_TOP_ATOMS

cdef enum:
    NOT_HASHED = -1


cdef int start_extraction(ExtractionC* extraction, PlanC* plan, int n) except -1 nogil:
    """Take the memory for a bag."""
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
    cdef size_t n_parts = plan.parts.size(), p
    read_action(&plan.needs, bag, nodes, state, action, &out.atoms)
    if out.atoms.opening != NONE:
        out.row = out.ready.data() + <size_t>out.atoms.opening * n_parts
        if not out.atoms.is_new_opening:
            return
    else:
        out.row = out.ready.data() + out.atoms.openings.size() * n_parts
    for p in range(n_parts):
        out.row[p] = hash_part(plan, out.atoms.action, &plan.parts[p])


cdef inline uint64_t hash_part(PlanC* plan, const uint64_t* values, const PartC* part) noexcept nogil:
    """The hash of an action part, or NOT_THERE."""
    cdef uint64_t h = 0
    cdef int i, atom
    for i in range(part.first_atom, part.last_atom):
        atom = plan.action_atoms[i]
        if values[atom] == 0:
            return NOT_THERE
        h = mix(h, values[atom])
    return h


cdef int find_slots(PlanC* plan, ExtractionC* extraction, int scope, int shift) noexcept nogil:
    """Write to extraction.slots where the features of an action stand, for one scope. Returns how many."""
    cdef uint32_t* slots = extraction.slots.data()
    cdef uint64_t* row = extraction.row
    cdef const FiredC* fired = extraction.fired.data() + plan.scope_start[scope]
    cdef uint64_t h
    cdef int i, p, n = 0
    if extraction.n_fired[scope] == NOT_HASHED:
        hash_scope(plan, extraction, scope)
    for i in range(<int>plan.changing[scope].size()):
        p = plan.changing[scope][i]
        row[p] = hash_part(plan, extraction.atoms.action, &plan.parts[p])
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


# Atoms of a state that depend on the word before alone, or on the bag; `rest` is one as long as it is MANY.
BEFORE_ATOMS = {"ask", "allmarks", "rest", *(f"W0.{attribute}" for attribute in ATTRIBUTES), *(f"T.{attribute}" for attribute in ATTRIBUTES)}
# Atoms of an action that depend on its word alone, or on the word and the base of what it opens (see `atoms`).
WORD_ATOMS = {"A", "SHIFT", *(f"L.{attribute}" for attribute in ATTRIBUTES), "Llp", "Lpp", "Lwp", *NEXT_TOP_ATOMS, "Lfp"}
OPENING_ATOMS = {"Csize", "Cself", "C2.p", "C2.d", *(f"C.{attribute}" for attribute in ATTRIBUTES)}
CONSTITUENT_ATOMS = {"SHIFT", "Csize", "Cheavy", *(f"C.{attribute}" for attribute in ATTRIBUTES)}
COMPONENT_ATOMS = {"SHIFT", *NEXT_TOP_ATOMS}


def scope_of(state_atoms, action_atoms, atomic_shift):
    """What the sum of a template's weights depends on."""
    if action_atoms <= ({"SHIFT"} if atomic_shift else {"SHIFT", "A"}):
        return EVERY_SHIFT
    if state_atoms <= BEFORE_ATOMS and action_atoms <= WORD_ATOMS | {"LW0"}:
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
        numbers = N_STATE_ATOMS, N_ACTION_ATOMS, N_MEMBER_ATOMS
        if (len(STATE_ATOMS), len(ACTION_ATOMS), len(MEMBER_ATTRIBUTES)) != numbers:
            raise RuntimeError("templates.py, atoms.pxd and pairs.pxd name different atoms")
        self.fingerprint = fingerprint(templates, "atomic_shift" if atomic_shift else "")
        self.templates, self.pair_templates = [], []
        scopes = [[] for _ in range(N_SCOPES)]
        for template in templates:
            atoms = set(template.split())
            if atoms & set(PAIR_ATOMS):
                self._add_pair_template(template)
            else:
                scopes[scope_of(atoms & set(STATE_ATOMS), atoms & set(ACTION_ATOMS), atomic_shift)].append(template)
        for scope in range(N_SCOPES):
            self.plan.scope_start[scope] = self.plan.templates.size()
            self._add_scope(scope, scopes[scope])
        self.plan.scope_start[<int>N_SCOPES] = self.plan.templates.size()
        self._find_needs({atom for template in self.templates for atom in template.split()}, atomic_shift)

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

    def _add_scope(self, int scope, templates):
        """Add the templates of a scope, those with the same action part side by side."""
        cdef PartC part
        by_part = {}
        for template in templates:
            atoms = template.split()
            by_part.setdefault(tuple(atom for atom in ACTION_ATOMS if atom in atoms), []).append(template)
        for action_atoms in sorted(by_part):
            part.first_atom = self.plan.action_atoms.size()
            for atom in action_atoms:
                self.plan.action_atoms.push_back(ACTION_ATOMS.index(atom))
            part.last_atom = self.plan.action_atoms.size()
            self.plan.parts.push_back(part)
            if not (WORD_ATOMS | OPENING_ATOMS).issuperset(action_atoms):
                self.plan.changing[scope].push_back(self.plan.parts.size() - 1)
            for template in by_part[action_atoms]:
                self._add_template(template)

    def _add_template(self, template):
        cdef TemplateC compiled
        compiled.seed = hash_text(template)
        compiled.part = self.plan.parts.size() - 1
        compiled.first_atom = self.plan.state_atoms.size()
        for atom in template.split():
            if atom in STATE_ATOMS:
                self.plan.state_atoms.push_back(STATE_ATOMS.index(atom))
        compiled.last_atom = self.plan.state_atoms.size()
        self.plan.templates.push_back(compiled)
        self.templates.append(template)

    def _find_needs(self, atoms, atomic_shift):
        in_state = sorted(i for i, atom in enumerate(STATE_ATOMS) if atom in atoms)
        in_action = [i for i, atom in enumerate(ACTION_ATOMS) if atom in atoms]
        self.plan.needs.positions = [i for i in in_state if i < REST]
        self.plan.needs.given_of_S0 = any(GIVEN_OF_S0 <= i < OF_ANCHOR for i in in_state)
        self.plan.needs.given_of_L = any(GIVEN_OF_L <= i < ACTION for i in in_action)
        self.plan.needs.anchor = any(OF_ANCHOR <= i < LAST_TOP for i in in_state)
        self.plan.needs.opened = any(OPENED <= i < NEXT_TOP for i in in_action)
        self.plan.needs.tops = any(i >= LAST_TOP for i in in_state) or any(i >= NEXT_TOP for i in in_action)
        self.plan.needs.marks = bool({MARKS, ALL_MARKS} & set(in_state))
        self.plan.needs.atomic_shift = atomic_shift

    def __len__(self):
        return len(self.templates) + len(self.pair_templates)
