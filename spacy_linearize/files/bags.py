"""Bags of words from files, and sentences into files, as streams.

A bag that cannot be read appears in the stream as an error, so that it is reported in its turn.
"""

import errno
import itertools
import os
import stat
import sys
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, TextIO

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..atomic import open_alone, save, write_all
from ..doc.spacy_files import docs_of, read_docbin
from ..doc.surface import surface_text
from ..errors import LinearizeError, error
from .conllu import UPOS_TAGS, BadSentence, read_sentences
from .conllu_writer import to_conllu
from .jsonl import doc_to_object, error_to_object, id_of, object_to_doc, parse_line, to_line

SUFFIXES = {".txt": "text", ".conllu": "conllu", ".jsonl": "jsonl", ".spacy": "spacy"}
STANDARD_INPUT = "Standard input"  # in messages, instead of a path


class Bag(NamedTuple):
    """A bag of a file.

    number (int): Its place in the file, from 1; in text, the line it stands on. Bags that cannot be read count.
    doc (Union[Doc, LinearizeError]): Its words, or why it could not be read.
    line (Optional[int]): In CoNLL-U, the line where it begins, or that of the problem.
    identity (Optional[Union[str, int]]): In JSON lines, its id.
    """

    number: int
    doc: Doc | LinearizeError
    line: int | None = None
    identity: str | int | None = None

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


def read_bags(
    path: Path | None,
    kind: str,
    vocab: Vocab,
    *,
    tokenize: Callable[[str], Doc] | None = None,
    tag: str = "xpos",
    upos_tags: Container[str] = UPOS_TAGS,
    need_tree: bool = True,
) -> Iterator[Bag]:
    """The bags of a file, or of standard input if there is no path.

    kind (str): The format: "text", "conllu", "jsonl" or "spacy".
    tokenize (Optional[Callable[[str], Doc]]): Makes a Doc of a line of text. By default it is split at spaces.
    tag, upos_tags (str, Container[str]): As in `conllu.read_conllu`.
    need_tree (bool): Whether heads of CoNLL-U that are no tree are a problem. Otherwise they are left out.
    """
    if kind == "spacy":
        docs = read_docbin(path if path is not None else standard_input())
        return itertools.starmap(Bag, enumerate(docs_of(docs, path or STANDARD_INPUT, vocab), start=1))
    if path is None:
        standard_input()  # if it is closed, say so at once
    if kind == "conllu":
        return _conllu_bags(path, vocab, tag, upos_tags, need_tree)
    return _json_bags(path, vocab) if kind == "jsonl" else _text_bags(path, vocab, tokenize)


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


def _open(path: Path | None) -> AbstractContextManager[BinaryIO]:
    return path.open("rb") if path is not None else nullcontext(standard_input())


def _text_bags(path: Path | None, vocab: Vocab, tokenize: Callable[[str], Doc] | None) -> Iterator[Bag]:
    """One bag a line, words set apart by spaces. Empty lines are empty bags, so that output lines match."""
    with _open(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                words = line.decode("utf8").removeprefix("\ufeff" if number == 1 else "").split()
                yield Bag(number, Doc(vocab, words=words) if tokenize is None else tokenize(" ".join(words)))
            except UnicodeDecodeError:
                yield Bag(number, error("SL182", path=path or STANDARD_INPUT))


def _json_bags(path: Path | None, vocab: Vocab) -> Iterator[Bag]:
    """One object a line; see `jsonl`. Empty lines are passed over, but counted."""
    with _open(path) as file:
        for number, line in enumerate(file, start=1):
            line = line.removeprefix(b"\xef\xbb\xbf" if number == 1 else b"")
            if not line.strip():
                continue
            identity = None
            try:
                record = parse_line(line)
                identity = id_of(record)
                yield Bag(number, object_to_doc(record, vocab), identity=identity)
            except LinearizeError as problem:
                yield Bag(number, problem, identity=identity)


def _conllu_bags(
    path: Path | None, vocab: Vocab, tag: str, upos_tags: Container[str], need_tree: bool
) -> Iterator[Bag]:
    with _open(path) as file:
        found = read_sentences(file, vocab, tag=tag, upos_tags=upos_tags, need_tree=need_tree)
        for number, (line, doc) in enumerate(found, start=1):
            if isinstance(doc, BadSentence):
                yield Bag(number, error("SL202", problem=doc), doc.line)
            else:
                yield Bag(number, doc, line)


class Writer:
    """Writes sentences to a file, or to standard output if there is no path. The lines of a bag are written at once: a
    killed process, or a full disk, leaves no half of them. A .spacy file is written at the end, atomically.

    The old content of a file stays until there is something to replace it. Use the writer with `with`, which completes
    the file; after an error, with what was written before it.

    path (Optional[Path]): The file.
    kind (str): The format: "text", "conllu", "jsonl" or "spacy".
    several (bool): Whether several orders of a bag are asked for. Text then has their ranks and scores, too, and an
        empty line between bags.
    """

    def __init__(self, path: Path | None, kind: str, *, several: bool = False) -> None:
        self.path = path
        self.kind = kind
        self.several = several
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
        if self.kind == "spacy":
            _cut(self.docs, min(map(len, _columns(self.docs))))  # Ctrl-C may come within a Doc
            if self.path is not None:
                save(self.path, self.docs.to_bytes())
                return
            self._put(self.docs.to_bytes())
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
            records = (doc_to_object(doc, rank=rank, identity=number) for rank, doc in enumerate(docs, start=1))
            self._put("".join(map(to_line, records)))
        elif self.kind == "conllu":
            ranks = enumerate(docs, start=1)
            self._put(
                "".join(to_conllu(doc, rank if self.several else None, used=self.sent_ids) for rank, doc in ranks)
            )
        elif self.several:
            self._put_apart("".join(_ranked(rank, doc) for rank, doc in enumerate(docs, start=1)))
        else:
            self._put("".join(_text(doc) + "\n" for doc in docs))

    def skip(self, bag: Bag, problem: LinearizeError) -> None:
        """Leave out a bag that failed. In text its line is empty, so that lines match those of the input; in JSON there
        is an object that says why."""
        if self.kind == "jsonl":
            self._put(to_line(error_to_object(problem, bag.number if bag.identity is None else bag.identity)))
        elif self.kind == "text" and self.several:
            self._put_apart("")
        elif self.kind == "text":
            self._put("\n")

    def _put_apart(self, text: str) -> None:
        """Write a bag, with an empty line between it and the one before."""
        self._put(text if self.file is None else f"\n{text}")

    def _put(self, text: str | bytes) -> None:
        data = text.encode("utf8") if isinstance(text, str) else text
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


def _text(doc: Doc) -> str:
    return " ".join(surface_text(doc).split())


def _ranked(rank: int, doc: Doc) -> str:
    """An order as a line: its rank, its score and its text."""
    score = doc._.linearization["score"] if len(doc) else 0.0
    return f"{rank}\t{score:.1f}\t{_text(doc)}\n"
