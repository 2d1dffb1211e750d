from collections.abc import Sequence
from typing import Any

from ..bag.bag import PackedBag
from .beam import Decoder

def decode_both(
    decoders: Sequence[Sequence[Decoder]],
    bags: Sequence[PackedBag],
    *,
    widths: Sequence[int],
    weights: Sequence[float],
    n_best: int = 1,
) -> list[list[tuple[float, Any, Any, Any, Any]]]: ...
