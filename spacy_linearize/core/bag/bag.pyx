"""From plain arrays to a bag in canonical sequence."""
from cython.operator cimport dereference
from libc.stdint cimport uint64_t
from libcpp.algorithm cimport sort, unique
from libcpp.pair cimport pair
from libcpp.vector cimport vector

import numpy as np

from ..hashing cimport SET, mix
from ..lexicon cimport Lexicon, is_marker, tags_of
from .forest cimport FREE, ForestC, lay_out
from .precedence cimport find_contradiction, set_precedence
from .word cimport COMPANY, FORM, FRAME, LABEL, LOWER, MARKER, SHAPE, SUFFIX, TAG, WordC

from ...errors import error

MAX_WORDS = 1 << 24
COLUMNS = (
    ("forms", FORM), ("tags", TAG), ("labels", LABEL), ("lowers", LOWER), ("suffixes", SUFFIX), ("shapes", SHAPE),
)


cdef class PackedBag:
    """A bag in canonical sequence, as the search reads it. The order in which the words were handed in has no influence
    on what is found: of indistinguishable words, the first handed in stays the first.

    bag (Bag): The words and what is given about them, see `records.Bag`.
    lexicon (Optional[Lexicon]): Gives words without a tag their usual one, which is then no constraint.
    check (bool): Whether to refuse precedences that the given arcs contradict.
    """

    def __init__(self, bag, Lexicon lexicon=None, *, bint check=True):
        cdef int n = len(bag), k, attribute
        if n > MAX_WORDS:
            raise error("SL005", n=n, limit=MAX_WORDS)
        self.texts = bag.texts
        cdef vector[WordC] words
        words.resize(n)
        cdef const uint64_t[:] column
        for name, attribute in COLUMNS:
            column = keys_of(bag, name, n)
            for k in range(n):
                words[k].columns[attribute] = column[k]
        column = keys_of(bag, "puncts", n)
        for k in range(n):
            words[k].punct = column[k]
        fill_tags(words, lexicon)
        cdef const int[:] arcs = as_array("heads", [FREE] * n if bag.heads is None else bag.heads, n, np.int32)
        cdef vector[uint64_t] content, ties
        column = keys_of(bag, "kept", n)
        for k in range(n):
            content.push_back(hash_content(&words[k], arcs[k]))
            ties.push_back(column[k])
        if bag.tokens is not None:
            check_members(bag, n)
            hash_members(content, ties, bag)
        self.before = check_pairs(bag.before, n)
        if self.before:
            colour(content, arcs, self.before)
        self.layout = lay_out(arcs, content, ties, self.texts)
        if self.before:
            part_twins(&self.layout.forest, [self.layout.number[k] for pair in self.before for k in pair])
        self.c.forest = self.layout.forest
        self._set_precedence(check)
        for k in range(n):
            self.c.words.push_back(words[self.layout.position[k]])
        fill_pieces(&self.c, self.layout.position, bag)
        fill_families(&self.c)
        fill_marks(&self.c)
        if lexicon is not None:
            fill_markers(&self.c, lexicon)
        if self.c.forest.has_arcs:
            fill_sets(&self.c, LABEL, self.c.children_by_label, FRAME)
            fill_sets(&self.c, TAG, self.c.children_by_tag, COMPANY)

    def _set_precedence(self, bint check):
        pairs = [(self.layout.number[first], self.layout.number[second]) for first, second in self.before]
        set_precedence(&self.c.precedence, &self.c.forest, pairs)
        cycle = find_contradiction(&self.c.forest, pairs)
        self.cycle = [(self.layout.position[first], self.layout.position[second]) for first, second in cycle]
        # Where some arcs are given and some are not, these may make the conflict smaller: see `dead_ends.conflict`.
        if check and cycle and not self.c.precedence.is_tangled:
            raise error("SL008", pairs=self.cycle, texts=self.texts)

    def __len__(self):
        return self.c.forest.n

    @property
    def is_open(self):
        """Whether arcs are missing: more than one word has no given head."""
        return self.c.forest.tops.size() > 1

    @property
    def has_arcs(self):
        """Whether any word has a given head among the others."""
        return self.c.forest.has_arcs

    @property
    def heads(self):
        """For each input position the given head, FREE or ROOT."""
        cdef int k
        heads = np.empty(len(self), dtype=np.int32)
        cdef int[::1] view = heads
        for k in range(self.c.forest.n):
            view[self.layout.position[k]] = self.c.forest.head[k]
            if self.c.forest.head[k] >= 0:
                view[self.layout.position[k]] = self.layout.position[self.c.forest.head[k]]
        return heads

    @property
    def positions(self):
        """The input positions of the words in canonical sequence."""
        return list(self.layout.position)

    def column(self, int attribute):
        """One column of keys by input position (see `Attribute`)."""
        values = np.empty(len(self), dtype=np.uint64)
        cdef uint64_t[::1] view = values
        cdef int k
        for k in range(self.c.forest.n):
            view[self.layout.position[k]] = self.c.words[k].columns[attribute]
        return values


