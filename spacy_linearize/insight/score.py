"""How good is this order? The Doc's own one, beside the best that is found for the same words."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from spacy.tokens import Doc

from .bag import Array, Words
from .build import Builder, DocOrder
from .errors import error
from .ordering import Orderer, Part
from .projective import is_projective

if TYPE_CHECKING:
    from .core.records import Linearization


@dataclass(frozen=True, kw_only=True)
class OrderScore:
    """The score of a Doc's own order. Scores compare orders of the same words under the same constraints.

    score (float): Of the Doc's own order.
    best_score (float): Of the best order that the search finds, or of the own one if that is better.
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
    def score_per_word(self) -> float:
        return self.score / max(1, self.n_words)

    @property
    def gap_per_word(self) -> float:
        """The gap over the number of words: what to compare with a threshold, for sentences of any length."""
        return self.gap / max(1, self.n_words)


def score_order(orderer: Orderer, builder: Builder, doc: Doc) -> OrderScore:
    """Score the order that a Doc has, under what it gives. What a linearizer has added to it is not given.

    orderer (Orderer): See `Linearizer.orderer`.
    builder (Builder): Builds the Doc of the best order.
    """
    own_score = best_score = 0.0
    best_order: list[int] = []
    winners: list[tuple[Part, Linearization]] = []
    for part in orderer.parts(doc, as_given=True):
        _check(part)
        words = part.searched
        # With every word tied to the next one, a search can only find the own order, and the best tree over it.
        bags = [part.to_bag(orderer.engine, tuple(pairwise(range(len(words))))), part.to_bag(orderer.engine)]
        widths = [orderer.width_for(bag.is_open) for bag in bags]
        (own, *_), (best, *_) = orderer.engine.order_all(bags, beam_widths=widths, tree=orderer.engine.builds_trees)
        winner = own if own.score >= best.score else best
        # Where the search builds the tree, too, the one that it finds may be worse if the order is fixed.
        is_same = _as_found(words, own.order) == _as_found(words, best.order)
        own_score += winner.score if is_same else own.score
        best_score += winner.score
        tokens = winner.order if part.merged is None else part.merged.spread(winner.order)
        best_order += (tokens + part.words.start).tolist()
        winners.append((part, winner))
    return OrderScore(
        score=own_score,
        best_score=best_score,
        best_order=tuple(best_order),
        n_words=len(doc),
        build_best=partial(_build, orderer, builder, doc, winners),
    )


def _build(orderer: Orderer, builder: Builder, doc: Doc, winners: list[tuple[Part, "Linearization"]]) -> Doc:
    if not len(doc):
        return doc
    bags = [(part.words, orderer.finish(part, winner)) for part, winner in winners]
    return builder.build(doc, [DocOrder(bags=bags, score=sum(best.score for _, best in bags), gap=0.0)])


def _as_found(words: Words, order: Array) -> list[list[int]]:
    """What an order is to the search: the same for two of them if they differ in the places of equal words alone."""
    place = np.argsort(order)
    heads = np.where(words.heads >= 0, place[np.maximum(words.heads, 0)], words.heads)
    columns = (words.forms, words.tags, words.labels, heads, words.traits)
    return [column[order].tolist() for column in columns if column is not None]


def _check(part: Part) -> None:
    """Refuse an order that does not keep what is given."""
    words = part.searched
    for first, second in part.before:
        if first > second:
            raise error("SL048", words=[first, second], texts=words.names)
    if not is_projective(words.heads.tolist()):
        raise error("SL049", words=_crossing(words.heads.tolist()), texts=words.names)


def _crossing(heads: list[int]) -> list[int]:
    """A word without whose arc the others do not cross, or all with an arc, if it takes more than one."""
    for k in range(len(heads)):
        if heads[k] >= 0 and is_projective([*heads[:k], -1, *heads[k + 1 :]]):
            return [k]
    return [k for k, h in enumerate(heads) if h >= 0]
