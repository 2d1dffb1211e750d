"""From a Doc to bags of words with their given annotation, by spaCy's own conventions.

- A token without a tag has no tag given. Other attributes may make the tag, see `tags`.
- A token without a dependency label has no head given (`token.has_head()` is false).
- The label "dep" stands for an arc without a label.
- A token that is its own head with the label "ROOT" (or "dep") is given as the root.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from spacy.attrs import DEP, HEAD, IS_PUNCT, LOWER, ORTH, SHAPE, SUFFIX, TAG
from spacy.lang.lex_attrs import LEX_ATTRS
from spacy.symbols import dep as UNLABELLED
from spacy.tokens import Doc

from ..core.records import Array, Bag
from ..errors import error
from ..options import Options
from ..trees import FREE
from .arrays import mark_questions, read_arcs
from .known import Known
from .precedence import read_precedences
from .surface import ranges_of
from .tags import TAG_ALONE, read_tags
from .units import UNITS, find_units, merge

ATTRS = [ORTH, LOWER, SUFFIX, SHAPE, TAG, DEP, HEAD, IS_PUNCT]
_FORM, _LOWER, _SUFFIX, _SHAPE, _TAG, _DEP, _HEAD, _PUNCT = range(8)
RECORD = ("._.", "linearization", None, None)  # in doc.user_data, see `write`


class Given(NamedTuple):
    """Masks over the tokens: which have a given tag, head or label."""

    tags: Array
    heads: Array
    labels: Array


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Reads Docs under the settings of a component.

    options (Options): The settings.
    known (Known): The tags and labels that training saw.
    is_word (Callable[[int], bool]): Whether training saw a form, by its key.
    name (str): The name of the component, for messages.
    """

    options: Options
    known: Known
    is_word: Callable[[int], bool]
    name: str

    def read(self, doc: Doc, *, as_given: bool = False) -> list[Bag]:
        """The bags of a Doc: one for all of it, or one for each sentence.

        as_given (bool): Leave out what a linearizer has added to the Doc: only what was given to it is given.
        """
        check_doc(doc)
        ranges_of(doc)  # to check them before anything is searched
        options = self.options
        spans = self._spans(doc)
        longest = max((end - start for start, end in spans), default=0)
        if options.max_words is not None and longest > options.max_words:
            raise error("SL005", n=longest, limit=options.max_words)
        bags = list(read_bags(doc, spans, options))
        if as_given:
            given = given_of(doc, read_tags(doc, options.tags_from), doc.to_array("DEP"), options, as_given=True)
            bags = [_only(bag, given, start, end) for bag, (start, end) in zip(bags, spans, strict=True)]
        bags = [self.known.hide(bag, doc, self.name) for bag in bags]
        before = read_precedences(doc, spans)
        if options.units is None and UNITS not in doc.spans:
            return [replace(bag, before=pairs) if pairs else bag for bag, pairs in zip(bags, before, strict=True)]
        units = find_units(doc, options.units, self.name)
        tag = self.known.noun_phrase if options.units == "noun_chunks" and options.use_tags else 0
        return [
            merge(bag, start, units, pairs, doc.vocab.strings, self.is_word, tag)
            for bag, (start, _), pairs in zip(bags, spans, before, strict=True)
        ]

    def _spans(self, doc: Doc) -> list[tuple[int, int]]:
        """Where the bags of a Doc begin and end."""
        if self.options.sentences == "doc":
            return [(0, len(doc))]
        if not doc.has_annotation("SENT_START"):
            raise error("SL042", name=self.name)
        return [(sent.start, sent.end) for sent in doc.sents]


def check_doc(doc: Any) -> None:
    """Refuse anything that is not a Doc."""
    if not isinstance(doc, Doc):
        raise error("SL192", value=doc)


