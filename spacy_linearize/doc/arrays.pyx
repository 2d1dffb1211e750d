"""Loops over the arrays of a Doc. In Python, or with numpy on a dozen words, they would take longer than the search."""
import numpy as np
from libc.stdint cimport int64_t, uint64_t
from libcpp.unordered_map cimport unordered_map

from ..errors import error

cdef enum:
    FREE = -1   # as in `trees`
    ROOT = -2

# The tables of `spacing`: five of weights for the token before a gap, five for the one after it, three for both; for plain
# words those two that are exceptions, and under the key 0 whether any two are joined.
cpdef enum:
    FORM, ODD_FORM, EVEN_FORM, SHAPE_, TAGGED
    BEFORE = 0
    AFTER = 5
    SHAPES = 10
    FORM_SHAPE
    SHAPE_FORM
    THESE_TWO
    ANY_TWO
    N_TABLES


def read_arcs(const uint64_t[:] deps, const uint64_t[:] offsets, uint64_t no_label, root_labels):
    """Heads as positions, FREE or ROOT, and labels, from spaCy's columns DEP and HEAD.

    deps, offsets (ndarray): A token without a label has no head; a head is the distance to it.
    no_label (int): The label of an arc without one.
    root_labels (Tuple[int, ...]): A token that is its own head is the root if it has one of these labels. With another
        label it stays its own head, which is for the core to refuse.
    RETURNS (Tuple[ndarray, ndarray, int]): The heads, the labels, and the first token whose head is not among these
        tokens, or -1.
    """
    cdef int n = deps.shape[0], i, outside = -1
    cdef int64_t target
    heads, labels = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.uint64)
    cdef int[::1] head_view = heads
    cdef uint64_t[::1] label_view = labels
    for i in range(n):
        target = i + <int64_t>offsets[i]
        label_view[i] = deps[i] if deps[i] != no_label else 0
        if deps[i] == 0:
            head_view[i] = FREE
        elif not 0 <= target < n:
            head_view[i] = FREE
            outside = i if outside < 0 else outside
        elif target == i and deps[i] in root_labels:
            head_view[i] = ROOT
        else:
            head_view[i] = <int>target
    return heads, labels, outside


def mark_questions(uint64_t[:] puncts, const uint64_t[:] forms, strings):
    """Let punctuation be 2 instead of 1 where it is a question mark: "?", "??", "!?", and so on.

    puncts (ndarray): 1 for punctuation, 0 for words. It is changed.
    forms (ndarray): The keys of their texts.
    strings (StringStore): Knows the texts.
    """
    cdef int i
    for i in range(puncts.shape[0]):
        if puncts[i] and "?" in strings[forms[i]]:
            puncts[i] = 2


def find_spaces(const uint64_t[:] forms, const uint64_t[:] shapes, const uint64_t[:] tags, dict is_plain, list tables,
                uint64_t step):
    """Whether a space follows each token, see `spacing`, which counts the same features one by one in training.

    forms, shapes, tags (ndarray): Of the tokens in order.
    is_plain (Dict[int, bool]): For each shape, whether words of this shape are plain.
    tables (List[Dict[int, float]]): What speaks for no space.
    step (int): Joins the keys of two words.
    """
    cdef int n = forms.shape[0], i, turn, last_turn = 0
    cdef bint plain, was_plain = False
    cdef double score
    cdef unordered_map[uint64_t, int] times
    any_two = (<dict>tables[ANY_TWO])[0]
    spaces = [False] * n
    for i in range(n):
        turn = times[forms[i]]     # 0 if the form comes up for an odd time
        times[forms[i]] = 1 - turn
        plain = is_plain[shapes[i]]
        if i:
            if plain and was_plain:
                score = (<dict>tables[THESE_TWO]).get(<uint64_t>(forms[i - 1] * step + forms[i]), any_two)
            else:
                score = weight(tables, BEFORE + SHAPE_, shapes[i - 1]) + weight(tables, AFTER + SHAPE_, shapes[i])
                score += weight(tables, SHAPES, shapes[i - 1] * step + shapes[i])
                if not was_plain:
                    score += weight(tables, BEFORE + FORM, forms[i - 1])
                    score += weight(tables, BEFORE + ODD_FORM + last_turn, forms[i - 1])
                    score += weight(tables, BEFORE + TAGGED, forms[i - 1] * step + tags[i - 1])
                    score += weight(tables, FORM_SHAPE, forms[i - 1] * step + shapes[i])
                if not plain:
                    score += weight(tables, AFTER + FORM, forms[i])
                    score += weight(tables, AFTER + ODD_FORM + turn, forms[i])
                    score += weight(tables, AFTER + TAGGED, forms[i] * step + tags[i])
                    score += weight(tables, SHAPE_FORM, shapes[i - 1] * step + forms[i])
            spaces[i - 1] = score <= 0 if score or any_two < 0 else False
        was_plain, last_turn = plain, turn
    return spaces


cdef inline double weight(list tables, int table, uint64_t key) except? -1:
    return (<dict>tables[table]).get(key, 0.0)


def move(uint64_t[:, ::1] values, const int[:] order, const uint64_t[:] tags, const int[:] heads,
         const uint64_t[:] labels, uint64_t no_label, *, int tag, int dep, int head):
    """Rows of token attributes in a new order, with new tags, labels and heads.

    values (ndarray): A row for each token, in the old order.
    order (ndarray): Old positions in the new order, each once.
    tags, heads, labels (ndarray): By old position; heads are old positions, FREE or ROOT.
    no_label (int): The label of an arc without one, since for spaCy a token without a label has no head.
    tag, dep, head (int): The columns they go to.
    """
    cdef int n = values.shape[0], i, j, k, n_columns = values.shape[1]
    if not order.shape[0] == tags.shape[0] == heads.shape[0] == labels.shape[0] == n:
        for name, column in (("order", order), ("tags", tags), ("heads", heads), ("labels", labels)):
            if len(column) != n:
                raise error("SL006", name=name, got=len(column), n=n)
    moved = np.empty((n, n_columns), dtype=np.uint64)
    place = np.empty(n, dtype=np.int32)
    cdef uint64_t[:, ::1] out = moved
    cdef int[::1] new = place
    new[:] = -1
    for i in range(n):
        k = order[i]
        if not 0 <= k < n or new[k] >= 0:
            raise ValueError(f"'order' does not hold each of the positions 0 to {n - 1} once")
        if not ROOT <= heads[i] < n:
            raise error("SL003", words=[i], head=heads[i], last=n - 1)
        new[k] = i
    for i in range(n):
        k = order[i]
        for j in range(n_columns):
            out[i, j] = values[k, j]
        out[i, tag] = tags[k]
        out[i, dep] = 0 if heads[k] == FREE else labels[k] or no_label
        out[i, head] = <uint64_t><int64_t>(new[heads[k]] - i) if heads[k] >= 0 else 0
    return moved, place
