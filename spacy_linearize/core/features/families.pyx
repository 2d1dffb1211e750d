"""Pairs of family members: their features, and which of them a SHIFT decides."""
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport BagC
from ..bag.forest cimport is_shifted, is_untouched
from ..bag.word cimport LABEL, N_ATTRIBUTES
from ..hashing cimport mix, slot_of
from ..systems.state cimport StateC
from .atoms cimport ITSELF, UNLABELLED

cdef enum:
    MAX_FAMILY = 128    # larger families are not scored: memory is quadratic in their size


cdef int start_pairs(PairsC* pairs, PairPlanC* plan, BagC* bag) except -1 nogil:
    """Lay out the families of a bag, and hash both sides of every template for every member."""
    cdef int n = bag.forest.n, family, i, m, n_parts = 0, n_scores = 0
    cdef size_t n_templates = plan.seeds.size()
    pairs.size.assign(n, 0)
    pairs.first_score.resize(n)
    pairs.first_part.resize(n)
    pairs.number.resize(n)
    pairs.before_all.assign(n, 0)
    pairs.head_first.assign(n, 0)
    pairs.stamp.assign(n, 0)
    pairs.opened.resize(n)
    pairs.way.resize(n)
    pairs.slots.resize(n_templates)
    pairs.fired.resize(n_templates)
    for family in range(n):
        m = bag.forest.n_children[family] + 1
        for i in range(1, m):
            pairs.number[member_of(bag, family, i)] = i
        pairs.first_score[family] = n_scores
        pairs.first_part[family] = n_parts
        if 1 < m <= MAX_FAMILY and n_templates:
            pairs.size[family] = m
            n_scores += m * m
            n_parts += m
    pairs.scores.assign(n_scores, 0)
    pairs.first_parts.resize(n_parts * n_templates)
    pairs.second_parts.resize(n_parts * n_templates)
    for family in range(n):
        if pairs.size[family]:
            hash_family(pairs, plan, bag, family)
    return 0


cdef int hash_family(PairsC* pairs, PairPlanC* plan, BagC* bag, int family) except -1 nogil:
    """Hash each member's part of every template, as the first and as the second of a pair. The part of the first
    includes the head of the family. The hash is 0 where an atom is missing."""
    cdef size_t n_templates = plan.seeds.size(), t, at = pairs.first_part[family] * n_templates
    cdef uint64_t own[N_MEMBER_ATOMS]
    cdef uint64_t of_head[N_MEMBER_ATOMS]
    cdef uint64_t role, h
    cdef int i
    read_member(bag, family, False, of_head)
    for i in range(pairs.size[family]):
        role = 2 if i == 0 else 1
        read_member(bag, member_of(bag, family, i), i == 0, own)
        for t in range(n_templates):
            h = hash_atoms(mix(plan.seeds[t], role), plan.head_atoms[t], of_head)
            pairs.first_parts[at + t] = hash_atoms(h, plan.first_atoms[t], own) if h else 0
            pairs.second_parts[at + t] = hash_atoms(mix(0, role), plan.second_atoms[t], own)
        at += n_templates
    return 0


cdef void read_member(BagC* bag, int k, bint as_head, uint64_t* values) noexcept nogil:
    """The atoms of a word as a member of a family, or as the head among its own dependents."""
    cdef int i, size = bag.forest.size[k]
    for i in range(N_ATTRIBUTES):
        values[i] = bag.words[k].columns[i]
    if as_head:
        values[<int>LABEL] = ITSELF
        size = 1
    elif values[<int>LABEL] == 0 and bag.forest.head[k] >= 0:
        values[<int>LABEL] = UNLABELLED
    values[MEMBER_SIZE] = size if size < 4 else 4 if size < 7 else 5
    values[MEMBER_ASK] = 1 + bag.asks
    for i in bag.puncts:
        if bag.words[i].punct == 2 and bag.forest.head[i] == k:
            values[MEMBER_ASK] = 3


cdef inline uint64_t hash_atoms(uint64_t h, vector[int]& atoms, const uint64_t* values) noexcept nogil:
    cdef size_t i
    for i in range(atoms.size()):
        if values[atoms[i]] == 0:
            return 0
        h = mix(h, values[atoms[i]]) or 1
    return h


