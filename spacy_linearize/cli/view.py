"""spacy linearize view"""

from contextlib import closing
from itertools import chain, islice
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
    say,
    stopped_politely,
)


@app.command("view")
@one_line_errors
def view_command(
    words: list[str] = WORDS,
    model: str = MODEL,
    input_path: Path = BAGS,
    input_format: InputFormat = INPUT_FORMAT,
    output_path: Path = typer.Option(
        None, "--output", "-o", help="The page; of several bags the folder [default: linearization(.html)]"
    ),
    beam: int = BEAM,
    nbest: int = typer.Option(5, "--n-best", "--nbest", "-n", help="Show so many orders of each bag"),
    threads: int = THREADS,
    use_tags: bool = USE_TAGS,
    use_heads: bool = USE_HEADS,
) -> None:
    """Show in a browser how bags were ordered: one HTML page a bag, which needs no network.

    A page has the bag, the sentence, the lines between them, the tree, what was given, and the best orders with their
    scores. Several bags become a folder with 1.html, 2.html, ... and index.html. A bag that cannot be ordered is
    reported with its number and skipped, as with `order`; an empty one has no page.

    \b
    Examples:
      spacy linearize view door the opened '?' Who
      spacy linearize view --input trees.conllu --output pages --n-best 10
    """
    from ..files.bags import Problem
    from ..view.folder import Pages, make_page
    from . import _stream

    kind = _stream.input_kind(words, input_path, input_format, nbest)
    check_count("threads", threads)
    source = _stream.bags_from(words, input_path)
    check_places(source, [output_path])
    nlp = load(model, beam, n_best=nbest, n_threads=threads, use_tags=use_tags, use_heads=use_heads)
    bags = _stream.read_input(nlp, words, input_path, kind)
    bags = (bag for bag in bags if isinstance(bag.doc, Problem) or len(bag.doc))
    first = list(islice(bags, 2))
    if not first:
        raise error("SL070")
    pages = Pages(output_path, several=len(first) > 1)
    check_places(source, pages.old)
    with stopped_politely(), closing(pages):
        results = _stream.through_pipeline(nlp, chain(first, bags))
        n_failed = _stream.write_each(
            results, lambda bag, doc: make_page(_stream.best_orders(bag, doc), bag.doc), pages.write
        )
    if pages.items:
        say(f"✔ {pages.written}")
    if n_failed:
        raise typer.Exit(1)
