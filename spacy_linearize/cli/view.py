"""spacy linearize view"""

from contextlib import closing
from itertools import chain, islice
from pathlib import Path

import typer
from spacy.tokens import Doc

from ..errors import error
from . import _util
from ._stream import Input, best_orders, through_pipeline, write_each
from ._util import app, check_places, load, one_line_errors, say, stopped_politely


@app.command("view")
@one_line_errors
def view_command(
    words: list[str] = _util.WORDS,
    model: str = _util.MODEL,
    input_path: Path = _util.BAGS,
    input_format: _util.InputFormat = _util.INPUT_FORMAT,
    output_path: Path = typer.Option(
        None, "--output", "-o", help="The page; of several bags the folder [default: linearization(.html)]"
    ),
    beam: int = _util.BEAM,
    reranker: str = _util.RERANKER,
    nbest: int = typer.Option(5, "--n-best", "--nbest", "-n", help="How many orders of each bag to show"),
    threads: int = _util.THREADS,
    use_tags: bool = _util.USE_TAGS,
    use_heads: bool = _util.USE_HEADS,
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
    from ..view.folder import Pages, make_page

    source = Input(words, input_path, input_format)
    check_places(source.places, [output_path])
    if str(output_path) == "-":
        raise error("SL022", key="output", value="-", expected="a file, or a folder of pages: a page is not a stream")
    nlp = load(model, beam, reranker=reranker, nbest=nbest, threads=threads, use_tags=use_tags, use_heads=use_heads)
    bags = (bag for bag in source.read(nlp) if not isinstance(bag.doc, Doc) or len(bag.doc))
    first = list(islice(bags, 2))
    if not first:
        raise error("SL070")
    pages = Pages(output_path, several=len(first) > 1)
    check_places(source.places, pages.old)
    with stopped_politely(), closing(pages):
        results = through_pipeline(nlp, chain(first, bags))
        n_failed = write_each(results, lambda bag, doc: make_page(best_orders(bag, doc), bag.doc, model), pages.write)
    if pages.items:
        say(f"✔ {pages.written}")
    if n_failed:
        raise typer.Exit(1)
