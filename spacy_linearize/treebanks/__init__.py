"""Readers of treebanks: files to Docs, one for each sentence, in order."""

from collections.abc import Callable
from pathlib import Path

from spacy.util import logger

# Told of each sentence that is skipped: the file, the line (from 1) where the sentence begins, and what is wrong.
Report = Callable[[Path, int, str], None]


def warn(path: Path, line: int, message: str) -> None:
    """The usual report: a warning in the log of spaCy."""
    logger.warning("%s:%d: %s", path, line, message)
