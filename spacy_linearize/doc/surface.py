"""How a sequence of words becomes text: what is contracted, where spaces belong, which letters are capital.

All of it is learned from the training text, and stored beside the model as readable JSON. A Doc holds words; those that
are written as one token are in `doc._.linearize_ranges`, as (start, end, form, MISC column): "du" for "de le". Its text
with these is `surface_text(doc)`; `doc.text` has the words.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from spacy.lang.lex_attrs import word_shape
from spacy.strings import StringStore
from spacy.tokens import Doc, Span

from ..core.records import Array
from ..errors import error
from .casing import Casing
from .contraction import Contractions, Range
from .spacing import Piece, Spacing

FILE_NAME = "surface.json"  # beside the model
RANGES = ("._.", "linearize_ranges", None, None)  # in doc.user_data
LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


class Written(NamedTuple):
    """Words as they are written.

    words (Optional[List[str]]): With other capitals, if that was asked for.
    spaces (List[bool]): Whether a space follows each word. Between words of one token it tells whether these are more
        than written together.
    ranges (List[Range]): Words that are written as one token.
    """

    words: list[str] | None
    spaces: list[bool]
    ranges: list[Range]

    def text(self, words: Sequence[str]) -> str:
        """The text of these words, or of those with other capitals."""
        text = [word + " " * space for word, space in zip(self.words or words, self.spaces, strict=True)]
        for start, end, form, _ in self.ranges:
            text[start:end] = [form + " " * self.spaces[end - 1], *[""] * (end - start - 1)]
        return "".join(text).strip()


class WrittenText(NamedTuple):
    """What a text teaches: its words, their tags, which of them are written as one token, and whether a space follows
    each, if that is known."""

    words: list[str]
    tags: list[str]
    ranges: list[Range]
    spaces: list[bool] | None


def read_written(doc: Doc, other: Doc | None = None) -> WrittenText:
    """A Doc as a text to learn from.

    other (Optional[Doc]): Has the same words, and perhaps their spaces, if the Doc does not.
    """
    words, spaced = [token.text for token in doc], doc
    if doc.has_unknown_spaces and other is not None and words == [token.text for token in other]:
        spaced = other
    spaces = None if spaced.has_unknown_spaces else [bool(token.whitespace_) for token in spaced]
    return WrittenText(words, [token.tag_ for token in doc], ranges_of(doc), spaces)


class Surface:
    """What is known about text.

    joins (bool): Whether words are joined where training text says nothing about spaces, as in Japanese.
    """

    def __init__(self, joins: bool = False) -> None:
        self.spacing = Spacing(joins)
        self.contractions = Contractions()
        self.casing = Casing()

    def learn(self, texts: Iterable[WrittenText]) -> None:
        """Learn anew. Spaces are learned where they are known, if there is one gap without a space among these: old
        treebanks leave them out."""
        texts = [text for text in texts if text.words]
        self.contractions.learn((text.words, text.tags, text.ranges) for text in texts)
        self.casing.learn((text.words, text.tags) for text in texts)
        spaced = [text for text in texts if text.spaces is not None]
        if not all(all(text.spaces[:-1]) for text in spaced if text.spaces):
            self.spacing.learn(map(_pieces, spaced))

    def write(
        self,
        forms: Array,
        shapes: Array,
        tags: Array,
        strings: StringStore,
        *,
        given: Sequence[Range] = (),
        truecase: bool = False,
    ) -> Written:
        """Write the words of one sentence.

        forms, shapes, tags (ndarray): The keys of the words, of their shapes and tags, in order.
        strings (StringStore): Knows their texts.
        given (Sequence[Range]): Words of which it is known that they are written as one token.
        truecase (bool): Whether to set capitals for this order.
        """
        if not (truecase or given or self.contractions):
            return Written(None, self.spacing.spaces(forms, shapes, tags, strings), [])
        words, names = ([strings[key] for key in keys.tolist()] for keys in (forms, tags))
        if truecase:
            before, words = words, self.casing.apply(words, names)
            given = [
                one._replace(form=self.casing.as_changed(one.form, before[one.start], words[one.start]))
                for one in given
            ]
            forms = _keys(words, strings)
            shapes = _keys(map(word_shape, words), strings)
        ranges = self.contractions.find(words, names, given)
        if not ranges:
            return Written(words if truecase else None, self.spacing.spaces(forms, shapes, tags, strings), [])
        keep = np.ones(len(forms), dtype=bool)
        for start, end, *_ in ranges:
            keep[start + 1 : end] = False
        texts = [form for _, _, form, _ in ranges]
        at = [start for start, *_ in ranges]
        forms, shapes = forms.copy(), shapes.copy()
        forms[at], shapes[at] = _keys(texts, strings), _keys(map(word_shape, texts), strings)
        found = iter(self.spacing.spaces(forms[keep], shapes[keep], tags[keep], strings))
        spaces = [next(found) if kept else False for kept in keep.tolist()]
        for start, end, form, _ in ranges:
            last = spaces[start]
            spaces[start:end] = [form != "".join(words[start:end])] * (end - start)
            spaces[end - 1] = last
        return Written(words if truecase else None, spaces, ranges)

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "spacing": self.spacing.to_dict(),
            "contractions": self.contractions.to_dict(),
            "casing": self.casing.to_dict(),
        }

    def to_json(self) -> bytes:
        """The same as a file."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=0).encode("utf8")

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Surface":
        """The inverse of `to_dict`, with checks."""
        surface = cls()
        surface.spacing = Spacing.from_dict(stored["spacing"])
        surface.contractions = Contractions.from_dict(stored["contractions"])
        surface.casing = Casing.from_dict(stored["casing"])
        return surface

    @classmethod
    def from_json(cls, data: bytes, source: str) -> "Surface":
        """The inverse of `to_json`, with checks.

        source (str): What to call it in error messages.
        """
        try:
            return cls.from_dict(json.loads(data))
        except Exception as broken:
            what = f"its part '{FILE_NAME}' cannot be read ({type(broken).__name__}: {broken})"
            raise error("SL032", source=source, what=what) from broken


