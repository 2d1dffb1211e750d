"""Docs of a .spacy file, and sentences of any file for the language model."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..errors import error, first_sentence


def read_sentences(nlp: Language, path: str | Path) -> Iterator[list[int]]:
    """The sentences of a file as keys of words.

    path (Union[str, Path]): A .spacy file with sentence boundaries (or one sentence a Doc), or text with one sentence
        on each line, which the pipeline's own tokenizer splits.
    """
    path = Path(path)
    return _of_docs(nlp, path) if path.suffix == ".spacy" else _of_lines(nlp, path)


def _of_docs(nlp: Language, path: Path) -> Iterator[list[int]]:
    for doc in read_spacy(path, nlp.vocab):
        for sent in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
            yield [token.orth for token in sent]


def _of_lines(nlp: Language, path: Path) -> Iterator[list[int]]:
    with path.open("rb") as lines:
        for number, raw in enumerate(lines):
            try:
                line = raw.decode("utf8" if number else "utf-8-sig")
            except UnicodeDecodeError as problem:
                raise error("SL182", path=path) from problem
            keys = [token.orth for token in nlp.make_doc(line.strip()) if not token.is_space]
            if keys:
                yield keys


def read_spacy(path: Path, vocab: Vocab) -> Iterator[Doc]:
    """The Docs of a .spacy file. It is read at once, and its strings are known from then on: those that spaCy adds with
    the first Doc may be forgotten at the end of a memory zone, with more Docs to come."""
    with _spacy_problems(path):
        docs = DocBin().from_disk(path)
        for text in docs.strings:
            vocab.strings.add(text)
    return _spacy_docs(docs, path, vocab)


def _spacy_docs(docs: DocBin, path: Path, vocab: Vocab) -> Iterator[Doc]:
    with _spacy_problems(path):
        yield from docs.get_docs(vocab)


@contextmanager
def _spacy_problems(path: Path) -> Iterator[None]:
    """Whatever zlib, msgpack and spaCy make of bytes that are no Docs is one error of this package."""
    collects = gc.isenabled()
    try:
        yield
    except (OSError, MemoryError):
        raise
    except Exception as broken:
        if collects:
            gc.enable()  # srsly switches it off, and leaves it so when it fails
        raise error("SL180", path=path, problem=f"{type(broken).__name__}: {first_sentence(broken)}") from broken
