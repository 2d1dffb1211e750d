"""Bags of words from files, and sentences into files, as streams.

A bag that cannot be read stands in the stream as the problem with it, so that it can be reported in its turn.
"""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from .core.store import save, write_all
from .treebanks.conllu import read_conllu

FORMATS = ("text", "conllu", "jsonl", "spacy")
SUFFIXES = {".txt": "text", ".conllu": "conllu", ".jsonl": "jsonl", ".spacy": "spacy"}


@dataclass(frozen=True)
class Problem:
    """Why a bag could not be read."""

    message: str


Bag = tuple[int, Doc | Problem]  # with its number: the line it stands on, or its place in the file


def format_of(path: Path | None, given: str | None) -> str | None:
    """The format of a file: as given, or by its suffix; text if neither tells. None if it is not a known one."""
    if given:
        return given if given in FORMATS else None
    return SUFFIXES.get(path.suffix, "text") if path else "text"


def read_bags(path: Path | None, kind: str, vocab: Vocab) -> Iterator[Bag]:
    """The bags of a file, or of standard input if there is no path."""
    if kind == "spacy" and path is not None:
        yield from enumerate(DocBin().from_disk(path).get_docs(vocab), start=1)
    elif kind == "conllu" and path is not None:
        yield from _conllu_bags(path, vocab)
    elif path is None:
        yield from _text_bags(sys.stdin.buffer, vocab)
    else:
        with path.open("rb") as file:
            yield from _text_bags(file, vocab)


def _text_bags(file: IO[bytes], vocab: Vocab) -> Iterator[Bag]:
    """One bag a line, words set apart by spaces. Empty lines are empty bags, so that output lines match."""
    for number, line in enumerate(file, start=1):
        try:
            yield number, Doc(vocab, words=line.decode("utf8").split())
        except UnicodeDecodeError:
            yield number, Problem("it is not UTF-8")


def _conllu_bags(path: Path, vocab: Vocab) -> Iterator[Bag]:
    problems: list[Bag] = []

    def report(_: Path, line: int, message: str) -> None:
        problems.append((line, Problem(message)))

    for number, doc in enumerate(read_conllu(path, vocab, report=report), start=1):
        yield from problems
        problems.clear()
        yield number, doc
    yield from problems


class Writer:
    """Writes sentences to a file, or to standard output if there is no path. Each bag's lines go out in one piece, so
    that a process that is killed leaves whole ones behind, and so does a full disk. A .spacy file is written at the
    end, as a whole."""

    def __init__(self, path: Path | None, kind: str) -> None:
        self.path = path
        self.kind = kind
        self.docs = DocBin(store_user_data=True)
        self.file: Any = None
        if kind != "spacy":
            self.file = path.open("wb", buffering=0) if path else sys.stdout.buffer

    def write(self, number: int, docs: list[Doc]) -> None:
        """Write the best orders of one bag."""
        if self.kind == "spacy":
            for doc in docs:
                self.docs.add(doc)
        elif self.kind == "jsonl":
            self._put(json.dumps(_record(number, docs), ensure_ascii=False) + "\n")
        elif self.kind == "conllu":
            self._put("".join(to_conllu(doc, rank) for rank, doc in enumerate(docs, start=1)))
        else:
            self._put("".join(" ".join(doc.text.split()) + "\n" for doc in docs))

    def _put(self, text: str) -> None:
        if self.path:
            write_all(self.file, text.encode("utf8"))
        else:
            self.file.write(text.encode("utf8"))

    def close(self) -> None:
        if self.kind == "spacy" and self.path is not None:
            save(self.path, self.docs.to_bytes())
        elif self.path:
            self.file.close()
        else:
            self.file.flush()


def save_pipeline(nlp: Language, path: Path) -> None:
    """Write a pipeline to a folder, where it appears as a whole: it is put together beside it first. In a folder that
    is there already, files are replaced one by one, each as a whole, and others are left alone."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        nlp.to_disk(staged)
        if not path.exists():
            staged.rename(path)
            return
        for file in sorted(file for file in staged.rglob("*") if file.is_file()):
            target = path / file.relative_to(staged)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(file, target)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _record(number: int, docs: list[Doc]) -> dict[str, Any]:
    return {
        "number": number,
        "orders": [
            {
                "text": doc.text,
                "words": [token.text for token in doc],
                "order": list(doc._.linearization["order"]) if len(doc) else [],
                "score": doc._.linearization["score"] if len(doc) else 0.0,
                "tags": [token.tag_ for token in doc],
                "heads": [token.head.i if token.has_head() else None for token in doc],
                "deps": [token.dep_ for token in doc],
            }
            for doc in docs
        ],
    }


def to_conllu(doc: Doc, rank: int = 1) -> str:
    """A sentence in CoNLL-U, with its rank among the orders of its bag if that is not the first."""
    lines = [f"# {key} = {doc.user_data[key]}" for key in ("sent_id",) if key in doc.user_data]
    lines.append(f"# text = {doc.text}")
    if rank > 1:
        lines.append(f"# rank = {rank}")
    for token in doc:
        is_root = token.has_head() and token.head.i == token.i
        head = "0" if is_root else str(token.head.i + 1) if token.has_head() else "_"
        dep = "root" if is_root else token.dep_ or "_"
        misc = "_" if token.whitespace_ or token.i == len(doc) - 1 else "SpaceAfter=No"
        columns = [token.text, token.lemma_, token.pos_, token.tag_, str(token.morph)]
        values = [str(token.i + 1), *(column or "_" for column in columns), head, dep, "_", misc]
        lines.append("\t".join(values))
    return "\n".join(lines) + "\n\n"
