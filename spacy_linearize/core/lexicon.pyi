from collections.abc import Iterable
from typing import Any

import numpy as np

from .engine import Sentence

class Lexicon:
    def learn(self, sentences: Iterable[Sentence]) -> None: ...
    def __len__(self) -> int: ...
    def to_arrays(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]: ...
    def from_arrays(
        self, keys: np.ndarray[Any, Any], lengths: np.ndarray[Any, Any], symbols: np.ndarray[Any, Any]
    ) -> None: ...
