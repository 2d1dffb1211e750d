from typing import Any

import numpy as np

from ..bag.bag import PackedBag
from ..features.plan import Features
from ..lexicon import Lexicon
from ..ngrams.table import Ngrams
from ..systems.system import TransitionSystem
from ..weights import Weights

Array = np.ndarray[Any, Any]

class Decoder:
    system: TransitionSystem
    features: Features
    weights: Weights
    lexicon: Lexicon
    ngrams: Ngrams
    mirrored: bool
    labelled: bool
    search_tags: bool
    def __init__(
        self,
        system: TransitionSystem,
        features: Features,
        weights: Weights,
        lexicon: Lexicon,
        *,
        mirrored: bool = False,
        labelled: bool = True,
        search_tags: bool = False,
        ngrams: Ngrams | None = None,
    ) -> None: ...
    def score(
        self, bag: PackedBag, order: Any, heads: Any, tags: Any, labels: Any, *, ngram_weight: float = 0
    ) -> float: ...
    def decode(
        self, bag: PackedBag, *, width: int, n_best: int = 1, ngram_weight: float = 0
    ) -> list[tuple[float, Array, Array, Array, Array]]: ...
