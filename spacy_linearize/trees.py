"""Heads: what FREE and ROOT mean, whether arcs form a cycle or cross, and how crossing arcs are lifted.

A tree, or what is known of one, is a list with one entry a word: the position of its head, FREE or ROOT.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

FREE = -1  # the head is not known
ROOT = -2  # the word is the root
MAX_LIFTABLE = 400  # words: beyond, crossing arcs are not lifted


def find_cycle(heads: Sequence[int]) -> list[int]:
    """The words of one cycle, the smallest position first. Empty if there is none.

    heads (Sequence[int]): Heads of words, in any order. Heads that are no positions end a path.

    Example:

        find_cycle([1, 2, 1, ROOT])   # [1, 2]
    """
    met_from = [-1] * len(heads)  # the word from which each was met first, on the way upwards
    for start in range(len(heads)):
        word = start
        while 0 <= word < len(heads) and met_from[word] < 0:
            met_from[word] = start
            word = heads[word]
        if 0 <= word < len(heads) and met_from[word] == start:
            cycle = [word]
            while heads[cycle[-1]] != word:
                cycle.append(heads[cycle[-1]])
            first = cycle.index(min(cycle))
            return cycle[first:] + cycle[:first]
    return []


def is_projective(heads: Sequence[int]) -> bool:
    """Whether no two arcs cross, and no arc covers the root, or the top of its own component. Cycles are not found.

    heads (Sequence[int]): Heads of words in order.

    Example:

        is_projective([1, ROOT, 1])      # True
        is_projective([2, 3, ROOT, 2])   # False
    """
    arcs = [(min(d, h), max(d, h)) for d, h in enumerate(heads) if h >= 0]
    arcs += [(-1, d) for d, h in enumerate(heads) if h == ROOT]
    arcs.sort(key=lambda arc: (arc[0], -arc[1]))
    open_ends: list[int] = []
    for low, high in arcs:
        while open_ends and open_ends[-1] <= low:
            open_ends.pop()
        if open_ends and open_ends[-1] < high:
            return False
        open_ends.append(high)
    if FREE not in heads:
        return True
    tops = _tops(heads)
    return not any(low < tops[low] < high for low, high in arcs if low >= 0)


def is_projective_forest(heads: Sequence[int]) -> bool:
    """Whether arcs are projective and form no cycle."""
    return is_projective(heads) and not find_cycle(heads)


def crossing_words(heads: Sequence[int]) -> list[int]:
    """Of arcs that are not projective: one word without whose arc they are, or all words with an arc if there is none.

    heads (Sequence[int]): Heads of words in order.
    """
    for word, head in enumerate(heads):
        if head >= 0 and is_projective([*heads[:word], FREE, *heads[word + 1 :]]):
            return [word]
    return [word for word, head in enumerate(heads) if head >= 0]


def lift(heads: Sequence[int], marks: Iterable[int] = ()) -> list[int] | None:
    """Heads of the same words without crossing arcs. A word whose arc crosses others is lifted: it hangs below an
    ancestor of its head, as close to it as possible, and the shortest arcs are lifted first (Nivre and Nilsson 2005).
    Punctuation gets out of the way instead: where a mark hangs so high that the arcs around it cross its own, it is
    lowered to the head of the innermost of these.

    heads (Sequence[int]): Heads of words in order.
    marks (Iterable[int]): The words that are punctuation.
    RETURNS (Optional[List[int]]): None if that cannot be done: because arcs of different components cross or form a
        cycle, because a head is no position, or because there are more than MAX_LIFTABLE words.

    Example:

        lift([2, 3, ROOT, 2])              # [2, 2, ROOT, 2]
        lift([ROOT, 0, 0, 1], marks=[2])   # [ROOT, 0, 1, 1]
    """
    n = len(heads)
    if n > MAX_LIFTABLE or any(head >= n for head in heads) or find_cycle(heads):
        return None
    lifted, with_dependents = list(heads), set(heads)
    leaves = frozenset(mark for mark in marks if heads[mark] >= 0 and mark not in with_dependents)
    _lift_shortest(lifted, besides=leaves)
    _lower(lifted, leaves)
    _lift_shortest(lifted)
    return lifted if is_projective(lifted) else None


def _lift_shortest(heads: list[int], besides: frozenset[int] = frozenset()) -> None:
    """Lift words, the shortest arc first, until no arc covers a word of its component that is not below its head.

    besides (FrozenSet[int]): Leaves that are left out.
    """
    while (word := _shortest_crossing(heads, besides)) is not None:
        heads[word] = heads[heads[word]]


def _shortest_crossing(heads: Sequence[int], besides: frozenset[int]) -> int | None:
    """The word whose arc is the shortest of those to lift."""
    places = _places(heads)
    arcs = ((abs(head - word), word) for word, head in enumerate(heads) if head >= 0 and word not in besides)
    for _, word in sorted(arcs):
        head = places[heads[word]]
        for k in range(min(word, heads[word]) + 1, max(word, heads[word])):
            if places[k].top == head.top and not head.first <= places[k].first <= head.last and k not in besides:
                return word
    return None


def _lower(heads: list[int], leaves: Iterable[int]) -> None:
    """Hang leaves below the deepest head whose arc covers them, if that is below their own."""
    places = _places(heads)
    for leaf in leaves:
        own = places[heads[leaf]]
        around = [
            (places[head].depth, head)
            for word, head in enumerate(heads)
            if head >= 0 and min(word, head) < leaf < max(word, head) and own.first <= places[head].first <= own.last
        ]
        if around:
            heads[leaf] = max(around)[1]


class _Place(NamedTuple):
    """Where a word stands in a walk through its tree, depth first: its number, the last one below it, how deep it is,
    and the top of the tree."""

    first: int
    last: int
    depth: int
    top: int


def _places(heads: Sequence[int]) -> list[_Place]:
    """The place of each word of a forest without cycles."""
    below: list[list[int]] = [[] for _ in heads]
    for word, head in enumerate(heads):
        if head >= 0:
            below[head].append(word)
    n = len(heads)
    depth, top, sizes, walk = [0] * n, list(range(n)), [1] * n, [word for word in range(n) if heads[word] < 0]
    walk.reverse()
    sequence = []
    while walk:
        word = walk.pop()
        sequence.append(word)
        for child in below[word]:
            depth[child], top[child] = depth[word] + 1, top[word]
            walk.append(child)
    for word in reversed(sequence):
        if heads[word] >= 0:
            sizes[heads[word]] += sizes[word]
    places = {word: _Place(i, i + sizes[word] - 1, depth[word], top[word]) for i, word in enumerate(sequence)}
    return [places[word] for word in range(n)]


def _tops(heads: Sequence[int]) -> list[int]:
    """For each word the top of its component. In a cycle that is any of its words."""
    tops = [-1] * len(heads)
    for word in range(len(heads)):
        path = []
        while tops[word] < 0:
            tops[word] = word  # so that a cycle ends
            path.append(word)
            if 0 <= heads[word] < len(heads):
                word = heads[word]
        for k in path:
            tops[k] = tops[word]
    return tops
