from collections.abc import Sequence
from typing import Any

import numpy as np

from ..lexicon import Lexicon
from ..records import Bag

MAX_WORDS: int

class PackedBag:
    texts: Sequence[str] | None
    before: list[tuple[int, int]]
    cycle: list[tuple[int, int]]
    def __init__(self, bag: Bag, lexicon: Lexicon | None = None, *, check: bool = True) -> None: ...
    def __len__(self) -> int: ...
    @property
    def is_open(self) -> bool: ...
    @property
    def has_arcs(self) -> bool: ...
    @property
    def heads(self) -> np.ndarray[Any, np.dtype[np.int32]]: ...
    @property
    def positions(self) -> list[int]: ...
    def column(self, attribute: int) -> np.ndarray[Any, np.dtype[np.uint64]]: ...
