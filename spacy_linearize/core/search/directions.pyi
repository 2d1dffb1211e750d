from collections.abc import Sequence

from ..bag.bag import PackedBag
from ..records import Order
from .beam import Decoder

def decode(
    decoders: Sequence[Sequence[Decoder]],
    bags: Sequence[PackedBag],
    *,
    widths: Sequence[int],
    weights: Sequence[float],
    n_best: Sequence[int],
) -> list[list[Order]]: ...
