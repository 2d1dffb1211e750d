"""Which given arcs are lifted, so that they may cross others: decided before the words are ordered.

After Bohnet et al. 2012, *Generating Non-Projective Word Order in Statistical Linearization*. The tree that is ordered
has no crossing arcs, but it need not be the given one: a word may hang below an ancestor of its given head, and then be
placed outside of the head's constituent. Each word is judged by itself, from the given arcs alone, step by step upwards:
the number of questions is bounded by the sum of the depths, and the answer does not depend on the order of the words.

Departures: every step is a yes or no of a logistic regression. Punctuation may also be lowered, to a head below its own:
some treebanks hang it all below the root, where the arcs around it would cross. How many marks of a kind a head takes is
asked one by one; if the heads want more than there are, the most certain ones get them.
"""
import numpy as np
from libc.stdint cimport uint64_t
from libcpp.algorithm cimport sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from ..bag.bag cimport BagC, PackedBag
from ..bag.forest cimport FREE, ForestC, is_below
from ..bag.word cimport FORM, FRAME, LABEL, MARKER, TAG
from ..hashing cimport SET, mix
from ..weights cimport TableC, Weights
from .judge cimport Judge

from ..features.templates import LIFT_ATOMS, LIFT_TEMPLATES, LOWER_ATOMS, LOWER_TEMPLATES

cdef enum:
    MAX_STEPS = 8       # that a word is lifted
    MAX_TAKEN = 6       # marks of a kind that a head takes
    MANY = 5            # counts are not told apart from here on
    NO_HEAD = 3         # value of an atom above the top

# Averaged weights are too timid: a word is lifted from odds of one to two on, as their logarithm.
cdef double LIFT_FROM = -0.7

# LIFT_ATOMS
cdef enum:
    L_FORM
    L_TAG
    L_LABEL
    L_FRAME
    L_MARKER
    L_SIZE
    L_SAME
    L_HEAD_FORM
    L_HEAD_TAG
    L_HEAD_LABEL
    L_HEAD_FRAME
    L_AT_TAG
    L_AT_LABEL
    L_NEXT_FORM
    L_NEXT_TAG
    L_NEXT_LABEL
    L_NEXT_FRAME
    L_BEYOND_TAG
    L_BEYOND_LABEL
    L_STEP
    N_LIFT_ATOMS

# LOWER_ATOMS
cdef enum:
    M_FORM
    M_RANK
    M_MARKS
    M_HEAD_TAG
    M_HEAD_LABEL
    M_HEAD_FRAME
    M_TARGET_FORM
    M_TARGET_TAG
    M_TARGET_LABEL
    M_TARGET_FRAME
    M_TARGET_LABELS
    M_TARGET_EQUAL
    M_TARGET_SIZE
    M_TARGET_N
    M_DEPTH
    M_ABOVE_TAG
    M_ABOVE_LABEL
    N_LOWER_ATOMS


cdef struct WishC:
    double odds         # of the least certain mark that the head takes up to this one
    int target
    int rank


cdef inline bint is_surer(const WishC& a, const WishC& b) noexcept nogil:
    if a.odds != b.odds:
        return a.odds > b.odds
    return a.target < b.target if a.target != b.target else a.rank < b.rank


cdef inline uint64_t column(BagC* bag, int word, int attribute) noexcept nogil:
    return bag.words[word].columns[attribute] if word >= 0 else NO_HEAD


cdef inline int bucket(int size) noexcept nogil:
    return size if size <= 3 else 4 if size <= 6 else 5 if size <= 12 else 6


