"""Sequences of tokens that begin alike, as one tree: each common beginning is there once.

Flattened, with every node behind its parent, a tree goes through a causal model in one pass: a node attends to its
ancestors and to itself, and its position is its depth. The result is that of the sequences one by one.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..core.records import Array

Tokens = tuple[int, ...]


class PrefixTree:
    """Nodes in the sequence in which they were added.

    tokens (List[int]): The token of each.
    parents (List[int]): The node before it, -1 for a root.
    depths (List[int]): How many nodes are before it.

    Example:

        tree = PrefixTree()
        tree.add([5, 6, 7]), tree.add([5, 6, 8])  # ([0, 1, 2], [0, 1, 3])
    """

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.depths: list[int] = []
        self._children: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self.tokens)

    def add(self, tokens: Iterable[int]) -> list[int]:
        """Add a sequence. Returns its nodes."""
        path: list[int] = []
        last = -1
        for token in tokens:
            node = self._children.setdefault((last, token), len(self))
            if node == len(self):
                self.tokens.append(token)
                self.parents.append(last)
                self.depths.append(len(path))
            path.append(node)
            last = node
        return path

    def attention(self) -> Array:
        """Which nodes, the columns, each node may attend to."""
        mask = np.eye(len(self), dtype=bool)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                mask[node] |= mask[parent]
        return mask


def in_batches(sequences: Sequence[Tokens], size: int) -> Iterator[list[int]]:
    """Numbers of sequences whose tree has at most so many nodes, or of one sequence that is longer. Those that begin
    alike come together."""
    batch: list[int] = []
    n_nodes = 0
    last: Tokens = ()
    for number in sorted(range(len(sequences)), key=sequences.__getitem__):
        tokens = sequences[number]
        n_new = len(tokens) - n_common(tokens, last)
        if batch and n_nodes + n_new > size:
            yield batch
            batch, n_nodes, n_new = [], 0, len(tokens)
        batch.append(number)
        n_nodes += n_new
        last = tokens
    if batch:
        yield batch


def n_common(tokens: Sequence[int], others: Sequence[int]) -> int:
    """How many tokens two sequences have in common at their beginning."""
    pairs = enumerate(zip(tokens, others, strict=False))
    return next((i for i, (token, other) in pairs if token != other), min(len(tokens), len(others)))


def cut_tails(sequences: Sequence[Tokens], keep: int) -> list[Tokens]:
    """Sequences without the end that all of them share, but for so many tokens of it."""
    first, *others = (tokens[::-1] for tokens in sequences)
    shared = min((n_common(first, other) for other in others), default=0)
    return [tokens[: len(tokens) - max(0, shared - keep)] for tokens in sequences]
