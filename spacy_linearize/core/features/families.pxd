"""Which of two comes first: scores of pairs, ready before the search begins.

A family is a word with its given dependents. Every order decides, for any two of its members, which of them comes first
(a dependent stands for its whole subtree, the head only for itself). What is known of such a pair does not depend on
the state. So all pairs of a bag are scored once, and a SHIFT only adds up those that it decides: of every subtree that
it opens, against the members of its family that are still to come.
"""
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport BagC
from ..bag.word cimport N_ATTRIBUTES
from ..systems.state cimport StateC

# OF_MEMBERS in `atom_table`: the attributes of the word come first.
cdef enum:
    MEMBER_SIZE = N_ATTRIBUTES
    MEMBER_ASK
    N_MEMBER_ATOMS


cdef struct PairC:
    # `first` comes before `second`: numbers in the family of a word. The word itself has number 0.
    int family
    int first
    int second


cdef cppclass PairPlanC:
    # Templates, each split by whom it looks at: the first, the second, the head of the family.
    vector[uint64_t] seeds
    vector[vector[int]] first_atoms
    vector[vector[int]] second_atoms
    vector[vector[int]] head_atoms


cdef cppclass PairsC:
    # The families of one bag, by word.
    vector[int] size            # members; 0 if there is but one, or too many
    vector[int] first_score     # scores[first_score + first * size + second]
    vector[int] first_part      # first_parts[(first_part + member) * n_templates + template]
    vector[int] number          # by word: its number in the family of its head
    vector[uint64_t] first_parts
    vector[uint64_t] second_parts
    vector[double] scores
    vector[double] before_all   # by word: the sum over all others in the family of its head
    vector[double] head_first   # by word: the sum over all of its dependents
    vector[int] stamp           # by word: of the state for which the next is known ...
    vector[double] opened       # ... the sum over the subtrees that a SHIFT below it opens, from its own one upwards
    vector[int] way
    vector[uint32_t] slots      # of one pair ...
    vector[int] fired           # ... and the templates that they belong to


cdef inline int member_of(BagC* bag, int family, int number) noexcept nogil:
    """The word with a number in a family."""
    if number == 0:
        return family
    return bag.children_by_label[bag.first_child[family] + number - 1]


cdef int start_pairs(PairsC* pairs, PairPlanC* plan, BagC* bag) except -1 nogil
cdef int find_pair_slots(PairsC* pairs, PairPlanC* plan, const PairC* pair, int shift) noexcept nogil
cdef int sum_up(PairsC* pairs, BagC* bag) except -1 nogil
cdef double score_pairs(PairsC* pairs, BagC* bag, const StateC* state, int k, int stamp) noexcept nogil
cdef int decided_pairs(PairsC* pairs, BagC* bag, const StateC* state, int k, vector[PairC]* found) except -1 nogil
