"""How good is this order? Compares the Doc's own order with the best one that is found for the same words."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.tokens import Doc, Span

from ..core.lift.lifting import lift_gold, lifts_of
from ..core.records import Array, Bag, Lifts, Order
from ..doc.precedence import has_precedences
from ..doc.read import RECORD, check_doc
from ..doc.units import UNITS
from ..errors import error
from ..linearizer import Linearizer
from ..rerank.opinion import SecondOpinion
from ..trees import FREE, crossing_words, is_projective
from .calibration import Calibration
from .moves import Move, find_moves

COLUMNS = ("forms", "tags", "labels", "kept")


@dataclass(frozen=True, kw_only=True)
class OrderScore:
    """The score of a Doc's own order. Scores compare orders of the same words under the same constraints.

    score (float): Of the Doc's own order.
    best_score (float): Of the best order that the search finds, or of the Doc's own order if that is better.
    best_order (Tuple[int, ...]): That order, as positions in the Doc.
    second, best_second (Optional[float]): The share of the second opinion in both scores: the rest is the search's own.
        None if it was not asked.
    n_words (int): The number of words.
    doc (Doc): The Doc itself.
    build_best (Callable[[], Doc]): Makes the Doc of `best`.
    score_words (Optional[Callable[[], OrderScore]]): Scores the same order with no tags and arcs given. None: as it is.
    calibration (Optional[Calibration]): What makes a probability of the gaps.

    Example:

        result = nlp.get_pipe("linearizer").score_order(doc)
        print(result.probability, result.misplaced, result.best.text)
    """

    score: float
    best_score: float
    best_order: tuple[int, ...]
    n_words: int
    second: float | None = None
    best_second: float | None = None
    doc: Doc = field(repr=False, compare=False)
    build_best: Callable[[], Doc] = field(repr=False, compare=False)
    score_words: Callable[[], "OrderScore"] | None = field(default=None, repr=False, compare=False)
    calibration: Calibration | None = field(default=None, repr=False, compare=False)

    @cached_property
    def probability(self) -> float | None:
        """How likely a reader prefers this order to the best one that was found: highest, if not 1, where it is that
        one, and near 0 where a word stands in a wrong place. A parser gives odd words an odd tree, which that order
        then keeps; so the gap of the words alone counts, too. None if there are no words, or the pipeline is not
        calibrated: see `spacy linearize calibrate`."""
        if self.calibration is None:
            return None
        return self.calibration.probability(self.gap_per_word, self.of_words.gap_per_word)

    @cached_property
    def of_words(self) -> "OrderScore":
        """The score of the same order with no tags and arcs given."""
        return self if self.score_words is None else self.score_words()

    @cached_property
    def moves(self) -> list[Move]:
        """What to move for the best order: as few words as possible. Empty if the order is the best one."""
        return find_moves(self.doc, self.best_order)

    @property
    def misplaced(self) -> list[Span]:
        """The words that stand in a wrong place."""
        return [move.span for move in self.moves]

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

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON. `better` is None where the Doc's own order is the best."""
        words = [self.doc[k].text for k in sorted(self.best_order)]
        better = [self.doc[k].text for k in self.best_order]
        return {
            "text": " ".join(words),
            "score": self.score,
            "best_score": self.best_score,
            "gap": self.gap,
            "gap_per_word": self.gap_per_word,
            "best_order": list(self.best_order),
            "better": " ".join(better) if better != words else None,
            "probability": self.probability,
            "moves": [
                {"start": move.span.start, "end": move.span.end, "before": move.before, "text": str(move)}
                for move in self.moves
            ],
        }


def score_order(linearizer: Linearizer, doc: Doc) -> OrderScore:
    """Score the order that a Doc has, under its constraints. What a linearizer has added to it does not count as given.
    Tokens of white space are no words, unless something was asked for their places.

    Example:

        score_order(nlp.get_pipe("linearizer"), doc).gap_per_word
    """
    check_doc(doc)
    words = [token.i for token in doc if not token.is_space]
    is_placed = has_precedences(doc) or UNITS in doc.spans or linearizer.options.units or RECORD in doc.user_data
    if len(words) == len(doc) or is_placed:
        return _score(linearizer, doc)
    found = _score(linearizer, _only_words(doc, words))
    return replace(found, doc=doc, best_order=tuple(words[k] for k in found.best_order))


def _only_words(doc: Doc, words: Sequence[int]) -> Doc:
    """A Doc with some of its tokens: their tags, and the arcs between them."""
    place = {k: i for i, k in enumerate(words)}
    tokens = [doc[k] for k in words]
    heads = [place.get(token.head.i) if token.has_head() else None for token in tokens]
    deps = ["" if head is None else token.dep_ for token, head in zip(tokens, heads, strict=True)]
    new = Doc(doc.vocab, words=[token.text for token in tokens], tags=[t.tag_ for t in tokens], heads=heads, deps=deps)
    if not any(deps):
        for i, token in enumerate(tokens):
            new[i].is_sent_start = token.is_sent_start
    return new


