"""From a gold order and tree to the one derivation that leads there.

Equal words make several derivations out of one result. Only one of them is legal: of equal subtrees the first comes first.
"""
import numpy as np
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport PackedBag
from ..bag.forest cimport FREE, ROOT, ForestC, is_untouched, is_whole_tree
from ..bag.word cimport LABEL, TAG

from ...errors import error
from ...trees import crossing_words, find_cycle


cdef TargetC make_target(PackedBag bag, order, heads, tags, labels, bint mirrored, bint needs_tree) except *:
    """The gold order and tree of a bag, renamed so that of equal subtrees the first is always shifted first.

    order (Sequence[int]): Input positions in gold order.
    heads, tags, labels (Sequence[int]): By input position; heads as in `PackedBag`.
    needs_tree (bool): Whether the system needs the whole tree. If not, heads may be FREE.
    """
    cdef TargetC gold
    cdef ForestC* forest = &bag.c.forest
    cdef int n = forest.n, i, k
    cdef const int[:] gold_order = np.asarray(order, dtype=np.int32), gold_heads = np.asarray(heads, dtype=np.int32)
    cdef const uint64_t[:] gold_tags = np.asarray(tags, dtype=np.uint64), gold_labels = np.asarray(labels, dtype=np.uint64)
    for column, values in (("heads", gold_heads), ("tags", gold_tags), ("labels", gold_labels)):
        if len(values) != n:
            raise error("SL006", name=column, got=len(values), n=n)
    cdef vector[int] name = name_by_first_use(bag, gold_order, mirrored)
    cdef bint has_tree = True
    cdef int n_roots = 0
    for i in range(n):
        if not ROOT <= gold_heads[i] < n:
            raise error("SL003", words=[i], texts=bag.texts, head=gold_heads[i], last=n - 1)
        has_tree &= gold_heads[i] != FREE
        n_roots += gold_heads[i] == ROOT
    if n and (n_roots != 1 if has_tree else n_roots > 1 or needs_tree):
        raise error("SL012", n=n_roots)
    gold.order.resize(n)
    gold.head.resize(n)
    gold.n_dependents.resize(n)
    gold.tag.resize(n)
    gold.label.resize(n)
    for i in range(n):
        gold.order[n - 1 - i if mirrored else i] = name[bag.layout.number[gold_order[i]]]
        k = name[bag.layout.number[i]]
        gold.head[k] = gold_heads[i]
        if gold_heads[i] >= 0:
            gold.head[k] = name[bag.layout.number[gold_heads[i]]]
        gold.tag[k] = gold_tags[i]
        gold.label[k] = gold_labels[i]
        if forest.head[k] != FREE and forest.head[k] != gold.head[k]:
            raise error("SL014", words=[i], texts=bag.texts)
        if bag.c.words[k].tag_given or not gold.tag[k]:
            gold.tag[k] = bag.c.words[k].columns[<int>TAG]
        if bag.c.words[k].columns[<int>LABEL]:
            gold.label[k] = bag.c.words[k].columns[<int>LABEL]
    for k in range(n):
        if gold.head[k] >= 0:
            gold.n_dependents[gold.head[k]] += 1
    if has_tree:
        check_projective(gold_order, gold_heads, bag.texts)
    return gold


cdef int check_projective(const int[:] order, const int[:] heads, texts) except -1:
    cdef int n = order.shape[0], i
    place, in_order = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    cdef int[::1] places = place, heads_in_order = in_order
    for i in range(n):
        places[order[i]] = i
    for i in range(n):
        heads_in_order[i] = places[heads[order[i]]] if heads[order[i]] >= 0 else ROOT
    if n and not is_whole_tree(heads_in_order):
        found = in_order.tolist()
        raise error("SL011", words=[order[i] for i in find_cycle(found) or crossing_words(found)], texts=texts)
    return 0


cdef vector[int] name_by_first_use(PackedBag bag, const int[:] order, bint mirrored) except *:
    """For each canonical number its name in the derivation. Twins swap names, with their subtrees, where the
    later one comes first in the gold order.

    mirrored (bool): The order is to be read from right to left.
    """
    cdef ForestC* forest = &bag.c.forest
    cdef int n = forest.n, word, i, k, a, first, j, low, high
    cdef bint is_order = order.shape[0] == n, has_twins = False
    cdef vector[int] name, path
    cdef vector[char] is_met
    cdef vector[uint64_t] shifted
    is_met.resize(n)
    for i in range(max(n, <int>order.shape[0])):
        is_order = is_order and 0 <= order[i] < n and not is_met[order[i]]
        if not is_order:
            raise error("SL010", n=n, last=n - 1)
        is_met[order[i]] = True
    for k in range(n):
        name.push_back(k)
        has_twins |= forest.twin[k] >= 0
    if not has_twins:
        return name
    shifted.resize((n + 63) // 64 + 1)
    for i in range(n):
        word = bag.layout.number[order[n - 1 - i if mirrored else i]]
        k = name[word]
        path.clear()
        a = forest.twin_above[k]
        while a >= 0:
            path.push_back(a)
            a = forest.twin_above[forest.head[a]] if forest.head[a] >= 0 else -1
        while not path.empty():
            # From the outermost twin inwards; a swap further out has moved the whole subtree.
            low = path.back()
            path.pop_back()
            first = low
            while forest.twin[first] >= 0 and is_untouched(forest, shifted.data(), forest.twin[first]):
                first = forest.twin[first]
            if first == low or not is_untouched(forest, shifted.data(), low):
                continue
            high = low + forest.size[low]
            for j in range(n):
                if low <= name[j] < high:
                    name[j] += first - low
                elif first <= name[j] < first + forest.size[first]:
                    name[j] += low - first
            for j in range(<int>path.size()):
                path[j] += first - low
        k = name[word]
        shifted[k >> 6] |= (<uint64_t>1) << (k & 63)
    return name
