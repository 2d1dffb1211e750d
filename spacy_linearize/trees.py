"""Heads: what FREE and ROOT mean, and whether arcs form a cycle or cross.

A tree, or what is known of one, is a list with one entry a word: the position of its head, FREE or ROOT.
"""

from collections.abc import Sequence

FREE = -1  # the head is not known
ROOT = -2  # the word is the root


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