cdef class Lifter:
    """Chooses the heads below which words are ordered.

    lifting, lowering (Weights): A table for each kind of question.
    """
    cdef readonly Judge lifting
    cdef readonly Judge lowering

    def __init__(self, Weights lifting not None, Weights lowering not None):
        self.lifting = Judge(lifting, "lift", LIFT_ATOMS, LIFT_TEMPLATES, N_LIFT_ATOMS)
        self.lowering = Judge(lowering, "lower", LOWER_ATOMS, LOWER_TEMPLATES, N_LOWER_ATOMS)

    @property
    def judges(self):
        """Both kinds, by the names that their weights are stored under."""
        return {"lift": self.lifting, "lower": self.lowering}

    @property
    def is_trained(self):
        """Whether there is a word that it would lift or lower."""
        return self.lifting.is_trained or self.lowering.is_trained

    def choose(self, PackedBag bag not None):
        """The heads to order a bag with.

        RETURNS (ndarray): By input position: given heads, FREE or ROOT, but for the words that are lifted or lowered.
        """
        cdef ForestC* forest = &bag.c.forest
        cdef vector[int] heads = forest.head
        cdef TableC table
        cdef int k
        if self.lifting.is_trained:
            table = self.lifting.weights.for_decoding()
            for k in range(forest.n):
                if forest.depth[k] > 1:
                    heads[k] = self._lift(&bag.c, k, &table)
        if self.lowering.is_trained:
            table = self.lowering.weights.for_decoding()
            for k in range(forest.n):
                if forest.n_children[k] > 1:
                    self._lower(&bag.c, k, &table, heads)
        return by_position(bag, heads)

    def update(self, PackedBag bag not None, heads):
        """Learn from the heads that a bag should be ordered with.

        heads (ndarray): By input position. FREE for a given arc that teaches nothing.
        """
        cdef ForestC* forest = &bag.c.forest
        cdef const int[:] right_heads = heads
        cdef vector[int] right
        cdef int k, head
        cdef bint is_lowered = False
        right.resize(forest.n)
        for k in range(forest.n):
            head = right_heads[bag.layout.position[k]]
            right[k] = bag.layout.number[head] if head >= 0 else head
            is_lowered |= right[k] >= 0 and forest.head[k] >= 0 and is_below(forest, right[k], forest.head[k])
        self.lifting.weights.start_training()
        for k in range(forest.n):
            if forest.depth[k] > 1 and right[k] >= 0:
                self._learn_to_lift(&bag.c, k, right[k])
        self.lifting.weights.tick()
        # Where punctuation is never lowered, there is nothing to learn.
        if is_lowered or self.lowering.is_trained:
            self.lowering.weights.start_training()
            for k in range(forest.n):
                if forest.n_children[k] > 1:
                    self._learn_to_lower(&bag.c, k, right)
            self.lowering.weights.tick()

    cdef int _lift(self, BagC* bag, int word, const TableC* table) except -2:
        """The head that a word is lifted to, or its own."""
        cdef uint64_t atoms[N_LIFT_ATOMS + 0]
        cdef int at = bag.forest.head[word], step = 0
        while bag.forest.head[at] >= 0 and step < MAX_STEPS:
            read_lift_atoms(bag, word, at, step, atoms)
            if self.lifting.ask(table, atoms) <= LIFT_FROM:
                break
            at = bag.forest.head[at]
            step += 1
        return at

    cdef int _learn_to_lift(self, BagC* bag, int word, int right) except -1:
        cdef uint64_t atoms[N_LIFT_ATOMS + 0]
        cdef int at = bag.forest.head[word], step = 0
        # A word that is lowered is not lifted.
        if is_below(&bag.forest, right, at):
            right = at
        while bag.forest.head[at] >= 0 and step < MAX_STEPS:
            read_lift_atoms(bag, word, at, step, atoms)
            self.lifting.learn(atoms, at != right)
            if at == right:
                break
            at = bag.forest.head[at]
            step += 1
        return 0

    cdef int _lower(self, BagC* bag, int head, const TableC* table, vector[int]& heads) except -1:
        """Lower marks below one head, those of the same form together."""
        cdef uint64_t atoms[N_LOWER_ATOMS + 0]
        cdef vector[pair[uint64_t, int]] marks = marks_below(bag, head)
        cdef vector[WishC] wishes
        cdef WishC wish
        cdef size_t first = 0, end, i
        cdef int target
        while first < marks.size():
            end = end_of_run(marks, first)
            wishes.clear()
            for target in range(head + 1, head + bag.forest.size[head]):
                if bag.forest.n_children[target] == 0:
                    continue
                wish.target = target
                for i in range(min(end - first, <size_t>MAX_TAKEN)):
                    read_lower_atoms(bag, marks[first].second, end - first, target, i, atoms)
                    odds = self.lowering.ask(table, atoms)
                    wish.odds = odds if i == 0 else min(odds, wish.odds)
                    wish.rank = i
                    if wish.odds <= 0:
                        break
                    wishes.push_back(wish)
            sort(wishes.begin(), wishes.end(), is_surer)
            for i in range(min(wishes.size(), end - first)):
                heads[marks[first + i].second] = wishes[i].target
            first = end
        return 0

    cdef int _learn_to_lower(self, BagC* bag, int head, vector[int]& right) except -1:
        cdef uint64_t atoms[N_LOWER_ATOMS + 0]
        cdef vector[pair[uint64_t, int]] marks = marks_below(bag, head)
        cdef size_t first = 0, end, i
        cdef int target, n_taken
        while first < marks.size():
            end = end_of_run(marks, first)
            for target in range(head + 1, head + bag.forest.size[head]):
                if bag.forest.n_children[target] == 0:
                    continue
                n_taken = 0
                for i in range(first, end):
                    n_taken += right[marks[i].second] == target
                for i in range(min(end - first, <size_t>min(MAX_TAKEN, n_taken + 1))):
                    read_lower_atoms(bag, marks[first].second, end - first, target, i, atoms)
                    self.lowering.learn(atoms, <int>i < n_taken)
            first = end
        return 0


