"""`spacy linearize`: order, view, score, convert, evaluate, lm, compact. The same as `python -m spacy_linearize`."""

from spacy.cli._util import app as spacy_app

from . import compact, convert, evaluate, lm, order, score, view  # noqa: F401 (each adds its command)
from ._util import app

__all__ = ["app"]

spacy_app.add_typer(app, name="linearize")
