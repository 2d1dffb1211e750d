"""From plain arrays to a bag in canonical sequence."""
from libc.stdint cimport uint64_t
from libcpp.algorithm cimport sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

import numpy as np

from .constraints cimport FREE as C_FREE, ROOT as C_ROOT, lay_out
from .hashing cimport mix

from ..errors import error

FREE = C_FREE
ROOT = C_ROOT
MAX_WORDS = 1 << 24


cdef class Bag:
    """Words to order, and what is given about them.

    Every array has one entry a word. Forms, tags and labels are 64-bit keys of the caller's choice (hashes of
    the texts); 0 means missing. The order in which the words are handed over has no influence on anything.

    forms (Sequence[int]): The words.
    tags (Optional[Sequence[int]]): Tags, 0 where none is known.
    given (Optional[Sequence[bool]]): Which of the tags are constraints; by default, all that are not 0.
    heads (Optional[Sequence[int]]): For each word the position of its head, FREE or ROOT.
    labels (Optional[Sequence[int]]): The label of the arc to each word's head, 0 where it is free.
    lowers, suffixes, shapes (Optional[Sequence[int]]): Further attributes that templates may name.
    texts (Optional[Sequence[str]]): The words as text, only used in error messages.
    max_words (int): Refuse more words than this.
    """

    def __init__(self, forms, *, tags=None, given=None, heads=None, labels=None, lowers=None, suffixes=None,
                 shapes=None, texts=None, int max_words=MAX_WORDS):
        cdef int n = len(forms)
        if n > max_words:
            raise error("SL005", n=n, limit=max_words)
        self.texts = texts
        columns = (
            _column("forms", forms, n), _column("tags", tags, n), _column("labels", labels, n),
            _column("lowers", lowers, n), _column("suffixes", suffixes, n), _column("shapes", shapes, n),
        )
        cdef const uint64_t[:, ::1] table = np.ascontiguousarray(np.stack(columns))
        cdef const int[::1] arcs = _column("heads", heads, n, dtype=np.int32, missing=C_FREE)
        cdef const unsigned char[::1] fixed = _column(
            "given", columns[<int>TAG] != 0 if given is None else given, n, dtype=np.uint8)
        cdef uint64_t[::1] content = np.empty(n, dtype=np.uint64)
        cdef uint64_t h
        cdef int k, a, place
        for k in range(n):
            h = mix(mix(0, 1 + fixed[k]), arcs[k] if arcs[k] < 0 else 1)
            for a in range(N_ATTRIBUTES):
                h = mix(h, table[a, k])
            content[k] = h
        self.layout = lay_out(arcs, content, texts)
        self.c.forest = self.layout.forest
        self.c.words.resize(n)
        for k in range(n):
            place = self.layout.position[k]
            for a in range(N_ATTRIBUTES):
                self.c.words[k].columns[a] = table[a, place]
            self.c.words[k].tag_given = fixed[place]
        self.c.first_child.resize(n + 1)
        for k in range(n):
            self.c.first_child[k + 1] = self.c.first_child[k] + self.c.forest.n_children[k]
        self.c.children_by_label = _sorted_children(&self.c, LABEL)
        self.c.children_by_tag = _sorted_children(&self.c, TAG)

    def __len__(self):
        return self.c.forest.n

    @property
    def heads(self):
        """For each input position the given head, FREE or ROOT."""
        cdef int k
        heads = np.full(len(self), C_FREE, dtype=np.int32)
        for k in range(self.c.forest.n):
            h = self.c.forest.head[k]
            heads[self.layout.position[k]] = self.layout.position[h] if h >= 0 else h
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


def _column(name, values, n, *, dtype=np.uint64, missing=0):
    if values is None:
        return np.full(n, missing, dtype=dtype)
    column = np.ascontiguousarray(values, dtype=dtype)
    if column.shape != (n,):
        raise error("SL006", name=name, got=len(values), n=n)
    return column


cdef vector[int] _sorted_children(BagC* bag, Attribute attribute):
    cdef vector[pair[pair[int, uint64_t], int]] children
    cdef vector[int] result
    cdef int k, h
    for k in range(bag.forest.n):
        h = bag.forest.head[k]
        if h >= 0:
            children.push_back(pair[pair[int, uint64_t], int](
                pair[int, uint64_t](h, bag.words[k].columns[<int>attribute]), k))
    sort(children.begin(), children.end())
    for child in children:
        result.push_back(child.second)
    return result
