from typing import Any

from ..bag.bag import PackedBag
from ..lexicon import Lexicon
from ..weights import Weights

class Tagger:
    weights: Weights
    lexicon: Lexicon
    is_trained: bool
    @property
    def fingerprint(self) -> int: ...
    def __init__(self, weights: Weights, lexicon: Lexicon) -> None: ...
    def tag(self, bag: PackedBag, order: Any) -> Any: ...
    def update(self, bag: PackedBag, order: Any, tags: Any) -> int: ...
