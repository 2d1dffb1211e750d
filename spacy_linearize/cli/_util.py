"""What the commands share: to load a pipeline, to read bags, to order a stream of them, and to report mistakes."""

import functools
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from .errors import LinearizeError, error, first_sentence
from .settings import MAX_COUNT

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from .files import Bag, Problem

BATCH = 1000  # bags for which new words are kept in memory
BUNDLED = "en_linearizer_ewt"


class Format(str, Enum):
    text = "text"
    conllu = "conllu"
    jsonl = "jsonl"
    spacy = "spacy"


class InputFormat(str, Enum):
    text = "text"
    conllu = "conllu"
    spacy = "spacy"


def one_line_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Errors that a user can do something about are one line on standard error, without a traceback, and so are
    warnings."""

    @functools.wraps(command)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _say_warning
                try:
                    command(*args, **kwargs)
                except typer.Exit:
                    _flush()
                    raise
            _flush()  # what cannot be written is an error, too
        except BrokenPipeError as problem:  # who reads has had enough
            _drop_output()
            raise typer.Exit(1) from problem
        except (LinearizeError, OSError, ValueError) as problem:
            say(f"✘ {' '.join(str(problem).split())}")
            try:
                _flush()
            except OSError:
                _drop_output()
            raise typer.Exit(1) from problem

    return wrapper


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def _drop_output() -> None:
    """Nor should Python complain, when it ends, that what is left cannot be written."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # not a stream of the system
        return


def _say_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Without the line of the source, which tells a user of commands nothing."""
    say(f"⚠ {' '.join(str(message).split())}")


def say(text: str) -> None:
    """Results go to standard output, everything else here. That nobody can hear it is no reason to stop."""
    if sys.stderr is not None:  # else print would take standard output instead
        with suppress(OSError):
            print(text, file=sys.stderr, flush=True)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody sits there. A closed stream is None."""
    return stream is not None and stream.isatty()


def load(model: str | None, beam: int | None = None) -> "Language":
    """A trained pipeline that has a linearizer; the bundled one, if none is named, or it is, and there is no other."""
    import spacy
    from spacy.util import is_package

    from . import load as load_bundled

    if beam is not None:
        check_count("beam", beam)
    is_bundled = model is None or (model == BUNDLED and not is_package(model) and not Path(model).exists())
    nlp = load_bundled() if is_bundled else spacy.load(model)
    names = _linearizers(nlp)
    if not names:
        raise error("SL052", model=model)
    if len(names) > 1:
        say(f"⚠ {error('SL188', model=model, names=', '.join(names), name=names[-1])}")
    if beam is not None:
        component = linearizer_of(nlp)
        component.beam_width = component.tree_beam_width = beam
    return nlp


def _linearizers(nlp: "Language") -> list[str]:
    return [name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory == "linearizer"]


def linearizer_name(nlp: "Language") -> str:
    """What a pipeline calls its linearizer: the last one, as it is the one whose order comes out."""
    return _linearizers(nlp)[-1]


def linearizer_of(nlp: "Language") -> Any:
    """The linearizer of a pipeline, under whatever name."""
    return nlp.get_pipe(linearizer_name(nlp))


def check_count(key: str, value: int) -> None:
    """Refuse a number of the command line that is too small or too large."""
    if not 1 <= value <= MAX_COUNT:
        raise error("SL022", key=key, value=value, expected=f"from 1 to {MAX_COUNT:,}")


def use(nlp: "Language", tags: bool | None, heads: bool | None) -> None:
    """Let tags and arcs of the input be given or not, where the user says so."""
    component = linearizer_of(nlp)
    component.use_tags = component.use_tags if tags is None else tags
    component.use_heads = component.use_heads if heads is None else heads


def input_kind(words: list[str] | None, path: Path | None, given: InputFormat | None, nbest: int) -> str:
    """The format of the input. Says what cannot be meant, before time is spent on a pipeline."""
    from .files import check_suffix, format_of

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