def read_bags(doc: Doc, spans: Sequence[tuple[int, int]], options: Options) -> Iterator[Bag]:
    """Parts of a Doc as bags.

    spans (Sequence[Tuple[int, int]]): Where each begins and ends. Its heads must be inside.
    options (Options): What counts as given. What does not is read as missing.
    """
    table = doc.to_array(ATTRS)
    strings = doc.vocab.strings
    if not table[:, _SHAPE].all():
        _look_up(table, doc)
    roots = (UNLABELLED, strings["ROOT"], strings["root"])
    mark_questions(table[:, _PUNCT], table[:, _FORM], strings)
    if options.use_tags and options.tags_from != TAG_ALONE:
        table[:, _TAG] = read_tags(doc, options.tags_from)
    for start, end in spans:
        part = table[start:end]
        heads, labels, outside = read_arcs(part[:, _DEP], part[:, _HEAD], UNLABELLED, roots)
        if options.use_heads and outside >= 0:
            raise error("SL043", words=[start + outside], texts=[token.text for token in doc])
        yield Bag(
            forms=part[:, _FORM],
            tags=part[:, _TAG] if options.use_tags else None,
            heads=heads if options.use_heads else None,
            # A label belongs to its arc. If the arc is ignored, so is the label.
            labels=labels if options.use_heads and options.use_deps else None,
            lowers=part[:, _LOWER],
            suffixes=part[:, _SUFFIX],
            shapes=part[:, _SHAPE],
            puncts=part[:, _PUNCT],
            texts=TokenTexts(doc, start, end),
        )


def given_of(doc: Doc, tags: Array, labels: Array, options: Options, *, as_given: bool = False) -> Given:
    """What a Doc gives, whether the search knows it or not.

    tags, labels (ndarray): What `read_tags` returns, and the column DEP of the Doc.
    as_given (bool): As in `Reader.read`.
    """
    has_head = labels != 0
    heads = has_head if options.use_heads else np.zeros_like(has_head)
    given = Given(
        tags=tags != 0 if options.use_tags else np.zeros_like(has_head),
        heads=heads,
        labels=heads & (labels != UNLABELLED) if options.use_deps else np.zeros_like(has_head),
    )
    record = doc.user_data.get(RECORD) if as_given else None
    if record and len(record["order"]) == len(doc):
        masks = (np.array(record[f"given_{kind}"], dtype=bool) for kind in Given._fields)
        given = Given(*(own & mask for own, mask in zip(given, masks, strict=True)))
    return given


def _only(bag: Bag, given: Given, start: int, end: int) -> Bag:
    """A bag with only its given annotation."""
    none = np.uint64(0)
    return replace(
        bag,
        tags=np.where(given.tags[start:end], bag.column("tags"), none),
        heads=np.where(given.heads[start:end], bag.column("heads"), np.int32(FREE)),
        labels=np.where(given.labels[start:end], bag.column("labels"), none),
    )


def _look_up(table: Array, doc: Doc) -> None:
    """Fill in the attributes of words that the vocabulary of a Doc lacks. A bare `Vocab()` has only their forms."""
    strings = doc.vocab.strings
    for form in np.unique(table[table[:, _SHAPE] == 0, _FORM]).tolist():
        text, same = strings[form], table[:, _FORM] == form
        for column, attr in ((_LOWER, LOWER), (_SUFFIX, SUFFIX), (_SHAPE, SHAPE)):
            table[same, column] = strings.add(LEX_ATTRS[attr](text))
        table[same, _PUNCT] = LEX_ATTRS[IS_PUNCT](text)


class TokenTexts(Sequence[str]):
    """The texts of a bag's words, and their positions in the Doc, looked up only when an error message needs them.

    start, end (int): Where the bag stands in the Doc.
    members (Optional[Sequence[range]]): If its words are units, the tokens of each, counted from `start`.
    """

    def __init__(self, doc: Doc, start: int, end: int, members: Sequence[range] | None = None) -> None:
        self.doc = doc
        self.start = start
        self.end = end
        self.members = members

    def of_units(self, members: Sequence[range]) -> "TokenTexts":
        """The same for units of these words."""
        return TokenTexts(self.doc, self.start, self.end, members)

    def __len__(self) -> int:
        return self.end - self.start if self.members is None else len(self.members)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(len(self))[i]]
        tokens = self._tokens(range(len(self))[i])
        return " ".join(token.text for token in self.doc[tokens.start : tokens.stop])

    def position(self, i: int) -> int:
        """Where a word, or the first token of a unit, stands in the Doc."""
        return self._tokens(i).start

    def _tokens(self, i: int) -> range:
        own = range(i, i + 1) if self.members is None else self.members[i]
        return range(self.start + own.start, self.start + own.stop)
