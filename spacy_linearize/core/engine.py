"""The door of the core: a model that orders bags, learns, and is stored."""

import random
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..errors import LinearizeError, error
from ..trees import FREE, ROOT, is_projective
from . import store
from .attach.attach import MAX_CHART, Attacher
from .bag.bag import PackedBag
from .experts import Experts
from .hashing import mix_values
from .interrupt import worker_pool
from .lexicon import Lexicon
from .ngrams.kneser_ney import estimate
from .records import Array, Bag, Order, Progress, SearchOptions
from .search.beam import Decoder
from .search.directions import decode
from .search.learn import update
from .settings import Settings
from .systems.dead_ends import conflict, some_order
from .systems.order_first import OrderFirst
from .weights import Weights

TAG, LABEL = 1, 2  # columns of a PackedBag, see bag.word
SEARCH_STEPS, ATTACH_STEPS = 127, 32767  # of a compact weight, on either side of 0


class Engine:
    """A model: settings, a lexicon, and the weights of search and attachment.

    settings (Optional[Settings]): What the model is made of. None for the defaults.

    Example:

        engine = Engine(Settings(table_bits=18))
        engine.learn_lexicon(sentences)
        engine.update([(bag, sentence) for bag, sentence in zip(bags, sentences)])
        best = engine.order([bag])[0][0]
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.lexicon = Lexicon(self.settings.markers)
        self.experts = Experts(self.settings, self.lexicon)
        self.attacher = Attacher(Weights(self.settings.attach_bits), self.lexicon, labelled=self.settings.labelled)
        self.root_label = 0

    @property
    def builds_trees(self) -> bool:
        """Whether the search builds the tree with the order."""
        return self.experts["partial"][0].system.builds_trees

    def pack(self, bag: Bag) -> PackedBag:
        """A bag as the search reads it. Words without a tag get their usual one."""
        return PackedBag(bag, self.lexicon)

    # Ordering

    def order(self, bags: Sequence[Bag], options: SearchOptions | None = None) -> list[list[Order]]:
        """The best orders of some bags, best first. Other threads can run meanwhile.

        options (Optional[SearchOptions]): How to search. None for the defaults.
        RETURNS (List[List[Order]]): For each bag. No two orders of a bag have the same words in the same sequence.
        """
        options = options or SearchOptions()
        if options.n_best < 1:
            raise error("SL022", key="n_best", value=options.n_best, expected="1 or more")
        packed = [self.pack(bag) for bag in bags]
        for one in packed:
            if one.cycle:
                raise self._no_order(one)
        found = decode(
            [self.experts.decoders_for(one) for one in packed],
            packed,
            widths=[_width(one, options) for one in packed],
            weights=[self.experts.ngram_weight_for(one) for one in packed],
            n_best=options.n_best,
        )
        results = []
        for bag, one, orders in zip(bags, packed, found, strict=True):
            tokens = None if bag.tokens is None else self.pack(bag.tokens)
            orders = orders or [self._any_order(one)]
            results.append([self._finish(bag, one, tokens, order, options.tree) for order in orders])
        return results

    def _finish(self, bag: Bag, packed: PackedBag, tokens: PackedBag | None, found: Order, tree: bool) -> Order:
        """The order of the tokens, with the arcs that are not given if there is to be a tree.

        tokens (Optional[PackedBag]): If there are units, the tokens that they are made of.
        """
        if tokens is not None:
            arcs = None
            if self.builds_trees:
                tops = np.array(bag.tops, dtype=np.int32)
                arcs = np.full(len(tokens), FREE, dtype=np.int32)
                arcs[tops] = np.where(found.heads >= 0, tops[np.maximum(found.heads, 0)], found.heads)
            spread = replace(found, order=found.spread(bag.members), tags=tokens.column(TAG))
            return self.attach(tokens, spread, tree, arcs)
        if tree and self.builds_trees:
            return self._label_root(found)
        return self.attach(packed, found, tree)

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
        heads, labels = self.attacher.attach(found.order, bag.column(0), found.tags, heads, labels)
        if len(bag) > MAX_CHART and FREE in heads:
            warnings.warn(str(error("SL195", n=len(bag), limit=MAX_CHART)), stacklevel=2)
        return self._label_root(replace(found, heads=heads, labels=labels))

    def _label_root(self, found: Order) -> Order:
        """Give the root its label, if it has none."""
        if self.settings.labelled:
            found.labels[(found.heads == ROOT) & (found.labels == 0)] = self.root_label
        return found

    def _any_order(self, bag: PackedBag) -> Order:
        """An order for a bag whose precedences led all hypotheses into dead ends: good or not, there is one."""
        positions = some_order(bag, OrderFirst())
        if positions is None:
            raise self._no_order(bag)
        order, tags, labels = np.array(positions, dtype=np.int32), bag.column(TAG), bag.column(LABEL)
        bare = Order(order=order, tags=tags, heads=bag.heads, labels=labels, score=0.0)
        found = self.attach(bag, bare, tree=self.builds_trees)
        target = (found.order, found.heads, found.tags, found.labels)
        weight = self.experts.ngram_weight_for(bag)
        scores = [decoder.score(bag, *target, ngram_weight=weight) for decoder in self.experts.decoders_for(bag)]
        return replace(found, score=sum(scores))

    def _no_order(self, bag: PackedBag) -> LinearizeError:
        """What to say of a bag whose precedences cannot be kept."""
        pairs = conflict(bag, OrderFirst())
        return error("SL008", pairs=pairs, texts=bag.texts) if pairs is not None else error("SL009")

    # Learning

    def learn_lexicon(self, sentences: Iterable[Bag]) -> None:
        """Learn the usual tags and labels of gold sentences. Comes before `update`."""
        sentences = list(sentences)
        self.lexicon.learn(sentences)
        roots = [label for s in sentences for label in s.column("labels")[s.column("heads") == ROOT].tolist() if label]
        self.root_label = max(sorted(set(roots)), key=roots.count, default=0)

    def learn_ngrams(self, sentences: Iterable[Iterable[int]], *, min_count: int = 1) -> None:
        """Estimate the language models, one for each direction, from sentences of keys.

        min_count (int): Leave out n-grams of three words and more that were seen less often.
        """
        order = self.settings.ngram_order
        if not order:
            return
        forth = [[int(key) for key in sentence] for sentence in sentences]
        for mirrored, ngrams in zip(self.settings.directions, self.experts.ngrams, strict=True):
            read = [sentence[::-1] for sentence in forth] if mirrored else forth
            ngrams.fill(order, estimate(read, order, min_count))

    def update(
        self,
        pairs: Sequence[tuple[Bag, Bag]],
        *,
        beam_width: int = 16,
        dropout: float = 0.0,
        seed: int = 0,
        n_threads: int = 1,
    ) -> Progress:
        """Learn from gold sentences, each behind the bag of its words, which are in gold order there, too.

        With the system "order_first" the gold tree may be incomplete, with FREE heads: then only the order is learned.
        The result does not depend on n_threads. A sentence that is not projective is counted and skipped. What
        contradicts its bag is refused before anything is learned.

        dropout (float): Share of the features to leave out, from 0 to below 1.
        seed (int): For dropout; should differ from call to call.
        n_threads (int): How many of the searches may learn at the same time.
        """
        if not 0 <= dropout < 1:
            raise error("SL022", key="dropout", value=dropout, expected="a number from 0 to below 1")
        examples = [_Example(self.pack(bag), gold) for bag, gold in pairs]
        usable = [example for example in examples if is_projective(example.heads.tolist())]
        jobs: list[Callable[[], Progress]] = []
        for number, (_, decoder) in enumerate(self.experts):
            own = [example for example in usable if decoder in self.experts.decoders_for(example.bag)]
            rng = random.Random(f"{seed} {number}")
            jobs.append(partial(self._update_search, decoder, own, beam_width, dropout, rng))
        if not self.builds_trees:
            jobs.append(partial(self._update_attacher, usable))
        progress = Progress(examples=len(usable), skipped=len(examples) - len(usable))
        with worker_pool(n_threads) as pool:
            for part in pool.map(_call, jobs) if n_threads > 1 else map(_call, jobs):
                progress += part
        return progress

    def _update_search(
        self, decoder: Decoder, examples: "list[_Example]", beam_width: int, dropout: float, rng: random.Random
    ) -> Progress:
        progress = Progress()
        for one in examples:
            lost, actions = update(
                decoder,
                one.bag,
                one.order,
                one.heads,
                one.tags,
                one.labels,
                width=beam_width,
                rule=self.settings.update,
                dropout=dropout,
                seed=rng.getrandbits(63),
            )
            progress += Progress(violations=lost, actions=actions)
        return progress

    def _update_attacher(self, examples: "list[_Example]") -> Progress:
        """Let `attach` learn from the sentences whose gold tree is complete."""
        progress = Progress()
        for one in examples:
            if one.has_tree:
                bag = one.bag
                columns = (bag.column(0), bag.column(TAG), bag.heads, bag.column(LABEL))
                arcs, labels = self.attacher.update(one.order, *columns, one.heads, one.labels)
                progress += Progress(wrong_arcs=arcs, wrong_labels=labels)
        return progress

    # Storing

    def change_ngrams(self, *, order: int | None = None, weights: dict[str, float] | None = None) -> None:
        """Change settings of the language model, the only ones that trained weights do not depend on. A new order
        empties the models."""
        if order is not None:
            self.settings = replace(self.settings, ngram_order=order)
            for ngrams in self.experts.ngrams:
                ngrams.from_array(0, np.zeros(0, dtype=np.uint64))
        self.settings = replace(self.settings, ngram_weights={**self.settings.ngram_weights, **(weights or {})})
        self.experts.settings = self.settings

    def compact(self, prune: float) -> None:
        """Make the model small: drop light weights, and round the others to multiples of a step, which a file stores as
        bytes. Those of `attach` take two: its largest weights are a thousand times the usual ones.

        prune (float): Weights below this count as 0. What updates add is 1, averaged over training. The step is not
            coarser than this: the few weights of the search that would be more than 127 steps are 127.
        """
        for name, weights in self._tables():
            table = weights.to_array()
            table[np.abs(table) < prune] = 0
            n_steps = ATTACH_STEPS if name == "attach" else SEARCH_STEPS
            largest = float(np.abs(table).max())
            scale = np.float32((min(largest, prune * n_steps) or max(largest, 1.0)) / n_steps)
            units = np.clip(np.rint(table / scale), -n_steps, n_steps)
            weights.from_units(units.astype(np.int16 if name == "attach" else np.int8), float(scale))

    @property
    def fingerprint(self) -> int:
        """One number for all that the weights depend on beside the settings: templates may change between versions."""
        return mix_values([self.experts.fingerprint, self.attacher.fingerprint])

    def _tables(self) -> Iterator[tuple[str, Weights]]:
        """All weights, by the names they are stored under."""
        yield from ((name, decoder.weights) for name, decoder in self.experts)
        yield "attach", self.attacher.weights

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """The model with its averaged weights, as a header and arrays for `store.pack`."""
        keys, lengths, symbols = self.lexicon.to_arrays()
        settings = self.settings.to_dict()
        header = {"settings": settings, "fingerprint": self.fingerprint, "root_label": self.root_label}
        arrays = {"lexicon.keys": keys, "lexicon.lengths": lengths, "lexicon.symbols": symbols}
        for i, ngrams in enumerate(self.experts.ngrams):
            arrays[f"ngrams.{i}"] = ngrams.to_array()
        for name, weights in self._tables():
            arrays.update(store.pack_table(weights, name))
        return header, arrays

    @classmethod
    def from_arrays(cls, header: dict[str, Any], arrays: store.Arrays, source: str = "The data") -> "Engine":
        """The model that `to_arrays` gave.

        source (str): What to call it in error messages.
        """
        try:
            settings = Settings.from_dict(header["settings"])
            engine = cls(settings)  # takes no memory yet
            for name, weights in engine._tables():
                store.check_table(arrays, name, weights.bits, source)
            if header["fingerprint"] != engine.fingerprint:
                raise error("SL033", source=source, found=header["fingerprint"], known=engine.fingerprint)
            engine.root_label = int(np.uint64(header["root_label"]))
            names = {"lexicon.keys": "<u8", "lexicon.lengths": "<u4", "lexicon.symbols": "<u8"}
            lexicon = [store.take(arrays, name, dtype, source=source) for name, dtype in names.items()]
            engine.lexicon.from_arrays(*lexicon)
            for i, ngrams in enumerate(engine.experts.ngrams):
                table = store.take(arrays, f"ngrams.{i}", "<u8", source=source)
                # A quarter of the places is free, as `fill` leaves them: in a table without, each search takes long.
                if 4 * np.count_nonzero(table >> np.uint64(32)) > 3 * len(table):
                    raise error("SL032", source=source, what=f"the table 'ngrams.{i}' is too full")
                ngrams.from_array(settings.ngram_order if len(table) else 0, table)
            for name, weights in engine._tables():
                store.unpack_table(arrays, name, weights)
        except LinearizeError:
            raise
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as broken:
            raise error("SL032", source=source, what=f"{broken} is missing or of the wrong type") from broken
        except MemoryError as full:
            raise error("SL034", source=source, size=_megabytes(settings)) from full
        return engine

    def __reduce__(self) -> tuple[Callable[..., "Engine"], tuple[Any, ...]]:
        return Engine.from_arrays, self.to_arrays()


class _Example:
    """A gold sentence behind its bag, checked.

    heads (ndarray): What a search learns from: the gold heads, and where there are none the given ones.
    """

    def __init__(self, bag: PackedBag, gold: Bag) -> None:
        self.bag = bag
        self.order = np.arange(len(gold), dtype=np.int32)
        gold_heads, self.tags, self.labels = (gold.column(name) for name in ("heads", "tags", "labels"))
        given = bag.heads
        if len(given) != len(gold):
            raise error("SL010", n=len(given), last=len(given) - 1)
        wrong = np.flatnonzero((given != FREE) & (gold_heads != FREE) & (given != gold_heads))
        if len(wrong):
            raise error("SL014", words=wrong.tolist(), texts=bag.texts)
        for first, second in bag.before:
            if first > second:
                raise error("SL048", words=[first, second], texts=bag.texts)
        self.has_tree = FREE not in gold_heads
        self.heads = np.where(gold_heads == FREE, given, gold_heads)


def _width(bag: PackedBag, options: SearchOptions) -> int:
    """The width of the beam for a bag. It holds as many hypotheses as there are to be results."""
    width = options.beam_width if bag.is_open else options.tree_beam_width or options.beam_width
    return width if options.n_best == 1 else max(width, options.n_best)


def _call(job: Callable[[], Progress]) -> Progress:
    return job()


def _megabytes(settings: Settings) -> int:
    n_tables = len(settings.groups) * len(settings.directions)
    return ((n_tables << settings.table_bits) + (1 << settings.attach_bits)) * 4 >> 20
