"""From orders to Docs: the new Doc with all annotation, and the record of what was done, `doc._.linearization`.

The record is a dict:

    order           the positions in the input, in the new order
    score           compares orders of the same words under the same constraints, and nothing else
    given_tags, given_heads, given_labels
                    what was given, by position in the new Doc
    alternatives    with n_best above 1: the best orders, this one first; each with order, score and, by position in the
                    input, tags, heads and labels (as keys; heads below 0 are missing or the root), and spaces

Its sequences are tuples, because that is what lists become on the way through a DocBin.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.tokens import Doc

from .bag import FREE, Use, Words
from .control import has_control, move_control
from .errors import error
from .ordering import RECORD, Found
from .reorder import reorder
from .spacing import Spacing

if TYPE_CHECKING:
    from .core.engine import Linearization

Bags = list[tuple[Words, "Linearization"]]  # the bags of a Doc, each with one order
EXTENSION = RECORD[1]
GIVEN = ("given_tags", "given_heads", "given_labels")


def by_rank(found: Found) -> list[Bags]:
    """Of a Doc with several sentences, the n-th order has each sentence in its n-th best order."""
    n_found = min(len(results) for _, results in found)
    return [[(words, results[rank]) for words, results in found] for rank in range(n_found)]


@dataclass(frozen=True, kw_only=True)
class Builder:
    """Builds Docs under the settings of a component."""

    spacing: Spacing
    use: Use
    tree: bool
    overwrite: bool
    n_best: int

    def build(self, doc: Doc, ranked: list[Bags]) -> Doc:
        """The new Doc, from the best orders of its bags, the best first."""
        orders = [self._joined(doc, bags) for bags in ranked[: self.n_best]]
        best = orders[0]
        order = best["order"]
        new = reorder(doc, order, best["spaces"], best["tags"], best["heads"], best["labels"])
        if len(ranked[0]) > 1 and not self.tree:
            for words, _ in ranked[0]:
                for i in range(len(words)):
                    new[words.start + i].is_sent_start = i == 0
        if has_control(doc):
            move_control(doc, new, np.argsort(order).tolist())
        given = [(words.tags != 0, words.heads != FREE, words.labels != 0) for words, _ in ranked[0]]
        record: dict[str, Any] = {"order": tuple(order.tolist()), "score": best["score"]}
        for key, masks in zip(GIVEN, zip(*given, strict=True), strict=True):
            record[key] = tuple(_join(list(masks))[order].tolist())
        if self.n_best > 1:
            record["alternatives"] = tuple(
                {key: tuple(v.tolist()) if isinstance(v, np.ndarray) else v for key, v in one.items()} for one in orders
            )
        new.user_data[RECORD] = record
        return new

    def _joined(self, doc: Doc, bags: Bags) -> dict[str, Any]:
        """One order of the whole Doc, from one of each of its bags. All but spaces is by position in the Doc."""
        tags = _join([best.tags for _, best in bags])
        heads = _join([_shift(best.heads, words.start) for words, best in bags])
        labels = _join([best.labels for _, best in bags])
        if not (self.overwrite or self.use == Use()):
            tags, heads, labels = self._keep_ignored(doc, tags, heads, labels)
        spaces: list[bool] = []
        for words, best in bags:
            if spaces:
                spaces[-1] = True  # between sentences
            spaces += self.spacing.spaces(words.forms[best.order].tolist(), words.shapes[best.order].tolist())
        order = _join([_shift(best.order, words.start) for words, best in bags])
        score = sum(best.score for _, best in bags)
        return {"order": order, "score": score, "tags": tags, "heads": heads, "labels": labels, "spaces": tuple(spaces)}

    def _keep_ignored(self, doc: Doc, tags: Any, heads: Any, labels: Any) -> tuple[Any, Any, Any]:
        """Annotation that was not used as a constraint stays, unless it is to be overwritten. Heads stay only as a
        whole: a mixture with predicted ones might not be a tree."""
        old_tags, old_labels = doc.to_array("TAG"), doc.to_array("DEP")
        tags = np.where(old_tags != 0, old_tags, tags)
        if self.use.heads and not self.use.deps:
            labels = np.where((old_labels != 0) & (old_labels != doc.vocab.strings["dep"]), old_labels, labels)
        elif not self.use.heads and old_labels.all():
            heads, labels = np.array([token.head.i for token in doc], dtype=np.int32), old_labels
        return tags, heads, labels


def alternative(doc: Doc, rank: int) -> Doc:
    """One of the orders that `doc._.linearization` holds, as a Doc of its own. Nothing is searched again.

    doc (Doc): As it came out of a linearizer with n_best above 1.
    rank (int): 0 for the best order, 1 for the next.

    Example:

        nlp.get_pipe("linearizer").n_best = 3
        second = spacy_linearize.alternative(nlp(doc), 1)
    """
    record = doc.user_data.get(RECORD) or {}
    orders = record.get("alternatives", ())
    if not 0 <= rank < len(orders):
        raise error("SL047", rank=rank, n=len(orders))
    chosen = orders[rank]
    # The alternatives speak of the input: `now` is where each of its tokens stands in this Doc.
    source = np.array(record["order"], dtype=np.int32)
    now = np.argsort(source)
    order = now[list(chosen["order"])].astype(np.int32)
    heads = np.array(chosen["heads"], dtype=np.int32)[source]
    heads = np.where(heads >= 0, now[np.maximum(heads, 0)], heads).astype(np.int32)
    tags, labels = (np.array(chosen[key], dtype=np.uint64)[source] for key in ("tags", "labels"))
    new = reorder(doc, order, list(chosen["spaces"]), tags, heads, labels)
    move_control(doc, new, np.argsort(order).tolist())
    given = {key: tuple(record[key][i] for i in order.tolist()) for key in GIVEN}
    own = {"order": chosen["order"], "score": chosen["score"]}
    new.user_data[RECORD] = {**record, **own, **given}
    return new


def _join(arrays: list[Any]) -> Any:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _shift(heads: Any, start: int) -> Any:
    """Positions in a sentence as positions in its Doc."""
    return heads if start == 0 else np.where(heads >= 0, heads + np.int32(start), heads)
