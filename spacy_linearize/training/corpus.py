"""The reader: gold Docs from .spacy files as Examples with a part of their tags and arcs given.

The reference has its words without known spaces, because spaCy's evaluation would otherwise try to align the reordered
text with it. The predicted Doc has the same words, the known spaces (so that spacing can be learned), and the given
share of tags and labelled arcs.
"""

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.corpus import FILE_TYPE, walk_corpus
from spacy.util import ensure_path, logger

from ..doc.text import read_spacy
from ..errors import error

Setting = tuple[float, float]


class Corpus:
    """Examples for training and evaluation of a linearizer.

    path (Path): A .spacy file, or a folder of them.
    tags, heads (float): The share of tags, and of arcs, that is given: 0 to 1.
    settings (List[List[float]]): Pairs (tags, heads), of which one is drawn for each sentence instead.
    labelled (bool): Whether given arcs come with their labels.
    gold_preproc (bool): Whether to split Docs into sentences.
    min_length, max_length (int): Leave out shorter Docs; split longer ones into sentences and leave out those that are
        longer still. Docs of just this length are read. 0 for no limit.
    limit (int): Read only so many Docs. 0 for all.
    resample (bool): Draw anew, and shuffle, each time the corpus is read. For training with max_epochs = -1, with which
        spaCy reads the corpus once an epoch. Otherwise every reading gives the same examples.
    seed (int): For all that is drawn.

    The words of an example stand in gold order. A linearizer cannot see it, but a tagger or parser that runs before it
    in the same pipeline can: scores of such a pipeline are those of words that were in order once.
    """

    def __init__(
        self,
        path: str | Path | None,
        *,
        tags: float = 1.0,
        heads: float = 1.0,
        settings: Iterable[Iterable[float]] = (),
        labelled: bool = True,
        gold_preproc: bool = False,
        min_length: int = 0,
        max_length: int = 0,
        limit: int = 0,
        resample: bool = False,
        seed: int = 0,
    ) -> None:
        if path is None:
            raise error("SL022", key="path", value=None, expected="a .spacy file or a folder (set paths.train)")
        self.path = ensure_path(path)
        if self.path.is_file() and self.path.suffix != FILE_TYPE:
            raise error("SL054", path=path)
        self.settings = [_check_setting(setting) for setting in settings] or [_check_setting((tags, heads))]
        self.labelled = labelled
        self.gold_preproc = gold_preproc
        self.min_length = min_length
        self.max_length = max_length
        self.limit = limit
        self.resample = resample
        self.seed = seed
        self.n_readings = 0

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Read the corpus.

        nlp (Language): The pipeline, for its vocabulary.
        YIELDS (Example): The examples.
        """
        rng = random.Random(f"{self.seed} {self.n_readings if self.resample else 0}")
        self.n_readings += 1
        references = self._references(nlp)
        if self.resample:
            shuffled = list(references)
            rng.shuffle(shuffled)
            references = iter(shuffled)
        for reference in references:
            tags, heads = rng.choice(self.settings)
            given = give(reference, tags, heads, labelled=self.labelled, rng=rng)
            yield Example(given, without_spaces(reference))

    def _references(self, nlp: Language) -> Iterator[Doc]:
        for doc in self._docs(nlp):
            is_long = bool(self.max_length) and len(doc) > self.max_length
            parts = _sentences(doc) if self.gold_preproc or is_long else [doc]
            for part in parts:
                if len(part) >= max(1, self.min_length) and not (self.max_length and len(part) > self.max_length):
                    yield part

    def _docs(self, nlp: Language) -> Iterator[Doc]:
        n_docs = 0
        locations = walk_corpus(self.path, FILE_TYPE) if self.path.exists() else []
        if not locations:
            raise error("SL183", path=self.path)
        for location in locations:
            for doc in read_spacy(location, nlp.vocab):
                if len(doc):
                    yield doc
                    n_docs += 1
                    if n_docs == self.limit:
                        return
        logger.debug("Read %d Docs from %s", n_docs, self.path)


def _check_setting(setting: Iterable[float]) -> Setting:
    pair = tuple(setting)
    if len(pair) != 2 or not all(type(share) in (int, float) and 0 <= share <= 1 for share in pair):
        raise error("SL022", key="tags, heads", value=list(pair), expected="two shares from 0 to 1")
    return pair[0], pair[1]


def _sentences(doc: Doc) -> list[Doc]:
    if not doc.has_annotation("SENT_START"):
        return [doc]
    docs = []
    for sent in doc.sents:
        part = sent.as_doc()
        docs.append(without_spaces(part) if doc.has_unknown_spaces else part)
    return docs


def without_spaces(doc: Doc) -> Doc:
    """A copy of a Doc with all annotation, whose spaces count as unknown."""
    bare = doc.copy()
    bare.has_unknown_spaces = True
    return bare


def give(doc: Doc, tags: float, heads: float, *, labelled: bool = True, rng: random.Random | None = None) -> Doc:
    """The words of a gold Doc with a random share of its tags and arcs.

    tags, heads (float): The share of each, 0 to 1.
    labelled (bool): Whether the arcs come with their labels.
    rng (Optional[Random]): Where chance comes from.
    RETURNS (Doc): A new Doc with the same words and spaces.
    """
    rng = rng or random.Random(0)
    keep_tag = [rng.random() < tags for _ in doc]
    keep_head = [rng.random() < heads and token.has_head() for token in doc]
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=None if doc.has_unknown_spaces else [bool(token.whitespace_) for token in doc],
        tags=[token.tag_ if keep_tag[token.i] else "" for token in doc],
        heads=[token.head.i if keep_head[token.i] else None for token in doc],
        deps=[(token.dep_ if labelled else "dep") if keep_head[token.i] else "" for token in doc],
    )
