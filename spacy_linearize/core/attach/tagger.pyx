"""The tags of words over a fixed order.

A word's usual tag is a guess without context: "drinks" is a noun more often than a verb. Once the order is known, its
neighbours tell more, and so do the given arcs. The tagger goes from left to right and gives each word without a given
tag the best of its possible ones. Its features see the tags that are given or chosen on the left, and the given or
usual ones on the right. It learns as an averaged perceptron (Collins 2002), word by word, with its own choices on the
left. All words of the training data are known, so one in UNSEEN, chosen by a hash, is treated as new.
"""
import numpy as np
from libc.math cimport INFINITY
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport PackedBag
from ..bag.forest cimport ROOT
from ..bag.word cimport FORM, FRAME, LABEL, LOWER, MARKER, SHAPE, SUFFIX, TAG, WordC
from ..hashing cimport mix, slot_of
from ..lexicon cimport Lexicon, collect_tags, contains
from ..weights cimport TableC, Weights, sum_weights

from ..features.templates import TAG_ATOMS, TAG_TEMPLATES, fingerprint
from ..hashing import hash_text

cdef enum:
    UNSEEN = 6      # in training, one word in this many is treated as one that was never seen
    LAST_RANK = 4   # this far down in the list of possible tags, ranks are no longer told apart
    OUTSIDE = 1     # value of an atom beyond the ends of the sentence
    UNLABELLED = 2  # a given arc without a label
    NO_HEAD = 3     # the given root

# TAG_ATOMS
cdef enum:
    FORM_HERE
    LOWER_HERE
    SUFFIX_HERE
    SHAPE_HERE
    LOWER_BEFORE
    LOWER_AFTER
    SUFFIX_BEFORE
    SUFFIX_AFTER
    TAG_BEFORE
    TAG_BEFORE2
    TAG_AFTER
    TAG_AFTER2
    LABEL_TO_HEAD
    LOWER_OF_HEAD
    TAG_OF_HEAD
    SIDE_OF_HEAD
    LABELS_BELOW
    MARKERS_BELOW
    N_ATOMS


cdef cppclass ChoiceC:
    vector[uint64_t] tags       # that a word may have, the likeliest first
    vector[uint64_t] parts      # a hash for every template that fires, still without a tag


cdef cppclass LineC:
    # The words in order.
    int n
    vector[const WordC*] words
    vector[int] heads           # given, as places in the order; below 0 for none
    vector[uint64_t] tags       # given or chosen; to the right of the word in question the usual ones


cdef int read_line(PackedBag bag, const int[:] order, LineC* line) except -1:
    """The words of a bag in an order of input positions."""
    cdef vector[int] place
    cdef int i, k, head
    line.n = order.shape[0]
    place.resize(line.n)
    for i in range(line.n):
        place[bag.layout.number[order[i]]] = i
    for i in range(line.n):
        k = bag.layout.number[order[i]]
        head = bag.c.forest.head[k]
        line.words.push_back(&bag.c.words[k])
        line.heads.push_back(place[head] if head >= 0 else head)
        line.tags.push_back(bag.c.words[k].columns[<int>TAG])
    return 0


cdef inline uint64_t column_at(LineC* line, int i, int attribute) noexcept nogil:
    return line.words[i].columns[attribute] if 0 <= i < line.n else OUTSIDE


cdef inline uint64_t tag_at(LineC* line, int i) noexcept nogil:
    return line.tags[i] if 0 <= i < line.n else OUTSIDE


cdef void read_atoms(LineC* line, int i, uint64_t* atoms) noexcept nogil:
    """What the templates look at for one word. 0 is "not there": a template with it does not fire."""
    cdef int head = line.heads[i], a
    cdef const WordC* word = line.words[i]
    atoms[<int>FORM_HERE] = word.columns[<int>FORM]
    atoms[<int>LOWER_HERE] = word.columns[<int>LOWER]
    atoms[<int>SUFFIX_HERE] = word.columns[<int>SUFFIX]
    atoms[<int>SHAPE_HERE] = word.columns[<int>SHAPE]
    atoms[<int>LOWER_BEFORE] = column_at(line, i - 1, LOWER)
    atoms[<int>LOWER_AFTER] = column_at(line, i + 1, LOWER)
    atoms[<int>SUFFIX_BEFORE] = column_at(line, i - 1, SUFFIX)
    atoms[<int>SUFFIX_AFTER] = column_at(line, i + 1, SUFFIX)
    atoms[<int>TAG_BEFORE] = tag_at(line, i - 1)
    atoms[<int>TAG_BEFORE2] = tag_at(line, i - 2)
    atoms[<int>TAG_AFTER] = tag_at(line, i + 1)
    atoms[<int>TAG_AFTER2] = tag_at(line, i + 2)
    for a in range(LABEL_TO_HEAD, N_ATOMS):
        atoms[a] = 0
    if head >= 0:
        atoms[<int>LABEL_TO_HEAD] = word.columns[<int>LABEL] or UNLABELLED
        atoms[<int>LOWER_OF_HEAD] = line.words[head].columns[<int>LOWER]
        atoms[<int>TAG_OF_HEAD] = line.tags[head]
        atoms[<int>SIDE_OF_HEAD] = 1 + (head > i)
    elif head == ROOT:
        atoms[<int>LABEL_TO_HEAD] = NO_HEAD
    atoms[<int>LABELS_BELOW] = word.columns[<int>FRAME]
    atoms[<int>MARKERS_BELOW] = word.columns[<int>MARKER]


