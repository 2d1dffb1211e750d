"""What goes into the core and what comes out of it, as plain data: a `Bag` goes in, an `Order` comes out.

Words, tags and labels are 64-bit keys of the caller's choice, such as hashes of their texts. 0 means missing.
"""

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import error
from ..trees import FREE

Array = np.ndarray[Any, Any]
Keys = Sequence[int] | Array
Precedence = tuple[int, int]  # two positions: the first word stands somewhere before the second
Lifts = tuple[tuple[int, int], ...]  # words that are ordered below another head than the given one, each with that head


@dataclass(frozen=True, kw_only=True)
class Bag:
    """Words in any order, and what is given about them: columns with one entry per word. A column that is None has
    only missing values. A gold sentence is a Bag, too: in its right order, with its tags and its tree.

    forms (Keys): The words.
    tags (Optional[Keys]): Their given tags.
    heads (Optional[Keys]): The position of each head, FREE or ROOT.
    labels (Optional[Keys]): The label of the arc to each head.
    lowers, suffixes, shapes (Optional[Keys]): Further attributes that templates may name.
    puncts (Optional[Keys]): 1 for punctuation, 2 for a question mark.
    kept (Optional[Keys]): Annotation that the search does not see, but that words keep. It decides which of equal words
        is which, so that the result does not depend on the input order.
    before (Sequence[Precedence]): Which words stand before which.
    lifts (Optional[Lifts]): Which words to order below another head than the given one: an ancestor of it, or a head
        below it. None to let the model choose.
    tokens (Optional[Bag]): If some words are units: the tokens that they are made of, from left to right.
    members (Sequence[range]): With `tokens`: those of each word.
    tops (Sequence[int]): With `tokens`: the token that stands for each word in the tree.
    texts (Optional[Sequence[str]]): The words as text, for error messages. A method `position`, if there is one, says
        where a word stands for the user.

    Example:

        Bag(forms=[11, 12, 13], heads=[1, ROOT, FREE])
    """

    forms: Keys
    tags: Keys | None = None
    heads: Keys | None = None
    labels: Keys | None = None
    lowers: Keys | None = None
    suffixes: Keys | None = None
    shapes: Keys | None = None
    puncts: Keys | None = None
    kept: Keys | None = None
    before: Sequence[Precedence] = ()
    lifts: Lifts | None = None
    tokens: "Bag | None" = None
    members: Sequence[range] = ()
    tops: Sequence[int] = ()
    texts: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.forms)

    def column(self, name: str) -> Array:
        """A column as an array, whether it was given or not."""
        dtype, missing = (np.int32, FREE) if name == "heads" else (np.uint64, 0)
        values = getattr(self, name)
        if values is None:
            return np.full(len(self), missing, dtype=dtype)
        if len(values) != len(self):
            raise error("SL006", name=name, got=len(values), n=len(self))
        return np.asarray(values, dtype=dtype)


@dataclass(frozen=True, kw_only=True)
class Order:
    """A bag in order.

    order (ndarray): The input positions of the words, in order.
    tags, heads, labels (ndarray): By input position. Heads are FREE where no tree was asked for.
    score (float): Of the order, or of order and tree with the joint system. It compares orders of the same words under
        the same constraints, and nothing else.
    lifts (Lifts): The words whose arcs may cross others, each with the word below which it was ordered. Their heads are
        the given ones all the same.
    second (Optional[float]): What a second opinion has added to the score, see `rerank`. None if there was none.
    """

    order: Array
    tags: Array
    heads: Array
    labels: Array
    score: float
    lifts: Lifts = ()
    second: float | None = None

    def spread(self, members: Sequence[range]) -> Array:
        """The tokens in order, from an order of units.

        members (Sequence[range]): The tokens of each unit.
        """
        return np.array([k for unit in self.order.tolist() for k in members[unit]], dtype=np.int32)

    @classmethod
    def concat(cls, orders: "Sequence[Order]", score: float | None = None) -> "Order":
        """The order of a whole text, from those of its sentences.

        score (Optional[float]): Its score. By default, the sum of theirs.
        """
        if len(orders) == 1 and score is None:
            return orders[0]
        starts = np.cumsum([0, *(len(part.order) for part in orders[:-1])]).tolist()
        parts = [(part, np.int32(start)) for part, start in zip(orders, starts, strict=True)]
        return cls(
            order=np.concatenate([part.order + start for part, start in parts]),
            tags=np.concatenate([part.tags for part in orders]),
            heads=np.concatenate([np.where(part.heads >= 0, part.heads + start, part.heads) for part, start in parts]),
            labels=np.concatenate([part.labels for part in orders]),
            score=math.fsum(part.score for part in orders) if score is None else score,
            lifts=tuple(
                (word + start, head + start)
                for part, start in zip(orders, starts, strict=True)
                for word, head in part.lifts
            ),
            second=math.fsum(known) if (known := [part.second for part in orders if part.second is not None]) else None,
        )