def shown(text: str | Path) -> str:
    """A text of the command line as UTF-8 can have it: names of files may be any bytes."""
    return str(text).encode("utf8", "backslashreplace").decode("utf8")


def check_places(sources: "Iterable[Path | TextIO | None]", targets: "Iterable[Path | None]" = ()) -> None:
    """Refuse to write what is read, be it through the standard streams. See `check_output`."""
    from .files import check_output

    check_output(sources, [*targets, sys.stdout, sys.stderr])


def bags_from(words: list[str] | None, path: Path | None) -> "list[Path | TextIO | None]":
    """Where bags are read from, for `check_places`."""
    return [] if words else [path or sys.stdin]


def is_typed(words: list[str] | None, path: Path | None) -> bool:
    """Whether bags come from the keyboard."""
    return not words and path is None and is_terminal(sys.stdin)


def read_input(nlp: "Language", words: list[str] | None, path: Path | None, kind: str) -> Iterator["Bag"]:
    """The bag of the arguments, or those of a file or of standard input. A bag in quotes is read like a line."""
    from spacy.tokens import Doc

    from .files import Bag, read_bags

    if words:
        return iter([Bag(1, Doc(nlp.vocab, words=words[0].split() if len(words) == 1 else words))])
    if is_typed(words, path):
        say("Reads bags from the keyboard, one a line, spaces between words and punctuation. Ctrl-D ends.")
    return read_bags(path, kind, nlp.vocab, need_tree=linearizer_of(nlp).use_heads)


@contextmanager
def stopped_politely() -> Iterator[None]:
    """A polite end is like Ctrl-C: a KeyboardInterrupt inside, and a word outside."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        say("Stopped.")
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


def in_one_sentence(problem: Exception) -> str:
    """What to say of a bag that failed. Whatever goes wrong with one bag, the others are ordered."""
    if not isinstance(problem, LinearizeError):
        problem = error("SL200", problem=f"{type(problem).__name__}: {first_sentence(problem)}".removesuffix(": "))
    return " ".join(str(problem).split())  # a word may have a line end in it


def order_stream(
    nlp: "Language",
    bags: Iterator["Bag"],
    write: "Callable[[int, Doc, list[Doc]], None]",
    nbest: int,
    threads: int = 1,
    skip: "Callable[[], None] | None" = None,
    size: int = BATCH,
) -> int:
    """Order a stream of bags, in batches whose new words are forgotten afterwards. Returns how many failed.

    write (Callable[[int, Doc, List[Doc]], None]): Takes the number of a bag, the bag, and its best orders.
    skip (Optional[Callable[[], None]]): Called instead for each bag that failed.
    size (int): How many bags to a batch.
    """
    from tqdm import tqdm

    from .core.interrupt import worker_pool
    from .files import Problem

    component = linearizer_of(nlp)

    def order(bag: "Bag") -> "list[Doc] | Problem":
        if isinstance(bag.doc, Problem):
            return bag.doc
        try:
            return component.alternatives(bag.doc, nbest)  # type: ignore[no-any-return]
        except Exception as problem:
            return Problem(in_one_sentence(problem))

    n_failed = 0
    with tqdm(unit=" bags", disable=not is_terminal(sys.stderr)) as progress:
        while True:
            # The threads end before the memory does that they work in, whatever happens.
            with nlp.memory_zone(), worker_pool(threads) as pool:
                batch = list(islice(bags, size))
                results = pool.map(order, batch) if threads > 1 else map(order, batch)
                for bag, result in zip(batch, results, strict=True):
                    progress.update()
                    if not isinstance(result, Problem):
                        try:
                            write(bag.number, bag.doc, result)
                            continue
                        except (LinearizeError, OSError):  # of the file, not of the bag
                            raise
                        except Exception as problem:
                            result = Problem(in_one_sentence(problem))
                    n_failed += 1
                    say(f"✘ {bag.name}: {result.message}")
                    if skip is not None:
                        skip()
            if not batch:
                return n_failed
