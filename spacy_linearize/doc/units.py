"""Units: tokens that stay together, in the sequence they have, and are ordered as one word.

A unit stands for its head: the token that something outside is tied to by a given arc. It takes over the head's tag,
label and form, unless the model was trained with units and knows its whole text as a word.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from spacy.tokens import Doc, Span

from .bag import FREE, ROOT, Array, Words
from .control import Pair
from .errors import error
from .projective import is_projective

NOUN_PHRASE = "NP"  # the tag of base noun phrases where a treebank was converted with them as units


@dataclass(frozen=True)
class Merged:
    """Words of which some are units.

    words (Words): One for each unit, and for each token outside of units.
    members (List[range]): The tokens of each, as positions in the words they were made of.
    heads (List[int]): The token that stands for each.
    """

    words: Words
    members: list[range]
    heads: list[int]

    @property
    def unit_of(self) -> Array:
        """By token: the number of its unit."""
        return np.repeat(np.arange(len(self.members)), [len(tokens) for tokens in self.members])

    def spread(self, order: Array) -> Array:
        """The tokens in order, from an order of the words."""
        return np.array([k for i in order.tolist() for k in self.members[i]], dtype=np.int32)


def find_units(doc: Doc, units: str | None, name: str) -> list[Span]:
    """The units of a Doc.

    units (Optional[str]): "ents", "noun_chunks", or the key of a span group.
    name (str): Of the component, for errors.
    """
    if units is None:
        return []
    if units == "ents":
        return list(doc.ents)
    if units == "noun_chunks":
        try:
            return list(doc.noun_chunks)
        except (NotImplementedError, ValueError) as problem:
            raise error("SL062", name=name) from problem
    if units not in doc.spans:
        raise error("SL063", name=name, units=units, known=", ".join(doc.spans) or "none")
    return [span for span in doc.spans[units] if len(span)]  # an empty one holds nothing together


def merge(words: Words, spans: Iterable[Span], is_word: Callable[[int], bool], tag: int = 0) -> Merged:
    """Make each span one word. Spans outside of these words are left out.

    is_word (Callable[[int], bool]): Whether the model knows a form, by its key.
    tag (int): The tag that all units have, or 0 for that of their heads.
    """
    spans = list(spans)
    members = _members(words, spans)
    unit_of = np.empty(len(words), dtype=np.int32)
    for i, tokens in enumerate(members):
        unit_of[tokens.start : tokens.stop] = i
    heads_of = [_head_of(words, tokens, unit_of) for tokens in members]
    heads = words.heads[heads_of].copy()
    inside = heads >= 0
    heads[inside] = unit_of[heads[inside]]
    columns = words.columns[:, heads_of].copy()
    strings = words.doc.vocab.strings
    for i, tokens in enumerate(members):
        if len(tokens) > 1:
            text = " ".join(words.names[k] for k in tokens)
            if text in strings and is_word(strings[text]):
                columns[0, i] = strings[text]
    tags = words.tags[heads_of].copy()
    if tag:
        starts = {span.start - words.start for span in spans}
        tags[[tokens.start in starts for tokens in members]] = tag
    merged = replace(
        words,
        columns=columns,
        tags=tags,
        heads=heads,
        labels=words.labels[heads_of].copy(),
        pieces=[words.forms[tokens.start : tokens.stop].tolist() for tokens in members],
        traits=_traits(words, members),
        members=members,
    )
    return Merged(merged, members, heads_of)


def _traits(words: Words, members: list[range]) -> Array:
    """What is inside of each unit: those with equal heads are not equal for that."""
    from .core.hashing import mix_values

    own = np.zeros(len(words), dtype=np.uint64) if words.traits is None else words.traits
    traits = own[[tokens.start for tokens in members]]
    for i, tokens in enumerate(members):
        if len(tokens) > 1:
            part = slice(tokens.start, tokens.stop)
            heads = [1 + h - tokens.start if h in tokens else 0 for h in words.heads[part].tolist()]
            columns = (words.forms, words.tags, words.labels, own)
            traits[i] = mix_values([*heads, *(value for column in columns for value in column[part].tolist())])
    return traits


def merge_pairs(pairs: Iterable[Pair], merged: Merged, words: Words) -> list[Pair]:
    """Pairs of tokens as pairs of units. Within a unit, the sequence is what it is."""
    unit_of = merged.unit_of.tolist()
    result = []
    for first, second in pairs:
        if unit_of[first] != unit_of[second]:
            result.append((unit_of[first], unit_of[second]))
        elif first > second:
            raise error("SL064", words=[first, second], texts=words.names)
    return list(dict.fromkeys(result))


def _members(words: Words, spans: Iterable[Span]) -> list[range]:
    """The units and the single tokens, from left to right."""
    members: list[range] = []
    at, end = 0, len(words)
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        start, stop = span.start - words.start, span.end - words.start
        if stop <= 0 or start >= end:
            continue
        if start < 0 or stop > end:
            raise error("SL065", words=[max(start, 0)], texts=words.names)
        if start < at:
            raise error("SL066", words=[start], texts=words.names)
        members += [range(k, k + 1) for k in range(at, start)]
        members.append(range(start, stop))
        at = stop
    return members + [range(k, k + 1) for k in range(at, end)]


def _head_of(words: Words, tokens: range, unit_of: Array) -> int:
    """The token of a unit that stands for it. Everything outside must be tied to this one."""
    if len(tokens) == 1:
        return tokens.start
    heads = words.heads
    here = unit_of[tokens.start]
    tied = [k for k in tokens if heads[k] == ROOT or (heads[k] >= 0 and unit_of[heads[k]] != here)]
    if len(tied) > 1:
        raise error("SL067", words=tied, texts=words.names)
    outside = np.flatnonzero((heads >= tokens.start) & (heads < tokens.stop) & (unit_of != here))
    asked = sorted({int(heads[k]) for k in outside})
    inner = [int(heads[k]) - tokens.start if k not in tied and heads[k] >= 0 else FREE for k in tokens]
    tops = [k for k in tokens if inner[k - tokens.start] == FREE]
    head = next((k for k in (*tied, *asked) if k in tops), tops[-1])
    for k in asked:
        if k != head:
            raise error("SL068", words=[k, head], texts=words.names)
    # Marked as the root, so that no arc of the unit may run over it.
    inner[head - tokens.start] = ROOT
    if not is_projective(inner):
        raise error("SL069", words=list(tokens), texts=words.names)
    return head
