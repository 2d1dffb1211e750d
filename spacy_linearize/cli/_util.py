"""What the commands share: the app, options, reports on standard error, and how a pipeline is loaded."""

import functools
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from ..bundled import DEFAULT, bundled_names, bundled_path
from ..errors import LinearizeError, error
from ..files.bags import check_output
from ..options import MAX_COUNT, linearizer_names
from ..registered import make_causal_lm

if TYPE_CHECKING:
    from spacy.language import Language

    from ..linearizer import Linearizer

HELP = "Order words into sentences, and train and evaluate pipelines that do."

app = typer.Typer(name="linearize", help=HELP, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


class InputFormat(str, Enum):
    text = "text"
    conllu = "conllu"
    jsonl = "jsonl"
    spacy = "spacy"


# Options that several commands have.
MODEL = typer.Option(None, "--model", "-m", help="A trained pipeline, or a bundled one: en_core_web instead of en_ud")
WORDS = typer.Argument(None, help="The words of one bag, in any order, punctuation apart; in quotes or not")
BAGS = typer.Option(
    None,
    "--input",
    "-i",
    help="Bags: .txt (one a line, spaces between words and punctuation), .conllu, .jsonl, .spacy; - for standard input",
)
INPUT_FORMAT = typer.Option(None, help="The format of the input, when its suffix does not tell")
BEAM = typer.Option(None, "--beam", "-b", help="Width of the beam, instead of the pipeline's own")
THREADS = typer.Option(
    None, "--threads", "-t", help="How many bags to order at the same time, instead of the pipeline's own number"
)
RERANKER = typer.Option(
    None, help="A causal language model for a second opinion: a name, a folder or a .gguf file; 'none' for none"
)
USE_TAGS = typer.Option(None, help="Whether tags of the input are given, instead of the pipeline's own")
USE_HEADS = typer.Option(None, help="Whether arcs of the input are given, likewise")


# Reports


def one_line_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Report errors that a user can do something about, and warnings, in one line on standard error, without a
    traceback."""

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
        except BrokenPipeError as problem:  # the reader has closed the pipe
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
    """Keep Python from complaining, when it exits, that the rest cannot be written."""
    with suppress(OSError, ValueError):  # not a stream of the system
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Without the line of the source, which tells a user of commands nothing."""
    say(f"⚠ {' '.join(str(message).split())}")


def say(text: str) -> None:
    """Write a message to standard error; results go to standard output. A broken stream is no reason to stop."""
    if sys.stderr is not None:  # else print would take standard output instead
        with suppress(OSError):
            print(text, file=sys.stderr, flush=True)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal. A closed stream is None."""
    return stream is not None and stream.isatty()


@contextmanager
def bytes_bar(paths: Iterable[Path]) -> Iterator[Callable[[int], object]]:
    """A progress bar over the bytes of files and folders, if somebody watches: it is told how many have been read."""
    from tqdm import tqdm

    from ..lines import TEXT_SUFFIXES, count_bytes, find_files

    size = count_bytes(find_files(paths, (*TEXT_SUFFIXES, ".spacy")))
    with tqdm(total=size, unit="B", unit_scale=True, disable=not is_terminal(sys.stderr)) as bar:
        yield bar.update


@contextmanager
def stopped_politely() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C: inside, both raise KeyboardInterrupt; outside, the command exits with code 130."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        say("Stopped.")
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


# Checks of the command line


def check_count(key: str, value: int | None) -> None:
    """Refuse a number of the command line that is too small or too large."""
    if value is not None and not 1 <= value <= MAX_COUNT:
        raise error("SL022", key=key, value=value, expected=f"from 1 to {MAX_COUNT:,}")


def check_places(sources: "Iterable[Path | TextIO | None]", targets: "Iterable[Path | None]" = ()) -> None:
    """Refuse to write what is read, also through the standard streams. See `check_output`."""
    check_output(sources, [*targets, sys.stdout, sys.stderr])


def shown(text: str | Path) -> str:
    """A text of the command line in a form that UTF-8 can encode: file names may hold any bytes."""
    return str(text).encode("utf8", "backslashreplace").decode("utf8")


# Pipelines


def load(
    model: str | None,
    beam: int | None = None,
    *,
    nbest: int | None = None,
    threads: int | None = None,
    reranker: str | None = None,
    **settings: Any,
) -> "Language":
    """A trained pipeline with a linearizer. A bundled one if there is no other of its name, and by default.

    beam, nbest, threads (Optional[int]): As the commands have them. The beam is for all bags.
    reranker (Optional[str]): A causal language model for a second opinion, "none" for none. None for that of the
        pipeline.
    settings (Any): Further settings of the linearizer. Those that are None stay as they are.
    """
    import spacy
    from spacy.util import is_package

    for key, value in (("beam", beam), ("nbest", nbest), ("threads", threads)):
        check_count(key, value)
    name = DEFAULT if model is None else model
    is_other = model is not None and (is_package(model) or Path(model).exists())
    nlp = spacy.load(name if is_other or name not in bundled_names() else bundled_path(name))
    names = linearizers(nlp)
    if not names:
        raise error("SL052", model=model)
    if len(names) > 1:
        say(f"⚠ {error('SL188', model=model, names=', '.join(names), name=names[-1])}")
    component = linearizer_of(nlp)
    if reranker is not None:
        component.reranker = None if reranker == "none" else make_causal_lm(reranker)
    settings |= {"beam_width": beam, "tree_beam_width": beam, "n_best": nbest, "n_threads": threads}
    component.options = component.options.change(**{key: value for key, value in settings.items() if value is not None})
    return nlp


def linearizers(nlp: "Language") -> list[str]:
    """The names of the linearizers that a pipeline runs."""
    return [name for name in linearizer_names(nlp) if name in nlp.pipe_names]


def linearizer_name(nlp: "Language") -> str:
    """The name of the linearizer in a pipeline. Of several, it is the last one: its order comes out."""
    return linearizers(nlp)[-1]


def linearizer_of(nlp: "Language") -> "Linearizer":
    """The linearizer of a pipeline, under whatever name."""
    component: Linearizer = nlp.get_pipe(linearizer_name(nlp))
    return component
