from typing import Any

from ..bag.bag import PackedBag
from ..weights import Weights
from .judge import Judge

class Lifter:
    lifting: Judge
    lowering: Judge
    @property
    def judges(self) -> dict[str, Judge]: ...
    def __init__(self, lifting: Weights, lowering: Weights) -> None: ...
    def choose(self, bag: PackedBag) -> Any: ...
    def update(self, bag: PackedBag, heads: Any) -> None: ...
