"""A set of 64-bit keys in little memory."""

from typing import Any

import numpy as np

from .records import Array


class KeySet:
    """Keys that have come up before: sorted runs, each at least twice as long as the next, as in a log-structured merge
    tree. 8 bytes a key, and as much again while two runs become one; a set of Python takes about 60.

    Example:

        seen = KeySet()
        is_new = seen.add(np.unique(keys))
    """

    def __init__(self) -> None:
        self._runs: list[Array] = []

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def add(self, keys: Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Add keys, no two of them the same.

        RETURNS (ndarray): For each of them, whether it is new.
        """
        is_new = np.ones(len(keys), dtype=bool)
        for run in self._runs:
            at = np.searchsorted(run, keys)
            at[at == len(run)] = 0
            is_new &= run[at] != keys
        new = np.sort(keys[is_new])
        while self._runs and len(self._runs[-1]) < 2 * len(new):
            new = np.sort(np.concatenate([self._runs.pop(), new]), kind="stable")  # merges what is sorted
        if len(new):
            self._runs.append(new)
        return is_new

    def to_array(self) -> Array:
        """All keys, sorted."""
        return np.sort(np.concatenate([np.empty(0, np.uint64), *self._runs]))
