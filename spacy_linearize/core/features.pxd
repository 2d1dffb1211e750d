"""Templates compiled into a plan of extraction.

A template has a state part and an action part. The state parts of all templates are hashed once for a state; an action
then costs, for each template, one combination of two ready hashes. Templates that share their action part stand side by
side, so that this is a plain loop over an array.

Parts stand by scope: what is the same for all SHIFTs of a state is summed up once for the state, what is the same for
all words of one constituent, or of one component, once for these. Only the rest is left to each word.
"""
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector

from .bag cimport BagC
from .hashing cimport mix
from .pairs cimport PairPlanC
from .state cimport ActionC, NodeC, StateC

cdef enum:
    N_STATE_ATOMS = 177
    N_ACTION_ATOMS = 48


cdef enum Scope:
    EVERY_SHIFT         # no atom but A and SHIFT
    CONSTITUENT         # atoms of C
    COMPONENT           # atoms of U
    WORD                # any others
    N_SCOPES


cdef struct TemplateC:
    uint64_t seed       # hash of the template's name, so that no template depends on its place in the list
    int first_atom      # its state atoms are state_atoms[first_atom:last_atom]
    int last_atom


cdef struct PartC:
    # Action atoms that some templates share, and these templates: templates[first_template:last_template].
    int first_atom      # its action atoms are action_atoms[first_atom:last_atom]
    int last_atom
    int first_template
    int last_template
    bint is_static      # its hash is the same in every state


cdef cppclass PlanC:
    vector[TemplateC] templates
    vector[PartC] parts         # by scope
    int scope_start[5]          # parts[scope_start[s]:scope_start[s + 1]] are of scope s
    vector[int] state_atoms
    vector[int] action_atoms
    vector[int] needed          # the state atoms that any template looks at
    bint needs_given_of_S0
    bint needs_given_of_L
    bint needs_anchor
    bint needs_opened
    bint needs_tops
    bint needs_marks
    bint atomic_shift           # A holds form and tag of the word to shift


cdef struct FamilyC:
    # Sums over the sets of labels and tags of one word's given dependents, shifted and not shifted.
    int stamp
    uint64_t labels[2]
    uint64_t tags[2]


cdef struct MaskC:
    uint32_t below      # leave out features whose hash with the seed is below this
    uint64_t seed


cdef inline MaskC make_mask(double share, uint64_t seed) noexcept nogil:
    """Leaves out a random share of the features, the same ones for as long as the seed stays the same."""
    cdef MaskC mask
    mask.below = <uint32_t>(share * <double>0xFFFFFFFF)
    mask.seed = mix(seed, 1)
    return mask


cdef cppclass ExtractionC:
    # What has been extracted from one state; reused for the next.
    uint64_t values[177]
    int anchor                      # what has to be finished first, or NONE
    vector[uint64_t] hashes         # state parts of the templates that can fire
    vector[int] fired               # which templates these are
    vector[int] part_start          # hashes[part_start[p]:part_start[p + 1]] belong to part p
    int stamp
    vector[FamilyC] families        # by head
    vector[char] only_label         # by dependent: no sibling of its kind (shifted or not) has its label
    vector[char] only_tag
    uint64_t action[48]             # the atoms of an action ...
    int word                        # ... its word, or NONE ...
    int constituent                 # ... the constituent that it opens, or NONE
    vector[uint64_t] static_hashes  # by word and part
    vector[char] has_static         # by word
    vector[uint32_t] slots          # of one action
    MaskC masks[2]                  # learning: dropout, and what this learner never looks at


cdef int start_extraction(ExtractionC* extraction, PlanC* plan, int n) except -1 nogil
cdef int extract(PlanC* plan, BagC* bag, vector[NodeC]* nodes, const StateC* state, ExtractionC* out) except -1 nogil
cdef void read_action(PlanC* plan, BagC* bag, vector[NodeC]* nodes, const StateC* state, const ActionC* action,
                      ExtractionC* extraction) noexcept nogil
cdef int find_slots(PlanC* plan, ExtractionC* extraction, int first_part, int last_part, int shift) noexcept nogil
cdef int drop_out(const ExtractionC* extraction, uint32_t* slots, int n) noexcept nogil


cdef class Features:
    cdef PlanC plan
    cdef PairPlanC pair_plan
    cdef readonly list templates        # those of states and actions
    cdef readonly list pair_templates
    cdef readonly object fingerprint
