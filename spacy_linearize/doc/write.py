"""From orders to Docs: the new Doc with all annotation, and the record of what was done, `doc._.linearization`.

The record is a dict:

    order           the positions in the input, in the new order
    score           compares orders of the same words under the same constraints, and nothing else
    gap             how much better the best order scores: 0 if it is this one
    given_tags, given_heads, given_labels
                    what was given, by position in the new Doc
    dropped         the entities, spans and span extensions that are not in the new Doc, see `reorder.Dropped`
    starts          with several sentences, and no trees that would tell: the tokens that these start with
    alternatives    with n_best above 1: the best orders, best first; each with order, score, gap and, by position in
                    the input, tags, heads and labels (as keys; heads below 0 are missing or the root), and spaces

Its sequences are tuples, because that is what lists become on the way through a DocBin.
"""

import heapq
import math
import warnings
from dataclasses import dataclass, field
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.attrs import SENT_START
from spacy.tokens import Doc

from .bag import FREE, Use, Words
from .control import EXTENSIONS as CONTROLS
from .control import has_control, move_control
from .errors import error
from .ordering import RECORD, Found, check_doc
from .reorder import Dropped, reorder
from .spacing import Spacing

if TYPE_CHECKING:
    from .core.records import Linearization

EXTENSION = RECORD[1]
GIVEN = ("given_tags", "given_heads", "given_labels")
MAX_NAMED = 10  # in one warning


def claim_extensions() -> None:
    """Register the record, and what says something about the order, as extensions of Docs."""
    for name in (EXTENSION, *CONTROLS):
        if not Doc.has_extension(name):
            Doc.set_extension(name, default=None)
        elif Doc.get_extension(name) != (None, None, None, None):
            raise error("SL041", name=name)


@dataclass(frozen=True, kw_only=True)
class DocOrder:
    """One order of a Doc.

    bags (List[Tuple[Words, Linearization]]): Its bags, each with one order.
    score (float): The sum of theirs.
    gap (float): How much better the best order of the Doc scores.
    """

    bags: list[tuple[Words, "Linearization"]]
    score: float
    gap: float


def best_orders(found: Found, n_best: int) -> list[DocOrder]:
    """The best orders of a Doc, from those of its sentences: best first, and no two with all sentences the same.

    Where two of them score the same, the one that leaves the earlier sentences as they are comes first.
    """
    gaps = [[results[0].score - best.score for best in results] for _, results in found]
    total = math.fsum(results[0].score for _, results in found)
    # A candidate is what it changes: some sentences, from left to right, and which of its orders each is in. It is made
    # once: from that with the order before in its last sentence, which is not worse.
    heap: list[tuple[float, tuple[tuple[int, int], ...]]] = [(0.0, ())]
    ranked: list[DocOrder] = []
    while heap and len(ranked) < n_best:
        gap, changes = heapq.heappop(heap)
        ranks = {-minus: rank for minus, rank in changes}
        bags = [(words, results[ranks.get(i, 0)]) for i, (words, results) in enumerate(found)]
        score = total - gap
        ranked.append(DocOrder(bags=bags, score=score, gap=total - score))
        last = max(ranks, default=0)
        for i in range(last, len(found)):
            rank = ranks.get(i, 0) + 1
            if rank < len(gaps[i]):
                kept = changes[:-1] if i in ranks else changes
                changed = (*kept, (-i, rank))  # by -i, so that of equal ones those sort first that begin later
                heapq.heappush(heap, (math.fsum(gaps[-minus][r] for minus, r in changed), changed))
    return ranked


