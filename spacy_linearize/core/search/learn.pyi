from typing import Any

from ..bag.bag import PackedBag
from .beam import Decoder

RULES: tuple[str, ...]
TEMPERATURE: float

def update(
    decoder: Decoder,
    bag: PackedBag,
    order: Any,
    heads: Any,
    tags: Any,
    labels: Any,
    *,
    width: int,
    rule: str = "softmax",
    dropout: float = 0.0,
    seed: int = 0,
) -> tuple[bool, int]: ...
