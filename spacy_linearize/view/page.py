"""A linearization as one HTML page: the sentence, the bag, the tree, the lines between bag and sentence, and the
alternatives.

The page is self-contained: it needs no other files and no network, and without scripts it only lacks what moves.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from string import Template

from spacy.tokens import Doc

from .. import __version__
from ..errors import error
from ..files.jsonl import doc_to_object
from .bag import show_bag
from .markup import esc, section, shorten
from .parts import show_order, show_orders
from .snippets import show_snippets
from .words import hues_of, read_words

FOLDER = Path(__file__).parent


def render(alternatives: list[Doc], source: Doc, *, model: str | None = None) -> str:
    """The page that shows how a bag of words was ordered.

    alternatives (List[Doc]): The best orders of the bag, best first: from `Linearizer.alternatives`, or from
        `spacy_linearize.alternative`.
    source (Doc): The bag, as it was handed in.
    model (Optional[str]): The pipeline, as `spacy.load` or `spacy_linearize.load` know it, for the code on the page.
    RETURNS (str): The page, as HTML.

    Example:

        nlp = spacy_linearize.load()
        bag = Doc(nlp.vocab, words=["door", "the", "opened", "?", "Who"])
        html = render(nlp.get_pipe("linearizer").alternatives(bag, 5), bag)
        Path("page.html").write_text(html, encoding="utf8")
    """
    parts = show(alternatives, source, model=model)
    left = "".join(parts[key] for key in ("bag", "tree", "lines"))
    columns = f'<div class="columns"><div>{left}</div><div>{parts["orders"]}</div></div>'
    below = "".join(parts[key] for key in ("words", "same", "templates"))
    return frame(alternatives[0].text, f'<div class="page">{parts["sentence"]}{columns}{below}</div>')


def show(
    alternatives: list[Doc],
    source: Doc,
    *,
    model: str | None = None,
    live: bool = False,
    names: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, str]:
    """The parts of the page of a bag, by their ids. See `render`.

    live (bool): Whether a server answers changes of the bag.
    names (Optional[Mapping[str, Sequence[str]]]): The tags and labels that the pipeline knows, if others are to be
        named.
    """
    if not alternatives or not len(source):
        raise error("SL071")
    for doc in alternatives:
        if len(doc) != len(source) or not doc._.linearization:
            raise error("SL072", text=shorten(doc.text, 60))
    hues = hues_of(alternatives[0])
    orders = [read_words(doc, hues) for doc in alternatives]
    shown = [
        show_order(doc, words, rank) for rank, (doc, words) in enumerate(zip(alternatives, orders, strict=True), 1)
    ]
    bag = doc_to_object(source)
    others = ["", *("".join(one.values()) for one in shown[1:])]
    templates = (f'<template data-rank="{rank}">{content}</template>' for rank, content in enumerate(others, 1))
    return {
        **shown[0],
        "bag": show_bag(source, orders[0], bag, live, names),
        "orders": show_orders(alternatives, orders),
        "same": section("same", "The same in a program", show_snippets(bag, model, len(alternatives))),
        # What is in these changes places with the parts of the best order.
        "templates": "".join(templates),
    }


def frame(title: str, body: str, *, scripts: tuple[str, ...] = ("page.js",), connect: str = "'none'") -> str:
    """A page in the common style.

    title (str): As text, not as HTML.
    body (str): As HTML.
    scripts (Tuple[str, ...]): The scripts of this folder to run. No other can: the page names their hash.
    connect (str): What they may ask for, as a source of a Content Security Policy.
    """
    script = "\n".join(map(read_file, scripts))
    digest = b64encode(sha256(script.encode("utf8")).digest()).decode()
    return Template(read_file("page.html")).substitute(
        title=esc(shorten(title, 80)),
        body=body,
        version=__version__,
        style=read_file("page.css"),
        script=script,
        digest=digest,
        connect=connect,
    )


@cache
def read_file(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf8")