@dataclass(frozen=True, kw_only=True)
class Builder:
    """Builds Docs under the settings of a component.

    reported (Set[Dropped]): What has been warned of. Each is named once.
    """

    spacing: Spacing
    use: Use
    tree: bool
    overwrite: bool
    n_best: int
    reported: set[Dropped] = field(default_factory=set)

    def build(self, doc: Doc, ranked: list[DocOrder]) -> Doc:
        """The new Doc, in the first of some orders. With n_best above 1 it keeps the others."""
        orders = [self._joined(doc, order) for order in ranked[: self.n_best]]
        best, bags = orders[0], ranked[0].bags
        order = best["order"]
        new, dropped = reorder(doc, order, best["spaces"], best["tags"], best["heads"], best["labels"])
        _warn(dropped, self.reported)
        starts = [words.start for words, _ in bags] if len(bags) > 1 and not self.tree else []
        _set_boundaries(new, starts)
        if has_control(doc):
            move_control(doc, new, np.argsort(order).tolist())
        given = [(words.tags != 0, words.heads != FREE, words.labels != 0) for words, _ in bags]
        record: dict[str, Any] = {"order": tuple(order.tolist()), "score": best["score"], "gap": best["gap"]}
        for key, masks in zip(GIVEN, zip(*given, strict=True), strict=True):
            record[key] = tuple(_join(list(masks))[order].tolist())
        record["dropped"] = dropped
        if starts:
            record["starts"] = tuple(starts)
        if self.n_best > 1:
            record["alternatives"] = tuple(
                {key: tuple(v.tolist()) if isinstance(v, np.ndarray) else v for key, v in one.items()} for one in orders
            )
        new.user_data[RECORD] = record
        return new

    def _joined(self, doc: Doc, chosen: DocOrder) -> dict[str, Any]:
        """One order of the whole Doc, from one of each of its bags. All but spaces is by position in the Doc."""
        bags = chosen.bags
        tags = _join([best.tags for _, best in bags])
        heads = _join([_shift(best.heads, words.start) for words, best in bags])
        labels = _join([best.labels for _, best in bags])
        if not (self.overwrite or self.use == Use()):
            tags, heads, labels = self._keep_ignored(doc, tags, heads, labels)
        spaces: list[bool] = []
        for words, best in bags:
            if spaces:
                spaces[-1] = True  # between sentences
            spaces += self._spaces(words, best.order)
        order = _join([_shift(best.order, words.start) for words, best in bags])
        return {
            "order": order,
            "score": chosen.score,
            "gap": chosen.gap,
            "tags": tags,
            "heads": heads,
            "labels": labels,
            "spaces": tuple(spaces),
        }

    def _spaces(self, words: Words, order: Any) -> list[bool]:
        """Whether a space follows, for words in order. Within a unit it is as it was."""
        strings = words.doc.vocab.strings
        spaces = self.spacing.spaces(words.forms[order].tolist(), words.shapes[order].tolist(), strings)
        if words.units is not None:
            for i in np.flatnonzero(words.units[order[1:]] == words.units[order[:-1]]).tolist():
                spaces[i] = bool(words.doc[words.start + int(order[i])].whitespace_)
        return spaces

    def _keep_ignored(self, doc: Doc, tags: Any, heads: Any, labels: Any) -> tuple[Any, Any, Any]:
        """Annotation that was not used as a constraint stays, unless it is to be overwritten. Beside a tree that is
        added, old heads stay only as a whole: a mixture might be no tree."""
        old_tags, old_labels = doc.to_array("TAG"), doc.to_array("DEP")
        tags = np.where(old_tags != 0, old_tags, tags)
        if self.use.heads and not self.use.deps:
            labels = np.where((old_labels != 0) & (old_labels != doc.vocab.strings["dep"]), old_labels, labels)
        elif not self.use.heads and (old_labels.all() or not self.tree):
            old_heads = [token.head.i if token.has_head() else FREE for token in doc]
            heads, labels = np.array(old_heads, dtype=np.int32), old_labels
        return tags, heads, labels


def alternative(doc: Doc, rank: int) -> Doc:
    """One of the orders that `doc._.linearization` holds: see `spacy_linearize.alternative`."""
    check_doc(doc)
    record = doc.user_data.get(RECORD) or {}
    orders = record.get("alternatives", ())
    if not isinstance(rank, (int, np.integer)) or not 0 <= rank < len(orders):
        raise error("SL047", rank=rank, n=len(orders))
    if len(record["order"]) != len(doc):
        raise error("SL193", n=len(record["order"]), n_now=len(doc))
    chosen = orders[rank]
    # The alternatives speak of the input: `now` is where each of its tokens stands in this Doc.
    source = np.array(record["order"], dtype=np.int32)
    now = np.argsort(source)
    order = now[list(chosen["order"])].astype(np.int32)
    heads = np.array(chosen["heads"], dtype=np.int32)[source]
    heads = np.where(heads >= 0, now[np.maximum(heads, 0)], heads).astype(np.int32)
    tags, labels = (np.array(chosen[key], dtype=np.uint64)[source] for key in ("tags", "labels"))
    new, dropped = reorder(doc, order, list(chosen["spaces"]), tags, heads, labels)
    _warn(dropped, set())
    _set_boundaries(new, list(record.get("starts", ())))
    move_control(doc, new, np.argsort(order).tolist())
    given = {key: tuple(record[key][i] for i in order.tolist()) for key in GIVEN}
    own = {"order": chosen["order"], "score": chosen["score"], "gap": orders[0]["score"] - chosen["score"]}
    new.user_data[RECORD] = {**record, **own, **given, "dropped": (*record["dropped"], *dropped)}
    return new


def _warn(dropped: tuple[Dropped, ...], reported: set[Dropped]) -> None:
    """Say what was dropped, each once."""
    news = [one for one in dict.fromkeys(dropped) if one not in reported]
    if news:
        names = [f"{shorten(text, 60)!r} ({', '.join(filter(None, more))})" for *more, text in news[:MAX_NAMED]]
        names += [f"{len(news) - MAX_NAMED} more"] if len(news) > MAX_NAMED else []
        warnings.warn(str(error("SL059", dropped=", ".join(names))), stacklevel=2)
        reported.update(news)  # not before: who makes errors of warnings has it raised by every Doc


def _set_boundaries(doc: Doc, starts: list[int]) -> None:
    """Let sentences start at these tokens, if there are any, and nowhere else. The attribute of tokens would refuse it
    where arcs are given: spaCy takes boundaries from trees, but these are not whole."""
    if not starts:
        return
    boundaries = np.full(len(doc), -1, dtype=np.int64)
    boundaries[starts] = 1
    doc.from_array([SENT_START], boundaries.view(np.uint64))


def _join(arrays: list[Any]) -> Any:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _shift(heads: Any, start: int) -> Any:
    """Positions in a sentence as positions in its Doc."""
    return heads if start == 0 else np.where(heads >= 0, heads + np.int32(start), heads)
