"""What goes into the engine and what comes out of it, as plain data."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import error

Array = np.ndarray[Any, Any]
Derivation = tuple[float, Array, Array, Array, Array]  # score, order, tags, heads, labels


def _no_keys() -> Array:
    return np.zeros(0, dtype=np.uint64)


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A gold sentence: words in order with their tree. Arrays of keys, as in `PackedBag`; columns left out are 0."""

    forms: Array
    tags: Array
    heads: Array
    labels: Array
    lowers: Array = field(default_factory=_no_keys)
    suffixes: Array = field(default_factory=_no_keys)
    shapes: Array = field(default_factory=_no_keys)
    puncts: Array = field(default_factory=_no_keys)
    texts: Sequence[str] | None = None

    def __post_init__(self) -> None:
        for name in ("forms", "tags", "heads", "labels", "lowers", "suffixes", "shapes", "puncts"):
            dtype = {"heads": np.int32, "puncts": np.uint8}.get(name, np.uint64)
            values = np.asarray(getattr(self, name), dtype=dtype)
            if not len(values):
                values = np.zeros(len(self.forms), dtype=values.dtype)
            if values.shape != (len(self.forms),):
                raise error("SL006", name=name, got=len(values), n=len(self.forms))
            object.__setattr__(self, name, values)

    def __len__(self) -> int:
        return len(self.forms)


@dataclass(frozen=True, kw_only=True)
class Linearization:
    """A bag in order.

    order (ndarray): The input positions of the words, in order.
    tags, heads, labels (ndarray): By input position. One head is ROOT; heads are FREE where no tree was asked for.
    score (float): Of the order, or of order and tree with the joint system.
    """

    order: Array
    tags: Array
    heads: Array
    labels: Array
    score: float


@dataclass
class Progress:
    """What training has seen so far."""

    examples: int = 0
    violations: int = 0  # searches in which the gold derivation lost
    actions: int = 0  # actions that updates compared
    skipped: int = 0  # sentences whose gold tree is not projective
    wrong_arcs: int = 0
    wrong_labels: int = 0

    def __iadd__(self, other: "Progress") -> "Progress":
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self