cdef vector[pair[uint64_t, int]] marks_below(BagC* bag, int head) except *:
    """The punctuation without dependents below a head, by its form."""
    cdef vector[pair[uint64_t, int]] marks
    cdef int i, k
    for i in range(bag.first_child[head], bag.first_child[head + 1]):
        k = bag.children_by_label[i]
        if bag.words[k].punct and bag.forest.n_children[k] == 0:
            marks.push_back(pair[uint64_t, int](column(bag, k, FORM), k))
    sort(marks.begin(), marks.end())
    return marks


cdef size_t end_of_run(vector[pair[uint64_t, int]]& marks, size_t first) noexcept nogil:
    """Where the marks of another form begin."""
    cdef size_t end = first
    while end < marks.size() and marks[end].first == marks[first].first:
        end += 1
    return end


cdef void read_lift_atoms(BagC* bag, int word, int at, int step, uint64_t* atoms) noexcept nogil:
    cdef int head = bag.forest.head[word], above = bag.forest.head[at], beyond = bag.forest.head[above], i, n_same = 0
    for i in range(bag.first_child[head], bag.first_child[head + 1]):
        n_same += column(bag, bag.children_by_label[i], LABEL) == column(bag, word, LABEL)
    atoms[<int>L_FORM] = column(bag, word, FORM)
    atoms[<int>L_TAG] = column(bag, word, TAG)
    atoms[<int>L_LABEL] = column(bag, word, LABEL)
    atoms[<int>L_FRAME] = column(bag, word, FRAME)
    atoms[<int>L_MARKER] = column(bag, word, MARKER)
    atoms[<int>L_SIZE] = bucket(bag.forest.size[word])
    atoms[<int>L_SAME] = min(n_same, <int>MANY)
    atoms[<int>L_HEAD_FORM] = column(bag, head, FORM)
    atoms[<int>L_HEAD_TAG] = column(bag, head, TAG)
    atoms[<int>L_HEAD_LABEL] = column(bag, head, LABEL)
    atoms[<int>L_HEAD_FRAME] = column(bag, head, FRAME)
    atoms[<int>L_AT_TAG] = column(bag, at, TAG)
    atoms[<int>L_AT_LABEL] = column(bag, at, LABEL)
    atoms[<int>L_NEXT_FORM] = column(bag, above, FORM)
    atoms[<int>L_NEXT_TAG] = column(bag, above, TAG)
    atoms[<int>L_NEXT_LABEL] = column(bag, above, LABEL)
    atoms[<int>L_NEXT_FRAME] = column(bag, above, FRAME)
    atoms[<int>L_BEYOND_TAG] = column(bag, beyond, TAG)
    atoms[<int>L_BEYOND_LABEL] = column(bag, beyond, LABEL)
    atoms[<int>L_STEP] = 1 + step


cdef void read_lower_atoms(BagC* bag, int mark, int n_marks, int target, int rank, uint64_t* atoms) noexcept nogil:
    cdef int head = bag.forest.head[mark], above = bag.forest.head[target], i, run = 0, most = 0
    cdef uint64_t labels = 0, label, before = 0
    for i in range(bag.first_child[target], bag.first_child[target + 1]):
        label = column(bag, bag.children_by_label[i], LABEL)
        run = run + 1 if run and label == before else 1
        before = label
        most = max(most, run)
        labels += mix(SET, label)
    atoms[<int>M_FORM] = column(bag, mark, FORM)
    atoms[<int>M_RANK] = 1 + rank
    atoms[<int>M_MARKS] = min(n_marks, <int>MANY)
    atoms[<int>M_HEAD_TAG] = column(bag, head, TAG)
    atoms[<int>M_HEAD_LABEL] = column(bag, head, LABEL)
    atoms[<int>M_HEAD_FRAME] = column(bag, head, FRAME)
    atoms[<int>M_TARGET_FORM] = column(bag, target, FORM)
    atoms[<int>M_TARGET_TAG] = column(bag, target, TAG)
    atoms[<int>M_TARGET_LABEL] = column(bag, target, LABEL)
    atoms[<int>M_TARGET_FRAME] = column(bag, target, FRAME)
    atoms[<int>M_TARGET_LABELS] = labels
    atoms[<int>M_TARGET_EQUAL] = most
    atoms[<int>M_TARGET_SIZE] = bucket(bag.forest.size[target])
    atoms[<int>M_TARGET_N] = min(bag.forest.n_children[target], <int>MANY)
    atoms[<int>M_DEPTH] = min(bag.forest.depth[target] - bag.forest.depth[head], <int>MANY)
    atoms[<int>M_ABOVE_TAG] = column(bag, above, TAG)
    atoms[<int>M_ABOVE_LABEL] = column(bag, above, LABEL)


cdef by_position(PackedBag bag, vector[int]& heads):
    """Heads of canonical numbers by input position."""
    found = np.empty(len(bag), dtype=np.int32)
    cdef int[::1] view = found
    cdef int k, head
    for k in range(<int>heads.size()):
        head = heads[k]
        if head >= 0:
            head = bag.layout.position[head]
        view[bag.layout.position[k]] = head
    return found
