"""How good is this order? Compares the Doc's own order with the best one that is found for the same words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from spacy.tokens import Doc

from ..core.records import Array, Bag, Order
from ..errors import error
from ..linearizer import Linearizer
from ..trees import crossing_words, is_projective

COLUMNS = ("forms", "tags", "labels", "kept")


@dataclass(frozen=True, kw_only=True)
class OrderScore:
    """The score of a Doc's own order. Scores compare orders of the same words under the same constraints.

    score (float): Of the Doc's own order.
    best_score (float): Of the best order that the search finds, or of the Doc's own order if that is better.
    best_order (Tuple[int, ...]): That order, as positions in the Doc.
    n_words (int): The number of words.
    build_best (Callable[[], Doc]): Makes the Doc of `best`.

    Example:

        result = nlp.get_pipe("linearizer").score_order(doc)
        print(result.gap_per_word, result.best.text)
    """

    score: float
    best_score: float
    best_order: tuple[int, ...]
    n_words: int
    build_best: Callable[[], Doc] = field(repr=False, compare=False)

    @cached_property
    def best(self) -> Doc:
        """The best order as a new Doc, made as the linearizer makes its own. Built when it is asked for, without a
        search."""
        return self.build_best()

    @property
    def gap(self) -> float:
        """How much better the best order is: 0 if it is the Doc's own."""
        return self.best_score - self.score

    @property
    def gap_per_word(self) -> float:
        """The gap over the number of words: what to compare with a threshold, for sentences of any length."""
        return self.gap / max(1, self.n_words)


def score_order(linearizer: Linearizer, doc: Doc) -> OrderScore:
    """Score the order that a Doc has, under its constraints. What a linearizer has added to it does not count as given.

    Example:

        score_order(nlp.get_pipe("linearizer"), doc).gap_per_word
    """
    bags = linearizer.reader.read(doc, as_given=True)
    for bag in bags:
        _check(bag)
    # With every word tied to the next one, a search can only find this order, and the best tree over it.
    fixed = [replace(bag, before=[*bag.before, *pairwise(range(len(bag)))]) for bag in bags]
    found = [orders[0] for orders in linearizer.order_bags([[bag] for bag in (*fixed, *bags)], n_best=1)]
    own_score = 0.0
    winners: list[Order] = []
    for bag, own, best in zip(bags, found, found[len(bags) :], strict=False):
        winner = own if own.score >= best.score else best
        # Where the search also builds the tree, it may find a worse tree when the order is fixed.
        own_score += winner.score if _is_same(bag, own.order, best.order) else own.score
        winners.append(winner)
    return OrderScore(
        score=own_score,
        best_score=sum(winner.score for winner in winners),
        best_order=tuple(Order.concat(winners).order.tolist()) if winners else (),
        n_words=len(doc),
        build_best=partial(_build, linearizer, doc, bags, winners),
    )


def _build(linearizer: Linearizer, doc: Doc, bags: Sequence[Bag], winners: Sequence[Order]) -> Doc:
    return linearizer.writer.write(doc, bags, Order.concat(winners), as_given=True) if len(doc) else doc


def _is_same(bag: Bag, order: Array, other: Array) -> bool:
    """Whether two orders of tokens are the same, or differ only in the places of equal words."""
    tokens = bag if bag.tokens is None else bag.tokens
    return _as_found(tokens, order) == _as_found(tokens, other)


def _as_found(bag: Bag, order: Array) -> list[list[int]]:
    """An order as the search sees it."""
    place, heads = np.argsort(order), bag.column("heads")
    heads = np.where(heads >= 0, place[np.maximum(heads, 0)], heads)
    return [column[order].tolist() for column in (heads, *(bag.column(name) for name in COLUMNS))]


def _check(bag: Bag) -> None:
    """Refuse an order that does not keep the constraints."""
    for first, second in bag.before:
        if first > second:
            raise error("SL048", words=[first, second], texts=bag.texts)
    heads = bag.column("heads").tolist()
    if not is_projective(heads):
        raise error("SL049", words=crossing_words(heads), texts=bag.texts)
