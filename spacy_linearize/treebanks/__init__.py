"""Readers of treebanks: files to Docs, one for each sentence, in order."""

from collections.abc import Callable
from pathlib import Path

# Told of each sentence that is skipped: the file, the line (from 1) where the sentence begins, and what is wrong.
Report = Callable[[Path, int, str], None]
