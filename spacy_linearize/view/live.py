"""The page of the playground: the same parts as on a page that is written to a file, and what changes them."""

import json
from collections.abc import Mapping, Sequence
from string import Template

from spacy.tokens import Doc

from ..bundled import DEFAULT
from .markup import esc
from .page import frame, read_file, show

EXAMPLES = (
    "going you Where are ?",
    "the telescope . boy She a saw with",
    "Maybe now leave should we .",
    "The old clock in the hall strikes every hour, but nobody hears it.",
)
LONGEST = 20_000  # letters that can be typed, see `serve.playground.MAX_LETTERS`


def live_page(
    alternatives: list[Doc], source: Doc, *, model: str | None, text: str, names: Mapping[str, Sequence[str]]
) -> str:
    """The whole page.

    alternatives (List[Doc]): The best orders of the bag, best first.
    source (Doc): The bag.
    model (Optional[str]): The pipeline, as the commands name it.
    text (str): What seems to have been typed.
    names (Mapping[str, Sequence[str]]): The tags and labels that the pipeline knows.
    """
    parts = show(alternatives, source, model=model, live=True, names=names)
    examples = " ".join(f'<button type="button" class="example">{esc(example)}</button>' for example in EXAMPLES)
    body = Template(read_file("playground.html")).substitute(
        parts,
        model=esc(model or DEFAULT),
        longest=LONGEST,
        text=esc(text),
        examples=examples,
        names=esc(json.dumps({key: list(names[key]) for key in ("tags", "labels")})),
    )
    return frame("Playground", body, scripts=("page.js", "playground.js"), connect="'self'")


def live_parts(alternatives: list[Doc], source: Doc, *, model: str | None, names: Mapping[str, Sequence[str]]) -> str:
    """The parts that show another bag: each takes the place of the one with its id."""
    return "".join(show(alternatives, source, model=model, live=True, names=names).values())
