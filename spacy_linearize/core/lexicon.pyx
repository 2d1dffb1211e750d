"""Tags and labels as training has seen them.

A word without a given tag gets its most frequent training tag; a word never seen gets that of its other spellings
(capitals or none), or a guess from its suffix and shape, as the rarer words of the training data suggest. An arc without
a given label gets one that was seen between these tags on this side. Each question backs off to a wider one until
training has an answer.
"""
from collections import Counter, defaultdict

import numpy as np
from cython.operator cimport dereference
from libc.stdint cimport uint64_t
from libcpp.algorithm cimport sort
from libcpp.unordered_set cimport unordered_set
from libcpp.vector cimport vector

from .bag.word cimport FORM, LOWER, SHAPE, SUFFIX, TAG

RARE = 10  # words seen less often than this teach the guesses for unseen words


cdef vector[uint64_t]* tags_of(LexiconC* lexicon, const uint64_t* columns) noexcept nogil:
    """The possible tags of a word with these columns, the likeliest first. NULL if training saw no tag at all."""
    cdef uint64_t suffix = columns[<int>SUFFIX], shape = columns[<int>SHAPE]
    found = ranked_in(lexicon, context(TAGS_OF_FORM, columns[<int>FORM], 0, 0))
    if found == NULL:
        found = ranked_in(lexicon, context(TAGS_OF_LOWER, columns[<int>LOWER], 0, 0))
    if found == NULL:
        found = ranked_in(lexicon, context(TAGS_OF_SUFFIX_AND_SHAPE, suffix, shape, 0))
    if found == NULL:
        found = ranked_in(lexicon, context(TAGS_OF_SUFFIX, suffix, 0, 0))
    if found == NULL:
        found = ranked_in(lexicon, context(TAGS_OF_SHAPE, shape, 0, 0))
    if found == NULL:
        found = ranked_in(lexicon, context(ALL_TAGS, 0, 0, 0))
    return found


cdef int collect_tags(LexiconC* lexicon, const uint64_t* columns, bint is_seen, vector[uint64_t]* tags) except -1 nogil:
    """All tags that a word may have: those of its form, of its other spellings, of its suffix and of its shape, the
    likeliest of each first.

    is_seen (bool): False to leave out what training saw of this word.
    """
    cdef uint64_t suffix = columns[<int>SUFFIX], shape = columns[<int>SHAPE]
    if is_seen:
        add_tags(tags, ranked_in(lexicon, context(TAGS_OF_FORM, columns[<int>FORM], 0, 0)))
        add_tags(tags, ranked_in(lexicon, context(TAGS_OF_LOWER, columns[<int>LOWER], 0, 0)))
    add_tags(tags, ranked_in(lexicon, context(TAGS_OF_SUFFIX_AND_SHAPE, suffix, shape, 0)))
    add_tags(tags, ranked_in(lexicon, context(TAGS_OF_SUFFIX, suffix, 0, 0)))
    add_tags(tags, ranked_in(lexicon, context(TAGS_OF_SHAPE, shape, 0, 0)))
    if tags.empty():
        add_tags(tags, ranked_in(lexicon, context(ALL_TAGS, 0, 0, 0)))
    return 0


cdef int add_tags(vector[uint64_t]* tags, vector[uint64_t]* more) except -1 nogil:
    cdef uint64_t tag
    if more != NULL:
        for tag in dereference(more):
            if not contains(dereference(tags), tag):
                tags.push_back(tag)
    return 0


cdef bint contains(vector[uint64_t]& symbols, uint64_t symbol) noexcept nogil:
    cdef uint64_t other
    for other in symbols:
        if other == symbol:
            return True
    return False


cdef vector[uint64_t]* labels_of(LexiconC* lexicon, uint64_t head_tag, uint64_t tag, bint head_is_right) noexcept nogil:
    """The labels to try on an arc, the likeliest first. NULL if training saw no label at all."""
    found = ranked_in(lexicon, context(LABELS_OF_ARC, head_tag, tag, head_is_right))
    if found == NULL:
        found = ranked_in(lexicon, context(LABELS_OF_DEPENDENT, tag, head_is_right, 0))
    if found == NULL:
        found = ranked_in(lexicon, context(ALL_LABELS, 0, 0, 0))
    return found


