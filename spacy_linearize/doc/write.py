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

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from textwrap import shorten
from typing import Any

import numpy as np
from spacy.attrs import SENT_START
from spacy.symbols import dep as UNLABELLED
from spacy.tokens import Doc

from ..core.records import Array, Bag, Order
from ..errors import error
from ..options import Options
from ..trees import FREE
from .precedence import EXTENSIONS, has_precedences, move_precedences
from .read import RECORD, Given, check_doc, given_of
from .reorder import DEP_COLUMN, HEAD_COLUMN, TAG_COLUMN, Dropped, read_table, reorder
from .spacing import Spacing

EXTENSION = RECORD[1]
GIVEN = ("given_tags", "given_heads", "given_labels")
MAX_NAMED = 10  # in one warning


def claim_extensions() -> None:
    """Register the record and the constraints on the order as extensions of Docs."""
    for name in (EXTENSION, *EXTENSIONS):
        if not Doc.has_extension(name):
            Doc.set_extension(name, default=None)
        elif Doc.get_extension(name) != (None, None, None, None):
            raise error("SL041", name=name)


@dataclass(frozen=True, kw_only=True)
class Writer:
    """Makes new Docs under the settings of a component.

    options (Options): The settings.
    spacing (Spacing): Where spaces belong.
    reported (Set[Dropped]): What has been warned of. Each is named once.
    """

    options: Options
    spacing: Spacing
    reported: set[Dropped] = field(default_factory=set)

    def write(
        self,
        doc: Doc,
        bags: Sequence[Bag],
        order: Order,
        *,
        gap: float = 0.0,
        alternatives: Sequence[Order] = (),
        as_given: bool = False,
    ) -> Doc:
        """The new Doc, with the record of what was done.

        bags (Sequence[Bag]): What `Reader.read` made of the Doc.
        order (Order): The order of the whole Doc.
        gap (float): How much better the best order scores.
        alternatives (Sequence[Order]): The best orders, for the record.
        as_given (bool): As in `Reader.read`.
        """
        table = read_table(doc)
        given = given_of(doc, table[:, TAG_COLUMN], table[:, DEP_COLUMN], self.options, as_given=as_given)
        order = self._annotated(table, order, given)
        new, dropped = reorder(doc, table, order, self._spaces(doc, bags, order.order))
        _warn(dropped, self.reported)
        starts = _starts(bags) if len(bags) > 1 and not self.options.tree else []
        _set_boundaries(new, starts)
        if has_precedences(doc):
            move_precedences(doc, new, np.argsort(order.order).tolist())
        record: dict[str, Any] = {"order": tuple(order.order.tolist()), "score": order.score, "gap": gap}
        for key, mask in zip(GIVEN, given, strict=True):
            record[key] = tuple(mask[order.order].tolist())
        record["dropped"] = dropped
        if starts:
            record["starts"] = tuple(starts)
        if alternatives:
            record["alternatives"] = tuple(self._alternatives(doc, table, bags, given, alternatives))
        new.user_data[RECORD] = record
        return new

    def _alternatives(
        self, doc: Doc, table: Array, bags: Sequence[Bag], given: Given, orders: Sequence[Order]
    ) -> Iterator[dict[str, Any]]:
        """Orders as the record holds them."""
        for one in orders:
            own = self._annotated(table, one, given)
            columns = {name: tuple(getattr(own, name).tolist()) for name in ("order", "tags", "heads", "labels")}
            spaces = tuple(self._spaces(doc, bags, own.order))
            yield {**columns, "score": own.score, "gap": orders[0].score - own.score, "spaces": spaces}

    def _annotated(self, table: Array, order: Order, given: Given) -> Order:
        """An order with all given annotation, also what the search did not know. Ignored annotation stays, unless
        `overwrite` is on. If a tree is added, old heads stay only if they are complete: a mixture might be no tree.

        table (ndarray): See `reorder.read_table`.
        """
        options = self.options
        tags, labels, heads = table[:, TAG_COLUMN], table[:, DEP_COLUMN], order.heads
        keeps_tags = given.tags if options.use_tags or options.overwrite else tags != 0
        keeps_labels = given.labels
        if options.use_heads and not (options.use_deps or options.overwrite):
            keeps_labels = (labels != 0) & (labels != UNLABELLED)
        if not (options.use_heads or options.overwrite) and (labels.all() or not options.tree):
            keeps_labels = np.ones(len(table), dtype=bool)
            offsets = table[:, HEAD_COLUMN].astype(np.int64)
            heads = np.where(labels != 0, np.arange(len(table)) + offsets, FREE).astype(np.int32)
        new_tags, new_labels = np.where(keeps_tags, tags, order.tags), np.where(keeps_labels, labels, order.labels)
        return replace(order, tags=new_tags, heads=heads, labels=new_labels)

    def _spaces(self, doc: Doc, bags: Sequence[Bag], order: Array) -> list[bool]:
        """Whether a space follows, for tokens in order. Within a unit it is as it was."""
        spaces: list[bool] = []
        for start, bag in zip(_starts(bags), bags, strict=True):
            tokens = bag if bag.tokens is None else bag.tokens
            own = order[start : start + len(tokens)] - start
            if spaces:
                spaces[-1] = True  # between sentences
            forms, shapes = tokens.column("forms")[own], tokens.column("shapes")[own]
            spaces += self.spacing.spaces(forms, shapes, doc.vocab.strings)
            if bag.tokens is not None:
                unit_of = np.repeat(np.arange(len(bag)), [len(unit) for unit in bag.members])[own]
                for i in np.flatnonzero(unit_of[1:] == unit_of[:-1]).tolist():
                    spaces[start + i] = bool(doc[start + int(own[i])].whitespace_)
        return spaces


