"""Atoms: the values that templates look at in a state and in an action. Templates themselves are not known here.

The enums count the atoms in the sequence of `atom_table`. `plan` compares the two when it is imported.
"""
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport BagC
from ..bag.word cimport N_ATTRIBUTES
from ..systems.state cimport ActionC, NodeC, StateC

# Values of atoms where there is no key to take. 0 is "not there": the template does not fire.
cdef enum:
    START = 1           # before the first word
    UNLABELLED = 2      # a given arc without a label
    NO_HEAD = 3         # the root
    # 4 is the seed of sets, see `hashing`
    ITSELF = 5          # the anchor, or the head of a family, as its own neighbour

# POSITIONS: the words of a state.
cdef enum:
    AT_S0
    AT_S1
    AT_S0_LEFT
    AT_S0_LEFT2
    AT_S0_RIGHT
    AT_S0_RIGHT2
    AT_S1_LEFT
    AT_S1_LEFT2
    AT_S1_RIGHT
    AT_S1_RIGHT2
    AT_P
    AT_P2
    AT_W0
    AT_W1
    AT_W2
    N_POSITIONS

# GIVEN: what is given around a word.
cdef enum:
    CHILD_LABELS        # of those that are shifted, and of those that are not
    CHILD_TAGS = CHILD_LABELS + 2
    SIBLING_LABELS = CHILD_TAGS + 2
    SIBLING_TAGS = SIBLING_LABELS + 2
    HEAD_IS_SHIFTED = SIBLING_TAGS + 2
    LABEL_TO_HEAD
    TAG_OF_HEAD
    FORM_OF_HEAD
    N_GIVEN

# OF_STATES. Where a block of attributes begins, the next number is N_ATTRIBUTES further.
cdef enum:
    REST = N_POSITIONS * N_ATTRIBUTES
    MARKS
    ALL_MARKS
    ASK
    GIVEN_OF_S0
    ANCHOR = GIVEN_OF_S0 + N_GIVEN
    ANCHOR_IS_SHIFTED = ANCHOR + N_ATTRIBUTES
    ANCHOR_CHILD_LABELS
    ANCHOR_CHILD_TAGS = ANCHOR_CHILD_LABELS + 2
    ANCHOR_REST = ANCHOR_CHILD_TAGS + 2
    LAST_TOP
    DEPTH = LAST_TOP + N_ATTRIBUTES
    TOPS
    N_STATE_ATOMS

# OF_ACTIONS: the attributes of the word to shift come first.
cdef enum:
    GIVEN_OF_L = N_ATTRIBUTES
    ACTION = GIVEN_OF_L + N_GIVEN
    IS_SHIFT
    OPENED
    OPENED_SIZE = OPENED + N_ATTRIBUTES
    HEAVY
    COURSE
    RELATION
    TAG_BELOW
    LABEL_BELOW
    FRAME_OF_HEAD
    NEXT_TOP
    N_ACTION_ATOMS = NEXT_TOP + N_ATTRIBUTES

cdef enum:
    N_OPENED = NEXT_TOP - OPENED
    MANY = 4            # REST of a state with this many words to place, or more


cdef cppclass NeedsC:
    # What a list of templates looks at: blocks of atoms. The rest is not read.
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
    uint64_t values[N_OPENED]


cdef cppclass AtomsC:
    int stamp                       # of the state
    uint64_t state[N_STATE_ATOMS]
    int anchor                      # what has to be finished first, or NONE
    vector[FamilyC] families        # by head
    vector[char] only_label         # by dependent: no sibling of its kind (shifted or not) has its label
    vector[char] only_tag
    vector[HeavyC] heavy            # by head
    vector[OpeningC] openings       # a few for each word
    int n_openings                  # how many for each
    uint64_t action[N_ACTION_ATOMS]
    int word                        # of the action, or NONE ...
    int constituent                 # ... the constituent that it opens, or NONE ...
    int opening                     # ... the number of that in openings, or NONE ...
    bint is_new_opening             # ... and whether it has just been written there


cdef int start_atoms(AtomsC* atoms, int n) except -1 nogil
cdef void read_state(const NeedsC* needs, BagC* bag, vector[NodeC]* nodes, const StateC* state,
                     AtomsC* atoms) noexcept nogil
cdef void read_action(const NeedsC* needs, BagC* bag, vector[NodeC]* nodes, const StateC* state,
                      const ActionC* action, AtomsC* atoms) noexcept nogil
