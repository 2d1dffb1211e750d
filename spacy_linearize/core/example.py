"""A gold sentence behind its bag, as the parts of an engine learn from it."""

from collections.abc import Callable

import numpy as np

from ..errors import error
from ..trees import FREE
from .attach.finish import TAG
from .bag.bag import PackedBag
from .lift.lifting import apply_lifts, lift_given, lift_gold, lifts_of
from .records import Array, Bag


class Example:
    """A gold sentence behind its bag, checked.

    source (Bag): The bag as it was given.
    pack (Callable[[Bag], PackedBag]): What makes a PackedBag of a bag.

    bag (PackedBag): What a search learns to order: the source, or the same with crossing arcs lifted.
    heads (ndarray): What a search learns from: the gold heads, and where there are none the given ones.
    given (PackedBag), given_lifted (ndarray): What the lifter learns from: the bag, and the heads to order it with.
    """

    def __init__(self, source: Bag, pack: Callable[[Bag], PackedBag], gold: Bag) -> None:
        self.source, self.pack = source, pack
        bag = self.bag = self.given = pack(source)
        self.order = np.arange(len(gold), dtype=np.int32)
        gold_heads, self.tags, self.labels = (gold.column(name) for name in ("heads", "tags", "labels"))
        given, is_free = bag.heads, gold_heads == FREE
        if len(given) != len(gold):
            raise error("SL010", n=len(given), last=len(given) - 1)
        is_wrong = (given != gold_heads) & (given != FREE) & ~is_free
        if is_wrong.any():
            raise error("SL014", words=np.flatnonzero(is_wrong).tolist(), texts=bag.texts)
        for first, second in bag.before:
            if first > second:
                raise error("SL048", words=[first, second], texts=bag.texts)
        self.has_tree = not is_free.any()
        self.heads = gold_heads if self.has_tree else np.where(is_free, given, gold_heads)
        self.puncts = gold.column("puncts")
        self.given_lifted = given

    def lifted(self) -> "Example":
        """The same with crossing arcs lifted, if that can be done."""
        lifted = lift_gold(self.heads, self.puncts)
        if lifted is None or (lifted == self.heads).all():
            return self
        self.given_lifted = lift_given(self.given_lifted, self.heads, lifted)
        new = apply_lifts(self.source, lifts_of(self.source, self.given_lifted))
        self.bag, self.heads = self.pack(new), lifted
        is_given = new.column("labels") != 0
        self.labels = np.where(is_given, new.column("labels"), self.labels)
        return self

    def tags_to_attach(self) -> Array:
        """The tags that `attach` learns with: given, else gold, else usual ones. Gold tags are better here than those
        that the tagger would choose meanwhile."""
        given = self.source.column("tags")
        if not given.any() and self.tags.all():
            return self.tags
        return np.where(given != 0, given, np.where(self.tags != 0, self.tags, self.bag.column(TAG)))