def best_combinations(lists: Sequence[Sequence[Order]], n_best: int) -> list[Order]:
    """The best orders of a text, best first, from the best orders of each of its sentences. No two have all sentences
    in the same order. Where two score the same, the one that leaves the earlier sentences as they are comes first.

    lists (Sequence[Sequence[Order]]): For each sentence, best first.
    """
    if len(lists) == 1:
        return list(lists[0][:n_best])
    gaps = [[orders[0].score - other.score for other in orders] for orders in lists]
    total = math.fsum(orders[0].score for orders in lists)
    # A combination lists what it changes: some sentences, from left to right, with the rank of each. It is made once,
    # from the one with the rank before in its last sentence, which scores no worse. Sentences are numbered by -i: of
    # equal gaps, the combination that changes a later sentence sorts first.
    heap: list[tuple[float, tuple[tuple[int, int], ...]]] = [(0.0, ())]
    found: list[Order] = []
    while heap and len(found) < n_best:
        gap, changes = heapq.heappop(heap)
        ranks = {-minus: rank for minus, rank in changes}
        chosen = [orders[ranks.get(i, 0)] for i, orders in enumerate(lists)]
        found.append(Order.concat(chosen, score=total - gap))
        for i in range(max(ranks, default=0), len(lists)):
            rank = ranks.get(i, 0) + 1
            if rank < len(gaps[i]):
                changed = (*(changes[:-1] if i in ranks else changes), (-i, rank))
                heapq.heappush(heap, (math.fsum(gaps[-minus][r] for minus, r in changed), changed))
    return found


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How to search.

    beam_width (int): How many hypotheses to keep at each step.
    tree_beam_width (Optional[int]): The same for bags with all arcs given, which need fewer. None for `beam_width`.
    n_best (int): How many orders to return at most.
    n_found (Mapping[str, int]): By kind of bag, how many orders to find for `Choose`, if these are more.
    tree (bool): Whether to add the arcs that are not given.
    projective (bool): Whether given arcs must not cross. If they may, the model decides which ones do.
    """

    beam_width: int = 8
    tree_beam_width: int | None = None
    n_best: int = 1
    n_found: Mapping[str, int] = field(default_factory=dict)
    tree: bool = True
    projective: bool = False


# Ranks anew what the search has found: from the kind of each bag and its orders, best first, to such orders.
Choose = Callable[[Sequence[str], Sequence[Sequence[Order]]], Sequence[Sequence[Order]]]


@dataclass
class Progress:
    """What training has seen so far."""

    examples: int = 0
    violations: int = 0  # searches in which the gold derivation lost
    actions: int = 0  # actions that updates compared
    skipped: int = 0  # sentences whose gold tree has crossing arcs, if these are not lifted
    lifted: int = 0  # sentences with crossing arcs that were lifted
    wrong_tags: int = 0
    wrong_arcs: int = 0
    wrong_labels: int = 0

    def __iadd__(self, other: "Progress") -> "Progress":
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self