cdef int check_members(bag, int n) except -1:
    """Refuse units whose tokens are not there."""
    if len(bag.members) != n:
        raise error("SL006", name="members", got=len(bag.members), n=n)
    for own in bag.members:
        if not 0 <= own.start <= own.stop <= len(bag.tokens):
            raise IndexError(own)
    return 0


cdef list check_pairs(pairs, int n):
    """Pairs of positions as they were given, each once."""
    checked = {}    # as a set that keeps its sequence
    for pair in pairs:
        try:
            first, second = (int(k) for k in pair)
        except (TypeError, ValueError):
            raise error("SL007", pair=pair, last=n - 1) from None
        if not (0 <= first < n and 0 <= second < n) or first == second:
            raise error("SL007", pair=pair, last=n - 1)
        checked[first, second] = None
    return list(checked)


cdef int colour(vector[uint64_t]& content, const int[:] heads, vector[pair[int, int]] pairs) except -1:
    """Colour refinement: hash into the content of each word that of the words it is tied to, until this tells no more
    words apart. Words with different ties, however far away, are then not equal."""
    cdef int n = content.size(), k
    cdef size_t n_before = 0, n_colours = count_different(content)
    cdef vector[uint64_t] sums
    while n_colours > n_before:
        sums.assign(n, 0)
        for k in range(n):
            if 0 <= heads[k] < n:   # what is not is refused later
                sums[k] += mix(1, content[heads[k]])
                sums[heads[k]] += mix(2, content[k])
        for tie in pairs:
            sums[tie.first] += mix(3, content[tie.second])
            sums[tie.second] += mix(4, content[tie.first])
        for k in range(n):
            content[k] = mix(content[k], sums[k])
        n_before, n_colours = n_colours, count_different(content)
    return 0


cdef size_t count_different(vector[uint64_t] values) except? 0:
    sort(values.begin(), values.end())
    return unique(values.begin(), values.end()) - values.begin()


cdef int part_twins(ForestC* forest, tied) except -1:
    """Words with precedences, and their ancestors, are no twins: which of them comes first may matter."""
    cdef vector[char] is_tied
    cdef int k
    is_tied.resize(forest.n)
    for k in tied:
        while k >= 0 and not is_tied[k]:
            is_tied[k] = True
            k = forest.head[k]
    for k in range(forest.n):
        if forest.twin[k] >= 0 and (is_tied[k] or is_tied[forest.twin[k]]):
            forest.twin[k] = -1
        forest.twin_above[k] = k if forest.twin[k] >= 0 else -1
        if forest.twin[k] < 0 and forest.head[k] >= 0:
            forest.twin_above[k] = forest.twin_above[forest.head[k]]
    return 0


cdef as_array(name, values, int n, dtype):
    array = np.asarray(values, dtype=dtype)
    if array.shape != (n,):
        raise error("SL006", name=name, got=len(values), n=n)
    return array


cdef keys_of(bag, name, int n):
    """A column of a bag, which is all 0 if it is missing."""
    values = getattr(bag, name)
    return np.zeros(n, dtype=np.uint64) if values is None else as_array(name, values, n, np.uint64)


cdef int fill_tags(vector[WordC]& words, Lexicon lexicon) except -1:
    """Mark the tags that are given, and find the usual ones of the other words."""
    cdef vector[uint64_t]* usual
    cdef int k
    for k in range(<int>words.size()):
        words[k].tag_given = words[k].columns[<int>TAG] != 0
        if lexicon is not None and not words[k].tag_given:
            usual = tags_of(&lexicon.c, words[k].columns)
            if usual != NULL:
                words[k].columns[<int>TAG] = dereference(usual)[0]
    return 0


