"""spacy linearize order"""

from enum import Enum
from pathlib import Path

import typer

from ..errors import error
from ._util import (
    BAGS,
    BEAM,
    INPUT_FORMAT,
    MODEL,
    THREADS,
    USE_HEADS,
    USE_TAGS,
    WORDS,
    InputFormat,
    app,
    check_count,
    check_places,
    load,
    one_line_errors,
    stopped_politely,
)


class Format(str, Enum):
    text = "text"
    conllu = "conllu"
    jsonl = "jsonl"
    spacy = "spacy"


@app.command("order")
@one_line_errors
def order_command(
    words: list[str] = WORDS,
    model: str = MODEL,
    input_path: Path = BAGS,
    input_format: InputFormat = INPUT_FORMAT,
    output_path: Path = typer.Option(
        None, "--output", "-o", help="Write here: .txt, .conllu, .jsonl or .spacy; others with --format"
    ),
    output_format: Format = typer.Option(None, "--format", "-f", help="The format of the output"),
    beam: int = BEAM,
    nbest: int = typer.Option(1, "--n-best", "--nbest", "-n", help="Show so many orders of each bag"),
    threads: int = THREADS,
    use_tags: bool = USE_TAGS,
    use_heads: bool = USE_HEADS,
) -> None:
    """Order bags of words: arguments, a file, or the lines of standard input.

    All components of the pipeline run. A bag that cannot be ordered is reported with its number, its place in the
    file, and skipped; the exit code is then 1. In text output its line is empty, so that with one order for each bag
    the lines match. Bags are read and written as a stream, a few dozen at a time, but a .spacy file as a whole. What is
    written stays when an error or Ctrl-C comes.

    \b
    Examples:
      spacy linearize order door the opened '?' Who
      spacy linearize order 'door the opened ? Who'
      spacy linearize order --model my_model --input bags.txt --output sentences.txt
      spacy linearize order --model my_model --input trees.conllu --format jsonl --n-best 5
    """
    from ..files.bags import Writer, check_suffix, format_of
    from . import _stream

    in_kind = _stream.input_kind(words, input_path, input_format, nbest)
    if output_format is None:
        check_suffix(output_path, "output", "--format")
    out_kind = format_of(output_path, output_format.value if output_format else None) or "text"
    check_count("threads", threads)
    if out_kind == "spacy" and output_path is None:
        raise error("SL022", key="output", value=None, expected="a path, for the format spacy")
    check_places(_stream.bags_from(words, input_path), [output_path])
    nlp = load(model, beam, n_best=nbest, n_threads=threads, use_tags=use_tags, use_heads=use_heads)
    bags = _stream.read_input(nlp, words, input_path, in_kind)
    # Who types wants to see each answer.
    size = 1 if _stream.is_typed(words, input_path) else _stream.BATCH
    with stopped_politely(), Writer(output_path, out_kind) as writer:
        results = _stream.through_pipeline(nlp, bags, size=size)
        n_failed = _stream.write_each(results, _stream.best_orders, writer.write, writer.skip)
    if n_failed:
        raise typer.Exit(1)
