"""Sentences of raw text and of .spacy files as arrays of keys, for the language model.

Text is tokenised by the pipeline's own tokenizer, in as many processes as the user allows, and split into sentences by
the rules of spaCy's Sentencizer, unless it is asked for something else. No Token is made for any of it.
"""

import io
import pickle
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from spacy.attrs import IS_PUNCT, IS_SPACE, ORTH, SENT_START, SHAPE, SUFFIX
from spacy.language import Language
from spacy.pipeline import Sentencizer
from spacy.strings import get_string_id
from spacy.tokens import Doc
from spacy.vectors import Vectors
from spacy.vocab import Vocab

from ..core.keyset import KeySet
from ..core.ngrams.counts import Text
from ..core.records import Array
from ..errors import error
from ..lines import DOCS, TEXT_SUFFIXES, Progress, find_files, read_lines
from ..processes import in_processes
from .components import components_for
from .spacy_files import read_spacy

SPLITS = ("rules", "lines", "pipeline")
ATTRS = [ORTH, SUFFIX, SHAPE, IS_PUNCT, IS_SPACE, SENT_START]
_FORM, _PUNCT, _SPACE, _START = 0, 3, 4, 5
BATCH = 1000  # lines, and Docs of a .spacy file
# What a tokenizer keeps between batches: most words of a text come up again and again. Beyond that, new words are
# forgotten after each batch.
CACHED_CHUNKS = 100_000
KEPT_WORDS = 200_000
ENDS = np.sort(np.array([get_string_id(mark) for mark in Sentencizer.default_punct_chars], dtype=np.uint64))


class Sentences(NamedTuple):
    """Some sentences in a row.

    keys (ndarray): The keys of all their words, uint64.
    lengths (ndarray): The number of words of each sentence, int64. None is empty.
    forms (ndarray): The key of each word that has not come up before, with those of its suffix and shape: uint64, three
        columns.
    """

    keys: Array
    lengths: Array
    forms: Array


def read_sentences(
    nlp: Language,
    paths: str | Path | Iterable[str | Path],
    *,
    split: str = "rules",
    keep_tokens: bool = False,
    n_process: int = 1,
    batch_size: int = BATCH,
    add_strings: bool = False,
    progress: Progress | None = None,
) -> Iterator[Sentences]:
    """The sentences of texts and .spacy files, without whitespace tokens. The result does not depend on
    n_process.

    nlp (Language): The pipeline whose tokenizer is used. It is not changed.
    paths (Union[str, Path, Iterable[Union[str, Path]]]): Text, see `lines.read_lines`, and .spacy files with sentence
        boundaries, or one sentence a Doc; folders of both; "-" for standard input.
    split (str): What makes sentences of a line: "rules" for those of spaCy's Sentencizer, "lines" for one sentence a
        line, "pipeline" for the components of the pipeline, which takes much longer.
    keep_tokens (bool): Whether text is tokenised already, one sentence a line: it is split at spaces, and no further.
    n_process (int): In how many processes to tokenise.
    batch_size (int): How many lines go to a process at a time.
    add_strings (bool): Whether to add all words, with their suffixes and shapes, to the strings of the pipeline, for
        callers that need their texts.
    progress (Optional[Callable[[int], object]]): Is told the number of bytes read since it was last told.
    YIELDS (Sentences): The sentences of one batch.
    """
    if split not in SPLITS:
        raise error("SL022", key="split", value=split, expected=f"one of {', '.join(SPLITS)}")
    for key, value in (("n_process", n_process), ("batch_size", batch_size)):
        if type(value) is not int or value < 1:
            raise error("SL022", key=key, value=value, expected="a whole number from 1")
    files = find_files(paths, (*TEXT_SUFFIXES, DOCS))
    text = _TextSettings("lines" if keep_tokens else split, keep_tokens, add_strings, n_process, batch_size)
    return _read(nlp, files, text, progress)


