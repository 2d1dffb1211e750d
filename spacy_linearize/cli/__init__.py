"""`spacy linearize`: order, view, score, convert, evaluate, lm, compact. The same as `python -m spacy_linearize`."""

from spacy.cli._util import app as spacy_app

from ._util import app
from .compact import compact_command
from .convert import convert_command
from .evaluate import evaluate_command
from .lm import lm_command
from .order import order_command
from .score import score_command
from .view import view_command

__all__ = [
    "app",
    "compact_command",
    "convert_command",
    "evaluate_command",
    "lm_command",
    "order_command",
    "score_command",
    "view_command",
]

spacy_app.add_typer(app, name="linearize")
