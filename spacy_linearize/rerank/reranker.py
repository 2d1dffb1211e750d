"""What a second opinion is: texts in, scores out, and the options of how it is asked."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ..core.settings import KINDS
from ..errors import error

MAX_CANDIDATES = 10_000
MAX_WEIGHT = 1e6


@dataclass(frozen=True)
class Question:
    """Some orders of the same words, to be scored.

    texts (Tuple[str, ...]): Each order as a user would read it.
    words (Tuple[Tuple[str, ...], ...]): The words of each, one by one, for models of tokens.
    context (str): What was said before. Empty if nothing is known of it.
    """

    texts: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    context: str = ""


@dataclass(frozen=True, kw_only=True)
class RerankOptions:
    """When a reranker is asked, and how much it counts: by kind of bag ("tree", "partial" or "free": all, some or none
    of its arcs are given).

    n_candidates (Mapping[str, int]): How many orders the search finds, for the reranker to choose from.
    weights (Mapping[str, float]): The score of an order is that of the search, plus this times that of the reranker.
    margins (Mapping[str, Optional[float]]): Orders that score so much less than the best one are not asked about, and
        nothing is asked where that one is alone. None for no limit.
    context (bool): Whether the reranker is told what was said before.
    strict (bool): Whether a reranker that fails is an error. Otherwise a warning says so, and the order is that of the
        search.

    Example:

        RerankOptions.same(n_candidates=12, weight=10.0)
    """

    n_candidates: Mapping[str, int]
    weights: Mapping[str, float]
    margins: Mapping[str, float | None]
    context: bool = False
    strict: bool = False

    def __post_init__(self) -> None:
        for key, (is_right, expected) in CHECKS.items():
            by_kind = getattr(self, key)
            if not isinstance(by_kind, Mapping) or {*by_kind} != {*KINDS} or not all(map(is_right, by_kind.values())):
                expected = f"{expected}, under each of {', '.join(map(repr, KINDS))}"
                raise error("SL022", key=key, value=by_kind, expected=expected)
        for key in ("context", "strict"):
            if type(getattr(self, key)) is not bool:
                raise error("SL022", key=key, value=getattr(self, key), expected="true or false")

    @classmethod
    def same(cls, n_candidates: int, weight: float, margin: float | None = None, **more: bool) -> "RerankOptions":
        """The same for every kind of bag."""
        return cls(
            n_candidates=dict.fromkeys(KINDS, n_candidates),
            weights=dict.fromkeys(KINDS, weight),
            margins=dict.fromkeys(KINDS, margin),
            **more,
        )


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < math.inf


def _is_weight(value: Any) -> bool:
    return _is_number(value) and value <= MAX_WEIGHT


def _is_count(value: Any) -> bool:
    return type(value) is int and 1 <= value <= MAX_CANDIDATES


def _is_margin(value: Any) -> bool:
    return value is None or _is_number(value)


CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "n_candidates": (_is_count, f"whole numbers from 1 to {MAX_CANDIDATES:,}"),
    "weights": (_is_weight, f"numbers from 0 to {MAX_WEIGHT:,.0f}"),
    "margins": (_is_margin, "numbers, 0 or more, or null"),
}


@runtime_checkable
class Reranker(Protocol):
    """A second opinion on orders. It must be picklable, and should load what it needs when it is first asked: then
    each process has its own. With `n_threads` above 1 it is asked by several threads at once.

    options (RerankOptions): When it is asked, and how much it counts. May be replaced.

    Example:

        @spacy.registry.misc("short_words_first.v1")
        class ShortWordsFirst:
            def __init__(self):
                self.options = RerankOptions.same(n_candidates=8, weight=10.0)

            def score(self, questions):
                return [[-float(words.index(max(words, key=len))) for words in q.words] for q in questions]
    """

    options: RerankOptions

    def score(self, questions: Sequence[Question]) -> Sequence[Sequence[float]]:
        """A finite score for each text of each question; higher is better. Scores of one question are compared."""
        ...
