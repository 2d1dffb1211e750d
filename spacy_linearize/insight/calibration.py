"""From gaps to probabilities: two logistic curves, fitted on gold orders and others of the same words."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..errors import error

RIDGE = 1e-3
N_STEPS = 30


@dataclass(frozen=True)
class Calibration:
    """What makes a probability of the gap for each word. Stored as text beside the model.

    bias (float): The log odds of an order without a gap.
    given (float): How much they fall with the gap under the given tags and arcs.
    words (float): How much they fall with the gap where nothing is given.
    """

    bias: float
    given: float
    words: float

    def probability(self, given_gap: float, words_gap: float) -> float:
        """The probability that a reader prefers an order with these gaps for each word to the best one found."""
        odds = self.bias - self.given * given_gap - self.words * words_gap
        return 1 / (1 + math.exp(min(700.0, -odds)))

    def to_dict(self) -> dict[str, float]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Any) -> "Calibration":
        """Constants from `to_dict`."""
        names = cls.__dataclass_fields__
        if not isinstance(values, Mapping) or set(values) != set(names):
            raise error("SL251", values=values)
        if not all(type(value) in (int, float) and math.isfinite(value) for value in values.values()):
            raise error("SL251", values=values)
        return cls(**values)


def fit(gaps: Sequence[tuple[float, float]], is_gold: Sequence[bool]) -> Calibration:
    """Fit the constants by logistic regression.

    gaps (Sequence[Tuple[float, float]]): For each order, both gaps for each word.
    is_gold (Sequence[bool]): Whether it is the gold order.
    """
    columns = -np.array([(-1.0, *pair) for pair in gaps])
    wanted = np.array(is_gold, dtype=float)
    # Both kinds count the same, however many there are.
    counts = np.where(wanted > 0, 0.5 / max(1, wanted.sum()), 0.5 / max(1, (1 - wanted).sum())) * len(wanted)
    weights = np.zeros(3)
    chosen = [0, 1, 2]
    while True:
        used = columns[:, chosen]
        w = np.zeros(len(chosen))
        for _ in range(N_STEPS):  # Newton's method
            found = 1 / (1 + np.exp(-np.clip(used @ w, -30, 30)))
            slope = used.T @ (counts * (wanted - found)) - RIDGE * w
            curve = (used * (counts * found * (1 - found))[:, np.newaxis]).T @ used + RIDGE * np.eye(len(chosen))
            w = w + np.linalg.solve(curve, slope)
        if all(w[1:] >= 0):
            break
        # A larger gap never makes an order better: without that gap.
        chosen.remove(chosen[1 + int(np.argmin(w[1:]))])
    weights[chosen] = w
    return Calibration(*(round(float(value), 6) for value in weights))
