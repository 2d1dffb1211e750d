"""Bags from the command line, a file or the keyboard, through a pipeline, and on to where they are written."""

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, TextIO, TypeVar

from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm

from .. import alternative
from ..errors import LinearizeError, error, first_sentence
from ..files.bags import Bag, Problem, check_suffix, format_of, read_bags
from ._util import InputFormat, check_count, is_terminal, linearizer_of, linearizers, say, shown

BATCH = 1000  # bags for which new words are kept in memory
SOME = 64  # bags that are ordered before the first of them is written

ResultT = TypeVar("ResultT")
Results = Generator[tuple[Bag, Doc | Problem], None, None]


# Input


def input_kind(words: list[str] | None, path: Path | None, given: InputFormat | None, nbest: int = 1) -> str:
    """The format of the input. Says what cannot be meant, before time is spent on a pipeline."""
    if given is None:
        check_suffix(path, "input", "--input-format")
    kind = format_of(path, given.value if given else None)
    if kind in (None, "jsonl"):
        raise error("SL022", key="input format", value=kind, expected="text, conllu or spacy")
    if path is None and kind != "text":
        raise error("SL022", key="input", value=None, expected=f"a path, for the format {kind}")
    if words and path is not None:
        raise error("SL022", key="input", value=str(path), expected="left out when words are given")
    for word in words or ():
        try:
            word.encode("utf8")
        except UnicodeEncodeError as problem:
            raise error("SL201", text=shown(word)) from problem
    if words and len(words) == 1 and os.path.isfile(words[0]):  # unlike Path.is_file, takes names of any length
        raise error("SL184", path=words[0])
    check_count("nbest", nbest)
    return kind or "text"


def bags_from(words: list[str] | None, path: Path | None) -> list[Path | TextIO | None]:
    """Where bags are read from, for `check_places`."""
    return [] if words else [path or sys.stdin]


def is_typed(words: list[str] | None, path: Path | None) -> bool:
    """Whether bags come from the keyboard."""
    return not words and path is None and is_terminal(sys.stdin)


def read_input(nlp: Language, words: list[str] | None, path: Path | None, kind: str) -> Iterator[Bag]:
    """The bag of the arguments, or those of a file or of standard input. A bag in quotes is read like a line."""
    if words:
        return iter([Bag(1, Doc(nlp.vocab, words=words[0].split() if len(words) == 1 else words))])
    if is_typed(words, path):
        say("Reads bags from the keyboard, one a line, spaces between words and punctuation. Ctrl-D ends.")
    return read_bags(path, kind, nlp.vocab, need_tree=linearizer_of(nlp).options.use_heads)


# The way through a pipeline


def through_pipeline(nlp: Language, bags: Iterator[Bag], *, size: int = BATCH, disable: Iterable[str] = ()) -> Results:
    """Send bags through a pipeline, each batch in a memory zone: its Docs and new words are gone when the next one
    begins. A bag that cannot be processed costs itself alone.

    size (int): How many bags to a batch.
    disable (Iterable[str]): The components to leave out. Of several linearizers only the last one runs.
    YIELDS (Tuple[Bag, Union[Doc, Problem]]): Every bag in its turn, with what came of it.
    """
    problems: dict[int, Problem] = {}

    def handle(name: str, component: Any, docs: Sequence[Doc], problem: Exception) -> None:
        for doc in docs:
            problems[doc._context] = Problem(in_one_sentence(problem))

    nlp.set_error_handler(handle)
    left_out = [*disable, *linearizers(nlp)[:-1]]  # one bag, one order
    with tqdm(unit=" bags", disable=not is_terminal(sys.stderr)) as progress:
        while True:
            # The pipeline ends before the memory does that it works in, whatever happens.
            with nlp.memory_zone():
                batch = list(islice(bags, size))
                docs = ((bag.doc, bag.number) for bag in batch if not isinstance(bag.doc, Problem))
                with closing(nlp.pipe(docs, as_tuples=True, batch_size=SOME, disable=left_out)) as results:
                    for result in _in_turn(batch, results, problems):
                        progress.update()
                        yield result
            if not batch:
                return


def _in_turn(batch: list[Bag], results: Iterable[tuple[Doc, int]], problems: dict[int, Problem]) -> Results:
    """All bags of a batch: those that come out of the pipeline, and between them those that do not."""

    def failed(bag: Bag) -> tuple[Bag, Problem]:
        lost = Problem(str(error("SL200", problem="a component returned no Doc")))
        return bag, bag.doc if isinstance(bag.doc, Problem) else problems.pop(bag.number, lost)

    waiting = iter(batch)
    for doc, number in results:
        for bag in waiting:
            if bag.number == number:
                yield bag, doc
                break
            yield failed(bag)
    yield from map(failed, waiting)


def in_one_sentence(problem: Exception) -> str:
    """What to say of a bag that failed. Whatever goes wrong with one bag, the others are ordered."""
    if not isinstance(problem, LinearizeError):
        problem = error("SL200", problem=f"{type(problem).__name__}: {first_sentence(problem)}".removesuffix(": "))
    return " ".join(str(problem).split())  # a word may have a line end in it


# Output


def write_each(
    results: Results,
    prepare: Callable[[Bag, Doc], ResultT],
    write: Callable[[int, ResultT], None],
    skip: Callable[[], None] | None = None,
) -> int:
    """Write what came out of a pipeline. Returns how many bags failed: each is reported with its number.

    prepare (Callable[[Bag, Doc], ResultT]): Makes of a Doc what is written. Whatever goes wrong, the bag is to blame.
    write (Callable[[int, ResultT], None]): Writes it, with the number of the bag. An error of the file ends everything.
    skip (Optional[Callable[[], None]]): Called for each bag that failed.
    """
    n_failed = 0
    with closing(results):
        for bag, doc in results:
            problem = doc if isinstance(doc, Problem) else _write_one(bag, doc, prepare, write)
            if problem is not None:
                n_failed += 1
                say(f"✘ {bag.name}: {problem.message}")
                if skip is not None:
                    skip()
    return n_failed


def _write_one(
    bag: Bag, doc: Doc, prepare: Callable[[Bag, Doc], ResultT], write: Callable[[int, ResultT], None]
) -> Problem | None:
    try:
        prepared = prepare(bag, doc)
    except Exception as problem:
        return Problem(in_one_sentence(problem))
    try:
        write(bag.number, prepared)
    except (LinearizeError, OSError):  # of the file, not of the bag
        raise
    except Exception as problem:
        return Problem(in_one_sentence(problem))
    return None


def best_orders(_: Bag, doc: Doc) -> list[Doc]:
    """The orders that a Doc holds, best first, each as a Doc that holds no other."""
    record = doc._.linearization if len(doc) else None
    if record is None or "alternatives" not in record:
        return [doc]
    docs = [doc, *(alternative(doc, rank) for rank in range(1, len(record["alternatives"])))]
    for one in docs:
        one._.linearization = {key: value for key, value in one._.linearization.items() if key != "alternatives"}
    return docs
