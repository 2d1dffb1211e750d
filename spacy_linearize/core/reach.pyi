from .bag import Bag
from .system import TransitionSystem

def conflict(bag: Bag, system: TransitionSystem) -> list[tuple[int, int]] | None: ...
