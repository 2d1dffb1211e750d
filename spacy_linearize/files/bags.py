"""Bags of words from files, and sentences into files, as streams.

A bag that cannot be read appears in the stream as an error, so that it is reported in its turn.
"""

import errno
import itertools
import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, TextIO

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..atomic import open_alone, save, write_all
from ..doc.spacy_files import read_spacy
from ..errors import LinearizeError, error
from .conllu import BadSentence, read_sentences, to_conllu

SUFFIXES = {".txt": "text", ".conllu": "conllu", ".jsonl": "jsonl", ".spacy": "spacy"}


class Bag(NamedTuple):
    """A bag of a file.

    number (int): Its place in the file, from 1; in text, the line it stands on. Bags that cannot be read count.
    doc (Union[Doc, LinearizeError]): Its words, or why it could not be read.
    line (Optional[int]): In CoNLL-U, the line where it begins, or that of the problem.
    """

    number: int
    doc: Doc | LinearizeError
    line: int | None = None

    @property
    def name(self) -> str:
        """How to name it in a report."""
        return str(self.number) if self.line is None else f"{self.number} (line {self.line})"


def format_of(path: Path | None, given: Enum | None, key: str, option: str) -> str:
    """The format of a file: as given, or by its suffix; text if it has none. An unknown suffix is refused.

    key, option (str): How the user names the file, and its format.
    """
    if given is not None:
        return str(given.value)
    if path is None or not path.suffix:
        return "text"
    if path.suffix.lower() not in SUFFIXES:
        expected = f"a file that ends in {', '.join(SUFFIXES)}, or come with {option}"
        raise error("SL022", key=key, value=str(path), expected=expected)
    return SUFFIXES[path.suffix.lower()]


def read_bags(path: Path | None, kind: str, vocab: Vocab, *, need_tree: bool = True) -> Iterator[Bag]:
    """The bags of a file, or of standard input if there is no path.

    need_tree (bool): Whether heads of CoNLL-U that are no tree are a problem. Otherwise they are left out.
    """
    if kind == "spacy" and path is not None:
        return itertools.starmap(Bag, enumerate(read_spacy(path, vocab), start=1))
    if kind == "conllu" and path is not None:
        return _conllu_bags(path, vocab, need_tree)
    if path is None:
        standard_input()  # if it is closed, say so at once
    return _text_bags(path, vocab)


def check_output(sources: Iterable[Path | TextIO | None], targets: Iterable[Path | TextIO | None]) -> None:
    """Refuse to write to a file or folder that is also read, under whatever name: a stream may be a file, too.

    sources, targets (Iterable[Optional[Union[Path, TextIO]]]): Paths and streams. None, and what does not exist, is
        passed over.
    """
    read = {identity for source in sources if (identity := _identity(source)) is not None}
    for target in targets:
        if _identity(target) in read:
            raise error("SL181", path=target if isinstance(target, Path) else f"The file behind {_stream_name(target)}")


def _identity(place: Path | TextIO | None) -> tuple[int, int] | None:
    """The device and inode of a path or stream: equal for the same file. None for terminals, pipes and devices, which
    may be read and written at the same time."""
    if place is None:  # a closed stream
        return None
    try:
        info = os.stat(place) if isinstance(place, Path) else os.fstat(place.fileno())
    except (OSError, ValueError):  # not there, or no stream of the system
        return None
    return (info.st_dev, info.st_ino) if stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode) else None


def _stream_name(stream: TextIO | None) -> str:
    return "standard error" if stream is sys.stderr else "standard output"


def standard_input() -> BinaryIO:
    """The bytes of standard input."""
    if sys.stdin is None:
        raise error("SL189", stream="Standard input", advice="Name a file with --input, or words")
    return sys.stdin.buffer


def standard_output() -> BinaryIO:
    """Where results go, in UTF-8, whatever the locale says."""
    if sys.stdout is None:
        raise error(
            "SL189", stream="Standard output", advice="Open it, or name a file with --output where there is one"
        )
    return sys.stdout.buffer


