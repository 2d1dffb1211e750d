"""Asks a reranker about the orders that the search has found, and ranks them by both opinions.

A reranker only names scores, one for each order. It cannot add, change or drop one: whatever it says, the result is one
of the orders that the search found legal.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ..core.records import Order
from ..errors import LinearizeError, error
from .reranker import Question, Reranker

MAX_SCORE = 1e12  # a sum with the score of the search should still show both


class Source(Protocol):
    """The sentence that a bag comes from: how its orders read."""

    @property
    def number(self) -> int:
        """Counts the sentences of its Doc."""
        ...

    @property
    def context(self) -> str:
        """What was said before its Doc."""
        ...

    def words(self, order: Order) -> tuple[str, ...]:
        """The words in order."""
        ...

    def text(self, order: Order) -> str:
        """The order as a user would read it."""
        ...


@dataclass(frozen=True)
class SecondOpinion:
    """Ranks the orders of some bags anew. Called, it is a `core.records.Choose`.

    reranker (Reranker): Who is asked.
    sources (Sequence[Source]): For each bag where it comes from. Sentences of a Doc follow each other.
    """

    reranker: Reranker
    sources: Sequence[Source]

    def __call__(self, kinds: Sequence[str], lists: Sequence[Sequence[Order]]) -> list[list[Order]]:
        return self.rank(kinds, lists)

    def rank(
        self, kinds: Sequence[str], lists: Sequence[Sequence[Order]], also: Sequence[int] | None = None
    ) -> list[list[Order]]:
        """The orders of each bag, best first by both opinions.

        kinds (Sequence[str]): The kind of each bag.
        lists (Sequence[Sequence[Order]]): Its orders, best first.
        also (Optional[Sequence[int]]): For each bag the number of an order that is asked about whatever its score.
        """
        ranked, options = [list(orders) for orders in lists], self.reranker.options
        for round_ in self._rounds():
            close = {i: self._close_ones(kinds[i], ranked[i], None if also is None else also[i]) for i in round_}
            questions = {i: self._question(i, numbers, ranked) for i, numbers in close.items() if len(numbers) > 1}
            questions = {i: one for i, one in questions.items() if len(set(one.texts)) > 1}
            answers = self._ask([*questions.values()])
            for i, scores in zip(questions, answers, strict=True):
                if scores is not None:
                    weight = options.weights[kinds[i]]
                    seconds = {number: weight * score for number, score in zip(close[i], scores, strict=True)}
                    ranked[i] = merge(ranked[i], seconds)
        return ranked

    def _rounds(self) -> Iterator[list[int]]:
        """The bags that can be asked about at once: all, or the sentences of a Doc one after the other, since what one
        says is the context of the next."""
        everything = range(len(self.sources))
        if not self.reranker.options.context:
            yield list(everything)
            return
        for number in sorted({source.number for source in self.sources}):
            yield [i for i in everything if self.sources[i].number == number]

    def _close_ones(self, kind: str, orders: Sequence[Order], also: int | None) -> list[int]:
        """The numbers of the orders within the margin."""
        margin = self.reranker.options.margins[kind]
        if margin is None:
            return list(range(len(orders)))
        return [i for i, order in enumerate(orders) if orders[0].score - order.score <= margin or i == also]

    def _question(self, i: int, numbers: Sequence[int], ranked: Sequence[Sequence[Order]]) -> Question:
        source, context = self.sources[i], ""
        if self.reranker.options.context:
            before = range(i - source.number, i)
            context = " ".join([*filter(None, [source.context]), *(self.sources[k].text(ranked[k][0]) for k in before)])
        orders = [ranked[i][number] for number in numbers]
        return Question(tuple(map(source.text, orders)), tuple(map(source.words, orders)), context)

    def _ask(self, questions: list[Question]) -> list[list[float] | None]:
        """The scores of each question, or None for one that could not be answered."""
        if not questions:
            return []
        texts = [question.texts for question in questions]
        try:
            return [*check(self.reranker.score(questions), texts)]
        except Exception as problem:
            if len(questions) > 1:  # one of them is to blame
                return [answer for question in questions for answer in self._ask([question])]
            known = problem if isinstance(problem, LinearizeError) else _failed(problem)
            if self.reranker.options.strict:
                raise known from problem
            warnings.warn(f"{known} The order is that of the search.", stacklevel=2)
            return [None]


def _failed(problem: Exception) -> LinearizeError:
    return error("SL230", problem=f"{type(problem).__name__}: {problem}".removesuffix(": "))


def check(answers: Iterable[Iterable[float]], texts: Sequence[Sequence[str]]) -> Iterator[list[float]]:
    """The scores for the texts of each question, if they are what a reranker should return."""
    rows = list(answers)
    if len(rows) != len(texts):
        raise error("SL231", got=len(rows), n=len(texts), what="questions")
    for row, own in zip(rows, texts, strict=True):
        scores = [float(score) for score in row]
        if len(scores) != len(own):
            raise error("SL231", got=len(scores), n=len(own), what="texts")
        for score, text in zip(scores, own, strict=True):
            if not abs(score) <= MAX_SCORE:  # nor NaN
                raise error("SL232", score=score, text=text[:80])
        yield scores


def merge(orders: Sequence[Order], seconds: Mapping[int, float]) -> list[Order]:
    """Orders by both opinions, best first; where these are equal, the search decides.

    orders (Sequence[Order]): Best first.
    seconds (Mapping[int, float]): By number of the order, what the second opinion adds to its score. Those that are not
        here count like the one that it likes least.
    """
    least = min(seconds.values())
    both = [
        replace(order, score=order.score + seconds.get(i, least), second=seconds.get(i, least))
        for i, order in enumerate(orders)
    ]
    return sorted(both, key=lambda order: -order.score)  # stable
