"""The core as the rest of the package sees it: a model that orders bags, learns, and is stored."""

import random
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..atomic import save
from ..errors import LinearizeError, error
from ..projective import is_projective
from . import store
from .bag.bag import FREE, ROOT, PackedBag
from .interrupt import worker_pool
from .learner import Learner, Pair, update_attacher
from .ngrams.kneser_ney import estimate
from .records import Array, Linearization, Progress, Sentence
from .search.beam import Decoder
from .searcher import Searcher
from .settings import Settings
from .weights import Weights

BATCH = 64


def _known_heads(bag: PackedBag, sentence: Sentence) -> Array:
    """The heads that a search learns from: the gold ones, and where there are none the given ones. Refuses what
    contradicts the bag, before anything is learned."""
    if len(bag) != len(sentence):
        raise error("SL010", n=len(bag), last=len(bag) - 1)
    given = bag.heads
    wrong = np.flatnonzero((given != FREE) & (sentence.heads != FREE) & (given != sentence.heads))
    if len(wrong):
        raise error("SL014", words=wrong.tolist(), texts=bag.texts)
    for first, second in bag.before:
        if first > second:
            raise error("SL048", words=[first, second], texts=bag.texts)
    return np.where(sentence.heads == FREE, given, sentence.heads)


def _call(job: Callable[[], Progress]) -> Progress:
    return job()


def _table_bits(settings: Settings) -> dict[str, int]:
    """The tables that an engine with these settings has, by name, and the bits of each."""
    n_directions = 2 if settings.direction == "both" else 1
    kinds = ("search", *settings.expert_kinds)
    names = [f"{kind}{i}" for kind in kinds for i in range(n_directions)]
    return {**dict.fromkeys(names, settings.table_bits), "attach": settings.attach_bits}


class Engine(Searcher):
    """A model: what a searcher has, how it learns, and its file.

    Example:

        engine = Engine(Settings(table_bits=18))
        engine.train(sentences, epochs=5)
        best = engine.order(engine.bag(forms=forms))[0]
    """

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings)
        self._learners: list[Learner] = []
        self._lock = threading.Lock()

    def order_all(
        self, bags: Sequence[PackedBag], *, beam_widths: Sequence[int], n_best: int = 1, tree: bool = True
    ) -> list[list[Linearization]]:
        """As in `Searcher`, with the mean of the copies that have learned."""
        self._take_mean()
        return super().order_all(bags, beam_widths=beam_widths, n_best=n_best, tree=tree)

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
        pairs: Sequence[Pair],
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
        checked = [(bag, sentence, _known_heads(bag, sentence)) for bag, sentence in pairs]
        usable = [pair for pair in checked if is_projective(pair[2].tolist())]
        jobs: list[Callable[[], Progress]] = []
        for learner in self._take_learners():
            own = [
                (bag, replace(sentence, heads=heads))
                for bag, sentence, heads in usable
                if learner.decoder in self.decoders_for(bag)
            ]
            for number in range(len(learner.copies)):
                rng = random.Random(f"{seed} {len(jobs)}")
                jobs.append(partial(learner.update, number, own, beam_width=beam_width, dropout=dropout, rng=rng))
        if not self.builds_trees:
            jobs.append(partial(update_attacher, self.attacher, [(bag, sentence) for bag, sentence, _ in usable]))
        progress = Progress(examples=len(usable), skipped=len(pairs) - len(usable))
        with worker_pool(n_threads) as pool:
            for part in pool.map(_call, jobs) if n_threads > 1 else map(_call, jobs):
                progress += part
        return progress

    def _take_learners(self) -> list[Learner]:
        """The learner of every decoder. The copies take memory: they are made when training begins."""
        if not self._learners:
            decoders = (*self.decoders, *chain(*self.experts.values()))
            self._learners = [Learner(decoder, self._copies(decoder), self.settings.update) for decoder in decoders]
        return self._learners

    def _copies(self, decoder: Decoder) -> list[Decoder]:
        """What learns for a decoder."""
        if self.settings.copies == 1:
            return [decoder]
        parts = (decoder.features, decoder.mirrored, decoder.ngrams)
        copies = [self._decoder(*parts) for _ in range(self.settings.copies)]
        for copy in copies:
            copy.weights.from_array(decoder.weights.to_array())
        return copies

    def _take_mean(self) -> None:
        """Let the decoders use the mean over their copies."""
        with self._lock:
            for learner in self._learners:
                learner.take_mean()

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
    ) -> PackedBag:
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

        prune (float): Weights below this count as 0. What updates add is 1, averaged over training. The step is not
            coarser than this: the few weights of the search that would be more than 127 steps are 127.
        """
        self._take_mean()
        self._learners = []  # training would go on from these
        for name, weights in self._tables():
            table = weights.to_array()
            table[np.abs(table) < prune] = 0
            n_steps = 32767 if name == "attach" else 127
            largest = float(np.abs(table).max())
            scale = np.float32((min(largest, prune * n_steps) or max(largest, 1.0)) / n_steps)
            units = np.clip(np.rint(table / scale), -n_steps, n_steps)
            weights.from_array(units.astype(np.float32) * scale, float(scale))

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
        save(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> "Engine":
        """Read a model from a file."""
        return cls.from_bytes(Path(path).read_bytes(), str(path))
