"""Finds the best orders of bags: two searches, experts for some kinds of bags, and the tree over what they find."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import LinearizeError, error
from .attach.attach import MAX_CHART, Attacher
from .bag.bag import FREE, ROOT, PackedBag
from .features.plan import Features
from .hashing import mix_values
from .lexicon import Lexicon
from .ngrams.table import Ngrams
from .records import Array, Derivation, Linearization
from .search.beam import Decoder
from .search.directions import decode_both
from .settings import SYSTEMS, Settings
from .systems.dead_ends import conflict, some_order
from .systems.order_first import OrderFirst
from .weights import Weights


class Searcher:
    """Settings, a lexicon, and the weights of search and attachment: all that ordering takes.

    settings (Optional[Settings]): What the model is made of. None for the defaults.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.lexicon = Lexicon(self.settings.markers)
        self.features = self._features()
        both = self.settings.direction == "both"
        directions = (False, True) if both else (self.settings.direction == "right_to_left",)
        self.decoders = [self._decoder(self.features, mirrored, Ngrams()) for mirrored in directions]
        # The experts, by the kind of bag that they order, share the language models.
        self.experts: dict[str, list[Decoder]] = {}
        for kind in self.settings.expert_kinds:
            features = self._features(kind)
            self.experts[kind] = [self._decoder(features, d.mirrored, d.ngrams) for d in self.decoders]
        self.attacher = Attacher(Weights(self.settings.attach_bits), self.lexicon, labelled=self.settings.labelled)
        self.root_label = 0

    def _features(self, kind: str = "") -> Features:
        return Features(self.settings.expand(kind), atomic_shift=self.settings.atomic_shift)

    def _decoder(self, features: Features, mirrored: bool, ngrams: Ngrams) -> Decoder:
        return Decoder(
            SYSTEMS[self.settings.system](),
            features,
            Weights(self.settings.table_bits, self.settings.min_updates),
            self.lexicon,
            mirrored=mirrored,
            labelled=self.settings.labelled,
            search_tags=self.settings.tags == "search",
            ngrams=ngrams,
        )

    @property
    def fingerprint(self) -> int:
        """One number for all that the weights depend on beside the settings: templates may change between versions."""
        searches = [self.features, *(decoders[0].features for decoders in self.experts.values())]
        return mix_values([*(features.fingerprint for features in searches), self.attacher.fingerprint])

    @property
    def decoder(self) -> Decoder:
        """The first of the decoders: the one from left to right, if there are two."""
        return self.decoders[0]

    def decoders_for(self, bag: PackedBag) -> list[Decoder]:
        """The decoders that order a bag: experts for its kind, if there are any."""
        if not bag.is_open:
            return self.experts.get("tree", self.decoders)
        return self.decoders if bag.has_arcs else self.experts.get("free", self.decoders)

    def bag(self, *, forms: Any, **columns: Any) -> PackedBag:
        """A bag whose words without a tag get their usual one. Arguments as for `PackedBag`."""
        return PackedBag(forms, lexicon=self.lexicon, **columns)

    def order(self, bag: PackedBag, *, beam_width: int = 16, n_best: int = 1, tree: bool = True) -> list[Linearization]:
        """The best orders of a bag, best first.

        beam_width (int): How many hypotheses to keep at each step.
        n_best (int): How many results to return at most.
        tree (bool): Whether to add the arcs that are not given.
        """
        return self.order_all([bag], beam_widths=[beam_width], n_best=n_best, tree=tree)[0]

    def order_all(
        self, bags: Sequence[PackedBag], *, beam_widths: Sequence[int], n_best: int = 1, tree: bool = True
    ) -> list[list[Linearization]]:
        """The best orders of some bags, each with its own width of the beam. Other threads can run meanwhile."""
        if n_best < 1:
            raise error("SL022", key="n_best", value=n_best, expected="1 or more")
        widths = [width if n_best == 1 else max(width, n_best) for width in beam_widths]
        for bag in bags:
            if bag.circle:
                raise self._no_order(bag)
        results = []
        for bag, found in zip(bags, self._ranked(bags, widths, n_best), strict=True):
            results.append([self._finish(bag, derivation, tree) for derivation in found or [self._any_order(bag)]])
        return results

    def _any_order(self, bag: PackedBag) -> Derivation:
        """An order for a bag whose precedences led all states of the beam into dead ends: good or not, there is one."""
        found = some_order(bag, OrderFirst())
        if found is None:
            raise self._no_order(bag)
        order = np.array(found, dtype=np.int32)
        any_tree = self.attach(bag, order, tree=self.builds_trees)
        tags, heads, labels = any_tree.tags, any_tree.heads, any_tree.labels
        weight = self.ngram_weight_for(bag)
        scores = [d.score(bag, order, heads, tags, labels, ngram_weight=weight) for d in self.decoders_for(bag)]
        return sum(scores), order, tags, heads, labels

    def _no_order(self, bag: PackedBag) -> LinearizeError:
        """What to say of a bag whose precedences cannot be kept."""
        pairs = conflict(bag, OrderFirst())
        return error("SL008", pairs=pairs, texts=bag.texts) if pairs is not None else error("SL009")

    def _finish(self, bag: PackedBag, derivation: Derivation, tree: bool) -> Linearization:
        """Add the arcs that are not given, if there is to be a tree."""
        score, order, tags, heads, labels = derivation
        if not (tree and self.builds_trees):
            return self.attach(bag, order, score=score, tags=tags, tree=tree)
        return self._labelled(Linearization(order=order, tags=tags, heads=heads, labels=labels, score=score))

    def _labelled(self, best: Linearization) -> Linearization:
        """Give the root its label, if it has none."""
        if self.settings.labelled:
            best.labels[(best.heads == ROOT) & (best.labels == 0)] = self.root_label
        return best

    def attach(
        self,
        bag: PackedBag,
        order: Array,
        *,
        score: float = 0.0,
        tags: Array | None = None,
        arcs: Array | None = None,
        tree: bool = True,
    ) -> Linearization:
        """A linearization from an order, with a tree over it.

        order (ndarray): Input positions in order; the given arcs must be projective in it.
        tags (Optional[ndarray]): By input position, the tags that were chosen; by default those of the bag.
        arcs (Optional[ndarray]): By input position, heads that are to be kept beside the given ones, or FREE.
        """
        tags, heads, labels = bag.column(1) if tags is None else tags, bag.heads, bag.column(2)
        if not tree:
            return Linearization(order=order, tags=tags, heads=heads, labels=labels, score=score)
        given = heads if arcs is None else np.where(heads == FREE, arcs, heads)
        heads, labels = self.attacher.attach(order, bag.column(0), tags, given, labels)
        if len(bag) > MAX_CHART and FREE in heads:
            warnings.warn(str(error("SL195", n=len(bag), limit=MAX_CHART)), stacklevel=2)
        return self._labelled(Linearization(order=order, tags=tags, heads=heads, labels=labels, score=score))

    @property
    def builds_trees(self) -> bool:
        """Whether the search builds the tree with the order."""
        return self.decoder.system.builds_trees

    def _ranked(self, bags: Sequence[PackedBag], widths: Sequence[int], n_best: int) -> list[list[Derivation]]:
        """For each bag the best derivations of different orders, best first."""
        decoders = [self.decoders_for(bag) for bag in bags]
        weights = [self.ngram_weight_for(bag) for bag in bags]
        if self.settings.direction == "both":
            return decode_both(decoders, bags, widths=widths, weights=weights, n_best=n_best)
        found = []
        for (decoder,), bag, width, weight in zip(decoders, bags, widths, weights, strict=True):
            derivations = decoder.decode(bag, width=width, n_best=1 if n_best == 1 else width, ngram_weight=weight)
            # With tags and trees to choose from, several derivations may share one order: the best of them counts.
            orders: dict[int, Derivation] = {}
            for derivation in derivations:
                orders.setdefault(bag.sentence_key(derivation[1]), derivation)
            found.append(list(orders.values())[:n_best])
        return found

    def ngram_weight_for(self, bag: PackedBag) -> float:
        """How much the language model counts for a bag."""
        return self.settings.ngram_weight if bag.is_open else self.settings.tree_ngram_weight
