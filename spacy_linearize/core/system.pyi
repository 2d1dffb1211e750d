class TransitionSystem:
    name: str
