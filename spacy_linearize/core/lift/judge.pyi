from collections.abc import Sequence

from ..weights import Weights

class Judge:
    weights: Weights
    is_trained: bool
    templates: tuple[str, ...]
    @property
    def fingerprint(self) -> int: ...
    def __init__(
        self, weights: Weights, name: str, atoms: Sequence[str], templates: Sequence[str], n_atoms: int
    ) -> None: ...
