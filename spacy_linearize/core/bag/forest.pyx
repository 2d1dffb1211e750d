"""Builds the forest of given arcs: refuses what is not one, then numbers the words canonically.

Canonical means: by content alone. The key of a word is a hash of the word and of its whole subtree; siblings, and the
tops of components, are sorted by this key and numbered in preorder. Words with equal keys under the same head ("twins")
have equal subtrees: any numbering of them gives the same arrays, and nothing that follows can depend on the input order.
Which twin is which may still matter to the caller: ties are broken by annotation (`ties`), then by input position.
"""
from libc.stdint cimport uint64_t
from libcpp.algorithm cimport sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from ..hashing cimport mix

from ... import trees
from ...errors import error


cdef vector[int] check_heads(const int[:] heads, object texts):
    """Refuse what is not a forest with at most one root. Returns the words with dependents before heads."""
    cdef int n = heads.shape[0]
    cdef int k, h, root = -1
    cdef vector[int] waiting, upwards
    waiting.resize(n)
    for k in range(n):
        h = heads[k]
        if h == ROOT:
            if root >= 0:
                raise error("SL002", words=[i for i in range(n) if heads[i] == ROOT], texts=texts)
            root = k
        elif h == k:
            raise error("SL004", words=[k], texts=texts)
        elif h >= n or h < ROOT:
            raise error("SL003", words=[k], texts=texts, head=h, last=n - 1)
        elif h >= 0:
            waiting[h] += 1
    for k in range(n):
        if waiting[k] == 0:
            upwards.push_back(k)
    k = 0
    while k < <int>upwards.size():
        h = heads[upwards[k]]
        if h >= 0:
            waiting[h] -= 1
            if waiting[h] == 0:
                upwards.push_back(h)
        k += 1
    if <int>upwards.size() < n:
        raise error("SL001", words=trees.find_cycle(list(heads)), texts=texts)
    return upwards


def is_projective(const int[:] heads) -> bool:
    """As `trees.is_projective`, for an array. Whole trees, which most sentences have, take a tenth of the time."""
    return is_whole_tree(heads) or trees.is_projective(list(heads))


cdef bint is_whole_tree(const int[:] heads) except -1:
    """Whether heads, in order, are one tree each of whose subtrees is a stretch of the sentence."""
    cdef vector[int] waiting, first, last, size, upwards
    cdef int n = heads.shape[0], i, k, h, n_roots = 0
    waiting.assign(n, 0)
    for k in range(n):
        if heads[k] == FREE or not ROOT <= heads[k] < n:
            return False
        if heads[k] == ROOT:
            n_roots += 1
        else:
            waiting[heads[k]] += 1
    if n_roots != 1:
        return False
    size.assign(n, 1)
    for k in range(n):
        first.push_back(k)
        last.push_back(k)
        if waiting[k] == 0:
            upwards.push_back(k)
    # Dependents before heads. Words of a cycle, and what hangs above it, are never reached.
    for i in range(n):
        if i == <int>upwards.size():
            return False
        k = upwards[i]
        if last[k] - first[k] + 1 != size[k]:
            return False
        h = heads[k]
        if h >= 0:
            if first[k] < first[h]:
                first[h] = first[k]
            if last[k] > last[h]:
                last[h] = last[k]
            size[h] += size[k]
            waiting[h] -= 1
            if waiting[h] == 0:
                upwards.push_back(h)
    return True


cdef Layout lay_out(const int[:] heads, vector[uint64_t]& content, vector[uint64_t]& ties, object texts):
    """The canonical forest over input words with these heads and content hashes. Among equal words, the ties of their
    subtrees decide."""
    cdef int n = heads.shape[0]
    cdef vector[int] upwards = check_heads(heads, texts)
    cdef vector[uint64_t] key, tie
    cdef int k, h
    # A word's key includes the sum of its dependents' keys, which does not depend on their order. So does its tie.
    key.resize(n)
    tie.resize(n)
    for k in upwards:
        key[k] = mix(content[k], key[k])
        tie[k] = mix(ties[k], tie[k])
        if heads[k] >= 0:
            key[heads[k]] += mix(0, key[k])
            tie[heads[k]] += mix(key[k], tie[k])

    # Everything sorted by head, key, tie, position: tops first (FREE and ROOT sort before 0), then each family as a run.
    cdef vector[pair[int, pair[uint64_t, pair[uint64_t, int]]]] by_head
    cdef vector[int] family_start, family_end
    by_head.resize(n)
    for k in range(n):
        h = heads[k] if heads[k] >= 0 else -1
        by_head[k] = pair[int, pair[uint64_t, pair[uint64_t, int]]](
            h, pair[uint64_t, pair[uint64_t, int]](key[k], pair[uint64_t, int](tie[k], k)))
    sort(by_head.begin(), by_head.end())
    family_start.resize(n + 1)
    family_end.resize(n + 1)
    for k in range(n):
        h = by_head[k].first + 1
        if family_end[h] == 0:
            family_start[h] = k
        family_end[h] = k + 1

    cdef Layout layout = Layout()
    cdef ForestC* forest = &layout.forest
    cdef vector[int] todo, place  # place in by_head of each canonical number
    cdef int number = 0, i, parent
    forest.n = n
    forest.has_arcs = False
    layout.position.resize(n)
    layout.number.resize(n)
    place.resize(n)
    for i in range(family_end[0] - 1, -1, -1):
        todo.push_back(i)
    while not todo.empty():
        i = todo.back()
        todo.pop_back()
        k = by_head[i].second.second.second
        layout.position[number] = k
        layout.number[k] = number
        place[number] = i
        number += 1
        for i in range(family_end[k + 1] - 1, family_start[k + 1] - 1, -1):
            todo.push_back(i)

    forest.head.resize(n)
    forest.top.resize(n)
    forest.depth.assign(n, 0)
    forest.n_children.resize(n)
    forest.twin.assign(n, -1)
    forest.twin_above.assign(n, -1)
    forest.size.assign(n, 1)
    for k in range(n):
        h = heads[layout.position[k]]
        if h >= 0:
            parent = layout.number[h]
            forest.head[k] = parent
            forest.top[k] = forest.top[parent]
            forest.depth[k] = forest.depth[parent] + 1
            forest.twin_above[k] = forest.twin_above[parent]
            forest.n_children[parent] += 1
            forest.has_arcs = True
        else:
            forest.head[k] = h
            forest.top[k] = k
            forest.tops.push_back(k)
        i = place[k]
        if i > 0 and by_head[i - 1].first == by_head[i].first and by_head[i - 1].second.first == by_head[i].second.first:
            forest.twin[k] = layout.number[by_head[i - 1].second.second.second]
            forest.twin_above[k] = k
    for k in range(n - 1, -1, -1):
        if forest.head[k] >= 0:
            forest.size[forest.head[k]] += forest.size[k]
    return layout
