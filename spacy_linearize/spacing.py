"""Where a space belongs between two words, as gold Docs show it.

For each form, and for each shape as a fall-back, training counts how often a space stands before it and after it. Two
words are joined when the left one usually has none after it, or the right one usually none before it. Forms that do
both about as often, such as straight quotes, open and close in turn.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from spacy.attrs import ORTH, SHAPE
from spacy.tokens import Doc

BEFORE, AFTER = 0, 1
OFTEN = 0.5  # joined more often than this: joined
BOTH_WAYS = (0.2, 0.8)  # joined on either side within these shares: opens and closes in turn


class Spacing:
    """A table of how often forms and shapes are joined to the word before, and after."""

    def __init__(self) -> None:
        self.joined: dict[int, tuple[float, float]] = {}

    def learn(self, docs: Iterable[Doc]) -> None:
        """Count anew in Docs whose spaces are known. Others teach nothing."""
        counts: dict[int, Counter[tuple[int, bool]]] = defaultdict(Counter)  # key -> (side, joined) -> times
        for doc in docs:
            if doc.has_unknown_spaces:
                continue
            keys = doc.to_array([ORTH, SHAPE]).reshape(-1, 2).tolist()
            for i, token in enumerate(doc):
                for key in keys[i]:
                    if i > 0:
                        counts[key][BEFORE, not doc[i - 1].whitespace_] += 1
                    if i + 1 < len(doc):
                        counts[key][AFTER, not token.whitespace_] += 1
        self.joined = {}
        for key, counter in counts.items():
            left, right = (
                counter[side, True] / max(1, counter[side, True] + counter[side, False]) for side in (BEFORE, AFTER)
            )
            if left or right:
                self.joined[key] = (left, right)

    def spaces(self, forms: Sequence[int], shapes: Sequence[int]) -> list[bool]:
        """Whether a space follows each of these words, in this order. Single spaces where nothing is known."""
        if not self.joined or not len(forms):
            return [True] * max(0, len(forms) - 1) + [False] * min(1, len(forms))
        is_open: dict[int, bool] = {}
        before, after = [], []
        for form, shape in zip(forms, shapes, strict=True):
            left, right = self.joined.get(form) or self.joined.get(shape) or (0.0, 0.0)
            if all(BOTH_WAYS[0] <= share <= BOTH_WAYS[1] for share in (left, right)):
                closes = is_open.get(form, False)
                is_open[form] = not closes
                left, right = (1.0, 0.0) if closes else (0.0, 1.0)
            before.append(left > OFTEN)
            after.append(right > OFTEN)
        return [not (after[i] or before[i + 1]) for i in range(len(before) - 1)] + [False]

    def to_arrays(self) -> tuple[list[int], list[float]]:
        """Keys, and the shares before and after for each key, for serialisation."""
        keys = sorted(self.joined)
        return keys, [share for key in keys for share in self.joined[key]]

    def from_arrays(self, keys: Sequence[int], shares: Sequence[float]) -> None:
        """Replace the table by what `to_arrays` gave."""
        pairs = np.asarray(shares, dtype=float).reshape(-1, 2).tolist()
        self.joined = {key: (left, right) for key, (left, right) in zip(keys, pairs, strict=True)}