cdef int find_slots(ChoiceC* choice, size_t rank, uint64_t rank_seed, int shift, vector[uint32_t]* slots) except -1 nogil:
    """The weights of one of the possible tags: every template with the tag, and its rank alone."""
    cdef uint64_t tag = mix(0, choice.tags[rank])
    cdef size_t t
    slots.clear()
    for t in range(choice.parts.size()):
        slots.push_back(slot_of(choice.parts[t], tag, shift))
    slots.push_back(slot_of(rank_seed, mix(0, 1 + min(rank, LAST_RANK - 1)), shift))
    return 0


cdef class Tagger:
    """Chooses the tags that are not given, over a fixed order.

    weights (Weights): A table of its own.
    lexicon (Lexicon): The tags to choose from.
    """
    cdef readonly Weights weights
    cdef readonly Lexicon lexicon
    cdef public bint is_trained     # until then words keep their usual tags
    cdef vector[uint64_t] seeds     # of the templates
    cdef vector[vector[int]] templates
    cdef uint64_t rank_seed

    def __init__(self, Weights weights not None, Lexicon lexicon not None):
        self.weights = weights
        self.lexicon = lexicon
        self.is_trained = False
        self.rank_seed = hash_text("tag rank")
        number = {atom: i for i, atom in enumerate(TAG_ATOMS)}
        for template in TAG_TEMPLATES:
            self.seeds.push_back(hash_text("tag " + template))
            self.templates.push_back([number[atom] for atom in template.split()])

    @property
    def fingerprint(self):
        """One number for the templates, which the weights depend on."""
        return fingerprint(TAG_TEMPLATES)

    def tag(self, PackedBag bag not None, order):
        """The tags of a bag's words in an order.

        order (ndarray): Input positions in order.
        RETURNS (ndarray): By input position. Given tags stay.
        """
        cdef LineC line
        cdef ChoiceC choice
        cdef TableC table
        cdef int i
        read_line(bag, order, &line)
        if self.is_trained:
            table = self.weights.for_decoding()
            with nogil:
                for i in range(line.n):
                    self._choose(&line, i, True, &table, &choice)
        return by_position(&line, order)

    def update(self, PackedBag bag not None, order, tags):
        """Learn from gold tags over a gold order.

        order (ndarray): Input positions in order.
        tags (ndarray): The gold tags by input position, 0 where there are none.
        RETURNS (int): How many tags were wrong.
        """
        cdef LineC line
        cdef ChoiceC choice
        cdef TableC table
        cdef const int[:] places = order
        cdef const uint64_t[:] gold = tags
        cdef uint64_t right, draw
        cdef int i, wrong = 0
        self.weights.start_training()
        table = self.weights.for_training()
        read_line(bag, order, &line)
        with nogil:
            for i in range(line.n):
                right = gold[places[i]]
                draw = mix(mix(0, <uint64_t>self.weights.clock), i)
                self._choose(&line, i, right == 0 or draw % UNSEEN != 0, &table, &choice)
                if right and not line.words[i].tag_given and line.tags[i] != right:
                    wrong += 1
                    self._learn(&choice, right, line.tags[i])
        self.weights.tick()
        return wrong

    cdef int _choose(self, LineC* line, int i, bint is_seen, const TableC* table, ChoiceC* choice) except -1 nogil:
        """Give a word the best of its possible tags. Ties go to the likelier tag.

        is_seen (bool): False if the word is treated as new: its form is not used.
        """
        cdef vector[uint32_t] slots
        cdef double score, best = -INFINITY
        cdef size_t rank
        if line.words[i].tag_given:
            return 0
        choice.tags.clear()
        collect_tags(&self.lexicon.c, line.words[i].columns, is_seen, &choice.tags)
        self._find_parts(line, i, is_seen, choice)
        for rank in range(choice.tags.size()):
            find_slots(choice, rank, self.rank_seed, table.shift, &slots)
            score = sum_weights(table, slots.data(), slots.size())
            if score > best:
                best = score
                line.tags[i] = choice.tags[rank]
        return 0

    cdef int _find_parts(self, LineC* line, int i, bint is_seen, ChoiceC* choice) except -1 nogil:
        """Hash every template that fires for a word."""
        cdef uint64_t atoms[N_ATOMS + 0]
        cdef uint64_t h
        cdef size_t t
        cdef int atom
        read_atoms(line, i, atoms)
        if not is_seen:
            atoms[<int>FORM_HERE] = 0
            atoms[<int>LOWER_HERE] = 0
        choice.parts.clear()
        for t in range(self.templates.size()):
            h = self.seeds[t]
            for atom in self.templates[t]:
                h = mix(h, atoms[atom]) if h and atoms[atom] else 0
            if h:
                choice.parts.push_back(h)
        return 0

    cdef int _learn(self, ChoiceC* choice, uint64_t right, uint64_t chosen) except -1 nogil:
        """Prefer the right tag to the one that was chosen, if it is possible at all."""
        cdef vector[uint32_t] slots
        cdef size_t rank
        if not contains(choice.tags, right):
            return 0
        self.is_trained = True
        for rank in range(choice.tags.size()):
            if choice.tags[rank] == right or choice.tags[rank] == chosen:
                find_slots(choice, rank, self.rank_seed, 64 - self.weights.bits, &slots)
                self.weights.add(slots.data(), <int>slots.size(), 1 if choice.tags[rank] == right else -1)
        return 0


cdef by_position(LineC* line, const int[:] order):
    """The tags of a line by input position."""
    tags = np.empty(line.n, dtype=np.uint64)
    cdef uint64_t[::1] view = tags
    cdef int i
    for i in range(line.n):
        view[order[i]] = line.tags[i]
    return tags
