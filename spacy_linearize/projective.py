"""Projectivity of trees over words in order."""

FREE = -1


def is_projective(heads: list[int]) -> bool:
    """Whether no two arcs cross, and none runs over the root, or over the word that it hangs below in the end.

    heads (List[int]): For each word the position of its head, -1 if it has none, -2 if it is the root.

    Example:

        is_projective([1, -2, 1])   # True
        is_projective([2, 3, -2, 2])   # False
    """
    arcs = [(min(d, h), max(d, h)) for d, h in enumerate(heads) if h >= 0]
    arcs += [(-1, d) for d, h in enumerate(heads) if h < FREE]
    arcs.sort(key=lambda arc: (arc[0], -arc[1]))
    open_ends: list[int] = []
    for low, high in arcs:
        while open_ends and open_ends[-1] <= low:
            open_ends.pop()
        if open_ends and open_ends[-1] < high:
            return False
        open_ends.append(high)
    return FREE not in heads or not any(low < _top(heads, low) < high for low, high in arcs if low >= 0)


def _top(heads: list[int], word: int) -> int:
    """The word that has no head, upwards from here. A head that is no word, or a cycle, is left to others to refuse."""
    for _ in heads:
        if not 0 <= heads[word] < len(heads):
            break
        word = heads[word]
    return word
