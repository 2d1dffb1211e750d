"""spacy linearize order"""

import sys
from enum import Enum
from pathlib import Path

import typer

from ..errors import error
from ..files.bags import Writer, format_of
from . import _util
from ._stream import Input, best_orders, path_or_stream, through_pipeline, write_each
from ._util import app, check_places, is_terminal, load, one_line_errors, stopped_politely


class Format(str, Enum):
    text = "text"
    conllu = "conllu"
    jsonl = "jsonl"
    spacy = "spacy"


@app.command("order")
@one_line_errors
def order_command(
    words: list[str] = _util.WORDS,
    model: str = _util.MODEL,
    input_path: Path = _util.BAGS,
    input_format: _util.InputFormat = _util.INPUT_FORMAT,
    output_path: Path = typer.Option(
        None,
        "--output",
        "-o",
        help="Write here: .txt, .conllu, .jsonl, .spacy; others with --format; - for standard output",
    ),
    output_format: Format = typer.Option(None, "--format", "-f", help="The format of the output"),
    beam: int = _util.BEAM,
    reranker: str = _util.RERANKER,
    nbest: int = typer.Option(1, "--n-best", "--nbest", "-n", help="How many orders of each bag to show"),
    threads: int = _util.THREADS,
    use_tags: bool = _util.USE_TAGS,
    use_heads: bool = _util.USE_HEADS,
    truecase: bool = typer.Option(None, help="Whether words get the capitals of their new places"),
) -> None:
    """Order bags of words: arguments, a file, or the lines of standard input.

    All components of the pipeline run. A bag that cannot be ordered is reported with its number, its place in the
    file, and skipped; the exit code is then 1. In text output its line is empty, so that with one order for each bag
    the lines match; in JSON lines an object with its "error" stands there. With several orders, text has the rank and
    the score of each before it, and an empty line between bags. Bags are read and written as a stream, a few dozen at
    a time, but a .spacy file as a whole. What is written stays when an error or Ctrl-C comes.

    \b
    Examples:
      spacy linearize order door the opened '?' Who
      spacy linearize order 'door the opened ? Who'
      spacy linearize order --model my_model --input bags.txt --output sentences.txt
      spacy linearize order --model my_model --input trees.conllu --format jsonl --n-best 5
      my_generator | spacy linearize order --input - --input-format jsonl --format jsonl
    """
    source = Input(words, input_path, input_format)
    target = path_or_stream(output_path)
    kind = format_of(target, output_format, "output", "--format")
    if kind == "spacy" and target is None and is_terminal(sys.stdout):
        raise error("SL022", key="output", value=None, expected="a path, for the format spacy")
    check_places(source.places, [target])
    chosen = {"use_tags": use_tags, "use_heads": use_heads, "truecase": truecase}
    nlp = load(model, beam, nbest=nbest, threads=threads, reranker=reranker, **chosen)
    with stopped_politely(), Writer(target, kind, several=nbest > 1) as writer:
        results = through_pipeline(nlp, source.read(nlp), size=source.batch_size)
        n_failed = write_each(results, best_orders, writer.write, writer.skip)
    if n_failed:
        raise typer.Exit(1)
