"""From pairs of words to the constraints that the search checks, and contradictions among them."""
from collections import deque

from libcpp.vector cimport vector

from .forest cimport ForestC, is_below

from ...errors import error


cdef int set_precedence(PrecedenceC* precedence, ForestC* forest, pairs) except -1:
    """Lift pairs of canonical numbers."""
    cdef int direction
    precedence.is_active = len(pairs) > 0
    precedence.is_tangled = precedence.is_active and forest.has_arcs and forest.tops.size() > 1
    if not precedence.is_active:
        return 0
    for direction in range(2):
        precedence.words[direction].assign(forest.n, vector[int]())
        precedence.of_head[direction].assign(forest.n, vector[int]())
        precedence.of_member[direction].assign(forest.n, vector[int]())
    for first, second in pairs:
        add_pair(precedence, forest, first, second, 0)
        add_pair(precedence, forest, second, first, 1)
    return 0


cdef int add_pair(PrecedenceC* precedence, ForestC* forest, int first, int second, int direction) except -1:
    """`first` is placed before `second` by searches in this direction."""
    if forest.top[first] != forest.top[second]:
        precedence.words[direction][second].push_back(first)
        return 0
    family, first, second = part_ways(forest, first, second)
    if second == family:
        precedence.of_head[direction][second].push_back(first)
    else:
        precedence.of_member[direction][second].push_back(first if first != family else ~first)
    return 0


cdef part_ways(ForestC* forest, int a, int b):
    """The lowest common ancestor of two words, and the two members of its family that they belong to."""
    cdef int family = a
    while b != family and not is_below(forest, b, family):
        family = forest.head[family]
    return family, member_with(forest, family, a), member_with(forest, family, b)


cdef int member_with(ForestC* forest, int family, int k) except -1:
    while k != family and forest.head[k] != family:
        k = forest.head[k]
    return k


cdef list find_contradiction(ForestC* forest, pairs):
    """A smallest set of pairs that contradict each other in a cycle, or an empty list.

    Cycles are looked for in each family, and among words. Without arcs, and in a whole tree, every contradiction is one
    of these.
    """
    if not pairs:
        return []
    edges = {}
    for pair in pairs:
        first, second = pair
        edges.setdefault(("words", first), {}).setdefault(("words", second), pair)
        if forest.top[first] == forest.top[second]:
            family, first, second = part_ways(forest, first, second)
            edges.setdefault((family, first), {}).setdefault((family, second), pair)
    best = []
    for start in on_cycles(edges):
        found = shortest_cycle(edges, start)
        if found and (not best or len(found) < len(best)):
            best = found
    return best


def on_cycles(edges):
    """The nodes that may be on a cycle: those that a topological sort leaves over. Mostly there are none."""
    n_before = dict.fromkeys(edges, 0)
    for targets in edges.values():
        for target in targets:
            n_before[target] = n_before.get(target, 0) + 1
    todo = [node for node, count in n_before.items() if not count]
    while todo:
        for target in edges.get(todo.pop(), {}):
            n_before[target] -= 1
            if not n_before[target]:
                todo.append(target)
    return [node for node in edges if n_before[node]]


def shortest_cycle(edges, start):
    """The pairs on a shortest path from a node back to itself, or an empty list."""
    came = {start: None}
    todo = deque([start])
    while todo:
        node = todo.popleft()
        for target, pair in edges.get(node, {}).items():
            if target == start:
                way = [pair]
                while came[node] is not None:
                    node, pair = came[node]
                    way.append(pair)
                return way[::-1]
            if target not in came:
                came[target] = node, pair
                todo.append(target)
    return []
