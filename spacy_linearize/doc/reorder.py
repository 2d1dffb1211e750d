"""From an order to a new Doc that carries everything the old one had.

Annotation moves with its token. An entity or span is kept if its tokens still stand together, in the sequence that they
had, and is dropped if they do not: tokens that meet by chance in another sequence are not the same span. Values of span
extensions follow the same rule.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from spacy.attrs import DEP, ENT_ID, ENT_IOB, ENT_KB_ID, ENT_TYPE, HEAD, LEMMA, MORPH, NORM, ORTH, POS, TAG
from spacy.symbols import dep as UNLABELLED
from spacy.tokens import Doc, Span, SpanGroup

from ..core.records import Array, Order
from .arrays import move

MOVED = [ORTH, TAG, DEP, HEAD, POS, LEMMA, NORM, MORPH, ENT_KB_ID, ENT_ID]
TAG_COLUMN, DEP_COLUMN, HEAD_COLUMN, _MORPH, _IDS = 1, 2, 3, 7, 8
ROWS = ("._.", "linearize_rows", None, None)  # in user_data: a tuple with one entry for each token, which moves with it
Dropped = tuple[str, str, str]  # where it was, its label if it has one, and its text


def read_table(doc: Doc) -> Array:
    """What `reorder` moves of each token: a row for each, with a column for each of MOVED."""
    table: Array = doc.to_array(MOVED)
    return table


def reorder(
    doc: Doc, table: Array, order: Order, spaces: Sequence[bool], words: Sequence[str] | None = None
) -> tuple[Doc, tuple[Dropped, ...]]:
    """The words of a Doc in another order.

    table (ndarray): See `read_table`.
    order (Order): The new order, with tags, heads and labels by position in the Doc.
    spaces (Sequence[bool]): Whether a space follows, by new position.
    words (Optional[Sequence[str]]): Other forms of the words, by new position.
    RETURNS (Tuple[Doc, Tuple[Dropped, ...]]): A new Doc, and what is not in it.
    """
    strings = doc.vocab.strings
    columns = (order.order, order.tags, order.heads, order.labels)
    values, place = move(table, *columns, UNLABELLED, tag=TAG_COLUMN, dep=DEP_COLUMN, head=HEAD_COLUMN)
    # Strings by key: making Token objects for their texts would take longer than all the rest.
    if words is None:
        words = [strings[key] for key in values[:, 0].tolist()]
    new = Doc(doc.vocab, words=list(words), spaces=list(spaces))
    # Morphology goes through a slow table; most Docs have none.
    end = _IDS if values[:, _MORPH].any() else _MORPH
    new.from_array(MOVED[1:end], values[:, 1:end])
    mover = _Mover(doc, new, place)
    mover.move_spans(values[:, _IDS:])
    mover.move_user_data()
    if len(rows := new.user_data.get(ROWS) or ()) == len(doc):
        new.user_data[ROWS] = tuple(rows[k] for k in order.order.tolist())
    new._context = doc._context
    new.cats.update(doc.cats)
    new.sentiment = doc.sentiment
    for hooks in ("user_hooks", "user_token_hooks", "user_span_hooks"):
        getattr(new, hooks).update(getattr(doc, hooks))
    # A tensor may have one row for each token, or any other shape.
    is_of_tokens = getattr(doc.tensor, "shape", ())[:1] == (len(doc),)
    new.tensor = doc.tensor[order.order] if is_of_tokens else doc.tensor
    new._vector, new._vector_norm = doc._vector, doc._vector_norm
    return new, tuple(mover.dropped)


class _Mover:
    """Moves spans, and remembers what it drops.

    place (ndarray): For each position in the old Doc that in the new one.
    """

    def __init__(self, doc: Doc, new: Doc, place: Array) -> None:
        self.doc = doc
        self.new = new
        self.place = place
        self.dropped: list[Dropped] = []

    @cached_property
    def _n_together(self) -> Array:
        """For each token, how many tokens up to this one still directly follow their old left neighbour."""
        return np.cumsum(np.diff(self.place, prepend=self.place[:1]) == 1)

    def find(self, start: int, end: int) -> tuple[int, int] | None:
        """Where the tokens of a span stand now, or None if they do not stand together in their sequence."""
        if start >= end or self._n_together[end - 1] - self._n_together[start] < end - 1 - start:
            return None
        return int(self.place[start]), int(self.place[start]) + end - start

    def move(self, spans: Iterable[Span], where: str) -> list[Span]:
        moved = []
        for span in spans:
            found = self.find(span.start, span.end)
            if found:
                moved.append(Span(self.new, *found, label=span.label, kb_id=span.kb_id, span_id=span.id))
            else:
                self.dropped.append((where, span.label_, span.text))
        return moved

    def move_spans(self, ids: Array) -> None:
        """Move entities and span groups.

        ids (ndarray): What tokens have of ENT_KB_ID and ENT_ID, outside of entities, too, by new position.
        """
        doc, new, place = self.doc, self.new, self.place
        if doc.has_annotation("ENT_IOB"):
            # For some tokens it may be unknown whether they belong to an entity. Others may be barred from entities.
            states = doc.to_array([ENT_IOB, ENT_TYPE])
            missing = _singles(new, place[states[:, 0] == 0])
            blocked = _singles(new, place[(states[:, 0] == 3) & (states[:, 1] == 0)])
            ents = sorted(self.move(doc.ents, "doc.ents"), key=lambda span: span.start)
            new.set_ents(ents, missing=missing, blocked=blocked)
        if ids.any():
            for span in doc.ents:
                if self.find(span.start, span.end) is None:
                    ids[place[span.start : span.end]] = 0
            new.from_array([ENT_KB_ID, ENT_ID], ids)
        for key, group in doc.spans.items():
            spans = self.move(group, f"doc.spans[{key!r}]")
            new.spans[key] = SpanGroup(new, name=group.name, attrs=dict(group.attrs), spans=spans)

    def move_user_data(self) -> None:
        """Token and span extensions are stored under character offsets, which change."""
        doc, new, data = self.doc, self.new, self.doc.user_data
        if all(_is_of_doc(key) for key in data):
            new.user_data.update(data)
            return
        token_at = {token.idx: token.i for token in doc}
        token_to = {token.idx + len(token): token.i + 1 for token in doc}
        for key, value in data.items():
            if _is_of_doc(key):
                new.user_data[key] = value
                continue
            prefix, name, start_char, end_char = key
            if start_char not in token_at:
                continue  # left over from a token that was merged away
            start = token_at[start_char]
            if end_char is None:
                new.user_data[prefix, name, new[int(self.place[start])].idx, None] = value
            elif end_char in token_to:
                found = self.find(start, token_to[end_char])
                if found:
                    span = new[found[0] : found[1]]
                    new.user_data[prefix, name, span.start_char, span.end_char] = value
                else:
                    self.dropped.append((f"span._.{name}", "", doc[start : token_to[end_char]].text))


def _singles(doc: Doc, positions: Array) -> list[Span]:
    """Spans of single tokens."""
    return [doc[k : k + 1] for k in sorted(positions.tolist())]


def _is_of_doc(key: Any) -> bool:
    """Whether a key of user_data belongs to the whole Doc, not to a token or span."""
    return not (isinstance(key, tuple) and len(key) == 4 and key[0] == "._." and key[2] is not None)
