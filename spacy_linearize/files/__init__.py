"""File formats: readers and writers. No model is needed here."""

from collections.abc import Callable
from pathlib import Path

from spacy.util import logger

# Called for each sentence that is skipped: the file, the line (from 1) where it begins, and what is wrong.
Report = Callable[[Path, int, str], None]


def warn(path: Path, line: int, message: str) -> None:
    """The usual report: a warning in spaCy's log."""
    logger.warning("%s:%d: %s", path, line, message)