cdef class Lexicon:
    """Ranked tags and labels. Filled once with `learn`, then only read.

    markers (Iterable[int]): Labels of words that mark the constituent of their head: prepositions, conjunctions.
    """

    def __init__(self, markers=()):
        self.c.markers = list(markers)

    def knows(self, uint64_t form) -> bool:
        """Whether training saw a word: as it is or, for a word in lower case, in any spelling."""
        return (ranked_in(&self.c, context(TAGS_OF_FORM, form, 0, 0)) != NULL
                or ranked_in(&self.c, context(TAGS_OF_LOWER, form, 0, 0)) != NULL)

    def learn(self, sentences) -> None:
        """Count the tags and labels of gold sentences. Replaces what was learned before.

        sentences (Iterable[Bag]): Gold sentences, see `records.Bag`.
        """
        counts = defaultdict(Counter)
        words = Counter()
        guesses = Counter()
        for sentence in sentences:
            self._count(sentence, counts, words, guesses)
        for (form, suffix, shape, tag), count in guesses.items():
            if words[form] < RARE:
                counts[context(TAGS_OF_SUFFIX_AND_SHAPE, suffix, shape, 0)][tag] += count
                counts[context(TAGS_OF_SUFFIX, suffix, 0, 0)][tag] += count
                counts[context(TAGS_OF_SHAPE, shape, 0, 0)][tag] += count
                counts[context(ALL_TAGS, 0, 0, 0)][tag] += count
        # Ties go to the smaller key, so that the order of the sentences does not matter.
        ranked = {key: sorted(counter, key=lambda symbol: (-counter[symbol], symbol)) for key, counter in counts.items()}
        # A word is looked up by its form, then by its lower case. If it is in lower case itself, one list is often enough.
        for form in words:
            key = context(TAGS_OF_FORM, form, 0, 0)
            if key in ranked and ranked[key] == ranked.get(context(TAGS_OF_LOWER, form, 0, 0)):
                del ranked[key]
        self.c.ranked = ranked

    def _count(self, sentence, counts, words, guesses):
        names = ("forms", "tags", "heads", "labels", "lowers", "suffixes", "shapes")
        forms, tags, heads, labels, lowers, suffixes, shapes = (sentence.column(name).tolist() for name in names)
        for i, (form, tag, head, label) in enumerate(zip(forms, tags, heads, labels)):
            words[form] += 1
            if tag:
                counts[context(TAGS_OF_FORM, form, 0, 0)][tag] += 1
                if lowers[i]:
                    counts[context(TAGS_OF_LOWER, lowers[i], 0, 0)][tag] += 1
                guesses[form, suffixes[i], shapes[i], tag] += 1
            if label and head >= 0:
                counts[context(LABELS_OF_ARC, tags[head], tag, head > i)][label] += 1
                counts[context(LABELS_OF_DEPENDENT, tag, head > i, 0)][label] += 1
                counts[context(ALL_LABELS, 0, 0, 0)][label] += 1

    def __len__(self):
        return self.c.ranked.size()

    @property
    def symbols(self):
        """All tags and labels, as a set."""
        cdef unordered_set[uint64_t] found
        for entry in self.c.ranked:
            found.insert(entry.second.begin(), entry.second.end())
        return set(found)

    def to_arrays(self):
        """Three arrays that hold the whole lexicon: context keys, list lengths, and all lists end to end."""
        cdef vector[uint64_t] keys
        cdef size_t n_symbols = 0, i, at = 0
        cdef vector[uint64_t]* ranked
        for entry in self.c.ranked:
            keys.push_back(entry.first)
            n_symbols += entry.second.size()
        sort(keys.begin(), keys.end())
        arrays = np.empty(keys.size(), np.uint64), np.empty(keys.size(), np.uint32), np.empty(n_symbols, np.uint64)
        cdef uint64_t[::1] key = arrays[0], symbol = arrays[2]
        cdef unsigned int[::1] length = arrays[1]
        for i in range(keys.size()):
            key[i] = keys[i]
            ranked = ranked_in(&self.c, keys[i])
            length[i] = ranked.size()
            for value in dereference(ranked):
                symbol[at] = value
                at += 1
        return arrays

    def from_arrays(self, keys, lengths, symbols) -> None:
        """Replace the content by what `to_arrays` gave."""
        cdef const uint64_t[::1] key = aligned(keys, np.uint64), symbol = aligned(symbols, np.uint64)
        cdef const unsigned int[::1] length = aligned(lengths, np.uint32)
        cdef Py_ssize_t i, start = 0
        if len(key) != len(length) or int(lengths.sum()) != len(symbol) or (lengths < 1).any():
            raise ValueError("a lexicon that does not add up")
        self.c.ranked.clear()
        self.c.ranked.reserve(len(key))
        for i in range(len(key)):
            self.c.ranked[key[i]].assign(&symbol[start], &symbol[start] + length[i])
            start += length[i]


def aligned(values, dtype):
    """An array that points into a file may begin at any byte."""
    return np.require(values, dtype=dtype, requirements=["C", "A"])
