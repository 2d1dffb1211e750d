"""From a gold order and tree to the one derivation that leads there.

Equal words make several derivations out of one result. Only one of them is legal: of equal subtrees the first comes first.
"""
import numpy as np
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport PackedBag
from ..bag.forest cimport ForestC, is_untouched
from ..bag.word cimport LABEL, TAG

from ...errors import error
from ..bag.bag import FREE, ROOT


cdef TargetC make_target(PackedBag bag, order, heads, tags, labels, bint mirrored, bint needs_tree) except *:
    """The gold order and tree of a bag, renamed so that of equal subtrees the first is always shifted first.

    order (Sequence[int]): Input positions in gold order.
    heads, tags, labels (Sequence[int]): By input position; heads as in `PackedBag`.
    needs_tree (bool): Whether the system needs the whole tree. If not, heads may be FREE.
    """
    cdef TargetC gold
    cdef ForestC* forest = &bag.c.forest
    cdef int n = forest.n, i, k
    cdef vector[int] name = name_by_first_use(bag, order if not mirrored else order[::-1])
    heads = np.asarray(heads)
    cdef bint has_tree = not (heads == FREE).any()
    n_roots = int((heads == ROOT).sum())
    if n and (n_roots != 1 if has_tree else n_roots > 1 or needs_tree):
        raise error("SL012", n=n_roots)
    gold.order.resize(n)
    gold.head.resize(n)
    gold.n_dependents.resize(n)
    gold.tag.resize(n)
    gold.label.resize(n)
    for i in range(n):
        gold.order[n - 1 - i if mirrored else i] = name[bag.layout.number[order[i]]]
        k = name[bag.layout.number[i]]
        if not ROOT <= heads[i] < n:
            raise error("SL003", words=[i], texts=bag.texts, head=int(heads[i]), last=n - 1)
        gold.head[k] = name[bag.layout.number[heads[i]]] if heads[i] >= 0 else heads[i]
        gold.tag[k] = tags[i]
        gold.label[k] = labels[i]
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
        check_projective(bag, &gold, name)
    return gold


cdef vector[int] name_by_first_use(PackedBag bag, order) except *:
    """For each canonical number its name in the derivation. Twins swap names, with all that hangs on them, where the
    gold order comes to the later one first."""
    cdef ForestC* forest = &bag.c.forest
    cdef int n = forest.n, word, k, a, first, j, low, high
    cdef vector[int] name, path
    cdef vector[uint64_t] shifted
    if sorted(order) != list(range(n)):
        raise error("SL010", n=n, last=n - 1)
    shifted.resize((n + 63) // 64 + 1)
    for k in range(n):
        name.push_back(k)
    for word in order:
        word = bag.layout.number[word]
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


cdef int check_projective(PackedBag bag, TargetC* gold, vector[int]& name) except -1:
    """Every subtree must be one unbroken stretch of the order. A cycle never gets complete, so it is found too."""
    cdef int n = gold.order.size(), i, k, h
    cdef vector[int] first, last, size, missing, upwards
    first.resize(n)
    last.resize(n)
    size.assign(n, 1)
    missing = gold.n_dependents
    for i in range(n):
        k = gold.order[i]
        first[k] = last[k] = i
    for k in range(n):
        if missing[k] == 0:
            upwards.push_back(k)
    i = 0
    while i < <int>upwards.size():
        k = upwards[i]
        h = gold.head[k]
        if last[k] - first[k] + 1 != size[k]:
            break
        if h >= 0:
            if first[k] < first[h]:
                first[h] = first[k]
            if last[k] > last[h]:
                last[h] = last[k]
            size[h] += size[k]
            missing[h] -= 1
            if missing[h] == 0:
                upwards.push_back(h)
        i += 1
    if i < n:
        k = upwards[i] if i < <int>upwards.size() else [j for j in range(n) if missing[j]][0]
        word = [j for j in range(n) if name[j] == k][0]
        raise error("SL011", words=[bag.layout.position[word]], texts=bag.texts)
    return 0
