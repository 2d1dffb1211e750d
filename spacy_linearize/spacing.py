"""Where a space belongs between two words, as gold Docs show it.

A small averaged perceptron decides for each gap from the words on both sides: their forms, their shapes, and whether a
form comes up for an odd or an even time, by which straight quotes open and close in turn.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

from spacy.attrs import ORTH, SHAPE, SPACY
from spacy.tokens import Doc

EPOCHS = 5
# What each table of weights is for: four for the word before the gap, four for the word after it.
FORM, ODD_FORM, EVEN_FORM, SHAPE_ = range(4)
BEFORE, AFTER = 0, 4
N_TABLES = 8

Features = list[tuple[int, int]]


class Spacing:
    """Weights for "no space here", by table and key. Without any, all words are set apart by single spaces."""

    def __init__(self) -> None:
        self.tables: list[dict[int, float]] = [{} for _ in range(N_TABLES)]

    def learn(self, docs: Iterable[Doc]) -> None:
        """Learn anew from Docs whose spaces are known. Others teach nothing."""
        gaps: list[tuple[Features, bool]] = []
        for doc in docs:
            if not doc.has_unknown_spaces:
                keys = doc.to_array([ORTH, SHAPE])
                joined = (doc.to_array(SPACY) == 0).tolist()
                gaps.extend(zip(_gaps(keys[:, 0].tolist(), keys[:, 1].tolist()), joined, strict=False))
        self.tables = [{} for _ in range(N_TABLES)]
        totals: list[dict[int, float]] = [{} for _ in range(N_TABLES)]
        clock = 0
        for _ in range(EPOCHS):
            for features, joined_here in gaps:
                clock += 1
                if self._is_joined(features) != joined_here:
                    change = 1.0 if joined_here else -1.0
                    for table, key in features:
                        self.tables[table][key] = self.tables[table].get(key, 0.0) + change
                        totals[table][key] = totals[table].get(key, 0.0) + change * clock
        for weights, total in zip(self.tables, totals, strict=True):
            for key in weights:
                weights[key] -= total[key] / (clock + 1)

    def spaces(self, forms: Sequence[int], shapes: Sequence[int]) -> list[bool]:
        """Whether a space follows each of these words, in this order."""
        # The same sums as in _is_joined, without a list of features for each gap.
        form_before, odd_before, even_before, shape_before = (table.get for table in self.tables[BEFORE:AFTER])
        form_after, odd_after, even_after, shape_after = (table.get for table in self.tables[AFTER:])
        spaces: list[bool] = []
        parity: dict[int, int] = {}
        before = 0.0
        for form, shape in zip(forms, shapes, strict=True):
            parity[form] = odd = 1 - parity.get(form, 0)
            after = form_after(form, 0.0) + shape_after(shape, 0.0) + (odd_after if odd else even_after)(form, 0.0)
            spaces.append(before + after <= 0)
            before = form_before(form, 0.0) + shape_before(shape, 0.0) + (odd_before if odd else even_before)(form, 0.0)
        return [*spaces[1:], False] if spaces else []

    def _is_joined(self, features: Features) -> bool:
        tables = self.tables
        score = 0.0
        for table, key in features:
            score += tables[table].get(key, 0.0)
        return score > 0

    def to_dict(self) -> dict[str, list[list[float]]]:
        """The tables, for serialisation."""
        tables = [sorted(table.items()) for table in self.tables]
        return {
            "keys": [[key for key, _ in table] for table in tables],
            "weights": [[weight for _, weight in table] for table in tables],
        }

    def from_dict(self, content: dict[str, list[list[float]]]) -> None:
        """Replace the tables by what `to_dict` gave."""
        if len(content["keys"]) != N_TABLES:
            raise ValueError(f"{len(content['keys'])} tables of spaces instead of {N_TABLES}")
        for weights in content["weights"]:
            if not all(type(weight) in (int, float) and math.isfinite(weight) for weight in weights):
                raise ValueError("weights of spaces that are not numbers")
        self.tables = [
            dict(zip(map(int, keys), weights, strict=True))
            for keys, weights in zip(content["keys"], content["weights"], strict=True)
        ]


def _gaps(forms: Sequence[int], shapes: Sequence[int]) -> Iterator[Features]:
    """The features of each gap between two words."""
    before: Features = []
    odd: set[int] = set()
    for form, shape in zip(forms, shapes, strict=True):
        odd ^= {form}
        parity = ODD_FORM if form in odd else EVEN_FORM
        if before:
            yield [*before, (AFTER + FORM, form), (AFTER + parity, form), (AFTER + SHAPE_, shape)]
        before = [(BEFORE + FORM, form), (BEFORE + parity, form), (BEFORE + SHAPE_, shape)]