def _score(linearizer: Linearizer, doc: Doc) -> OrderScore:
    if not len(doc):
        none = partial(_same, doc)
        return OrderScore(score=0.0, best_score=0.0, best_order=(), n_words=0, doc=doc, build_best=none)
    bags = linearizer.reader.read(doc, as_given=True)
    for bag in bags:
        _check(bag)
    # With every word tied to the next one, a search can only find this order, and the best tree over it.
    fixed = [
        replace(bag, before=[*bag.before, *pairwise(range(len(bag)))], lifts=_lifts(linearizer, bag)) for bag in bags
    ]
    opinion = linearizer.second_opinion([doc], [bags])
    own_orders = [orders[0] for orders in linearizer.model.predict((fixed, linearizer.search(1, None), None))]
    compare = None if opinion is None else _WithOwn(bags, own_orders, opinion)
    search = linearizer.search(1, opinion)
    found = [orders[0] for orders in linearizer.model.predict((bags, search, compare))]
    winners: list[Order] = []
    for i, (bag, own, best) in enumerate(zip(bags, own_orders, found, strict=True)):
        winners.append(own if own.score >= best.score else best)
        # Where the search also builds the tree, it may find a worse tree when the order is fixed.
        if _is_same(bag, own.order, best.order):
            own_orders[i] = winners[i]
    has_given = any((bag.column("heads") != FREE).any() or bag.column("tags").any() for bag in bags)
    whole, whole_best = Order.concat(own_orders), Order.concat(winners)
    return OrderScore(
        score=whole.score,
        best_score=whole_best.score,
        best_order=tuple(whole_best.order.tolist()),
        second=whole.second,
        best_second=whole_best.second,
        n_words=len(doc),
        doc=doc,
        score_words=partial(_score_words, linearizer, doc) if has_given else None,
        calibration=_calibration(linearizer, "tree" if has_given else "words"),
        build_best=partial(_build, linearizer, doc, bags, winners),
    )


@dataclass(frozen=True)
class _WithOwn:
    """Asks a second opinion about the own order of each bag, too: a `core.records.Choose`.

    own (List[Order]): The own orders, as orders of tokens. Afterwards with the scores of both opinions.
    """

    bags: Sequence[Bag]
    own: list[Order]
    opinion: SecondOpinion

    def __call__(self, kinds: Sequence[str], lists: Sequence[Sequence[Order]]) -> list[list[Order]]:
        joined, marks = [], []
        for bag, own, orders in zip(self.bags, self.own, lists, strict=True):
            # The search orders units.
            tokens = (order.order if bag.tokens is None else order.spread(bag.members) for order in orders)
            same = next((k for k, found in enumerate(tokens) if _is_same(bag, own.order, found)), None)
            if same is None:
                joined.append(sorted([own, *orders], key=lambda order: -order.score))
                marks.append(own)
            else:
                joined.append(list(orders))
                marks.append(orders[same])
        numbers = [
            next(k for k, order in enumerate(orders) if order is mark)
            for orders, mark in zip(joined, marks, strict=True)
        ]
        ranked = self.opinion.rank(kinds, joined, also=numbers)
        for i, (orders, mark) in enumerate(zip(ranked, marks, strict=True)):
            both = next(order for order in orders if order.order is mark.order)
            # Of the search's own score the better one counts, as without a second opinion.
            score = max(self.own[i].score, mark.score) + (both.second or 0.0)
            self.own[i] = replace(self.own[i], score=score, second=both.second)
        return [[o for o in orders if o.order is not own.order] for orders, own in zip(ranked, self.own, strict=True)]


def _calibration(linearizer: Linearizer, kind: str) -> Calibration | None:
    stored = linearizer.cfg.get("calibration")
    return None if stored is None else Calibration.from_dict(stored.get(kind))


def _score_words(linearizer: Linearizer, doc: Doc) -> OrderScore:
    """The score of the same order with nothing but precedences and units given."""
    free = copy.copy(linearizer)
    free.options = linearizer.options.change(use_tags=False, use_heads=False, use_deps=False)
    return _score(free, doc)


def _build(linearizer: Linearizer, doc: Doc, bags: Sequence[Bag], winners: Sequence[Order]) -> Doc:
    return linearizer.writer.write(doc, bags, Order.concat(winners), as_given=True)


def _same(doc: Doc) -> Doc:
    return doc


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


def _lifts(linearizer: Linearizer, bag: Bag) -> Lifts:
    """What has to be lifted so that the words can stand in the order they have: what the model lifts, if that will do,
    or else as little as possible."""
    heads = bag.column("heads")
    if linearizer.lifts:
        chosen = linearizer.engine.prepare(bag)[0].column("heads")
        if is_projective(chosen.tolist()):
            return lifts_of(bag, chosen)
        lifted = lift_gold(heads, bag.column("puncts"))
        if lifted is not None:
            return lifts_of(bag, lifted)
    elif is_projective(heads.tolist()):
        return ()
    raise error("SL049", words=crossing_words(heads.tolist()), texts=bag.texts)
