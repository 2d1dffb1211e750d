"""The core as the rest of the package sees it: bags in, linearizations out, and learning."""

import random
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import LinearizeError, error
from ..projective import is_projective
from . import store
from .attach import Attacher
from .bag import FREE, ROOT, Bag
from .both import decode_both
from .features import Features
from .hashing import mix_values
from .interrupt import worker_pool
from .joint import Joint
from .kneser_ney import estimate
from .learn import update
from .lexicon import Lexicon
from .ngrams import Ngrams
from .order_first import OrderFirst
from .reach import conflict, some_order
from .records import Array, Derivation, Linearization, Progress, Sentence
from .search import Decoder
from .settings import Settings
from .system import TransitionSystem
from .weights import Weights

SHARE_OF_COPY = 0.8  # of the examples that a copy learns from
BLIND_SHARE_OF_COPY = 0.3  # of the features that it never looks at
BATCH = 64
SYSTEMS: dict[str, type[TransitionSystem]] = {system.name: system for system in (OrderFirst, Joint)}


def _call(job: Callable[[], Progress]) -> Progress:
    return job()


def _table_bits(settings: Settings) -> dict[str, int]:
    """The tables that an engine with these settings has, by name, and the bits of each."""
    n_directions = 2 if settings.direction == "both" else 1
    kinds = ("search", *settings.expert_kinds)
    names = [f"{kind}{i}" for kind in kinds for i in range(n_directions)]
    return {**dict.fromkeys(names, settings.table_bits), "attach": settings.attach_bits}