def _text_bags(path: Path | None, vocab: Vocab) -> Iterator[Bag]:
    """One bag a line, words set apart by spaces. Empty lines are empty bags, so that output lines match."""
    with path.open("rb") if path is not None else nullcontext(standard_input()) as file:
        for number, line in enumerate(file, start=1):
            try:
                text = line.decode("utf8").removeprefix("\ufeff" if number == 1 else "")
                yield Bag(number, Doc(vocab, words=text.split()))
            except UnicodeDecodeError:
                yield Bag(number, error("SL182", path=path or "Standard input"))


def _conllu_bags(path: Path, vocab: Vocab, need_tree: bool) -> Iterator[Bag]:
    for number, (line, doc) in enumerate(read_sentences(path, vocab, need_tree=need_tree), start=1):
        if isinstance(doc, BadSentence):
            yield Bag(number, error("SL202", problem=doc), doc.line)
        else:
            yield Bag(number, doc, line)


class Writer:
    """Writes sentences to a file, or to standard output if there is no path. The lines of a bag are written at once: a
    killed process, or a full disk, leaves no half of them. A .spacy file is written at the end, atomically.

    The old content of a file stays until there is something to replace it. Use the writer with `with`, which completes
    the file; after an error, with what was written before it.
    """

    def __init__(self, path: Path | None, kind: str) -> None:
        self.path = path
        self.kind = kind
        self.docs = DocBin(store_user_data=True)
        self.sent_ids: dict[str, int] = {}
        self.file: Any = None
        if path is None:
            standard_output()  # if it is closed, say so before there is work to lose
        else:
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            path.parent.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        try:
            # An error, or Ctrl-C, keeps what is done; if that is nothing, then what was there before.
            if kind is None or len(self.docs) or self.file is not None:
                self._finish()
        finally:
            if self.path is not None and self.file is not None:
                self.file.close()

    def _finish(self) -> None:
        if self.kind == "spacy" and self.path is not None:
            _cut(self.docs, min(map(len, _columns(self.docs))))  # Ctrl-C may come within a Doc
            save(self.path, self.docs.to_bytes())
        else:
            self._put("")
            self.file.flush()

    def write(self, number: int, docs: list[Doc]) -> None:
        """Write the best orders of one bag: all of them, or none if there is an error."""
        if self.kind == "spacy":
            n_before = len(self.docs)
            try:
                for doc in docs:
                    self.docs.add(doc)
            except Exception:
                _cut(self.docs, n_before)
                raise
        elif self.kind == "jsonl":
            self._put(json.dumps(_record(number, docs), ensure_ascii=False) + "\n")
        elif self.kind == "conllu":
            self._put("".join(to_conllu(doc, rank, self.sent_ids) for rank, doc in enumerate(docs, start=1)))
        else:
            self._put("".join(" ".join(doc.text.split()) + "\n" for doc in docs))

    def skip(self) -> None:
        """Leave out a bag. In text its line is empty, so that lines match those of the input."""
        if self.kind == "text":
            self._put("\n")

    def _put(self, text: str) -> None:
        data = text.encode("utf8")
        if self.file is None:
            self.file = open_alone(self.path) if self.path else standard_output()
        if self.path:
            write_all(self.file, data)
        else:
            self.file.write(data)
            if self.file.isatty():
                self.file.flush()


def _columns(docs: DocBin) -> list[list[Any]]:
    return [docs.tokens, docs.spaces, docs.flags, docs.cats, docs.user_data, docs.span_groups]


def _cut(docs: DocBin, n: int) -> None:
    """Keep the first n Docs. One may have been added in part."""
    for column in _columns(docs):
        del column[n:]


def _record(number: int, docs: list[Doc]) -> dict[str, Any]:
    return {
        "number": number,
        "orders": [
            {
                "text": doc.text,
                "words": [token.text for token in doc],
                "order": list(doc._.linearization["order"]) if len(doc) else [],
                "score": doc._.linearization["score"] if len(doc) else 0.0,
                "gap": doc._.linearization["gap"] if len(doc) else 0.0,
                "tags": [token.tag_ for token in doc],
                "heads": [token.head.i if token.has_head() else None for token in doc],
                "deps": [token.dep_ for token in doc],
            }
            for doc in docs
        ],
    }