def _starts(bags: Sequence[Bag]) -> list[int]:
    """Where the tokens of each bag start in the Doc."""
    return list(accumulate((len(bag if bag.tokens is None else bag.tokens) for bag in bags[:-1]), initial=0))


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
    heads = np.array(chosen["heads"], dtype=np.int32)[source]
    tags, labels = (np.array(chosen[key], dtype=np.uint64)[source] for key in ("tags", "labels"))
    order = Order(
        order=now[list(chosen["order"])].astype(np.int32),
        tags=tags,
        heads=np.where(heads >= 0, now[np.maximum(heads, 0)], heads).astype(np.int32),
        labels=labels,
        score=chosen["score"],
    )
    new, dropped = reorder(doc, read_table(doc), order, list(chosen["spaces"]))
    _warn(dropped, set())
    _set_boundaries(new, list(record.get("starts", ())))
    move_precedences(doc, new, np.argsort(order.order).tolist())
    given = {key: tuple(record[key][i] for i in order.order.tolist()) for key in GIVEN}
    own = {"order": chosen["order"], "score": chosen["score"], "gap": chosen["gap"]}
    new.user_data[RECORD] = {**record, **own, **given, "dropped": (*record["dropped"], *dropped)}
    return new


def _warn(dropped: tuple[Dropped, ...], reported: set[Dropped]) -> None:
    """Warn of what was dropped, of each item once."""
    news = [one for one in dict.fromkeys(dropped) if one not in reported]
    if news:
        names = [f"{shorten(text, 60)!r} ({', '.join(filter(None, more))})" for *more, text in news[:MAX_NAMED]]
        names += [f"{len(news) - MAX_NAMED} more"] if len(news) > MAX_NAMED else []
        warnings.warn(str(error("SL059", dropped=", ".join(names))), stacklevel=2)
        reported.update(news)  # after the warning: if warnings are errors, every Doc raises it


def _set_boundaries(doc: Doc, starts: list[int]) -> None:
    """Let sentences start at these tokens, if there are any, and nowhere else. The attribute of tokens would refuse it
    where arcs are given: spaCy takes boundaries from trees, but these are not whole."""
    if not starts:
        return
    boundaries = np.full(len(doc), -1, dtype=np.int64)
    boundaries[starts] = 1
    doc.from_array([SENT_START], boundaries.view(np.uint64))
