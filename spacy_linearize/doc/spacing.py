"""Where a space belongs between two tokens, as gold text shows it.

A small averaged perceptron decides for each gap from the tokens on both sides: their forms and tags, by which hyphens
differ from dashes, their shapes, and whether a form occurs for an odd or an even time, by which straight quotes open
and close. Two plain words, of letters and digits, are separated or joined as most such pairs are, unless training shows
otherwise for this pair ("gon", "na"): how "b" stands in "(b)" or "4b" says nothing about "gate b".
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from spacy.strings import StringStore, get_string_id

from ..core.records import Array
from .arrays import (
    AFTER,
    ANY_TWO,
    BEFORE,
    EVEN_FORM,
    FORM,
    FORM_SHAPE,
    N_TABLES,
    ODD_FORM,
    SHAPE_,
    SHAPE_FORM,
    SHAPES,
    TAGGED,
    THESE_TWO,
    find_spaces,
)

EPOCHS = 5
STEP = 0x9E3779B97F4A7C15  # joins the keys of two words; odd, so that nothing is lost
LEAST = 0.05  # lighter weights are dropped
# How the tables are named where they are stored.
NAMES = (
    *(f"{side}: {what}" for side in ("before", "after") for what in ("form", "odd form", "even form", "shape", "tag")),
    "shapes",
    "form, shape",
    "shape, form",
    "plain pair",
    "any",
)

Key = str | tuple[str, str]
Features = list[tuple[int, Key]]
Table = dict[Key, float]


class Piece(NamedTuple):
    """A token of a text: its form, shape and tag, and whether a space follows."""

    form: str
    shape: str
    tag: str
    space: bool


class Spacing:
    """What speaks for "no space here", by table and key.

    joins (bool): Whether tokens are joined where nothing is known. Otherwise single spaces separate them.
    """

    def __init__(self, joins: bool = False) -> None:
        self.tables: list[Table] = [{} for _ in range(N_TABLES)]
        self.tables[ANY_TWO][""] = 1.0 if joins else -1.0
        self._is_plain: dict[int, bool] = {}  # by shape: whether words of it have letters and digits only
        self._keyed: list[dict[int, float]] | None = None

    def learn(self, texts: Iterable[list[Piece]]) -> None:
        """Learn anew from texts."""
        gaps: list[tuple[Features, bool]] = []
        plain: dict[Key, int] = defaultdict(int)
        for pieces in texts:
            # Once more without tags, which may be missing or wrong when they are needed.
            for version in (pieces, [piece._replace(tag="") for piece in pieces]):
                for features, piece in zip(_gaps(version), pieces, strict=False):
                    table, key = features[0]
                    if table == THESE_TWO:
                        plain[key] += -1 if piece.space else 1
                    else:
                        gaps.append((features, not piece.space))
        if not gaps and not plain:
            return
        n_joined = sum(plain.values()) or (1 if self.tables[ANY_TWO][""] > 0 else -1)
        self.tables = _train(gaps)
        # Of plain words, only the pairs that are exceptions.
        self.tables[ANY_TWO][""] = math.copysign(1.0, n_joined)
        self.tables[THESE_TWO] = {key: math.copysign(1.0, n) for key, n in plain.items() if n * n_joined < 0}
        self._keyed = None

    def spaces(self, forms: Array, shapes: Array, tags: Array, strings: StringStore) -> list[bool]:
        """Whether a space follows each of these tokens, in this order.

        forms, shapes, tags (ndarray): The keys of the tokens, of their shapes and of their tags.
        strings (StringStore): Knows the texts of the shapes.
        """
        for key in shapes.tolist():
            if key not in self._is_plain:
                self._is_plain[key] = strings[key].isalnum()
        if self._keyed is None:
            self._keyed = [{_number(key): weight for key, weight in table.items()} for table in self.tables]
        return find_spaces(forms, shapes, tags, self._is_plain, self._keyed, STEP)

    def to_dict(self) -> dict[str, Any]:
        """The tables by name, for JSON; keys that are pairs as dicts in dicts."""
        stored: dict[str, Any] = {}
        for name, table in zip(NAMES, self.tables, strict=True):
            own: dict[str, Any] = {}
            for key, weight in sorted(table.items()):
                if isinstance(key, tuple):
                    own.setdefault(key[0], {})[key[1]] = weight
                else:
                    own[key] = weight
            stored[name] = own
        return stored

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Spacing":
        """The inverse of `to_dict`, with checks."""
        if set(stored) != set(NAMES) or list(stored["any"]) != [""]:
            raise ValueError("tables of spaces that are missing or unknown")
        spacing = cls()
        for i, name in enumerate(NAMES):
            table: Table = {}
            for key, value in stored[name].items():
                table.update({(key, more): w for more, w in value.items()} if isinstance(value, dict) else {key: value})
            if not all(type(w) in (int, float) and math.isfinite(w) for w in table.values()):
                raise ValueError(f"weights of spaces that are not numbers ({name})")
            spacing.tables[i] = {key: float(w) for key, w in table.items()}
        return spacing


def _train(gaps: list[tuple[Features, bool]]) -> list[Table]:
    """An averaged perceptron."""
    tables: list[Table] = [{} for _ in range(N_TABLES)]
    totals: list[Table] = [{} for _ in range(N_TABLES)]
    clock = 0
    for _ in range(EPOCHS):
        for features, joined in gaps:
            clock += 1
            if (sum(tables[table].get(key, 0.0) for table, key in features) > 0) != joined:
                change = 1.0 if joined else -1.0
                for table, key in features:
                    tables[table][key] = tables[table].get(key, 0.0) + change
                    totals[table][key] = totals[table].get(key, 0.0) + change * clock
    for weights, total in zip(tables, totals, strict=True):
        for key in list(weights):
            weights[key] = round(weights[key] - total[key] / (clock + 1), 2)
            if abs(weights[key]) < LEAST:
                del weights[key]
    return tables


def _gaps(pieces: list[Piece]) -> Iterator[Features]:
    """The features of each gap between two tokens. `arrays.find_spaces` sums up the same, faster."""
    parity: dict[str, int] = {}
    last: tuple[Piece, int, bool] | None = None
    for piece in pieces:
        parity[piece.form] = odd = ODD_FORM if parity.get(piece.form) != ODD_FORM else EVEN_FORM
        is_plain = piece.shape.isalnum()
        if last is not None:
            before, odd_before, was_plain = last
            if was_plain and is_plain:
                yield [(THESE_TWO, (before.form, piece.form))]
            else:
                features: Features = [(BEFORE + SHAPE_, before.shape), (AFTER + SHAPE_, piece.shape)]
                features.append((SHAPES, (before.shape, piece.shape)))
                if not was_plain:
                    features += [(BEFORE + FORM, before.form), (BEFORE + odd_before, before.form)]
                    features.append((BEFORE + TAGGED, (before.form, before.tag)))
                    features.append((FORM_SHAPE, (before.form, piece.shape)))
                if not is_plain:
                    features += [(AFTER + FORM, piece.form), (AFTER + odd, piece.form)]
                    features.append((AFTER + TAGGED, (piece.form, piece.tag)))
                    features.append((SHAPE_FORM, (before.shape, piece.form)))
                yield features
        last = (piece, odd, is_plain)


def _number(key: Key) -> int:
    """A key as `find_spaces` has it."""
    if isinstance(key, tuple):
        number: int = (get_string_id(key[0]) * STEP + get_string_id(key[1])) % (1 << 64)
        return number
    found: int = get_string_id(key)
    return found
