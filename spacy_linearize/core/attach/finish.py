"""From an order that the search has found to all that is returned of it: tags and arcs that were not given, labels, and
the given arcs of words that were lifted."""

import warnings
from dataclasses import dataclass, replace

import numpy as np

from ...errors import error
from ...trees import FREE, ROOT
from ..bag.bag import PackedBag
from ..lift.lifting import lifts_of
from ..records import Array, Bag, Order
from ..settings import Settings
from .attach import MAX_CHART, Attacher
from .tagger import Tagger

FORM, TAG, LABEL = range(3)  # columns of a PackedBag, see bag.word


@dataclass(frozen=True)
class Finisher:
    """Completes orders.

    tagger (Tagger), attacher (Attacher): What chooses tags, and arcs with their labels.
    settings (Settings): Those of the model.
    builds_trees (bool): Whether the search builds the tree with the order.
    root_label (int): The label of the root.
    """

    tagger: Tagger
    attacher: Attacher
    settings: Settings
    builds_trees: bool
    root_label: int

    def put_back(self, bag: Bag, lifted: Bag, found: Order, tree: bool) -> Order:
        """An order with the given arcs of lifted words."""
        if lifted is bag:
            return found
        lifts = lifts_of(bag, lifted.column("heads"))
        tokens = bag
        if bag.tokens is not None:
            tokens, lifts = bag.tokens, tuple((bag.tops[word], bag.tops[head]) for word, head in lifts)
        words = [word for word, _ in lifts]
        heads, labels = found.heads.copy(), found.labels.copy()
        heads[words], labels[words] = tokens.column("heads")[words], tokens.column("labels")[words]
        if tree:  # those without a given label get one
            _, labels = self.attacher.attach(found.order, tokens.column("forms"), found.tags, heads, labels)
        return replace(found, heads=heads, labels=labels, lifts=lifts)

    def finish(self, bag: Bag, packed: PackedBag, tokens: PackedBag | None, found: Order, tree: bool) -> Order:
        """The order of the tokens, with the tags that are not given, and the arcs if there is to be a tree.

        tokens (Optional[PackedBag]): If there are units, the tokens that they are made of.
        """
        if tokens is not None:
            order = found.spread(bag.members)
            spread = replace(found, order=order, tags=self.tagger.tag(tokens, order))
            arcs = self._arcs_of_units(bag, packed, tokens, found, spread.tags) if tree else None
            return self.attach(tokens, spread, tree, arcs)
        if self.settings.tags != "search":
            found = replace(found, tags=self.tagger.tag(packed, found.order))
        if tree and self.builds_trees:
            return self._label_root(found)
        return self.attach(packed, found, tree)

    def _arcs_of_units(self, bag: Bag, packed: PackedBag, tokens: PackedBag, found: Order, tags: Array) -> Array:
        """By token, heads that leave every unit tied to the outside by its top alone: between units from the search or
        from `attach`, and within each by `attach`.

        packed, tokens (PackedBag): The units of the bag, and what they are made of.
        found (Order): The order of the units.
        tags (ndarray): Of the tokens.
        """
        tops, forms, heads = np.array(bag.tops, dtype=np.int32), tokens.column(FORM), tokens.heads
        between = found.heads
        if not self.builds_trees:
            columns = (forms[tops], tags[tops], packed.heads, packed.column(LABEL))
            between, _ = self.attacher.attach(found.order, *columns)
        for top, unit in zip(tops.tolist(), bag.members, strict=True):
            own = slice(unit.start, unit.stop)
            if len(unit) > 1:
                inside = np.where(heads[own] >= 0, heads[own] - unit.start, FREE).astype(np.int32)
                inside[top - unit.start] = ROOT
                labels = np.zeros(len(unit), dtype=np.uint64)
                inside, _ = self.attacher.attach(
                    np.arange(len(unit), dtype=np.int32), forms[own], tags[own], inside, labels
                )
                heads[own] = np.where(inside >= 0, inside + unit.start, FREE)
        heads[tops] = np.where(between >= 0, tops[np.maximum(between, 0)], between)
        return heads

    def attach(self, bag: PackedBag, found: Order, tree: bool = True, arcs: Array | None = None) -> Order:
        """An order with the arcs that are given and, if there is to be a tree, those that are not.

        found (Order): Its order and tags count; the given arcs must be projective in it.
        arcs (Optional[ndarray]): By input position, heads that are to be kept beside the given ones, or FREE.
        """
        heads, labels = bag.heads, bag.column(LABEL)
        if not tree:
            return replace(found, heads=heads, labels=labels)
        if arcs is not None:
            heads = np.where(heads == FREE, arcs, heads)
        heads, labels = self.attacher.attach(found.order, bag.column(FORM), found.tags, heads, labels)
        if len(bag) > MAX_CHART and FREE in heads:
            warnings.warn(str(error("SL195", n=len(bag), limit=MAX_CHART)), stacklevel=2)
        return self._label_root(replace(found, heads=heads, labels=labels))

    def _label_root(self, found: Order) -> Order:
        """Give the root its label, if it has none."""
        if self.settings.labelled:
            found.labels[(found.heads == ROOT) & (found.labels == 0)] = self.root_label
        return found
