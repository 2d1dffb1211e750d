from collections.abc import Iterable
from typing import Any

import numpy as np

MIN_BITS: int
MAX_BITS: int
MAX_UPDATES: int

class Weights:
    bits: int
    scale: float
    min_updates: int
    def __init__(self, bits: int, min_updates: int = 1) -> None: ...
    def __len__(self) -> int: ...
    def at(self, slots: Iterable[int]) -> list[float]: ...
    def to_array(self) -> np.ndarray[Any, np.dtype[np.float32]]: ...
    def from_array(self, values: np.ndarray[Any, Any], scale: float = 0) -> None: ...
