"""How good is this order? The Doc's own one, beside the best that is found for the same words."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from spacy.tokens import Doc

from .errors import error
from .ordering import Orderer, Part
from .projective import is_projective


@dataclass(frozen=True, kw_only=True)
class OrderScore:
    """The score of a Doc's own order. Scores compare orders of the same words under the same constraints.

    score (float): Of the Doc's own order.
    best_score (float): Of the best order that the search finds, or of the own one if that is better.
    best_order (Tuple[int, ...]): That order, as positions in the Doc.
    n_words (int): The number of words.
    """

    score: float
    best_score: float
    best_order: tuple[int, ...]
    n_words: int

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


def score_order(orderer: Orderer, doc: Doc) -> OrderScore:
    """Score the order that a Doc has, under what it gives. What a linearizer has added to it is not given.

    orderer (Orderer): See `Linearizer.orderer`.
    """
    own_score = best_score = 0.0
    best_order: list[int] = []
    for part in orderer.parts(doc, as_given=True):
        _check(part)
        n = len(part.known if part.merged is None else part.merged.members)
        # With every word tied to the next one, a search can only find the own order, and the best tree over it.
        bags = [part.to_bag(orderer.engine, tuple(pairwise(range(n)))), part.to_bag(orderer.engine)]
        widths = [orderer.width_for(bag.is_open) for bag in bags]
        (own, *_), (best, *_) = orderer.engine.order_all(bags, beam_widths=widths, tree=orderer.engine.builds_trees)
        order = np.arange(n) if own.score >= best.score else best.order
        own_score += own.score
        best_score += max(own.score, best.score)
        tokens = order if part.merged is None else part.merged.spread(order)
        best_order += (tokens + part.words.start).tolist()
    return OrderScore(score=own_score, best_score=best_score, best_order=tuple(best_order), n_words=len(doc))


def _check(part: Part) -> None:
    """Refuse an order that does not keep what is given."""
    words = part.known if part.merged is None else part.merged.words
    for first, second in part.before:
        if first > second:
            members = [range(k, k + 1) for k in (first, second)]
            if part.merged is not None:
                members = [part.merged.members[k] for k in (first, second)]
            raise error("SL048", words=[tokens[0] for tokens in members], texts=part.texts)
    if not is_projective(words.heads.tolist()):
        raise error("SL049", texts=part.texts, words=_crossing(words.heads.tolist()))


def _crossing(heads: list[int]) -> list[int]:
    """A word without whose arc the others do not cross, or all with an arc, if it takes more than one."""
    for k in range(len(heads)):
        if heads[k] >= 0 and is_projective([*heads[:k], -1, *heads[k + 1 :]]):
            return [k]
    return [k for k, h in enumerate(heads) if h >= 0]
