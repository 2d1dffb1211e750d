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
    if FREE not in heads:
        return True
    tops = _tops(heads)
    return not any(low < tops[low] < high for low, high in arcs if low >= 0)


def _tops(heads: list[int]) -> list[int]:
    """For each word the one without a head, upwards from it. A head that is no word, or a cycle, is left to others to
    refuse."""
    tops = [-1] * len(heads)
    for word in range(len(heads)):
        way = []
        while tops[word] < 0:
            tops[word] = word  # so that a cycle ends
            way.append(word)
            if 0 <= heads[word] < len(heads):
                word = heads[word]
        # What has been visited before knows its top.
        for k in way:
            tops[k] = tops[word]
    return tops
