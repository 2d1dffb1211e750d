"""The reader: gold Docs from .spacy files as Examples with some of their tags and arcs given.

The reference has its words without known spaces, because spaCy's evaluation would otherwise try to align the reordered
text with it. The predicted Doc has the same words, the known spaces (so that spacing can be learned), and the given
share of tags and labelled arcs.
"""

import math
import random
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from spacy.attrs import DEP, HEAD, MORPH, ORTH, POS, SPACY, TAG
from spacy.language import Language
from spacy.symbols import dep as UNLABELLED
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.corpus import FILE_TYPE, walk_corpus
from spacy.util import ensure_path

from ..doc.gold import gold_spans
from ..doc.surface import RANGES, ranges_in, ranges_of
from ..errors import error
from .stream import Stream, interleave, shuffled

Setting = tuple[float, float]
Drawn = tuple[Doc, list[Setting]]  # a Doc, and what may be given of it


class Source(NamedTuple):
    """Where Docs come from, how many times in a reading, mixed with others and then alone, and with which settings."""

    path: Path
    weight: float
    last: float
    settings: list[Setting]


class Corpus:
    """Examples for training and evaluation of a linearizer.

    path (Optional[Path]): A .spacy file, or a folder of them.
    sources (Dict[str, Dict[str, Any]]): Several of them instead, under names of your own: each with its "path" and its
        "weight", which says how many times its Docs come up in one reading. With a weight of 3 each comes up three
        times; with 0.5 half of them come up. If `resample` is on, they are drawn anew on each reading. A source may
        have its own "settings": of a parser's trees, for instance, only parts. With "last", its Docs come up so many
        times more at the end of the reading, when all others are through: a treebank after parsed text.
    tags, heads (float): The share of tags, and of arcs, that is given: 0 to 1.
    settings (List[List[float]]): Pairs (tags, heads), of which one is drawn for each sentence instead.
    labelled (bool): Whether given arcs come with their labels.
    gold_preproc (bool): Whether to split Docs into sentences.
    min_length, max_length (int): Leave out shorter Docs; split longer ones into sentences and leave out those that are
        longer still. Docs of just this length are read. 0 for no limit.
    limit (int): Read at most this many Docs, the first ones of each source. 0 for all.
    resample (bool): Draw anew, and shuffle, each time the corpus is read. For training with max_epochs = -1, with which
        spaCy reads the corpus once an epoch. Otherwise every reading gives the same examples, source by source.
    buffer_size (int): With `resample`, the size of the shuffle buffer in Docs. A larger corpus is shuffled only as far
        as this allows: its files are read in random sequence, and its sources are mixed.
    seed (int): The seed of the random number generator.

    The words of an example stand in gold order. A linearizer cannot see it, but a tagger or parser that runs before it
    in the same pipeline can: such a pipeline is scored as if part of the order were known.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        sources: Mapping[str, Mapping[str, Any]] | None = None,
        tags: float = 1.0,
        heads: float = 1.0,
        settings: Iterable[Iterable[float]] = (),
        labelled: bool = True,
        gold_preproc: bool = False,
        min_length: int = 0,
        max_length: int = 0,
        limit: int = 0,
        resample: bool = False,
        buffer_size: int = 20_000,
        seed: int = 0,
    ) -> None:
        if path is None and not sources:
            raise error("SL022", key="path", value=None, expected="a .spacy file or a folder (set paths.train)")
        if path is not None and sources:
            raise error("SL022", key="path", value=str(path), expected="left out, since there are sources")
        numbers = {"min_length": min_length, "max_length": max_length, "limit": limit, "buffer_size": buffer_size}
        for key, value in numbers.items():
            least = 1 if key == "buffer_size" else 0
            if type(value) is not int or value < least:
                raise error("SL022", key=key, value=value, expected=f"a whole number from {least}")
        shared = [_check_setting(setting) for setting in settings] or [_check_setting((tags, heads))]
        if sources is not None and not isinstance(sources, Mapping):
            raise error("SL022", key="sources", value=sources, expected="a table, with a name for each source")
        named = sources or {"path": {"path": path}}
        self.sources = [_check_source(key, source, shared) for key, source in named.items()]
        self.labelled = labelled
        self.gold_preproc = gold_preproc
        self.min_length = min_length
        self.max_length = max_length
        self.limit = limit
        self.resample = resample
        self.buffer_size = buffer_size
        self.seed = seed
        self.n_readings = 0

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Read the corpus.

        nlp (Language): The pipeline, for its vocabulary.
        YIELDS (Example): The examples.
        """
        rng = random.Random(f"{self.seed} {self.n_readings if self.resample else 0}")
        self.n_readings += 1
        for weights in ([source.weight for source in self.sources], [source.last for source in self.sources]):
            references = self._references(self._docs(nlp, weights, rng))
            if self.resample:
                references = shuffled(references, rng, self.buffer_size)
            for reference, settings in references:
                tags, heads = rng.choice(settings)
                given = give(reference, tags, heads, labelled=self.labelled, rng=rng)
                reference.has_unknown_spaces = True
                yield Example(given, reference)

    def _references(self, docs: Iterable[Drawn]) -> Iterator[Drawn]:
        for doc, settings in docs:
            is_long = bool(self.max_length) and len(doc) > self.max_length
            parts = _sentences(doc) if self.gold_preproc or is_long else [doc]
            for part in parts:
                if len(part) >= max(1, self.min_length) and not (self.max_length and len(part) > self.max_length):
                    yield part, settings

    def _docs(self, nlp: Language, weights: list[float], rng: random.Random) -> Iterator[Drawn]:
        """The Docs of all sources: mixed, if they are drawn anew, otherwise one source after the other.

        weights (List[float]): By source, how many times its Docs come up.
        """
        pairs = [
            (stream, source.settings)
            for source, weight in zip(self.sources, weights, strict=True)
            if weight
            for stream in self._streams(source, weight, rng)
        ]
        streams = [_drawn(stream.read(nlp.vocab), settings) for stream, settings in pairs]
        if self.limit:
            return chain.from_iterable(islice(stream, self.limit) for stream in streams)
        if self.resample:
            return interleave(streams, [stream for stream, _ in pairs], rng)
        return chain.from_iterable(streams)

    def _streams(self, source: Source, weight: float, rng: random.Random) -> Iterator[Stream]:
        """A source once for each time that it is read."""
        files = walk_corpus(source.path, FILE_TYPE) if source.path.exists() else []
        if not files:
            raise error("SL183", path=source.path)
        for k in range(math.ceil(weight)):
            if self.resample and not self.limit:
                rng.shuffle(files)
            chance = rng if self.resample else random.Random(f"{self.seed} {source.path.name!a}")
            yield Stream(list(files), share=min(1.0, weight - k), rng=chance)


