"""What to move so that one order becomes another."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from spacy.tokens import Doc, Span


@dataclass(frozen=True)
class Move:
    """Some words that stand in a wrong place, and where they belong.

    span (Span): The words.
    before (Optional[int]): The position of the token that they belong before. None: the end.
    """

    span: Span
    before: int | None

    def __str__(self) -> str:
        place = "to the end" if self.before is None else f"before '{self.span.doc[self.before].text}'"
        return f"'{self.span.text}' {place}"


def find_moves(doc: Doc, order: Sequence[int]) -> list[Move]:
    """The moves that bring the words of a Doc into another order, with as few words moved as possible: all but a
    longest increasing subsequence. Words of the same form count as the same.

    order (Sequence[int]): Positions in the Doc.
    RETURNS (List[Move]): In the sequence of the new order.

    Example:

        find_moves(doc, result.best_order)
    """
    order = _without_equal_words(doc, order)
    stays = _longest_increasing(order)
    moves: list[Move] = []
    start = end = -1  # of the words that move, and are not in `moves` yet
    for k in (*order, None):
        if start >= 0 and k != end:
            before = next((later for later in order[order.index(end - 1) + 1 :] if later in stays), None)
            moves.append(Move(doc[start:end], before))
            start = end = -1
        if k is not None and k not in stays:
            start, end = (k if start < 0 else start), k + 1
    return moves


def _without_equal_words(doc: Doc, order: Sequence[int]) -> list[int]:
    """The same texts in the same sequence, where equal words do not pass each other."""
    places: dict[int, list[int]] = defaultdict(list)
    for token in doc:
        places[token.orth].append(token.i)
    left = {orth: iter(found) for orth, found in places.items()}
    return [next(left[doc[k].orth]) for k in order]


def _longest_increasing(values: Sequence[int]) -> set[int]:
    tops: list[int] = []  # the smallest last value of an increasing subsequence of each length
    before: dict[int, int | None] = {}
    for value in values:
        n = bisect_left(tops, value)
        before[value] = tops[n - 1] if n else None
        tops[n:] = [value, *tops[n + 1 :]] if n < len(tops) else [value]
    found = set()
    last = tops[-1] if tops else None
    while last is not None:
        found.add(last)
        last = before[last]
    return found