def read_text(
    nlp: Language,
    paths: str | Path | Iterable[str | Path],
    *,
    n_process: int = 1,
    add_strings: bool = False,
    progress: Progress | None = None,
) -> Text:
    """All of some texts and .spacy files as one source of a language model, see `read_sentences`."""
    text = Text()
    for batch in read_sentences(nlp, paths, n_process=n_process, add_strings=add_strings, progress=progress):
        text.add(batch.keys, batch.lengths)
        text.add_forms(batch.forms)
    return text


class _TextSettings(NamedTuple):
    split: str
    keep_tokens: bool
    add_strings: bool
    n_process: int
    batch_size: int


def _read(nlp: Language, files: list[Path], text: _TextSettings, progress: Progress | None) -> Iterator[Sentences]:
    seen = KeySet()
    for is_docs, group in groupby(files, key=lambda path: path.suffix.lower() == DOCS):
        with closing((_of_docs if is_docs else _of_text)(nlp, list(group), text, progress)) as found:
            for keys, lengths, forms, texts in found:
                is_new = seen.add(forms[:, _FORM])
                if texts is not None:
                    for word in texts:
                        nlp.vocab[word]  # with its suffix and shape
                if len(keys):
                    yield Sentences(keys, lengths, forms[is_new])


# A batch as it comes from a process: keys, lengths, rows of the words that are new there, and their texts, if needed.
_Batch = tuple[Array, Array, Array, list[str] | None]
_Batches = Generator[_Batch, None, None]


def _of_docs(nlp: Language, paths: list[Path], text: _TextSettings, progress: Progress | None) -> _Batches:
    for path in paths:
        vocab = Vocab(lex_attr_getters=nlp.vocab.lex_attr_getters)  # goes with the file
        docs = read_spacy(path, vocab)
        if progress is not None:
            progress(path.stat().st_size)
        while some := list(islice(docs, BATCH)):
            tables = [doc.to_array(ATTRS) for doc in some]
            keys, lengths, table = _join(tables, np.concatenate([table[:, _START] == 1 for table in tables]))
            forms = _rows_of_forms(table)
            yield keys, lengths, forms, _texts(forms, vocab) if text.add_strings else None


def _of_text(nlp: Language, files: list[Path], text: _TextSettings, progress: Progress | None) -> _Batches:
    lines = read_lines(files, progress=progress)
    batches = iter(lambda: list(islice(lines, text.batch_size)), [])
    if text.split == "pipeline":
        kept = set(components_for(nlp, ["token.is_sent_start"]))
        with nlp.select_pipes(disable=[name for name in nlp.pipe_names if name not in kept]):
            packed = pickle.dumps(nlp)
    else:
        packed = _pack_tokenizer(nlp)
    arguments = (packed, text.split, text.keep_tokens, text.add_strings)
    return in_processes(_TextWorker, arguments, batches, n_process=text.n_process)


class _WithoutVectors(pickle.Pickler):
    """Word vectors may take a gigabyte, and no tokenizer needs them."""

    def reducer_override(self, value: Any) -> Any:
        return (Vectors, ()) if isinstance(value, Vectors) else NotImplemented


def _pack_tokenizer(nlp: Language) -> bytes:
    file = io.BytesIO()
    _WithoutVectors(file).dump(nlp.tokenizer)
    return file.getvalue()


