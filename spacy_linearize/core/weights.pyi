from typing import Any

import numpy as np

MIN_BITS: int
MAX_BITS: int

class Weights:
    bits: int
    scale: float
    def __init__(self, bits: int) -> None: ...
    def __len__(self) -> int: ...
    def to_array(self) -> np.ndarray[Any, np.dtype[np.float32]]: ...
    def from_array(self, values: np.ndarray[Any, Any], scale: float = 0) -> None: ...
