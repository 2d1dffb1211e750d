"""What the commands share: to load a pipeline, to read bags, to order a stream of them, and to report mistakes."""

import functools
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .errors import LinearizeError, error

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from .files import Bag, Problem

BATCH = 1000  # bags for which new words are kept in memory


class Format(str, Enum):
    text = "text"
    conllu = "conllu"
    jsonl = "jsonl"
    spacy = "spacy"


def one_line_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Errors that a user can do something about are one line on standard error, without a traceback."""

    @functools.wraps(command)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except (LinearizeError, OSError, ValueError) as problem:
            say(f"✘ {' '.join(str(problem).split())}")
            raise typer.Exit(1) from problem

    return wrapper


def say(text: str) -> None:
    """Results go to standard output, everything else here."""
    print(text, file=sys.stderr)


def load(model: str | None, beam: int | None = None) -> "Language":
    """A trained pipeline that has a linearizer; the bundled one, if none is named."""
    import spacy

    from . import load as load_bundled

    nlp = load_bundled() if model is None else spacy.load(model)
    if "linearizer" not in nlp.pipe_names:
        raise error("SL052", model=model)
    if beam is not None:
        if beam < 1:
            raise error("SL022", key="beam", value=beam, expected="1 or more")
        component = nlp.get_pipe("linearizer")
        component.beam_width = component.tree_beam_width = beam
    return nlp


def use(nlp: "Language", tags: bool | None, heads: bool | None) -> None:
    """Let tags and arcs of the input be given or not, where the user says so."""
    component = nlp.get_pipe("linearizer")
    component.use_tags = component.use_tags if tags is None else tags
    component.use_heads = component.use_heads if heads is None else heads


def input_kind(words: list[str] | None, path: Path | None, given: Format | None, nbest: int) -> str:
    """The format of the input. Says what cannot be meant, before time is spent on a pipeline."""
    from .files import format_of

    kind = format_of(path, given.value if given else None)
    if kind in (None, "jsonl"):
        raise error("SL022", key="input format", value=kind, expected="text, conllu or spacy")
    if path is None and kind != "text":
        raise error("SL022", key="input", value=None, expected=f"a path, for the format {kind}")
    if words and path is not None:
        raise error("SL022", key="input", value=str(path), expected="left out when words are given")
    if nbest < 1:
        raise error("SL022", key="nbest", value=nbest, expected="1 or more")
    return kind or "text"


def read_input(nlp: "Language", words: list[str] | None, path: Path | None, kind: str) -> Iterator["Bag"]:
    """The bag of the arguments, or those of a file or of standard input."""
    from spacy.tokens import Doc

    from .files import read_bags

    return iter([(1, Doc(nlp.vocab, words=words))]) if words else read_bags(path, kind, nlp.vocab)


@contextmanager
def kept_when_stopped(writer: Any) -> Iterator[None]:
    """A polite end keeps what is done, like Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        say("Stopped.")
        raise typer.Exit(130) from None
    finally:
        writer.close()


def order_stream(
    nlp: "Language",
    bags: Iterator["Bag"],
    write: "Callable[[int, Doc, list[Doc]], None]",
    nbest: int,
    threads: int = 1,
) -> int:
    """Order a stream of bags, in batches whose new words are forgotten afterwards. Returns how many failed.

    write (Callable[[int, Doc, List[Doc]], None]): Takes the number of a bag, the bag, and its best orders.
    """
    from tqdm import tqdm

    from .core.interrupt import worker_pool
    from .files import Problem

    component = nlp.get_pipe("linearizer")

    def order(bag: "Bag") -> "list[Doc] | Problem":
        doc = bag[1]
        if isinstance(doc, Problem):
            return doc
        try:
            return component.alternatives(doc, nbest)  # type: ignore[no-any-return]
        except LinearizeError as problem:
            return Problem(str(problem))

    n_failed = 0
    with worker_pool(threads) as pool, tqdm(unit=" bags", disable=not sys.stderr.isatty()) as progress:
        while True:
            with nlp.memory_zone():
                batch = list(islice(bags, BATCH))
                results = pool.map(order, batch) if threads > 1 else map(order, batch)
                for (number, doc), result in zip(batch, results, strict=True):
                    progress.update()
                    if isinstance(result, Problem):
                        n_failed += 1
                        say(f"✘ {number}: {result.message}")
                    else:
                        write(number, doc, result)
            if not batch:
                return n_failed
