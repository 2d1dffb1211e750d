"""Fits the constants that make probabilities of gaps, on gold orders and others of the same words."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from spacy.language import Language
from spacy.tokens import Doc

from ..errors import LinearizeError, error
from ..insight.calibration import Calibration, fit
from ..linearizer import Linearizer

N_BEST = 5


@dataclass(frozen=True)
class Calibrated:
    """Constants for Docs with trees and for words alone, and on how many orders they were fitted."""

    tree: Calibration
    words: Calibration
    n_orders: int


def calibrate(
    linearizer: Linearizer, docs: Iterable[Doc], *, parser: Language | None = None, seed: int = 0
) -> Calibrated:
    """Calibrate a linearizer, so that `score_order` gives probabilities.

    docs (Iterable[Doc]): Gold Docs, not those of training.
    parser (Optional[Language]): Parses the other orders, see `judge`.

    Example:

        calibrate(nlp.get_pipe("linearizer"), docs).words.probability(0.0, 0.0)
    """
    gaps, is_gold = judge(linearizer, docs, parser=parser, seed=seed)
    if not any(is_gold) or all(is_gold):
        raise error("SL252")
    words = fit([(0.0, free) for _, free in gaps], is_gold)
    found = Calibrated(fit(gaps, is_gold), words, len(gaps))
    linearizer.cfg = {**linearizer.cfg, "calibration": {"tree": found.tree.to_dict(), "words": words.to_dict()}}
    return found


def judge(
    linearizer: Linearizer, docs: Iterable[Doc], *, parser: Language | None = None, seed: int = 0
) -> tuple[list[tuple[float, float]], list[bool]]:
    """What readers chose: both gaps of each order, and whether it is the gold order, which was preferred.

    A gold order that is not the best one found was preferred to that by its writer. Where it is the best one, there are
    two that were not: the second one of the linearizer, and gold with one word or phrase moved.

    parser (Optional[Language]): Parses the other orders, as it would the sentences of a user. Without one, the words
        keep the arcs that they have in the gold Doc.
    """
    rng = random.Random(seed)
    gaps: list[tuple[float, float]] = []
    is_gold: list[bool] = []
    for doc in docs:
        if len(doc) < 3:
            continue
        own = _gaps(linearizer, doc)
        if own is None:
            continue
        # A reader has chosen between two orders: gold, and the best one if that is another. Where gold is the best one,
        # it has been preferred to every other order.
        if own[1] > 0:
            gaps.append(own)
            is_gold.append(True)
            continue
        for order in _others(linearizer, doc, rng):
            pair = _gaps(linearizer, _in_order(doc, order, parser))
            if pair is not None:
                gaps.append(pair)
                is_gold.append(False)
    return gaps, is_gold


def _gaps(linearizer: Linearizer, doc: Doc) -> tuple[float, float] | None:
    """The gaps for each word: under what is given, and of the words alone. None if arcs cross in this order."""
    try:
        result = linearizer.score_order(doc)
    except LinearizeError:
        return None
    return result.gap_per_word, result.of_words.gap_per_word


def _others(linearizer: Linearizer, doc: Doc, rng: random.Random) -> Iterator[list[int]]:
    words = [token.text for token in doc]
    bare = Doc(doc.vocab, words=words)
    for found in linearizer.alternatives(bare, N_BEST):
        if [token.text for token in found] != words:
            yield list(found._.linearization["order"])
            break
    moved = _moved([*range(len(doc))], doc, rng)
    if [words[k] for k in moved] != words:
        yield moved


def _moved(order: list[int], doc: Doc, rng: random.Random) -> list[int]:
    """One phrase, or one word, elsewhere. What stands at the end, most often a full stop, stays."""
    token = doc[rng.randrange(len(doc) - 1)]
    start, end = token.i, token.i + 1
    if rng.random() < 0.5 and token.has_head():
        start, end = token.left_edge.i, min(token.right_edge.i + 1, len(doc) - 1)
    phrase, rest = order[start:end], order[:start] + order[end:]
    place = rng.randrange(len(rest))
    return rest[:place] + phrase + rest[place:]


def _in_order(doc: Doc, order: Sequence[int], parser: Language | None) -> Doc:
    """The words in an order, with the parser's tree, or with their own."""
    words = [doc[k].text for k in order]
    if parser is not None:
        parsed: Doc = parser(Doc(parser.vocab, words=words))
        # Into the vocabulary of the linearizer.
        return Doc(doc.vocab).from_bytes(parsed.to_bytes(exclude=["tensor", "user_data"]))
    place = {k: i for i, k in enumerate(order)}
    return Doc(
        doc.vocab,
        words=words,
        tags=[doc[k].tag_ for k in order],
        pos=[doc[k].pos_ for k in order],
        morphs=[str(doc[k].morph) for k in order] if doc.has_annotation("MORPH") else None,
        heads=[place[doc[k].head.i] for k in order],
        deps=[doc[k].dep_ for k in order],
    )
