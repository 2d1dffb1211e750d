"""From orders to Docs: the new Doc with all annotation, and the record of what was done, `doc._.linearization`.

The record is a dict:

    order           the positions in the input, in the new order
    score           compares orders of the same words under the same constraints, and nothing else
    gap             how much better the best order scores: 0 if it is this one
    second          what a second opinion has added to the score, if there was one, see `rerank`
    given_tags, given_heads, given_labels
                    what was given, by position in the new Doc
    lifted          the tokens that were ordered below another head than the given one, so that their arcs may cross
                    others: each with that head, by position in the new Doc
    text            the text, with multiword tokens as they are written ("du" for "de le")
    ranges          these: start, end, form, and what CoNLL-U has in their column MISC; also in doc._.linearize_ranges
    tags_from       what tags are made of, if not of `token.tag` alone, see `tags`
    dropped         the entities, spans and span extensions that are not in the new Doc, see `reorder.Dropped`
    starts          with several sentences, and no trees that would tell: the tokens that these start with
    alternatives    with n_best above 1: the best orders, best first; each with order, score, gap and, by position in
                    the input, tags, heads and labels (as keys; heads below 0 are missing or the root), lifted, spaces,
                    ranges, and words if `truecase` has changed some

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
from .contraction import Range
from .precedence import EXTENSIONS, has_precedences, move_precedences
from .read import RECORD, Given, check_doc, given_of
from .reorder import DEP_COLUMN, HEAD_COLUMN, ROWS, Dropped, read_table, reorder
from .surface import RANGES, Surface, Written, ranges_of, surface_text
from .tags import TAG_ALONE, has_some, read_tags, tags_alone, take_apart

EXTENSION = RECORD[1]
CONTEXT = "linearize_context"  # what was said before the Doc, for second opinions
GIVEN = ("given_tags", "given_heads", "given_labels")
MAX_NAMED = 10  # in one warning
MAX_REPORTED = 100  # items of which a component warns


def claim_extensions() -> None:
    """Register the record and the constraints on the order as extensions of Docs."""
    for name in (EXTENSION, CONTEXT, ROWS[1], RANGES[1], *EXTENSIONS):
        if not Doc.has_extension(name):
            Doc.set_extension(name, default=None)
        elif Doc.get_extension(name) != (None, None, None, None):
            raise error("SL041", name=name)


@dataclass(frozen=True, kw_only=True)
class Writer:
    """Makes new Docs under the settings of a component.

    options (Options): The settings.
    surface (Surface): How words become text.
    reported (Set[Dropped]): What has been warned of. Each is named once.
    """

    options: Options
    surface: Surface
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
        tags = read_tags(doc, self.options.tags_from)
        given = given_of(doc, tags, table[:, DEP_COLUMN], self.options, as_given=as_given)
        order = self._annotated(table, tags, order, given)
        written = self._written(doc, bags, order)
        attributes, annotated = take_apart(doc, table, order, self.options.tags_from)
        new, dropped = reorder(doc, attributes, annotated, written.spaces, written.words)
        _set_ranges(new, written.ranges)
        _warn(dropped, self.reported)
        starts = starts_of(bags) if len(bags) > 1 and not self.options.tree else []
        _set_boundaries(new, starts)
        place = np.argsort(order.order).tolist()
        if has_precedences(doc):
            move_precedences(doc, new, place)
        record: dict[str, Any] = {"order": tuple(order.order.tolist()), **_scores(order, gap)}
        for key, mask in zip(GIVEN, given, strict=True):
            record[key] = tuple(mask[order.order].tolist())
        record["lifted"] = tuple(sorted((place[word], place[head]) for word, head in order.lifts))
        record["text"], record["ranges"] = surface_text(new), tuple(map(tuple, written.ranges))
        if self.options.tags_from != TAG_ALONE:
            record["tags_from"] = self.options.tags_from
        record["dropped"] = dropped
        if starts:
            record["starts"] = tuple(starts)
        if alternatives:
            record["alternatives"] = tuple(self._alternatives(doc, table, tags, bags, given, alternatives))
        new.user_data[RECORD] = record
        return new

    def _alternatives(
        self, doc: Doc, table: Array, tags: Array, bags: Sequence[Bag], given: Given, orders: Sequence[Order]
    ) -> Iterator[dict[str, Any]]:
        """Orders as the record holds them."""
        for one in orders:
            own = self._annotated(table, tags, one, given)
            columns = {name: tuple(getattr(own, name).tolist()) for name in ("order", "tags", "heads", "labels")}
            written = self._written(doc, bags, own)
            text = {"spaces": tuple(written.spaces), "ranges": tuple(map(tuple, written.ranges))}
            if written.words is not None:
                text["words"] = tuple(written.words)
            yield {**columns, "lifted": own.lifts, **_scores(own, orders[0].score - own.score), **text}

    def _annotated(self, table: Array, tags: Array, order: Order, given: Given) -> Order:
        """An order with all given annotation, also what the search did not know. Ignored annotation stays, unless
        `overwrite` is on. If a tree is added, old heads stay only if they are complete: a mixture might be no tree.

        table (ndarray): See `reorder.read_table`.
        tags (ndarray): See `tags.read_tags`.
        """
        options = self.options
        labels, heads = table[:, DEP_COLUMN], order.heads
        keeps_tags = given.tags if options.use_tags or options.overwrite else tags != 0
        if options.tags_from != TAG_ALONE and (options.use_tags or not options.overwrite):
            keeps_tags = keeps_tags | (has_some(table, options.tags_from) & (tags == 0))
        keeps_labels = given.labels
        if options.use_heads and not (options.use_deps or options.overwrite):
            keeps_labels = (labels != 0) & (labels != UNLABELLED)
        if not (options.use_heads or options.overwrite) and (labels.all() or not options.tree):
            keeps_labels = np.ones(len(table), dtype=bool)
            offsets = table[:, HEAD_COLUMN].astype(np.int64)
            heads = np.where(labels != 0, np.arange(len(table)) + offsets, FREE).astype(np.int32)
        new_tags, new_labels = np.where(keeps_tags, tags, order.tags), np.where(keeps_labels, labels, order.labels)
        return replace(order, tags=new_tags, heads=heads, labels=new_labels)

    def _written(self, doc: Doc, bags: Sequence[Bag], order: Order) -> Written:
        """How the words are written in an order, sentence by sentence. Within a unit, spaces are as they were."""
        words: list[str] = []
        spaces: list[bool] = []
        ranges: list[Range] = []
        for start, bag in zip(starts_of(bags), bags, strict=True):
            tokens = order.order[start : start + len(bag if bag.tokens is None else bag.tokens)]
            if spaces:
                spaces[-1] = True  # between sentences
            part = self.write_sentence(doc, start, bag, tokens - start, order.tags[tokens])
            words += part.words or ()
            spaces += part.spaces
            ranges += [one._replace(start=one.start + start, end=one.end + start) for one in part.ranges]
        return Written(words if self.options.truecase else None, spaces, ranges)

    def write_sentence(self, doc: Doc, start: int, bag: Bag, order: Array, tags: Array) -> Written:
        """The same for one bag.

        start (int): Where it starts in the Doc.
        order (ndarray): Its tokens in order, counted from there.
        tags (ndarray): Their tags, in this order.
        """
        tokens = bag if bag.tokens is None else bag.tokens
        known = ranges_of(doc)
        written = self.surface.write(
            tokens.column("forms")[order],
            tokens.column("shapes")[order],
            tags_alone(doc, start + order, tags, self.options.tags_from),
            doc.vocab.strings,
            given=_still_together(known, order + start) if known else (),
            truecase=self.options.truecase,
        )
        if bag.tokens is not None:
            unit_of = np.repeat(np.arange(len(bag)), [len(unit) for unit in bag.members])[order]
            for i in np.flatnonzero(unit_of[1:] == unit_of[:-1]).tolist():
                written.spaces[i] = bool(doc[start + int(order[i])].whitespace_)
        return written


def _still_together(known: Sequence[Range], order: Array) -> list[Range]:
    """The multiword tokens whose words still follow each other, at their new places.

    order (ndarray): The positions of the words of a sentence in the Doc, in the new order.
    """
    place = {k: i for i, k in enumerate(order.tolist())}
    found = []
    for start, end, form, misc in known:
        first = place.get(start)
        if first is not None and all(place.get(k) == first + k - start for k in range(start, end)):
            found.append(Range(first, first + end - start, form, misc))
    return found


def _set_ranges(doc: Doc, ranges: Sequence[Sequence[Any]]) -> None:
    """Let a Doc have these multiword tokens, and no others."""
    doc.user_data.pop(RANGES, None)
    if ranges:
        doc.user_data[RANGES] = tuple(map(tuple, ranges))


def starts_of(bags: Sequence[Bag]) -> list[int]:
    """Where the tokens of each bag start in the Doc."""
    return list(accumulate((len(bag if bag.tokens is None else bag.tokens) for bag in bags[:-1]), initial=0))


def _scores(order: Order, gap: float) -> dict[str, float]:
    """What the record says of an order's score."""
    scores = {"score": order.score, "gap": gap}
    return scores if order.second is None else {**scores, "second": order.second}


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
    table, order = take_apart(doc, read_table(doc), order, record.get("tags_from", TAG_ALONE))
    new, dropped = reorder(doc, table, order, list(chosen["spaces"]), chosen.get("words"))
    _set_ranges(new, chosen["ranges"])
    _warn(dropped, set())
    _set_boundaries(new, list(record.get("starts", ())))
    move_precedences(doc, new, np.argsort(order.order).tolist())
    given = {key: tuple(record[key][i] for i in order.order.tolist()) for key in GIVEN}
    place = np.argsort(chosen["order"]).tolist()
    own = {key: chosen[key] for key in ("order", "score", "gap", "second", "ranges") if key in chosen}
    own["lifted"] = tuple(sorted((place[word], place[head]) for word, head in chosen["lifted"]))
    own["text"] = surface_text(new)
    new.user_data[RECORD] = {**record, **own, **given, "dropped": (*record["dropped"], *dropped)}
    return new


def _warn(dropped: tuple[Dropped, ...], reported: set[Dropped]) -> None:
    """Warn of what was dropped, of each item once, until many have been named: streams may be long."""
    news = [one for one in dict.fromkeys(dropped) if one not in reported]
    if news and len(reported) < MAX_REPORTED:
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
