"""The tree over a fixed order: scores of arcs, the best tree under the given ones, and labels.

Arcs that contradict a given one cannot be chosen, so the best tree is found among those that keep every given arc. Each
order that a transition system returns has such a tree. Labels are chosen afterwards, for each arc by itself. A bag of
over MAX_CHART words keeps the arcs it has: what is missing stays missing, unless it is only the root.
"""
import numpy as np
from cython.operator cimport dereference
from libc.math cimport INFINITY
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector

from ..bag.forest cimport FREE, ROOT
from ..hashing cimport mix, slot_of
from ..lexicon cimport Lexicon, LexiconC, labels_of
from ..weights cimport TableC, Weights, sum_weights
from .eisner cimport ChartC, fill_chart, read_tree

from ..hashing import hash_text
from ..features.templates import ARC_ATOMS, ARC_TEMPLATES, LABEL_TEMPLATES, fingerprint

cdef enum:
    N_ATOMS = 8         # of ARC_ATOMS
    OUTSIDE = 1         # value of an atom beyond the ends of the sentence
    ROOT_HEAD = 3       # value of the head's atoms for the root's arc
    C_MAX_CHART = 1000  # words: the chart is cubic in time and quadratic in memory

MAX_CHART = C_MAX_CHART


cdef cppclass PartsC:
    # Templates split by side: the atoms of the head, and those of the dependent.
    vector[uint64_t] seeds
    vector[vector[int]] head_atoms
    vector[vector[int]] dependent_atoms


cdef cppclass SentenceC:
    # The words in order, and hashes of the two sides of every template for every word.
    Py_ssize_t n
    vector[uint64_t] forms
    vector[uint64_t] tags
    vector[uint64_t] labels
    vector[int] heads               # given, as positions in the order, or FREE or ROOT
    vector[uint64_t] head_parts     # [word][template]; word n is the head of the root
    vector[uint64_t] dependent_parts