def ranges_of(doc: Doc) -> list[Range]:
    """The words of a Doc that are written as one token, from left to right. What is set wrongly is an error."""
    value = doc.user_data.get(RANGES)
    found = as_ranges(() if value is None else value, len(doc))
    if found is None:
        raise error("SL223", value=value, last=len(doc))
    return found


def as_ranges(values: Any, n: int) -> list[Range] | None:
    """Multiword tokens in a Doc of n words, from left to right. None if that is not what they are."""
    if not isinstance(values, Sequence) or not all(isinstance(one, Sequence) and len(one) in (3, 4) for one in values):
        return None
    found = [Range(*one) for one in values]
    if not all(type(k) is int for one in found for k in one[:2]):
        return None
    found.sort()
    if not all(_is_cell(one.form) and one.form.strip() not in ("", "_") and _is_cell(one.misc) for one in found):
        return None
    bounds = [0, *(k for one in found for k in one[:2]), n]
    is_apart = all(a <= b for a, b in pairwise(bounds)) and all(one.start < one.end for one in found)
    return found if is_apart else None


def _is_cell(value: Any) -> bool:
    """Whether a value is a text that a row of CoNLL-U can hold."""
    return isinstance(value, str) and value != "" and not {*value} & {"\t", *LINE_ENDS}


def ranges_in(ranges: Iterable[Range], start: int, end: int) -> list[Range]:
    """Those of a part of a Doc, counted from its start."""
    inside = (one for one in ranges if start <= one.start and one.end <= end)
    return [one._replace(start=one.start - start, end=one.end - start) for one in inside]


def surface_text(sent: Doc | Span) -> str:
    """The text of a Doc or sentence, with the forms of its multiword tokens."""
    doc, first = (sent.doc, sent.start) if isinstance(sent, Span) else (sent, 0)
    ranges = ranges_in(ranges_of(doc), first, first + len(sent))
    spaces = [bool(token.whitespace_) for token in sent]
    return Written(None, spaces, ranges).text([token.text for token in sent])


def _keys(texts: Iterable[str], strings: StringStore) -> Array:
    return np.array([strings.add(text) for text in texts], dtype=np.uint64)


def _pieces(text: WrittenText) -> list[Piece]:
    """A text as tokens."""
    columns = zip(text.words, text.tags, text.spaces or (), strict=True)
    pieces = [Piece(word, word_shape(word), tag, space) for word, tag, space in columns]
    for start, end, form, _ in sorted(text.ranges, reverse=True):
        pieces[start:end] = [Piece(form, word_shape(form), pieces[start].tag, pieces[end - 1].space)]
    return pieces