class Engine:
    """A model: settings, a lexicon, and the weights of search and attachment.

    Example:

        engine = Engine(Settings(table_bits=18))
        engine.train(sentences, epochs=5)
        best = engine.order(engine.bag(forms=forms))[0]
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
        self._learners: list[tuple[Decoder, list[Decoder]]] = []
        self._is_mean_stale = False
        self._lock = threading.Lock()
        self.attacher = Attacher(Weights(self.settings.attach_bits), self.lexicon, labelled=self.settings.labelled)
        self.root_label = 0

    def _features(self, kind: str = "") -> Features:
        return Features(self.settings.expand(kind), atomic_shift=self.settings.atomic_shift)

    def _decoder(self, features: Features, mirrored: bool, ngrams: Ngrams) -> Decoder:
        return Decoder(
            SYSTEMS[self.settings.system](),
            features,
            Weights(self.settings.table_bits),
            self.lexicon,
            mirrored=mirrored,
            labelled=self.settings.labelled,
            search_tags=self.settings.tags == "search",
            ngrams=ngrams,
        )

    @property
    def fingerprint(self) -> int:
        """One number for all that the weights depend on beside the settings: templates may change between versions."""
        tree = self.experts["tree"][0].features if "tree" in self.experts else self.features
        free = [self.experts["free"][0].features.fingerprint] if "free" in self.experts else []
        return mix_values([self.features.fingerprint, tree.fingerprint, *free])

    @property
    def decoder(self) -> Decoder:
        """The first of the decoders: the one from left to right, if there are two."""
        return self.decoders[0]

    def decoders_for(self, bag: Bag) -> list[Decoder]:
        """The decoders that order a bag: experts for its kind, if there are any."""
        if not bag.is_open:
            return self.experts.get("tree", self.decoders)
        return self.decoders if bag.has_arcs else self.experts.get("free", self.decoders)

    def bag(self, *, forms: Any, **columns: Any) -> Bag:
        """A bag whose words without a tag get their usual one. Arguments as for `Bag`."""
        return Bag(forms, lexicon=self.lexicon, **columns)

    def order(self, bag: Bag, *, beam_width: int = 16, n_best: int = 1, tree: bool = True) -> list[Linearization]:
        """The best orders of a bag, best first.

        beam_width (int): How many hypotheses to keep at each step.
        n_best (int): How many results to return at most.
        tree (bool): Whether to add the arcs that are not given.
        """
        return self.order_all([bag], beam_widths=[beam_width], n_best=n_best, tree=tree)[0]

    def order_all(
        self, bags: Sequence[Bag], *, beam_widths: Sequence[int], n_best: int = 1, tree: bool = True
    ) -> list[list[Linearization]]:
        """The best orders of some bags, each with its own width of the beam. Other threads can run meanwhile."""
        if n_best < 1:
            raise error("SL022", key="n_best", value=n_best, expected="1 or more")
        widths = [width if n_best == 1 else max(width, n_best) for width in beam_widths]
        self._take_mean()
        for bag in bags:
            if bag.circle:
                raise self._no_order(bag)
        results = []
        for bag, found in zip(bags, self._ranked(bags, widths, n_best), strict=True):
            results.append([self._finish(bag, derivation, tree) for derivation in found or [self._any_order(bag)]])
        return results

    def _any_order(self, bag: Bag) -> Derivation:
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

    def _no_order(self, bag: Bag) -> LinearizeError:
        """What to say of a bag whose precedences cannot be kept."""
        pairs = conflict(bag, OrderFirst())
        return error("SL008", pairs=pairs, texts=bag.texts) if pairs is not None else error("SL009")

    def _finish(self, bag: Bag, derivation: Derivation, tree: bool) -> Linearization:
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
        bag: Bag,
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
        return self._labelled(Linearization(order=order, tags=tags, heads=heads, labels=labels, score=score))

    @property
    def builds_trees(self) -> bool:
        """Whether the search builds the tree with the order."""
        return self.decoder.system.builds_trees

    def _ranked(self, bags: Sequence[Bag], widths: Sequence[int], n_best: int) -> list[list[Derivation]]:
        """For each bag the best derivations of different orders, best first."""
        decoders = [self.decoders_for(bag) for bag in bags]
        weights = [self.ngram_weight_for(bag) for bag in bags]
        if self.settings.direction == "both":
            return decode_both(decoders, bags, widths=widths, weights=weights, n_best=n_best)
        found = []
        for (decoder,), bag, width, weight in zip(decoders, bags, widths, weights, strict=True):
            derivations = decoder.decode(bag, width=width, n_best=1 if n_best == 1 else width, ngram_weight=weight)
            # With tags and trees to choose from, several derivations may share one order: the best of them counts.
            orders: dict[bytes, Derivation] = {}
            forms = bag.column(0)
            for derivation in derivations:
                orders.setdefault(forms[derivation[1]].tobytes(), derivation)
            found.append(list(orders.values())[:n_best])
        return found

    def ngram_weight_for(self, bag: Bag) -> float:
        """How much the language model counts for a bag."""
        return self.settings.ngram_weight if bag.is_open else self.settings.tree_ngram_weight

    def learn_lexicon(self, sentences: Iterable[Sentence]) -> None:
        """Learn the usual tags and labels of gold sentences. Comes before `update`."""
        sentences = list(sentences)
        self.lexicon.learn(sentences)
        roots = [int(label) for s in sentences for label in s.labels[s.heads == ROOT] if label]
        self.root_label = max(sorted(set(roots)), key=roots.count, default=0)

    def learn_ngrams(self, sentences: Iterable[Iterable[int]], *, min_count: int = 1) -> None:
        """Estimate the language models, one for each direction, from sentences of keys.

        min_count (int): Leave out n-grams of three words and more that were seen less often.
        """
        order = self.settings.ngram_order
        if not order:
            return
        forth = [[int(key) for key in sentence] for sentence in sentences]
        for decoder in self.decoders:
            read = [sentence[::-1] for sentence in forth] if decoder.mirrored else forth
            decoder.ngrams.fill(order, estimate(read, order, min_count))

    def update(
        self,
        pairs: Sequence[tuple[Bag, Sentence]],
        *,
        beam_width: int = 16,
        dropout: float = 0.0,
        seed: int = 0,
        n_threads: int = 1,
    ) -> Progress:
        """Learn from sentences, each given as the bag of its words in gold order and the sentence itself.

        With the system "order_first" the gold tree may be incomplete, with FREE heads: then only the order is learned.
        The result does not depend on n_threads. A sentence that is not projective is counted and skipped.

        dropout (float): Share of the features to leave out, from 0 to below 1.
        seed (int): For dropout and for the shares of copies; should differ from call to call.
        n_threads (int): How many of the searches may learn at the same time.
        """
        if not 0 <= dropout < 1:
            raise error("SL022", key="dropout", value=dropout, expected="a number from 0 to below 1")
        usable = [(bag, sentence) for bag, sentence in pairs if is_projective(sentence.heads.tolist())]
        self._is_mean_stale = self.settings.copies > 1
        jobs: list[Callable[[], Progress]] = []
        for decoder, copies in self._take_learners():
            own = [(bag, sentence) for bag, sentence in usable if decoder in self.decoders_for(bag)]
            for i, copy in enumerate(copies):
                rng = random.Random(f"{seed} {len(jobs)}")
                jobs.append(partial(self._update_search, copy, i, own, beam_width, dropout, rng))
        jobs.append(partial(self._update_attacher, usable))
        progress = Progress(examples=len(usable), skipped=len(pairs) - len(usable))
        with worker_pool(n_threads) as pool:
            for part in pool.map(_call, jobs) if n_threads > 1 else map(_call, jobs):
                progress += part
        return progress

    def _update_search(
        self,
        learner: Decoder,
        number: int,
        pairs: Sequence[tuple[Bag, Sentence]],
        width: int,
        dropout: float,
        rng: random.Random,
    ) -> Progress:
        """Let one search, the copy with a number, learn from its share of the pairs and of the features."""
        progress = Progress()
        blind = 0.0
        if self.settings.copies > 1:
            pairs = rng.sample(pairs, round(SHARE_OF_COPY * len(pairs)))
            blind = BLIND_SHARE_OF_COPY
        for bag, sentence in pairs:
            order = np.arange(len(sentence), dtype=np.int32)
            gold = (order, sentence.heads, sentence.tags, sentence.labels)
            lost, actions = update(
                learner,
                bag,
                *gold,
                width=width,
                rule=self.settings.update,
                dropout=dropout,
                seed=rng.getrandbits(63),
                blind=blind,
                blind_seed=number,
            )
            progress += Progress(violations=lost, actions=actions)
        return progress

    def _update_attacher(self, pairs: Sequence[tuple[Bag, Sentence]]) -> Progress:
        """Let `attach` learn from the pairs."""
        progress = Progress()
        for bag, sentence in pairs:
            if FREE in sentence.heads or self.decoder.system.builds_trees:
                continue
            order = np.arange(len(sentence), dtype=np.int32)
            arcs, labels = self.attacher.update(
                order, bag.column(0), bag.column(1), bag.heads, bag.column(2), sentence.heads, sentence.labels
            )
            progress += Progress(wrong_arcs=arcs, wrong_labels=labels)
        return progress

    def _take_learners(self) -> list[tuple[Decoder, list[Decoder]]]:
        """Every decoder with those that learn for it: some copies, or just itself."""
        if not self._learners:
            for decoder in (*self.decoders, *chain(*self.experts.values())):
                copies = [decoder]
                if self.settings.copies > 1:
                    parts = (decoder.features, decoder.mirrored, decoder.ngrams)
                    copies = [self._decoder(*parts) for _ in range(self.settings.copies)]
                    for copy in copies:
                        copy.weights.from_array(decoder.weights.to_array())
                self._learners.append((decoder, copies))
        return self._learners

    def _take_mean(self) -> None:
        """Let the decoders use the mean over their copies."""
        with self._lock:
            if self._is_mean_stale:
                for decoder, copies in self._learners:
                    tables = [copy.weights.to_array() for copy in copies]
                    decoder.weights.from_array(np.asarray(np.mean(tables, axis=0, dtype=np.float64)))
                self._is_mean_stale = False

    def train(
        self,
        sentences: Sequence[Sentence],
        *,
        epochs: int = 5,
        beam_width: int = 16,
        dropout: float = 0.0,
        seed: int = 0,
        tags: float = 1.0,
        heads: float = 1.0,
        n_threads: int = 1,
    ) -> list[Progress]:
        """Learn from sentences, in a new random sequence each epoch.

        tags, heads (float): The share of tags, and of labelled arcs, that is given; sampled anew each time.
        RETURNS (List[Progress]): The counts of each epoch. Sentences that are not projective are counted and skipped.
        """
        sentences = list(sentences)
        self.learn_lexicon(sentences)
        self.learn_ngrams(sentence.forms.tolist() for sentence in sentences)
        rng = random.Random(seed)
        history = []
        for _ in range(epochs):
            rng.shuffle(sentences)
            progress = Progress()
            for start in range(0, len(sentences), BATCH):
                batch = sentences[start : start + BATCH]
                pairs = [(self.hide(sentence, tags=tags, heads=heads, rng=rng), sentence) for sentence in batch]
                progress += self.update(
                    pairs, beam_width=beam_width, dropout=dropout, seed=rng.getrandbits(63), n_threads=n_threads
                )
            history.append(progress)
        return history

    def hide(
        self, sentence: Sentence, *, tags: float = 0.0, heads: float = 0.0, rng: random.Random | None = None
    ) -> Bag:
        """The bag of a sentence with a random share of its tags and of its labelled arcs given."""
        rng = rng or random.Random(0)
        keep_tag = np.array([rng.random() < tags for _ in range(len(sentence))], dtype=bool)
        keep_head = np.array([rng.random() < heads for _ in range(len(sentence))], dtype=bool)
        return self.bag(
            forms=sentence.forms,
            tags=np.where(keep_tag, sentence.tags, np.uint64(0)),
            heads=np.where(keep_head, sentence.heads, FREE),
            labels=np.where(keep_head, sentence.labels, np.uint64(0)),
            lowers=sentence.lowers,
            suffixes=sentence.suffixes,
            shapes=sentence.shapes,
            puncts=sentence.puncts,
            texts=sentence.texts,
        )

    def change(self, *, ngram_order: int | None = None, **weights: Any) -> None:
        """Change settings of the language model, the only ones that trained weights do not depend on. A new order
        empties the models.

        weights (float): ngram_weight, tree_ngram_weight.
        """
        if ngram_order is not None:
            self.settings = replace(self.settings, ngram_order=ngram_order)
            for decoder in self.decoders:
                decoder.ngrams.from_array(0, np.zeros(0, dtype=np.uint64))
        self.settings = replace(self.settings, **weights)

    def compact(self, prune: float) -> None:
        """Make the model small: drop light weights, and round the others to multiples of a step, which a file stores as
        bytes. Those of `attach` take two: its largest weights are a thousand times the usual ones.

        prune (float): Weights below this count as 0. What updates add is 1, averaged over training.
        """
        self._take_mean()
        self._learners = []  # training would go on from these
        for name, weights in self._tables():
            table = weights.to_array()
            table[np.abs(table) < prune] = 0
            scale = np.float32(max(float(np.abs(table).max()), 1.0) / (32767 if name == "attach" else 127))
            weights.from_array(np.rint(table / scale).astype(np.float32) * scale, float(scale))

    def to_bytes(self) -> bytes:
        """The model with its averaged weights, in the format of `core.store`."""
        self._take_mean()
        keys, lengths, symbols = self.lexicon.to_arrays()
        header = {
            "settings": self.settings.to_dict(),
            "fingerprint": self.fingerprint,
            "root_label": self.root_label,
        }
        arrays = {
            "lexicon.keys": keys,
            "lexicon.lengths": lengths,
            "lexicon.symbols": symbols,
        }
        for i, decoder in enumerate(self.decoders):
            arrays[f"ngrams{i}"] = decoder.ngrams.to_array()
        for name, weights in self._tables():
            arrays.update(store.pack_table(weights.to_array(), weights.scale, name))
        return store.pack(header, arrays)

    def _tables(self) -> list[tuple[str, Weights]]:
        """All weights, by the names they are stored under."""
        tables = [(f"search{i}", decoder.weights) for i, decoder in enumerate(self.decoders)]
        for kind, decoders in self.experts.items():
            tables += [(f"{kind}{i}", decoder.weights) for i, decoder in enumerate(decoders)]
        return [*tables, ("attach", self.attacher.weights)]

    @classmethod
    def from_bytes(cls, data: bytes, source: str = "The data") -> "Engine":
        """The model that `to_bytes` wrote."""
        header, arrays = store.unpack(data, source)
        settings = None
        try:
            settings = Settings.from_dict(header["settings"])
            for name, bits in _table_bits(settings).items():
                store.check_table(arrays, name, bits, source)
            engine = cls(settings)  # takes the memory
            store.check_fingerprint(header["fingerprint"], engine.fingerprint, source)
            engine.root_label = int(np.uint64(header["root_label"]))
            keys = store.take(arrays, "lexicon.keys", "<u8", source=source)
            symbols = store.take(arrays, "lexicon.symbols", "<u8", source=source)
            lengths = store.take(arrays, "lexicon.lengths", "<u4", source=source)
            if len(keys) != len(lengths) or int(lengths.sum()) != len(symbols) or (lengths < 1).any():
                raise error("SL032", source=source, what="its lexicon does not add up")
            engine.lexicon.from_arrays(keys, lengths, symbols)
            for i, decoder in enumerate(engine.decoders):
                table = store.take(arrays, f"ngrams{i}", "<u8", source=source)
                # A quarter of the places is free, as `fill` leaves them: in a table without, each search takes long.
                if 4 * np.count_nonzero(table >> np.uint64(32)) > 3 * len(table):
                    raise error("SL032", source=source, what=f"the table 'ngrams{i}' is too full")
                decoder.ngrams.from_array(engine.settings.ngram_order if len(table) else 0, table)
            for name, weights in engine._tables():
                weights.from_array(*store.unpack_table(arrays, name, weights.bits))
        except LinearizeError:
            raise
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as broken:
            raise error("SL032", source=source, what=f"{broken} is missing or of the wrong type") from broken
        except MemoryError as full:
            n_bytes = 4 * sum(1 << bits for bits in _table_bits(settings or Settings()).values())
            raise error("SL034", source=source, size=n_bytes >> 20) from full
        return engine

    def __reduce__(self) -> tuple[Callable[[bytes], "Engine"], tuple[bytes]]:
        return Engine.from_bytes, (self.to_bytes(),)

    def save(self, path: str | Path) -> None:
        """Write the model to a file, atomically."""
        store.save(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> "Engine":
        """Read a model from a file."""
        return cls.from_bytes(Path(path).read_bytes(), str(path))
