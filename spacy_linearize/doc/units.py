"""Units: tokens that stay together, in the sequence they have, and are ordered as one word.

A unit stands for its head: the token that something outside is tied to by a given arc. It takes over the head's tag,
label and form, unless the model was trained with units and knows its whole text as a word.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from spacy.strings import StringStore
from spacy.tokens import Doc, Span

from ..core.records import Array, Bag, Precedence
from ..errors import error
from ..trees import FREE, ROOT, is_projective

UNITS = "linearize_units"  # the span group that is always read, whatever the settings say
COLUMNS = ("forms", "tags", "labels", "lowers", "suffixes", "shapes", "puncts", "kept")
Texts = Sequence[str] | None


def find_units(doc: Doc, units: str | None, name: str) -> list[Span]:
    """The units of a Doc: its own, in `doc.spans["linearize_units"]`, and those that the settings ask for.

    units (Optional[str]): "ents", "noun_chunks", or the key of a span group.
    name (str): Of the component, for errors.
    """
    own = [] if UNITS not in doc.spans or units == UNITS else list(doc.spans[UNITS])
    found = own if units is None else [*own, *_named_units(doc, units, name)]
    return [span for span in found if len(span)]  # an empty span is no unit


def _named_units(doc: Doc, units: str, name: str) -> Iterable[Span]:
    if units == "ents":
        return list(doc.ents)
    if units == "noun_chunks":
        try:
            return list(doc.noun_chunks)
        except (NotImplementedError, ValueError) as problem:
            raise error("SL062", name=name) from problem
    if units not in doc.spans:
        raise error("SL063", name=name, units=units, known=", ".join(doc.spans) or "none")
    return list(doc.spans[units])


def merge(
    tokens: Bag,
    start: int,
    spans: Iterable[Span],
    before: Sequence[Precedence],
    strings: StringStore,
    is_word: Callable[[int], bool],
    tag: int = 0,
) -> Bag:
    """A bag whose words are units and single tokens.

    tokens (Bag): The bag of tokens.
    start (int): Where it stands in the Doc.
    spans (Iterable[Span]): The units of the Doc. Those outside of this bag are left out.
    before (Sequence[Precedence]): Precedences of tokens.
    is_word (Callable[[int], bool]): Whether the model knows a form, by its key.
    tag (int): The tag that all units have, or 0 for that of their heads.
    """
    spans = list(spans)
    members = _members(tokens, start, spans)
    unit_of = np.repeat(np.arange(len(members), dtype=np.int32), [len(own) for own in members])
    arcs = tokens.column("heads")
    tops = [_top_of(arcs, own, unit_of, tokens.texts) for own in members]
    columns: dict[str, Any] = {name: tokens.column(name)[tops] for name in COLUMNS if getattr(tokens, name) is not None}
    heads = arcs[tops]
    inside = heads >= 0
    heads[inside] = unit_of[heads[inside]]
    for i, own in enumerate(members):
        if len(own) > 1:
            text = " ".join(strings[key] for key in tokens.column("forms")[own.start : own.stop].tolist())
            if text in strings and is_word(strings[text]):
                columns["forms"][i] = strings[text]
    if tag:
        starts = {span.start - start for span in spans}
        columns["tags"] = np.where([own.start in starts for own in members], np.uint64(tag), columns["tags"])
    texts: Any = tokens.texts
    return Bag(
        **columns,
        heads=heads,
        before=_merge_precedences(before, unit_of.tolist(), tokens.texts),
        tokens=tokens,
        members=members,
        tops=tops,
        texts=texts.of_units(members),
    )


def _merge_precedences(before: Iterable[Precedence], unit_of: list[int], texts: Texts) -> list[Precedence]:
    """Precedences of tokens as precedences of units. Within a unit, the sequence is fixed."""
    result = []
    for first, second in before:
        if unit_of[first] != unit_of[second]:
            result.append((unit_of[first], unit_of[second]))
        elif first > second:
            raise error("SL064", words=[first, second], texts=texts)
    return list(dict.fromkeys(result))


def _members(tokens: Bag, first: int, spans: Iterable[Span]) -> list[range]:
    """The units and the single tokens, from left to right."""
    members: list[range] = []
    at, end = 0, len(tokens)
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        start, stop = span.start - first, span.end - first
        if stop <= 0 or start >= end:
            continue
        if start < 0 or stop > end:
            raise error("SL065", words=[max(start, 0)], texts=tokens.texts)
        if start < at:
            raise error("SL066", words=[start], texts=tokens.texts)
        members += [range(k, k + 1) for k in range(at, start)]
        members.append(range(start, stop))
        at = stop
    return members + [range(k, k + 1) for k in range(at, end)]


def _top_of(heads: Array, tokens: range, unit_of: Array, texts: Texts) -> int:
    """The token of a unit that stands for it. Everything outside must be tied to this one."""
    if len(tokens) == 1:
        return tokens.start
    here = unit_of[tokens.start]
    tied = [k for k in tokens if heads[k] == ROOT or (heads[k] >= 0 and unit_of[heads[k]] != here)]
    if len(tied) > 1:
        raise error("SL067", words=tied, texts=texts)
    outside = np.flatnonzero((heads >= tokens.start) & (heads < tokens.stop) & (unit_of != here))
    asked = sorted({int(heads[k]) for k in outside})
    inner = [int(heads[k]) - tokens.start if k not in tied and heads[k] >= 0 else FREE for k in tokens]
    tops = [k for k in tokens if inner[k - tokens.start] == FREE]
    # In a cycle there is no top. The core refuses it when the arcs of the tokens are read.
    top = next((k for k in (*tied, *asked) if k in tops), tops[-1] if tops else tokens[-1])
    for k in asked:
        if k != top:
            raise error("SL068", words=[k, top], texts=texts)
    # Marked as the root, so that no arc of the unit may cover it.
    inner[top - tokens.start] = ROOT
    if not is_projective(inner):
        raise error("SL069", words=list(tokens), texts=texts)
    return top
