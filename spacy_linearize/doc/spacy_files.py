"""Docs of .spacy files."""

import gc
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from pathlib import Path
from typing import Any, BinaryIO

import srsly
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..errors import error, first_sentence

ARRAY = struct.Struct(">BI")  # how an array begins in MessagePack: 0xdd, and its length
EMPTY: bytes = srsly.msgpack_dumps({})


def read_spacy(path: Path, vocab: Vocab) -> Iterator[Doc]:
    """The Docs of a .spacy file. It is read at once, and its strings are added at once. spaCy would add them with
    the first Doc: then they may be forgotten at the end of a memory zone, before the other Docs are read."""
    return docs_of(read_docbin(path), path, vocab)


def read_docbin(source: Path | BinaryIO) -> DocBin:
    """A .spacy file, or a stream of its bytes, as it is, without Docs."""
    if isinstance(source, Path):
        with _spacy_problems(source):
            return DocBin().from_disk(source)
    with _spacy_problems("Standard input"):
        return DocBin().from_bytes(source.read())


def docs_of(docs: DocBin, path: Path | str, vocab: Vocab) -> Iterator[Doc]:
    """The Docs of a .spacy file that was read. It loses their user data.

    path (Union[Path, str]): Where it is, for messages.
    """
    with _spacy_problems(path):
        for text in docs.strings:
            vocab.strings.add(text)
    return _made(docs, path, vocab)


def _made(docs: DocBin, path: Path | str, vocab: Vocab) -> Iterator[Doc]:
    with _spacy_problems(path):
        user_data = chain(_take_user_data(docs), repeat({}))
        for doc, own in zip(docs.get_docs(vocab), user_data, strict=False):
            doc.user_data.update(own)
            yield doc


def _take_user_data(docs: DocBin) -> tuple[dict[Any, Any], ...]:
    """The user data of all Docs, decoded in one call: srsly looks for plug-ins on each, which takes as long as reading
    two Docs."""
    packed = [data or EMPTY for data in docs.user_data]
    docs.user_data = []
    found: tuple[dict[Any, Any], ...]
    found = srsly.msgpack_loads(ARRAY.pack(0xDD, len(packed)) + b"".join(packed), use_list=False)
    return found


@contextmanager
def _spacy_problems(path: Path | str) -> Iterator[None]:
    """All that zlib, msgpack and spaCy raise for bytes that are no Docs becomes one error of this package."""
    collects = gc.isenabled()
    try:
        yield
    except (OSError, MemoryError):
        raise
    except Exception as broken:
        if collects:
            gc.enable()  # srsly switches it off, and leaves it so when it fails
        raise error("SL180", path=path, problem=f"{type(broken).__name__}: {first_sentence(broken)}") from broken