cdef PartsC compile_parts(templates) except *:
    cdef PartsC parts
    number = {atom: i for i, atom in enumerate(ARC_ATOMS)}
    for template in templates:
        atoms = [number[atom] for atom in template.split()]
        parts.seeds.push_back(hash_text("arc " + template))
        parts.head_atoms.push_back([a for a in atoms if a < N_ATOMS // 2])
        parts.dependent_atoms.push_back([a for a in atoms if a >= N_ATOMS // 2])
    return parts


cdef int hash_sides(SentenceC* s, PartsC* parts) except -1 nogil:
    cdef Py_ssize_t n_templates = parts.seeds.size(), k, t
    s.head_parts.resize((s.n + 1) * n_templates)
    s.dependent_parts.resize(s.n * n_templates)
    for k in range(s.n + 1):
        for t in range(n_templates):
            s.head_parts[k * n_templates + t] = hash_side(s, k, parts.seeds[t], parts.head_atoms[t])
            if k < s.n:
                s.dependent_parts[k * n_templates + t] = hash_side(s, k, 0, parts.dependent_atoms[t])
    return 0


cdef inline uint64_t hash_side(SentenceC* s, Py_ssize_t k, uint64_t h, vector[int]& atoms) noexcept nogil:
    cdef int atom
    for atom in atoms:
        h = mix(h, atom_of(s, k, atom % (N_ATOMS // 2)))
    return h


cdef inline uint64_t atom_of(SentenceC* s, Py_ssize_t k, int atom) noexcept nogil:
    """Form, tag, tag before, tag after."""
    if k == s.n:
        return ROOT_HEAD
    if atom == 0:
        return s.forms[k]
    if atom == 1:
        return s.tags[k]
    k += -1 if atom == 2 else 1
    return s.tags[k] if 0 <= k < s.n else OUTSIDE


cdef inline uint64_t side_of(SentenceC* s, Py_ssize_t head, Py_ssize_t dependent) noexcept nogil:
    return 1 if head == s.n else 2 if head > dependent else 3


cdef inline Py_ssize_t distance_of(SentenceC* s, Py_ssize_t head, Py_ssize_t dependent) noexcept nogil:
    cdef Py_ssize_t distance = head - dependent if head > dependent else dependent - head
    if head == s.n:
        return 0
    return distance if distance <= 5 else 6 if distance <= 10 else 7


cdef Py_ssize_t arc_slots(SentenceC* s, Py_ssize_t n_templates, Py_ssize_t head, Py_ssize_t dependent, int shift,
                          uint32_t* slots) noexcept nogil:
    """Every template with the side of the head, and once more with the distance."""
    cdef uint64_t side = mix(0, side_of(s, head, dependent))
    cdef uint64_t far = mix(side, 1 + distance_of(s, head, dependent))
    cdef uint64_t* head_parts = s.head_parts.data() + head * n_templates
    cdef uint64_t* dependent_parts = s.dependent_parts.data() + dependent * n_templates
    cdef Py_ssize_t t
    for t in range(n_templates):
        slots[2 * t] = slot_of(head_parts[t], dependent_parts[t] ^ side, shift)
        slots[2 * t + 1] = slot_of(head_parts[t], dependent_parts[t] ^ far, shift)
    return 2 * n_templates


cdef Py_ssize_t label_slots(SentenceC* s, Py_ssize_t n_templates, Py_ssize_t head, Py_ssize_t dependent, uint64_t label,
                            int shift, uint32_t* slots) noexcept nogil:
    cdef uint64_t choice = mix(mix(0, side_of(s, head, dependent)), label)
    cdef Py_ssize_t t
    for t in range(n_templates):
        slots[t] = slot_of(s.head_parts[head * n_templates + t],
                           s.dependent_parts[dependent * n_templates + t] ^ choice, shift)
    return n_templates


cdef int score_arcs(SentenceC* s, int n_templates, const TableC* table, ChartC* chart) except -1 nogil:
    """Fill chart.arcs: given arcs cost nothing, arcs that contradict them are out, the others get their score."""
    cdef Py_ssize_t n = s.n, head, d, root = -1
    cdef vector[uint32_t] slots
    slots.resize(2 * n_templates)
    chart.arcs.assign((n + 1) * n, -INFINITY)
    for d in range(n):
        if s.heads[d] == ROOT:
            root = d
    for d in range(n):
        if s.heads[d] != FREE:
            chart.arcs[(n if s.heads[d] == ROOT else s.heads[d]) * n + d] = 0
            continue
        for head in range(n + 1):
            if head != d and not (head == n and root >= 0):
                arc_slots(s, n_templates, head, d, table.shift, slots.data())
                chart.arcs[head * n + d] = sum_weights(table, slots.data(), 2 * n_templates)
    return 0


cdef uint64_t best_label(SentenceC* s, int n_templates, LexiconC* lexicon, int head, int dependent,
                         const TableC* table) except? 0 nogil:
    cdef vector[uint64_t]* labels = labels_of(lexicon, s.tags[head], s.tags[dependent], head > dependent)
    cdef vector[uint32_t] slots
    cdef uint64_t best = 0
    cdef double score, best_score = -INFINITY
    cdef size_t i
    if labels == NULL:
        return 0
    slots.resize(n_templates)
    for i in range(labels.size()):
        label_slots(s, n_templates, head, dependent, dereference(labels)[i], table.shift, slots.data())
        score = sum_weights(table, slots.data(), n_templates)
        if score > best_score:
            best_score = score
            best = dereference(labels)[i]
    return best


cdef SentenceC make_sentence(const int[:] order, const uint64_t[:] forms, const uint64_t[:] tags, const int[:] heads,
                             const uint64_t[:] labels) except *:
    """The words in order; heads (by input position) become positions in the order."""
    cdef SentenceC s
    cdef int i, k, n = order.shape[0]
    cdef vector[int] place
    place.resize(n)
    for i in range(n):
        place[order[i]] = i
    s.n = n
    for i in range(n):
        k = order[i]
        s.forms.push_back(forms[k])
        s.tags.push_back(tags[k])
        s.labels.push_back(labels[k])
        s.heads.push_back(heads[k])
        if heads[k] >= 0:
            s.heads[i] = place[heads[k]]
    return s


cdef class Attacher:
    """Adds the arcs and labels that an order leaves open.

    weights (Weights): A table of its own.
    lexicon (Lexicon): The labels to choose from.
    labelled (bool): Whether to choose labels at all.
    """
    cdef readonly Weights weights
    cdef readonly Lexicon lexicon
    cdef readonly bint labelled
    cdef PartsC arc_parts
    cdef PartsC label_parts

    def __init__(self, Weights weights not None, Lexicon lexicon not None, *, bint labelled=True):
        self.weights = weights
        self.lexicon = lexicon
        self.labelled = labelled
        self.arc_parts = compile_parts(ARC_TEMPLATES)
        self.label_parts = compile_parts(LABEL_TEMPLATES)

    @property
    def fingerprint(self):
        """One number for the templates, which the weights depend on."""
        return fingerprint(ARC_TEMPLATES, *LABEL_TEMPLATES)

    def attach(self, order, forms, tags, heads, labels):
        """The best tree over an order.

        order (ndarray): Input positions in order.
        forms, tags, heads, labels (ndarray): By input position; heads and labels as in `PackedBag`.
        RETURNS (Tuple[ndarray, ndarray]): Heads and labels, by input position. No head is FREE, unless there are more than
            MAX_CHART words.
        """
        cdef SentenceC s = make_sentence(order, forms, tags, heads, labels)
        cdef TableC table = self.weights.for_decoding()
        cdef vector[int] tree = s.heads
        with nogil:
            self._complete(&s, &table, &tree)
        heads, labels = np.array(heads, dtype=np.int32), np.array(labels, dtype=np.uint64)
        cdef const int[:] places = order
        cdef int[::1] new_heads = heads
        cdef uint64_t[::1] new_labels = labels
        cdef bint is_hashed = False
        cdef int i, n_templates = self.label_parts.seeds.size()
        with nogil:
            for i in range(s.n):
                new_heads[places[i]] = tree[i]
                if tree[i] >= 0:
                    new_heads[places[i]] = places[tree[i]]
                    if self.labelled and s.labels[i] == 0:
                        if not is_hashed:
                            hash_sides(&s, &self.label_parts)
                            is_hashed = True
                        new_labels[places[i]] = best_label(&s, n_templates, &self.lexicon.c, tree[i], i, &table)
        return heads, labels

    cdef bint _complete(self, SentenceC* s, const TableC* table, vector[int]* tree) except -1 nogil:
        """Add the arcs that are missing from a tree of positions in the order. If only the root is, there is no choice.

        RETURNS (bool): Whether arcs were chosen by their scores. Only then are their templates hashed.
        """
        cdef ChartC chart
        cdef int i, n_missing = 0, missing = 0
        cdef bint has_root = False
        for i in range(s.n):
            has_root |= s.heads[i] == ROOT
            if s.heads[i] == FREE:
                n_missing += 1
                missing = i
        if n_missing == 1 and not has_root:
            tree[0][missing] = ROOT
            return False
        if n_missing == 0 or s.n > C_MAX_CHART:
            return False
        hash_sides(s, &self.arc_parts)
        score_arcs(s, self.arc_parts.seeds.size(), table, &chart)
        fill_chart(&chart, s.n)
        if read_tree(&chart, s.n, tree):
            with gil:
                raise RuntimeError("no projective tree over this order keeps the given arcs")
        return True

    def score(self, order, forms, tags, given, heads):
        """The score of a tree over an order: the sum over the arcs that are not given."""
        nothing = np.zeros(len(order), dtype=np.uint64)
        cdef SentenceC s = make_sentence(order, forms, tags, given, nothing)
        cdef SentenceC whole = make_sentence(order, forms, tags, heads, nothing)
        cdef ChartC chart
        cdef double total = 0
        cdef int i, head
        hash_sides(&s, &self.arc_parts)
        cdef TableC table = self.weights.for_decoding()
        score_arcs(&s, self.arc_parts.seeds.size(), &table, &chart)
        for i in range(s.n):
            head = whole.heads[i]
            total += chart.arcs[(head if head >= 0 else s.n) * s.n + i]
        return total

    def update(self, order, forms, tags, given_heads, given_labels, heads, labels):
        """Learn from a gold tree: predict the arcs that are not given, and each label between gold heads and dependents. A
        sentence of over MAX_CHART words teaches labels alone.

        RETURNS (Tuple[int, int]): How many arcs, and how many labels, were wrong.
        """
        self.weights.start_training()
        cdef SentenceC s = make_sentence(order, forms, tags, given_heads, given_labels)
        cdef SentenceC gold = make_sentence(order, forms, tags, heads, labels)
        cdef TableC table = self.weights.for_training()
        cdef vector[int] tree = s.heads
        cdef int wrong_arcs = 0, wrong_labels = 0
        with nogil:
            if self._complete(&s, &table, &tree):
                wrong_arcs = self._learn_arcs(&s, &gold, tree)
            if self.labelled:
                wrong_labels = self._learn_labels(&s, &gold, &table)
        self.weights.tick()
        return wrong_arcs, wrong_labels

    cdef int _learn_arcs(self, SentenceC* s, const SentenceC* gold, const vector[int]& tree) except -1 nogil:
        """Prefer gold arcs to those that were chosen instead. Returns how many were."""
        cdef int i, n_wrong = 0
        for i in range(s.n):
            if tree[i] != gold.heads[i]:
                n_wrong += 1
                self._add_arc(s, gold.heads[i], i, 1)
                self._add_arc(s, tree[i], i, -1)
        return n_wrong

    cdef int _learn_labels(self, SentenceC* s, const SentenceC* gold, const TableC* table) except -1 nogil:
        """Prefer gold labels to those that are chosen for gold arcs instead. Returns how many are."""
        cdef int i, n_templates = self.label_parts.seeds.size(), n_wrong = 0
        cdef uint64_t label
        hash_sides(s, &self.label_parts)
        for i in range(s.n):
            if s.labels[i] or gold.heads[i] < 0 or not gold.labels[i]:
                continue
            label = best_label(s, n_templates, &self.lexicon.c, gold.heads[i], i, table)
            if label != gold.labels[i]:
                n_wrong += 1
                self._add_label(s, gold.heads[i], i, gold.labels[i], 1)
                self._add_label(s, gold.heads[i], i, label, -1)
        return n_wrong

    cdef int _add_arc(self, SentenceC* s, int head, int dependent, float change) except -1 nogil:
        cdef vector[uint32_t] slots
        cdef int n_templates = self.arc_parts.seeds.size()
        slots.resize(2 * n_templates)
        arc_slots(s, n_templates, head if head >= 0 else s.n, dependent, 64 - self.weights.bits, slots.data())
        self.weights.add(slots.data(), 2 * n_templates, change)
        return 0

    cdef int _add_label(self, SentenceC* s, int head, int dependent, uint64_t label, float change) except -1 nogil:
        cdef vector[uint32_t] slots
        cdef int n_templates = self.label_parts.seeds.size()
        slots.resize(n_templates)
        label_slots(s, n_templates, head, dependent, label, 64 - self.weights.bits, slots.data())
        self.weights.add(slots.data(), n_templates, change)
        return 0
