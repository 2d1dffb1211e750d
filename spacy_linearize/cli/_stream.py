"""Streams of bags: from the command line, a file or the keyboard, through a pipeline, to the output."""

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO, TypeVar

from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm

from .. import alternative
from ..errors import LinearizeError, error, first_sentence
from ..files.bags import Bag, format_of, read_bags
from ..files.conllu import UPOS_TAGS
from ._util import InputFormat, is_terminal, linearizer_of, linearizers, say, shown

BATCH = 1000  # bags for which new words are kept in memory
SOME = 64  # bags that are ordered before the first of them is written

ResultT = TypeVar("ResultT")
Results = Generator[tuple[Bag, Doc | Exception], None, None]


@dataclass(frozen=True)
class Input:
    """Where bags come from: the arguments, a file, or standard input. Contradictions are refused at once, before a
    pipeline is loaded.

    words (Optional[List[str]]): The arguments. A single one, in quotes, is read like a line.
    path (Optional[Path]): The file; None or "-" for standard input.
    format (Optional[InputFormat]): Its format, if its suffix does not tell.
    is_text (bool): Whether words in quotes, and lines of text, are ordinary sentences, for the tokenizer of the
        pipeline. Otherwise they are split at spaces.
    """

    words: list[str] | None
    path: Path | None
    format: InputFormat | None = None
    is_text: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", path_or_stream(self.path))
        if self.kind != "text" and self.path is None and (self.words or is_terminal(sys.stdin)):
            raise error("SL022", key="input", value=None, expected=f"a path, for the format {self.kind}")
        if self.words and self.path is not None:
            raise error("SL022", key="input", value=str(self.path), expected="left out when words are given")
        for word in self.words or ():
            if shown(word) != word:
                raise error("SL201", text=shown(word))
        if self.words and len(self.words) == 1 and os.path.isfile(self.words[0]):  # takes names of any length
            raise error("SL184", path=self.words[0])

    @property
    def kind(self) -> str:
        """The name of the format."""
        return format_of(self.path, self.format, "input", "--input-format")

    @property
    def places(self) -> list[Path | TextIO | None]:
        """What is read, for `check_places`."""
        return [] if self.words else [self.path or sys.stdin]

    @property
    def is_typed(self) -> bool:
        """Whether bags come from the keyboard."""
        return not self.words and self.path is None and is_terminal(sys.stdin)

    @property
    def batch_size(self) -> int:
        """How many bags to read at once. Who types wants to see each answer."""
        return 1 if self.is_typed else BATCH

    def read(self, nlp: Language) -> Iterator[Bag]:
        """The bags."""
        if self.words:
            words = self.words[0].split() if len(self.words) == 1 else self.words
            is_sentence = self.is_text and len(self.words) == 1
            return iter([Bag(1, nlp.tokenizer(" ".join(words)) if is_sentence else Doc(nlp.vocab, words=words))])
        if self.is_typed and self.is_text:
            say("Reads sentences from the keyboard, one a line. Ctrl-D ends.")
        elif self.is_typed:
            say("Reads bags from the keyboard, one a line, spaces between words and punctuation. Ctrl-D ends.")
        component = linearizer_of(nlp)
        tags = frozenset(component.cfg["tags"])
        return read_bags(
            self.path,
            self.kind,
            nlp.vocab,
            tokenize=nlp.tokenizer if self.is_text else None,
            tag="upos" if tags and tags <= UPOS_TAGS else "xpos",
            upos_tags=tags,
            need_tree=component.options.use_heads,
        )


def path_or_stream(path: Path | None) -> Path | None:
    """A path of the command line. None if it is "-", for a standard stream."""
    return None if path == Path("-") else path


