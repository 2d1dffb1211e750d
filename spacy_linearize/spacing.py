"""Where a space belongs between two words, as gold Docs show it.

For each form, and for each shape as a fall-back, training counts how often a space stands before it and after it. Two
words are joined when the left one usually has none after it, or the right one usually none before it. Forms that do
both about as often, such as straight quotes, open and close in turn.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from spacy.attrs import ORTH, SHAPE, SPACY
from spacy.tokens import Doc

JOINS_BEFORE, JOINS_AFTER, TURNS = 1, 2, 4
OFTEN = 0.5  # joined more often than this: joined
BOTH_WAYS = (0.2, 0.8)  # joined within these shares on both sides: opens and closes in turn


class Spacing:
    """A table of how forms and shapes stand to their neighbours.

    joins (Dict[int, int]): For each form or shape that is ever joined: a sum of JOINS_BEFORE, JOINS_AFTER, and TURNS.
    """

    def __init__(self) -> None:
        self.joins: dict[int, int] = {}

    def learn(self, docs: Iterable[Doc]) -> None:
        """Count anew in Docs whose spaces are known. Others teach nothing."""
        counts: dict[int, Counter[tuple[int, bool]]] = defaultdict(Counter)  # key -> (side, joined) -> times
        for doc in docs:
            if doc.has_unknown_spaces:
                continue
            keys = doc.to_array([ORTH, SHAPE]).tolist()
            joined = (doc.to_array(SPACY) == 0).tolist()
            for i in range(len(doc)):
                for key in keys[i]:
                    if i > 0:
                        counts[key][JOINS_BEFORE, joined[i - 1]] += 1
                    if i + 1 < len(doc):
                        counts[key][JOINS_AFTER, joined[i]] += 1
        self.joins = {}
        for key, counter in counts.items():
            before, after = (
                counter[side, True] / max(1, counter[side, True] + counter[side, False])
                for side in (JOINS_BEFORE, JOINS_AFTER)
            )
            turns = all(BOTH_WAYS[0] <= share <= BOTH_WAYS[1] for share in (before, after))
            kind = TURNS if turns else JOINS_BEFORE * (before > OFTEN) + JOINS_AFTER * (after > OFTEN)
            self.joins[key] = kind

    def spaces(self, forms: Sequence[int], shapes: Sequence[int]) -> list[bool]:
        """Whether a space follows each of these words, in this order. Single spaces where nothing is known."""
        spaces: list[bool] = []
        joins, joined = self.joins, True
        is_open: set[int] = set()
        for form, shape in zip(forms, shapes, strict=True):
            kind = joins.get(form)
            if kind is None:
                kind = joins.get(shape, 0)
            if kind == TURNS:
                kind = JOINS_BEFORE if form in is_open else JOINS_AFTER
                is_open ^= {form}
            spaces.append(not (joined or kind & JOINS_BEFORE))
            joined = bool(kind & JOINS_AFTER)
        # So far: whether a space stands before. Moved by one, and none at the end.
        return [*spaces[1:], False][: len(spaces)]

    def to_dict(self) -> dict[str, list[int]]:
        """The table, for serialisation."""
        keys = sorted(self.joins)
        return {"keys": keys, "kinds": [self.joins[key] for key in keys]}

    def from_dict(self, table: dict[str, list[int]]) -> None:
        """Replace the table by what `to_dict` gave."""
        self.joins = dict(zip(table["keys"], table["kinds"], strict=True))
