"""`spacy linearize` with its commands, one a file. `python -m spacy_linearize` is the same."""

from spacy.cli._util import app as spacy_app

from . import compact, convert, evaluate, lm, order, parse, score, tune, view  # noqa: F401 (each adds its command)
from ._util import app

__all__ = ["app"]

spacy_app.add_typer(app, name="linearize")
