from typing import Any

from ..lexicon import Lexicon
from ..weights import Weights

MAX_CHART: int

class Attacher:
    weights: Weights
    lexicon: Lexicon
    labelled: bool
    @property
    def fingerprint(self) -> int: ...
    def __init__(self, weights: Weights, lexicon: Lexicon, *, labelled: bool = True) -> None: ...
    def attach(self, order: Any, forms: Any, tags: Any, heads: Any, labels: Any) -> tuple[Any, Any]: ...
    def score(self, order: Any, forms: Any, tags: Any, given: Any, heads: Any) -> float: ...
    def update(
        self, order: Any, forms: Any, tags: Any, given_heads: Any, given_labels: Any, heads: Any, labels: Any
    ) -> tuple[int, int]: ...