cdef int find_pair_slots(PairsC* pairs, PairPlanC* plan, const PairC* pair, int shift) noexcept nogil:
    """Write the slots of a pair's features to pairs.slots. Returns how many there are."""
    cdef size_t n_templates = plan.seeds.size()
    cdef const uint64_t* first = pairs.first_parts.data() + (pairs.first_part[pair.family] + pair.first) * n_templates
    cdef const uint64_t* second = pairs.second_parts.data() + (pairs.first_part[pair.family] + pair.second) * n_templates
    cdef int t, n = 0
    for t in range(<int>n_templates):
        if first[t] and second[t]:
            pairs.slots[n] = slot_of(first[t], second[t], shift)
            pairs.fired[n] = t
            n += 1
    return n


cdef int sum_up(PairsC* pairs, BagC* bag) except -1 nogil:
    """Compute the sums over whole families, once all pairs are scored."""
    cdef int family, i, j, m
    cdef double total
    for family in range(bag.forest.n):
        m = pairs.size[family]
        for i in range(m):
            total = 0
            for j in range(m):
                total += pairs.scores[pairs.first_score[family] + i * m + j]
            if i == 0:
                pairs.head_first[family] = total
            else:
                pairs.before_all[member_of(bag, family, i)] = total
    return 0


cdef double score_pairs(PairsC* pairs, BagC* bag, const StateC* state, int k, int stamp) noexcept nogil:
    """The sum over the pairs that SHIFT k decides.

    stamp (int): A number of the state, not 0.
    """
    if not is_untouched(&bag.forest, state.shifted, k):
        return score_against_rest(pairs, bag, state, k, 0)
    if bag.forest.head[k] < 0:
        return pairs.head_first[k]
    return pairs.head_first[k] + score_opened(pairs, bag, state, k, stamp)


cdef double score_opened(PairsC* pairs, BagC* bag, const StateC* state, int k, int stamp) noexcept nogil:
    """The sum over the subtrees that are opened with k's. Computed once for each state and word: walking all the way up
    for each word would be quadratic in the depth."""
    cdef int c = k, h = bag.forest.head[k], n = 0
    cdef double total
    while pairs.stamp[c] != stamp and h >= 0 and is_untouched(&bag.forest, state.shifted, h):
        pairs.way[n] = c
        n += 1
        c = h
        h = bag.forest.head[c]
    if pairs.stamp[c] != stamp:
        pairs.stamp[c] = stamp
        pairs.opened[c] = score_against_rest(pairs, bag, state, h, pairs.number[c]) if h >= 0 else 0
    total = pairs.opened[c]
    while n:
        n -= 1
        c = pairs.way[n]
        total += pairs.before_all[c]
        pairs.stamp[c] = stamp
        pairs.opened[c] = total
    return total


cdef double score_against_rest(PairsC* pairs, BagC* bag, const StateC* state, int family, int first) noexcept nogil:
    """The sum over one member's pairs with those that are still to come."""
    cdef int m = pairs.size[family], j
    cdef double total = 0
    cdef const double* row = pairs.scores.data() + pairs.first_score[family] + first * m
    for j in range(m):
        if row[j] != 0 and is_to_come(bag, state, family, j):
            total += row[j]
    return total


cdef inline bint is_to_come(BagC* bag, const StateC* state, int family, int number) noexcept nogil:
    """Whether a member of a family has not been opened."""
    if number == 0:
        return not is_shifted(state.shifted, family)
    return is_untouched(&bag.forest, state.shifted, member_of(bag, family, number))


cdef int decided_pairs(PairsC* pairs, BagC* bag, const StateC* state, int k, vector[PairC]* found) except -1 nogil:
    """The pairs that SHIFT k decides, one by one."""
    cdef int c = k
    add_pairs(pairs, bag, state, k, 0, found)
    while bag.forest.head[c] >= 0 and is_untouched(&bag.forest, state.shifted, c):
        add_pairs(pairs, bag, state, bag.forest.head[c], pairs.number[c], found)
        c = bag.forest.head[c]
    return 0


cdef int add_pairs(PairsC* pairs, BagC* bag, const StateC* state, int family, int first,
                   vector[PairC]* found) except -1 nogil:
    cdef PairC pair
    cdef int j
    pair.family = family
    pair.first = first
    for j in range(pairs.size[family]):
        if j != first and is_to_come(bag, state, family, j):
            pair.second = j
            found.push_back(pair)
    return 0