cdef int hash_members(vector[uint64_t]& content, vector[uint64_t]& ties, bag) except -1:
    """Units are equal only if all of their tokens are, and these hang together in the same way."""
    forms, tags, heads, labels, kept = (bag.tokens.column(name) for name in ("forms", "tags", "heads", "labels", "kept"))
    cdef const uint64_t[:] form = forms, tag = tags, label = labels, own = kept
    cdef const int[:] head = heads
    cdef int k, i, start, end
    for k in range(<int>content.size()):
        start, end = bag.members[k].start, bag.members[k].stop
        if end - start == 1:
            continue
        for i in range(start, end):
            content[k] = mix(mix(mix(content[k], form[i]), tag[i]), label[i])
            content[k] = mix(content[k], 1 + head[i] - start if start <= head[i] < end else 0)
            ties[k] = mix(ties[k], own[i])
    return 0


cdef int fill_pieces(BagC* c, vector[int]& position, bag) except -1:
    """What a reader sees of each word: its form, or those of its tokens."""
    cdef int k
    c.first_piece.push_back(0)
    for k in range(<int>c.words.size()):
        if bag.tokens is None:
            c.pieces.push_back(c.words[k].columns[<int>FORM])
        else:
            for i in bag.members[position[k]]:
                c.pieces.push_back(<uint64_t>bag.tokens.forms[i])
        c.first_piece.push_back(c.pieces.size())
    return 0


cdef int fill_families(BagC* bag) except -1:
    """The given dependents of each word, with equal labels and with equal tags side by side."""
    cdef int k, n = bag.forest.n
    bag.first_child.resize(n + 1)
    for k in range(n):
        bag.first_child[k + 1] = bag.first_child[k] + bag.forest.n_children[k]
    bag.children_by_label = sorted_children(bag, LABEL)
    bag.children_by_tag = sorted_children(bag, TAG)
    return 0


cdef int fill_marks(BagC* bag) except -1:
    """The punctuation, equal marks side by side."""
    cdef vector[pair[uint64_t, int]] marks
    cdef int k
    bag.asks = False
    for k in range(bag.forest.n):
        if bag.words[k].punct:
            marks.push_back(pair[uint64_t, int](bag.words[k].columns[<int>FORM], k))
            bag.asks |= bag.words[k].punct == 2
    sort(marks.begin(), marks.end())
    for mark in marks:
        bag.puncts.push_back(mark.second)
    return 0


cdef uint64_t hash_sentence(BagC* bag, vector[int]& order, bint mirrored) noexcept nogil:
    """A hash of what a reader sees of an order of canonical numbers: the boundaries of units are not visible.

    mirrored (bool): The order is from right to left.
    """
    cdef uint64_t h = 0
    cdef int n = order.size(), i, j, k
    for i in range(n):
        k = order[n - 1 - i if mirrored else i]
        for j in range(bag.first_piece[k], bag.first_piece[k + 1]):
            h = mix(h, bag.pieces[j])
    return h


cdef int fill_markers(BagC* bag, Lexicon lexicon) except -1:
    """Every word's markers: those of its given dependents whose label says so."""
    cdef int k, h
    for k in range(bag.forest.n):
        h = bag.forest.head[k]
        if h >= 0 and is_marker(&lexicon.c, bag.words[k].columns[<int>LABEL]):
            bag.words[h].columns[<int>MARKER] += mix(SET, bag.words[k].columns[<int>LOWER])
    return 0


cdef int fill_sets(BagC* bag, int attribute, vector[int]& children, int target) except -1:
    """For every word the set of an attribute over its given dependents. Equal values stand side by side."""
    cdef int k, i
    cdef uint64_t value, total
    for k in range(bag.forest.n):
        total = 0
        for i in range(bag.first_child[k], bag.first_child[k + 1]):
            value = bag.words[children[i]].columns[attribute]
            if i == bag.first_child[k] or value != bag.words[children[i - 1]].columns[attribute]:
                total += mix(SET, value)
        bag.words[k].columns[target] = mix(SET, total)
    return 0


cdef uint64_t hash_content(const WordC* word, int head) noexcept:
    """A hash of all that is known of a word but its place in the forest."""
    cdef int a
    cdef uint64_t h = mix(mix(0, 1 + word.tag_given), head if head < 0 else 1)
    for a in range(MARKER):
        h = mix(h, word.columns[a])
    return mix(h, word.punct)


cdef vector[int] sorted_children(BagC* bag, int attribute):
    cdef vector[pair[pair[int, uint64_t], int]] children
    cdef vector[int] result
    cdef int k, h
    for k in range(bag.forest.n):
        h = bag.forest.head[k]
        if h >= 0:
            children.push_back(pair[pair[int, uint64_t], int](
                pair[int, uint64_t](h, bag.words[k].columns[attribute]), k))
    sort(children.begin(), children.end())
    for child in children:
        result.push_back(child.second)
    return result