def through_pipeline(nlp: Language, bags: Iterator[Bag], *, size: int = BATCH, disable: Iterable[str] = ()) -> Results:
    """Send bags through a pipeline, each batch in a memory zone: its Docs and new words are freed before the next one
    begins. If a bag cannot be processed, the others are.

    size (int): How many bags to a batch.
    disable (Iterable[str]): The components to leave out. Of several linearizers only the last one runs.
    YIELDS (Tuple[Bag, Union[Doc, Exception]]): Every bag in its turn, with what came of it.
    """
    problems: dict[int, Exception] = {}

    def handle(name: str, component: Any, docs: Sequence[Doc], problem: Exception) -> None:
        problems.update((doc._context, problem) for doc in docs)

    nlp.set_error_handler(handle)
    left_out = [*disable, *linearizers(nlp)[:-1]]  # one bag, one order
    with tqdm(unit=" bags", disable=not is_terminal(sys.stderr)) as progress:
        while True:
            # Whatever happens, the pipeline ends before the memory zone that it works in.
            with nlp.memory_zone():
                batch = list(islice(bags, size))
                docs = ((bag.doc, bag.number) for bag in batch if isinstance(bag.doc, Doc))
                with closing(nlp.pipe(docs, as_tuples=True, batch_size=SOME, disable=left_out)) as results:
                    for result in _in_turn(batch, results, problems):
                        progress.update()
                        yield result
            if not batch:
                return


def _in_turn(batch: list[Bag], results: Iterable[tuple[Doc, int]], problems: dict[int, Exception]) -> Results:
    """All bags of a batch: those that come out of the pipeline, and between them those that do not."""

    def failed(bag: Bag) -> tuple[Bag, Exception]:
        lost = error("SL200", problem="a component returned no Doc")
        return bag, problems.pop(bag.number, lost) if isinstance(bag.doc, Doc) else bag.doc

    waiting = iter(batch)
    for doc, number in results:
        for bag in waiting:
            if bag.number == number:
                yield bag, doc
                break
            yield failed(bag)
    yield from map(failed, waiting)


def write_each(
    results: Results,
    prepare: Callable[[Bag, Doc], ResultT],
    write: Callable[[int, ResultT], None],
    skip: Callable[[Bag, LinearizeError], None] | None = None,
) -> int:
    """Write what came out of a pipeline. Returns how many bags failed: each is reported with its number.

    prepare (Callable[[Bag, Doc], ResultT]): Makes of a Doc what is written. Whatever goes wrong, the bag is to blame.
    write (Callable[[int, ResultT], None]): Writes it, with the number of the bag. An error of the file ends everything.
    skip (Optional[Callable[[Bag, LinearizeError], None]]): Called for each bag that failed.
    """
    n_failed = 0

    def fail(bag: Bag, problem: Exception) -> None:
        nonlocal n_failed
        n_failed += 1
        if not isinstance(problem, LinearizeError):
            problem = error("SL200", problem=f"{type(problem).__name__}: {first_sentence(problem)}".removesuffix(": "))
        say(f"✘ {bag.name}: {' '.join(str(problem).split())}")  # a word may have a line end in it
        if skip is not None:
            skip(bag, problem)

    with closing(results):
        for bag, doc in results:
            try:
                if isinstance(doc, Exception):
                    raise doc
                prepared = prepare(bag, doc)
            except Exception as problem:
                fail(bag, problem)
                continue
            try:
                write(bag.number, prepared)
            except (LinearizeError, OSError):  # of the file, not of the bag
                raise
            except Exception as problem:
                fail(bag, problem)
    return n_failed


def best_orders(_: Bag, doc: Doc) -> list[Doc]:
    """The orders that a Doc holds, best first, each as a Doc that holds no other."""
    record = doc._.linearization if len(doc) else None
    if record is None or "alternatives" not in record:
        return [doc]
    docs = [doc, *(alternative(doc, rank) for rank in range(1, len(record["alternatives"])))]
    for one in docs:
        one._.linearization = {key: value for key, value in one._.linearization.items() if key != "alternatives"}
    return docs
