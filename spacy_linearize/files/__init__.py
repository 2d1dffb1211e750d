"""File formats: what is read and written, and how. No model is needed in here."""

from collections.abc import Callable
from pathlib import Path

from spacy.util import logger

# Told of each sentence that is skipped: the file, the line (from 1) where the sentence begins, and what is wrong.
Report = Callable[[Path, int, str], None]


def warn(path: Path, line: int, message: str) -> None:
    """The usual report: a warning in spaCy's log."""
    logger.warning("%s:%d: %s", path, line, message)
