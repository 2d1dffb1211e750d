from typing import Any

from .bag import Bag
from .search import Decoder

def decode_both(
    first: Decoder, second: Decoder, bag: Bag, *, width: int, n_best: int = 1, ngram_weight: float = 0
) -> list[tuple[float, Any, Any, Any, Any]]: ...
