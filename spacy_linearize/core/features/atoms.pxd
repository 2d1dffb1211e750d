"""Atoms: the values that templates look at in a state and in an action. Templates themselves are not known here."""
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport BagC
from ..systems.state cimport ActionC, NodeC, StateC

cdef enum:
    N_STATE_ATOMS = 177
    N_ACTION_ATOMS = 48

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
    HEAVY = 33
    RELATION = 35
    N_OPENED = 16
    NEXT_TOP = 39

cdef enum:
    MANY = 4            # REST of a state with this many words to place, or more


cdef cppclass NeedsC:
    # What a list of templates looks at. The rest is not read.
    vector[int] positions   # the atoms of POSITIONS
    bint given_of_S0
    bint given_of_L
    bint anchor
    bint opened
    bint tops
    bint marks
    bint atomic_shift       # A holds form and tag of the word to shift


cdef struct FamilyC:
    # The sets of labels and tags of one word's given dependents, shifted and not shifted, and the sums behind them.
    int stamp
    uint64_t label_sums[2]
    uint64_t tag_sums[2]
    uint64_t labels[2]
    uint64_t tags[2]


cdef struct HeavyC:
    # The sizes of one word's given dependents that are not opened yet, without punctuation.
    int stamp
    int n
    int largest
    int n_largest
    int smallest
    int n_smallest


cdef struct OpeningC:
    # What a word opens, seen from one base: that does not depend on anything else in the state.
    int base            # twice its number, plus one if it is not the anchor; -1 if nothing is known yet
    int constituent
    uint64_t values[16]


cdef cppclass AtomsC:
    int stamp                       # of the state
    uint64_t state[177]
    int anchor                      # what has to be finished first, or NONE
    vector[FamilyC] families        # by head
    vector[char] only_label         # by dependent: no sibling of its kind (shifted or not) has its label
    vector[char] only_tag
    vector[HeavyC] heavy            # by head
    vector[OpeningC] openings       # a few for each word
    int n_openings                  # how many for each
    uint64_t action[48]
    int word                        # of the action, or NONE ...
    int constituent                 # ... the constituent that it opens, or NONE ...
    int opening                     # ... the number of that in openings, or NONE ...
    bint is_new_opening             # ... and whether it has just been written there


cdef int start_atoms(AtomsC* atoms, int n) except -1 nogil
cdef void read_state(const NeedsC* needs, BagC* bag, vector[NodeC]* nodes, const StateC* state,
                     AtomsC* atoms) noexcept nogil
cdef void read_action(const NeedsC* needs, BagC* bag, vector[NodeC]* nodes, const StateC* state,
                      const ActionC* action, AtomsC* atoms) noexcept nogil
