from collections.abc import Sequence
from typing import Any

from ..bag.bag import PackedBag
from .beam import Decoder

RULES: tuple[str, ...]
TEMPERATURE: float

def update(
    decoder: Decoder,
    examples: Sequence[tuple[PackedBag, Any, Any, Any, Any]],
    *,
    widths: Sequence[int],
    rule: str = "softmax",
    dropout: float = 0.0,
    seed: int = 0,
) -> tuple[int, int]: ...
