"""The Python and the JSON that do the same as a page."""

import json
from pprint import pformat
from textwrap import indent
from typing import Any

from ..bundled import DEFAULT, bundled_names
from ..doc.units import UNITS
from .markup import esc

WIDTH = 96


def show_snippets(bag: dict[str, Any], model: str | None, n_best: int) -> str:
    """Both, each with a button that copies it.

    bag (Dict[str, Any]): The bag as an object, see `files.jsonl`.
    model (Optional[str]): The pipeline, as the commands name it.
    n_best (int): How many orders the page shows.
    """
    return _snippet("Python", as_python(bag, model, n_best)) + _snippet("JSON", as_json(bag))


def _snippet(name: str, text: str) -> str:
    key = name.lower()
    return (
        f'<div class="code"><h3>{name}</h3><button type="button" data-copies="{key}">Copy</button>'
        f'<pre id="{key}" tabindex="0" role="region" aria-label="{name}">{esc(text)}</pre></div>'
    )


def as_json(bag: dict[str, Any]) -> str:
    """A bag with one line for each key."""
    lines = (f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in bag.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def as_python(bag: dict[str, Any], model: str | None = None, n_best: int = 5) -> str:
    """A program that prints the best orders of a bag."""
    imports = ["import spacy_linearize", "from spacy.tokens import Doc"]
    load = f"spacy_linearize.load({'' if model in (None, DEFAULT) else repr(model)})"
    if model is not None and model not in bundled_names():
        imports, load = ["import spacy", imports[1]], f"spacy.load({model!r})"
    columns = {"words": bag["words"]}
    if any(bag.get("tags", ())):
        columns["tags"] = [tag or "" for tag in bag["tags"]]
    if any(head is not None for head in bag.get("heads", ())):
        columns["heads"] = bag["heads"]
        columns["deps"] = [
            "" if head is None else label or "dep" for head, label in zip(bag["heads"], bag["labels"], strict=True)
        ]
    arguments = "".join(indent(f"{key}={_literal(value, key)},\n", "    ") for key, value in columns.items())
    lines = [f"doc._.linearize_{key} = {bag[key]}" for key in ("first", "last") if bag.get(key) is not None]
    if bag.get("precedences"):
        lines.append(f"doc._.linearize_before = {[tuple(pair) for pair in bag['precedences']]}")
    if bag.get("units"):
        imports[1] += ", Span"
        spans = ", ".join(f"Span(doc, {start}, {end})" for start, end in bag["units"])
        lines.append(f'doc.spans["{UNITS}"] = [{spans}]')
    return "\n".join(
        [
            *imports,
            "",
            f"nlp = {load}",
            f"doc = Doc(\n    nlp.vocab,\n{arguments})",
            *lines,
            f'for order in nlp.get_pipe("linearizer").alternatives(doc, {n_best}):',
            "    print(order.text)",
            "",
        ]
    )


def _literal(value: Any, key: str) -> str:
    """A list as Python writes it, with lines that are not too long."""
    return pformat(value, width=WIDTH - len(key), compact=True).replace("\n", "\n" + " " * (len(key) + 1))
