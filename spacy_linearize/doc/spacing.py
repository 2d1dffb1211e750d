"""Where a space belongs between two words, as gold Docs show it.

A small averaged perceptron decides for each gap from the words on both sides: their forms, their shapes, and whether a
form occurs for an odd or an even time, by which straight quotes open and close. Two plain words, of letters and digits,
are separated or joined as most such pairs are, unless training shows otherwise for this pair ("gon", "na"): how "b"
stands in "(b)" or "4b" says nothing about "gate b".
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from spacy.attrs import ORTH, SHAPE, SPACY
from spacy.strings import StringStore
from spacy.tokens import Doc

from ..core.records import Array
from .arrays import AFTER, ANY_TWO, BEFORE, EVEN_FORM, FORM, N_TABLES, ODD_FORM, SHAPE_, THESE_TWO, find_spaces

EPOCHS = 5
STEP = 0x9E3779B97F4A7C15  # joins the keys of two words; odd, so that nothing is lost

Features = list[tuple[int, int]]
Table = dict[int, float]


class Spacing:
    """What speaks for "no space here", by table and key. With empty tables, single spaces separate all words."""

    def __init__(self) -> None:
        self.tables: list[Table] = [{} for _ in range(N_TABLES)]
        self._is_plain: dict[int, bool] = {}  # by shape: whether words of it have letters and digits only

    def learn(self, docs: Iterable[Doc]) -> None:
        """Learn anew from Docs whose spaces are known. Other Docs are ignored."""
        gaps: list[tuple[Features, bool]] = []
        plain: dict[int, int] = defaultdict(int)
        for doc in docs:
            if not doc.has_unknown_spaces:
                keys = doc.to_array([ORTH, SHAPE])
                forms, shapes = keys[:, 0].tolist(), keys[:, 1].tolist()
                joined = (doc.to_array(SPACY) == 0).tolist()
                found = _gaps(forms, shapes, [doc.vocab.strings[shape].isalnum() for shape in shapes])
                for features, joined_here in zip(found, joined, strict=False):
                    table, key = features[0]
                    if table == THESE_TWO:
                        plain[key] += 1 if joined_here else -1
                    else:
                        gaps.append((features, joined_here))
        self.tables = [{} for _ in range(N_TABLES)]
        totals: list[Table] = [{} for _ in range(N_TABLES)]
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
        if plain:
            n_joined = sum(plain.values())
            self.tables[ANY_TWO] = {0: float(n_joined)}
            self.tables[THESE_TWO] = {key: float(n) for key, n in plain.items() if (n > 0) != (n_joined > 0)}

    def spaces(self, forms: Array, shapes: Array, strings: StringStore) -> list[bool]:
        """Whether a space follows each of these words, in this order.

        forms, shapes (ndarray): The keys of the words, and of their shapes.
        strings (StringStore): Knows the texts of the shapes.
        """
        for key in shapes.tolist():
            if key not in self._is_plain:
                self._is_plain[key] = strings[key].isalnum()
        return find_spaces(forms, shapes, self._is_plain, self.tables, STEP)

    def _is_joined(self, features: Features) -> bool:
        return sum(self.tables[table].get(key, 0.0) for table, key in features) > 0

    def to_arrays(self) -> dict[str, Array]:
        """The tables one after the other, for serialisation."""
        tables = [sorted(table.items()) for table in self.tables]
        return {
            "spaces.lengths": np.array([len(table) for table in tables], dtype=np.uint32),
            "spaces.keys": np.array([key for table in tables for key, _ in table], dtype=np.uint64),
            "spaces.weights": np.array([weight for table in tables for _, weight in table], dtype=np.float64),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> "Spacing":
        """The inverse of `to_arrays`, with checks."""
        lengths, keys, weights = (arrays[f"spaces.{name}"] for name in ("lengths", "keys", "weights"))
        if len(lengths) != N_TABLES or int(lengths.sum()) != len(keys) or len(keys) != len(weights):
            raise ValueError("tables of spaces that do not add up")
        if weights.dtype.kind != "f" or keys.dtype.kind != "u" or not np.isfinite(weights).all():
            raise ValueError("weights of spaces that are not numbers")
        spacing = cls()
        entries = list(zip(keys.tolist(), weights.tolist(), strict=True))
        ends = np.cumsum(lengths, dtype=np.int64).tolist()
        spacing.tables = [dict(entries[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
        if [*spacing.tables[ANY_TWO]] != [0] and (spacing.tables[ANY_TWO] or spacing.tables[THESE_TWO]):
            raise ValueError("a table of spaces between plain words without their default")
        return spacing


def _gaps(forms: Sequence[int], shapes: Sequence[int], plain: Sequence[bool]) -> Iterator[Features]:
    """The features of each gap between two words. `arrays.find_spaces` sums up the same, faster."""
    parity: dict[int, int] = {}
    last = (0, 0, 0, False)
    for i, (form, shape, is_plain) in enumerate(zip(forms, shapes, plain, strict=True)):
        parity[form] = odd = ODD_FORM if parity.get(form) != ODD_FORM else EVEN_FORM
        if i:
            form_before, shape_before, odd_before, was_plain = last
            if was_plain and is_plain:
                yield [(THESE_TWO, (form_before * STEP + form) % (1 << 64))]
            else:
                yield [
                    (BEFORE + FORM, form_before),
                    (BEFORE + odd_before, form_before),
                    (BEFORE + SHAPE_, shape_before),
                    (AFTER + FORM, form),
                    (AFTER + odd, form),
                    (AFTER + SHAPE_, shape),
                ]
        last = (form, shape, odd, is_plain)