class _TextWorker:
    """Splits lines into sentences, with its own copy of a tokenizer or of a pipeline.

    packed (bytes): The tokenizer, or for split = "pipeline" the pipeline, pickled.
    split, keep_tokens, add_strings: As in `read_sentences`.
    """

    def __init__(self, packed: bytes, split: str, keep_tokens: bool, add_strings: bool) -> None:
        unpacked: Any = pickle.loads(packed)
        self.split = split
        self.pipeline: Language | None = unpacked if split == "pipeline" else None
        self.tokenizer: Callable[[str], Doc] = unpacked.tokenizer if split == "pipeline" else unpacked
        self.vocab = unpacked.vocab
        self.keep_tokens = keep_tokens
        self.add_strings = add_strings
        self.seen = KeySet()
        self.n_first = len(self.vocab)
        self.is_warm = False
        if hasattr(self.tokenizer, "max_cache_size"):
            self.tokenizer.max_cache_size = max(self.tokenizer.max_cache_size, CACHED_CHUNKS)

    def __call__(self, lines: list[str]) -> _Batch:
        with self._memory():
            tables = [doc.to_array(ATTRS) for doc in self._docs(lines)]
            if self.split == "rules":
                starts = find_starts(tables)
            elif self.split == "lines":
                starts = np.zeros(sum(map(len, tables)), dtype=bool)
            else:
                starts = np.concatenate([table[:, _START] == 1 for table in tables])
            keys, lengths, table = _join(tables, starts)
            forms = _rows_of_forms(table)
            forms = forms[self.seen.add(forms[:, _FORM])]
            return keys, lengths, forms, _texts(forms, self.vocab) if self.add_strings else None

    def _memory(self) -> AbstractContextManager[Any]:
        """A tokenizer fills its cache only outside of memory zones."""
        if not self.is_warm:
            self.is_warm = len(self.vocab) > self.n_first + KEPT_WORDS
            return nullcontext()
        zone: AbstractContextManager[Any] = (self.pipeline or self.vocab).memory_zone()
        return zone

    def _docs(self, lines: list[str]) -> Iterable[Doc]:
        if self.keep_tokens:
            return (Doc(self.vocab, words=line.split()) for line in lines)
        return map(self.tokenizer, lines) if self.pipeline is None else self.pipeline.pipe(lines)


def _join(tables: list[Array], starts: Array) -> tuple[Array, Array, Array]:
    """Docs as one table: the keys, the lengths of sentences, and the rows, all without tokens of space.

    starts (ndarray): Whether a sentence begins at a token, beside the first of each Doc.
    """
    if not tables:
        return np.empty(0, np.uint64), np.empty(0, np.int64), np.empty((0, len(ATTRS)), np.uint64)
    table = np.concatenate(tables)
    first = np.cumsum([0, *map(len, tables[:-1])])
    starts = starts.copy()
    starts[first[first < len(starts)]] = True
    is_word = table[:, _SPACE] == 0
    numbers = np.cumsum(starts)[is_word]  # of the sentence, for each word
    lengths = np.bincount(numbers)
    table = table[is_word]
    return np.ascontiguousarray(table[:, _FORM]), lengths[lengths > 0].astype(np.int64), table


def _rows_of_forms(table: Array) -> Array:
    """Form, suffix and shape of every word once."""
    _, rows = np.unique(table[:, _FORM], return_index=True)
    return np.ascontiguousarray(table[rows, :_PUNCT])


def _texts(forms: Array, vocab: Vocab) -> list[str]:
    return [vocab.strings[key] for key in forms[:, _FORM].tolist()]


def find_starts(tables: list[Array]) -> Array:
    """Where sentences begin inside of Docs, by the rules of spaCy's Sentencizer: a word, not punctuation, with a mark
    that ends a sentence between it and the word before.

    tables (List[ndarray]): The Docs, each with the columns ATTRS.
    """
    if not tables:
        return np.empty(0, dtype=bool)
    table = np.concatenate(tables)
    at = np.searchsorted(ENDS, table[:, _FORM])
    at[at == len(ENDS)] = 0
    is_end = ENDS[at] == table[:, _FORM]
    n_ends = np.cumsum(is_end)
    lengths = np.array([len(one) for one in tables])
    first = np.cumsum(lengths) - lengths
    # Marks of the Docs before do not count: every Doc begins with a word that stands before its first token.
    before = np.concatenate([[0], n_ends])[first]
    places = np.concatenate([first, np.flatnonzero((table[:, _PUNCT] == 0) & ~is_end)])
    counts = np.concatenate([before, n_ends[places[len(first) :]]])
    sequence = np.argsort(places, kind="stable")
    changed = np.diff(counts[sequence], prepend=0) > 0
    starts = np.zeros(len(table), dtype=bool)
    is_word = sequence >= len(first)
    starts[places[sequence[changed & is_word]]] = True
    return starts
