"""From an order to a new Doc that carries everything the old one had.

Annotation moves with its token. An entity or span is kept if its tokens still stand side by side in the new order, in
whatever sequence, and is dropped if they do not. Values of span extensions follow the same rule.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from spacy.attrs import DEP, ENT_IOB, ENT_TYPE, HEAD, LEMMA, MORPH, NORM, ORTH, POS, TAG
from spacy.tokens import Doc, Span, SpanGroup

from .bag import Array

MOVED = [ORTH, TAG, DEP, HEAD, POS, LEMMA, NORM, MORPH]
_TAG, _DEP, _HEAD = 1, 2, 3


def reorder(doc: Doc, order: Array, spaces: Sequence[bool], tags: Array, heads: Array, labels: Array) -> Doc:
    """The words of a Doc in another order.

    order (ndarray): Positions in the Doc, in the new order.
    spaces (Sequence[bool]): Whether a space follows, by new position.
    tags, heads, labels (ndarray): By position in the Doc; heads are positions too, FREE or ROOT.
    RETURNS (Doc): A new Doc.
    """
    from .arrays import move

    strings = doc.vocab.strings
    values, place = move(
        doc.to_array(MOVED), order, tags, heads, labels, strings["dep"], tag=_TAG, dep=_DEP, head=_HEAD
    )
    # Strings by key: making Token objects for their texts would take longer than all the rest.
    new = Doc(doc.vocab, words=[strings[key] for key in values[:, 0].tolist()], spaces=list(spaces))
    # Morphology goes through a slow table, last; most Docs have none.
    end = len(MOVED) if values[:, -1].any() else len(MOVED) - 1
    new.from_array(MOVED[1:end], values[:, 1:end])
    _move_spans(doc, new, place)
    _move_user_data(doc, new, place)
    new._context = doc._context
    new.cats.update(doc.cats)
    new.sentiment = doc.sentiment
    new.user_hooks.update(doc.user_hooks)
    new.user_token_hooks.update(doc.user_token_hooks)
    new.user_span_hooks.update(doc.user_span_hooks)
    if getattr(doc.tensor, "shape", (0,))[0] == len(doc):
        new.tensor = doc.tensor[order]
    return new


def _new_range(start: int, end: int, place: Array) -> tuple[int, int] | None:
    """Where the tokens of a span stand now, or None if they are no longer side by side."""
    places = place[start:end]
    low, high = int(places.min()), int(places.max()) + 1
    return (low, high) if high - low == end - start else None


def _move(spans: Iterable[Span], new: Doc, place: Array) -> list[Span]:
    moved = []
    for span in spans:
        found = _new_range(span.start, span.end, place) if len(span) else None
        if found:
            moved.append(Span(new, *found, label=span.label, kb_id=span.kb_id, span_id=span.id))
    return moved


def _move_spans(doc: Doc, new: Doc, place: Array) -> None:
    if doc.has_annotation("ENT_IOB"):
        # Of some tokens it may not be known whether they belong to an entity, of others that they must not.
        states = doc.to_array([ENT_IOB, ENT_TYPE])
        missing = _singles(new, place[states[:, 0] == 0])
        blocked = _singles(new, place[(states[:, 0] == 3) & (states[:, 1] == 0)])
        ents = sorted(_move(doc.ents, new, place), key=lambda span: span.start)
        new.set_ents(ents, missing=missing, blocked=blocked)
    for key, group in doc.spans.items():
        new.spans[key] = SpanGroup(new, name=group.name, attrs=dict(group.attrs), spans=_move(group, new, place))


def _singles(doc: Doc, positions: Array) -> list[Span]:
    """Spans of single tokens."""
    return [doc[k : k + 1] for k in sorted(positions.tolist())]


def _move_user_data(doc: Doc, new: Doc, place: Array) -> None:
    """Token and span extensions are stored under character offsets, which change."""
    data = doc.user_data
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
            continue  # left over from a token that is no more, after a merge
        if end_char is None:
            new.user_data[prefix, name, new[int(place[token_at[start_char]])].idx, None] = value
        elif end_char in token_to:
            found = _new_range(token_at[start_char], token_to[end_char], place)
            if found:
                span = new[found[0] : found[1]]
                new.user_data[prefix, name, span.start_char, span.end_char] = value


def _is_of_doc(key: Any) -> bool:
    """Whether a key of user_data belongs to the whole Doc, not to a token or span."""
    return not (isinstance(key, tuple) and len(key) == 4 and key[0] == "._." and key[2] is not None)