def _drawn(docs: Iterable[Doc], settings: list[Setting]) -> Iterator[Drawn]:
    return ((doc, settings) for doc in docs if len(doc))


def _check_source(name: str, source: Mapping[str, Any], shared: list[Setting]) -> Source:
    if not isinstance(source, Mapping) or not {"path"} <= set(source) <= set(Source._fields) or source["path"] is None:
        expected = "a path and, if you like, a weight, settings, and how many times more it comes last"
        raise error("SL022", key=f"sources.{name}", value=source, expected=expected)
    weight, last = source.get("weight", 1.0), source.get("last", 0.0)
    if type(weight) not in (int, float) or not 0 < weight < math.inf:
        raise error("SL022", key=f"sources.{name}.weight", value=weight, expected="a number above 0")
    if type(last) not in (int, float) or not 0 <= last < math.inf:
        raise error("SL022", key=f"sources.{name}.last", value=last, expected="a number from 0")
    if not isinstance(source["path"], (str, Path)):
        raise error("SL022", key=f"path of '{name}'", value=source["path"], expected="a .spacy file or a folder")
    path = ensure_path(source["path"])
    if path.is_file() and path.suffix != FILE_TYPE:
        raise error("SL054", path=path)
    settings = [_check_setting(setting) for setting in source.get("settings", ())] or shared
    return Source(path, float(weight), float(last), settings)


def _check_setting(setting: Iterable[float]) -> Setting:
    pair = tuple(setting) if isinstance(setting, Iterable) else (setting,)
    if len(pair) != 2 or not all(type(share) in (int, float) and 0 <= share <= 1 for share in pair):
        raise error("SL022", key="tags, heads", value=list(pair), expected="two shares from 0 to 1")
    return pair[0], pair[1]


def _sentences(doc: Doc) -> list[Doc]:
    spans = gold_spans(doc)
    if len(spans) == 1:  # as in most treebanks: a copy takes as long as all the rest of an example
        return [doc]
    docs, ranges = [], ranges_of(doc)
    for start, end in spans:
        part = doc[start:end].as_doc()
        if own := ranges_in(ranges, start, end):
            part.user_data[RANGES] = tuple(map(tuple, own))
        docs.append(without_spaces(part) if doc.has_unknown_spaces else part)
    return docs


def without_spaces(doc: Doc) -> Doc:
    """A copy of a Doc with all annotation, whose spaces count as unknown."""
    bare = doc.copy()
    bare.has_unknown_spaces = True
    return bare


def give(doc: Doc, tags: float, heads: float, *, labelled: bool = True, rng: random.Random | None = None) -> Doc:
    """The words of a gold Doc with a random share of its tags and arcs.

    tags, heads (float): The share of each, 0 to 1. Parts of speech and morphology go with the tags.
    labelled (bool): Whether the arcs come with their labels.
    rng (Optional[Random]): The random number generator.
    RETURNS (Doc): A new Doc with the same words and spaces.
    """
    rng = rng or random.Random(0)
    table = doc.to_array([TAG, DEP, HEAD, ORTH, SPACY, POS, MORPH])
    keep_tag = [rng.random() < tags for _ in range(len(doc))]
    keep_head = [rng.random() < heads for _ in range(len(doc))] & (table[:, 1] != 0)
    spaces = None if doc.has_unknown_spaces else table[:, 4].astype(bool).tolist()
    given = Doc(doc.vocab, words=table[:, 3].tolist(), spaces=spaces)
    table[:, [0, 5, 6]] *= np.array(keep_tag)[:, np.newaxis]
    if not labelled:
        table[:, 1] = UNLABELLED
    table[:, 1:3] *= keep_head[:, np.newaxis]
    # Morphology goes through a slow table; many Docs have none.
    last = [POS, MORPH] if table[:, 6].any() else [POS]
    return given.from_array([TAG, DEP, HEAD, *last], table[:, [0, 1, 2, 5, 6][: 3 + len(last)]])
