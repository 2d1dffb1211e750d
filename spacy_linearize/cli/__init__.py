"""`spacy linearize` with its commands, one a file. `python -m spacy_linearize` is the same."""

from spacy.cli._util import app as spacy_app

from . import (  # noqa: F401 (each adds its command)
    calibrate,
    compact,
    compare,
    convert,
    evaluate,
    init_config,
    lm,
    order,
    parse,
    score,
    serve,
    surface,
    tune,
    view,
)
from ._util import app

__all__ = ["app"]

spacy_app.add_typer(app, name="linearize")
