"""Templates compiled into a plan of extraction.

A template has a state part and an action part. The state parts of all templates are hashed once for a state, the action
parts of a word once for a bag, where they do not change; an action then costs, for each template, one combination of
two ready hashes.

Templates are grouped by scope: how much of the state and of the action the sum of their weights depends on. What is the
same for all SHIFTs of a state is summed once for the state; what is the same for all words of a constituent, or of a
component, once for these; and what looks only at two adjacent words, once for all states in which they meet. Only the
rest is summed for each action.
"""
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport BagC
from ..hashing cimport mix
from ..systems.state cimport ActionC, NodeC, StateC
from .atoms cimport AtomsC, NeedsC
from .families cimport PairPlanC


cdef enum:
    EVERY_SHIFT         # no atom but A and SHIFT of the action
    NEIGHBOURS          # atoms of W0 and L that do not change
    CONSTITUENT         # atoms of C
    COMPONENT           # atoms of U
    WORD                # any others
    N_SCOPES


cdef enum:
    NOT_THERE = 0x7FFFFFF4  # stands for the hash of an action part when one of its atoms is missing


cdef struct TemplateC:
    uint64_t seed       # hash of the template's name, so that no template depends on its place in the list
    int first_atom      # its state atoms are state_atoms[first_atom:last_atom]
    int last_atom
    int part            # its action part


cdef struct PartC:
    # Action atoms that some templates share: those of another part, which comes before this one, and one more. The first
    # part has none.
    int parent
    int atom


cdef cppclass PlanC:
    NeedsC needs
    vector[TemplateC] templates     # by scope
    int scope_start[N_SCOPES + 1]   # templates[scope_start[s]:scope_start[s + 1]] are of scope s
    vector[PartC] parts
    vector[int] lasting             # the parts that depend on the word and what it opens alone
    vector[int] changing[N_SCOPES]  # by scope: those of its parts that depend on more
    vector[int] state_atoms


cdef inline bint has_templates(const PlanC* plan, int scope) noexcept nogil:
    return plan.scope_start[scope] < plan.scope_start[scope + 1]


cdef struct MaskC:
    uint32_t below      # leave out features whose hash with the seed is below this
    uint64_t seed


cdef inline MaskC make_mask(double share, uint64_t seed) noexcept nogil:
    """Leaves out a random share of the features, the same ones for as long as the seed stays the same."""
    cdef MaskC mask
    mask.below = <uint32_t>(share * <double>0xFFFFFFFF)
    mask.seed = mix(seed, 1)
    return mask


cdef struct FiredC:
    # A template all of whose state atoms are there.
    uint64_t hash       # of its state part
    int part
    int template


cdef cppclass ExtractionC:
    # What has been extracted from one state; reused for the next.
    AtomsC atoms
    vector[FiredC] fired            # those of scope s from plan.scope_start[s] on ...
    int n_fired[N_SCOPES]           # ... and how many they are, or NOT_HASHED
    vector[uint64_t] ready          # by opening (see AtomsC) and part: hashes of action parts ...
    uint64_t* row                   # ... those of the current action
    vector[uint32_t] slots          # of one action
    MaskC dropout                   # learning


cdef int start_extraction(ExtractionC* extraction, PlanC* plan, int n) except -1 nogil
cdef void extract(PlanC* plan, BagC* bag, vector[NodeC]* nodes, const StateC* state, ExtractionC* out) noexcept nogil
cdef void extract_action(PlanC* plan, BagC* bag, vector[NodeC]* nodes, const StateC* state, const ActionC* action,
                         ExtractionC* out) noexcept nogil
cdef int find_slots(PlanC* plan, ExtractionC* extraction, int scope, int shift) noexcept nogil
cdef int write_slots(PlanC* plan, ExtractionC* extraction, int scope, int shift, uint32_t* slots) noexcept nogil
cdef int drop_out(const ExtractionC* extraction, uint32_t* slots, int n) noexcept nogil


cdef class Features:
    cdef PlanC plan
    cdef PairPlanC pair_plan
    cdef readonly list templates        # those of states and actions, by scope
    cdef readonly list pair_templates
    cdef readonly object fingerprint
