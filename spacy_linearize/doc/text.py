"""Sentences of a file, for the language model."""

from collections.abc import Iterator
from pathlib import Path

from spacy.language import Language
from spacy.tokens import DocBin

from ..errors import error, first_sentence


def read_sentences(nlp: Language, path: str | Path) -> Iterator[list[int]]:
    """The sentences of a file as keys of words.

    path (Union[str, Path]): A .spacy file with sentence boundaries (or one sentence a Doc), or text with one sentence
        on each line, which the pipeline's own tokenizer splits.
    """
    path = Path(path)
    return _of_docs(nlp, path) if path.suffix == ".spacy" else _of_lines(nlp, path)


def _of_docs(nlp: Language, path: Path) -> Iterator[list[int]]:
    try:
        for doc in DocBin().from_disk(path).get_docs(nlp.vocab):
            for sent in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
                yield [token.orth for token in sent]
    except (OSError, MemoryError):
        raise
    except Exception as broken:  # whatever zlib, msgpack and spaCy make of bytes that are no Docs
        problem = f"{type(broken).__name__}: {first_sentence(broken)}"
        raise error("SL180", path=path, problem=problem) from broken


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
