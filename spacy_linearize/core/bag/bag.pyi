from collections.abc import Sequence
from typing import Any

import numpy as np

from ..lexicon import Lexicon

FREE: int
ROOT: int
MAX_WORDS: int
Keys = Sequence[int] | np.ndarray[Any, Any]

class PackedBag:
    texts: Sequence[str] | None
    before: list[tuple[int, int]]
    circle: list[tuple[int, int]]
    def __init__(
        self,
        forms: Keys,
        *,
        tags: Keys | None = None,
        given: Sequence[bool] | None = None,
        heads: Keys | None = None,
        labels: Keys | None = None,
        lowers: Keys | None = None,
        suffixes: Keys | None = None,
        shapes: Keys | None = None,
        puncts: Keys | None = None,
        pieces: Sequence[Sequence[int]] | None = None,
        traits: Keys | None = None,
        before: Sequence[tuple[int, int]] = (),
        texts: Sequence[str] | None = None,
        lexicon: Lexicon | None = None,
        max_words: int = ...,
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def is_open(self) -> bool: ...
    @property
    def has_arcs(self) -> bool: ...
    @property
    def heads(self) -> np.ndarray[Any, np.dtype[np.int32]]: ...
    @property
    def positions(self) -> list[int]: ...
    def sentence_key(self, order: Keys) -> int: ...
    def column(self, attribute: int) -> np.ndarray[Any, np.dtype[np.uint64]]: ...
