"""What training has seen of tags and labels, as ranked lists behind one hash table."""
from cython.operator cimport dereference
from libc.stdint cimport uint64_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from .hashing cimport mix

cdef enum Kind:
    TAGS_OF_FORM = 1
    TAGS_OF_SUFFIX_AND_SHAPE
    TAGS_OF_SUFFIX
    TAGS_OF_SHAPE
    ALL_TAGS
    LABELS_OF_ARC
    LABELS_OF_DEPENDENT
    ALL_LABELS
    TAGS_OF_LOWER


cdef cppclass LexiconC:
    unordered_map[uint64_t, vector[uint64_t]] ranked  # key of a context -> symbols, the most frequent first
    vector[uint64_t] markers                          # labels of words that mark their head, such as prepositions


cdef inline uint64_t context(uint64_t kind, uint64_t a, uint64_t b, uint64_t c) noexcept nogil:
    return mix(mix(mix(mix(0, kind), a), b), c)


cdef inline vector[uint64_t]* ranked_in(LexiconC* lexicon, uint64_t key) noexcept nogil:
    found = lexicon.ranked.find(key)
    if found == lexicon.ranked.end():
        return NULL
    return &dereference(found).second


cdef inline bint is_marker(LexiconC* lexicon, uint64_t label) noexcept nogil:
    cdef size_t i
    for i in range(lexicon.markers.size()):
        if lexicon.markers[i] == label:
            return True
    return False


cdef vector[uint64_t]* tags_of(LexiconC* lexicon, const uint64_t* columns) noexcept nogil
cdef int collect_tags(LexiconC* lexicon, const uint64_t* columns, bint is_seen, vector[uint64_t]* tags) except -1 nogil
cdef bint contains(vector[uint64_t]& symbols, uint64_t symbol) noexcept nogil
cdef vector[uint64_t]* labels_of(LexiconC* lexicon, uint64_t head_tag, uint64_t tag, bint head_is_right) noexcept nogil


cdef class Lexicon:
    cdef LexiconC c
