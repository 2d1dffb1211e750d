class TransitionSystem:
    name: str
    builds_trees: bool
