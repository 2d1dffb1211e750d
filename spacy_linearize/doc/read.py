"""From a Doc to bags of words: what is given about them, by spaCy's own conventions.

- A token without a tag has no tag given.
- A token without a dependency label has no head given (`token.has_head()` is false).
- The label "dep" stands for an arc without a label.
- A token that is its own head with the label "ROOT" (or "dep") is given as the root.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.attrs import DEP, HEAD, IS_PUNCT, LOWER, ORTH, SHAPE, SUFFIX, TAG
from spacy.lang.lex_attrs import LEX_ATTRS
from spacy.symbols import dep as UNLABELLED
from spacy.tokens import Doc

from .errors import error

if TYPE_CHECKING:
    from .core.bag.bag import PackedBag
    from .core.engine import Engine
    from .core.records import Sentence

Array = np.ndarray[Any, Any]
ATTRS = [ORTH, LOWER, SUFFIX, SHAPE, TAG, DEP, HEAD, IS_PUNCT]
_FORM, _LOWER, _SUFFIX, _SHAPE, _TAG, _DEP, _HEAD, _PUNCT = range(8)
FREE, ROOT = -1, -2  # as in core.bag, which is not imported before it is needed


@dataclass(frozen=True)
class Use:
    """What given annotation counts as a constraint."""

    tags: bool = True
    heads: bool = True
    deps: bool = True  # of arcs that count


@dataclass(frozen=True)
class Words:
    """The words of a Doc, or of one of its sentences, as columns of keys; heads as positions, FREE or ROOT.

    units (Optional[ndarray]): The numbers of their units, if there are any.
    pieces (Optional[List[List[int]]]): The forms that each word is made of, if some are units.
    traits (Optional[ndarray]): What tells words apart beside all this, if anything does.
    members (Optional[List[range]]): If these are units, the tokens of each, counted from `start`.
    """

    doc: Doc
    start: int
    columns: Array
    tags: Array
    heads: Array
    labels: Array
    units: Array | None = None
    pieces: list[list[int]] | None = None
    traits: Array | None = None
    members: list[range] | None = None

    def __len__(self) -> int:
        return len(self.heads)

    def part(self, start: int, end: int) -> "Words":
        """Some of these words. Heads outside of the part are free."""
        heads = self.heads[start:end].copy()
        inside = (heads >= start) & (heads < end)
        heads[(heads >= 0) & ~inside] = FREE
        heads[inside] -= start
        columns = self.columns[:, start:end]
        return Words(self.doc, self.start + start, columns, self.tags[start:end], heads, self.labels[start:end].copy())

    def without(self, tags: Array | None, labels: Array | None) -> "Words":
        """The same words without some of their tags and labels, chosen by masks. These still tell equal words apart: a
        word keeps its tag, so that it matters which of them comes first."""
        traits = np.zeros(len(self), dtype=np.uint64)
        if tags is not None:
            traits += np.where(tags, self.tags, np.uint64(0))
        if labels is not None:
            traits += np.where(labels, self.labels, np.uint64(0)) * np.uint64(3)  # so that the two do not mix
        return replace(
            self,
            tags=self.tags if tags is None else np.where(tags, np.uint64(0), self.tags),
            labels=self.labels if labels is None else np.where(labels, np.uint64(0), self.labels),
            traits=traits,
        )

    def only(self, tags: Array, heads: Array, labels: Array) -> "Words":
        """The same words with some of their tags, heads and labels, chosen by masks."""
        return replace(
            self,
            tags=np.where(tags, self.tags, np.uint64(0)),
            heads=np.where(heads, self.heads, np.int32(FREE)),
            labels=np.where(labels, self.labels, np.uint64(0)),
        )

    def to_bag(self, engine: "Engine", before: Sequence[tuple[int, int]] = ()) -> "PackedBag":
        """The bag of these words, for the search.

        before (Sequence[Tuple[int, int]]): Pairs of positions of which the first stands before the second.
        """
        columns = self._by_name()
        return engine.bag(**columns, pieces=self.pieces, traits=self.traits, before=before, texts=self.names)

    def to_sentence(self) -> "Sentence":
        """The same words as a gold sentence, to learn from."""
        from .core.records import Sentence

        return Sentence(**self._by_name())

    def _by_name(self) -> dict[str, Any]:
        return {
            "forms": self.columns[_FORM],
            "tags": self.tags,
            "heads": self.heads,
            "labels": self.labels,
            "lowers": self.columns[_LOWER],
            "suffixes": self.columns[_SUFFIX],
            "shapes": self.columns[_SHAPE],
            "puncts": self.columns[_PUNCT] + self._is_question(),
        }

    def _is_question(self) -> Array:
        """Which words are question marks: "?", "??", "!?", and so on."""
        strings = self.doc.vocab.strings
        puncts = np.flatnonzero(self.columns[_PUNCT])
        questions = np.zeros(len(self), dtype=np.uint64)
        questions[puncts] = ["?" in strings[form] for form in self.forms[puncts].tolist()]
        return questions

    @property
    def names(self) -> "TokenNames":
        """How errors name these words."""
        return TokenNames(self)

    @property
    def forms(self) -> Any:
        return self.columns[_FORM]

    @property
    def shapes(self) -> Any:
        return self.columns[_SHAPE]


class TokenNames(Sequence[str]):
    """The texts of words, and their positions in the Doc, looked up only when an error message needs them."""

    def __init__(self, words: Words) -> None:
        self.words = words

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(len(self))[i]]
        tokens = self._tokens(range(len(self))[i])
        return " ".join(token.text for token in self.words.doc[tokens.start : tokens.stop])

    def position(self, i: int) -> int:
        """Where a word, or the first one of a unit, stands in the Doc."""
        return self._tokens(i).start

    def _tokens(self, i: int) -> range:
        start = self.words.start
        own = range(i, i + 1) if self.words.members is None else self.words.members[i]
        return range(start + own.start, start + own.stop)


def read_words(doc: Doc, use: Use) -> Words:
    """The words of a Doc.

    use (Use): What counts as given. What does not is read as missing.
    """
    return _words(doc, use, doc.to_array(ATTRS), 0)


def read_sentences(doc: Doc, use: Use) -> Iterator[Words]:
    """The words of each sentence of a Doc that has sentence boundaries."""
    table = doc.to_array(ATTRS)
    for sent in doc.sents:
        yield _words(doc, use, table[sent.start : sent.end], sent.start)


def _words(doc: Doc, use: Use, table: Array, start: int) -> Words:
    from .arrays import read_arcs

    strings = doc.vocab.strings
    if not table[:, _SHAPE].all():
        _look_up(table, doc)
    roots = (UNLABELLED, strings["ROOT"], strings["root"])
    heads, labels, outside = read_arcs(table[:, _DEP], table[:, _HEAD], UNLABELLED, roots)
    if use.heads and outside >= 0:
        raise error("SL043", words=[start + outside], texts=[token.text for token in doc])
    if not use.heads:
        heads = np.full(len(table), FREE, dtype=np.int32)
    if not (use.deps and use.heads):  # a label without its arc would fit no other
        labels = np.zeros(len(table), dtype=np.uint64)
    tags = table[:, _TAG] if use.tags else np.zeros(len(table), dtype=np.uint64)
    return Words(doc, start, table.T, tags, heads, labels)


def _look_up(table: Array, doc: Doc) -> None:
    """Fill in what the vocabulary of a Doc does not tell of its words. A bare `Vocab()` knows their forms alone."""
    strings = doc.vocab.strings
    for form in np.unique(table[table[:, _SHAPE] == 0, _FORM]).tolist():
        text, same = strings[form], table[:, _FORM] == form
        for column, attr in ((_LOWER, LOWER), (_SUFFIX, SUFFIX), (_SHAPE, SHAPE)):
            table[same, column] = strings.add(LEX_ATTRS[attr](text))
        table[same, _PUNCT] = LEX_ATTRS[IS_PUNCT](text)


def split(doc: Doc, use: Use, sentences: str, name: str = "linearizer") -> Iterator[Words]:
    """The bags of a Doc: one for all of it, or one for each sentence."""
    if sentences == "doc":
        yield read_words(doc, use)
        return
    if not doc.has_annotation("SENT_START"):
        raise error("SL042", name=name)
    yield from read_sentences(doc, use)
