"""The entry point of the core: a model that orders bags, learns, and is stored."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..errors import LinearizeError, error
from ..trees import ROOT
from . import store
from .attach.attach import Attacher
from .attach.finish import FORM, LABEL, TAG, Finisher
from .attach.tagger import Tagger
from .bag.bag import PackedBag
from .bag.forest import is_projective
from .example import Example
from .experts import Experts, kind_of, n_found_for, width_for
from .hashing import mix_values
from .interrupt import worker_pool
from .lexicon import Lexicon
from .lift.judge import Judge
from .lift.lifter import Lifter
from .lift.lifting import apply_lifts, lifts_of
from .ngrams.counts import Text
from .ngrams.estimate import Estimation, Estimator, fill_table
from .ngrams.table import empty_arrays
from .records import Array, Bag, Choose, Order, Progress, SearchOptions
from .search.beam import Decoder
from .search.directions import decode
from .search.learn import update
from .settings import Settings
from .systems.dead_ends import conflict, some_order
from .systems.order_first import OrderFirst
from .weights import Weights

MIN_CROSSING = 0.03  # the share of sentences with crossing arcs from which on a model learns to lift
SEARCH_STEPS, ATTACH_STEPS = 127, 32767  # of a compact weight, on either side of 0


class Engine:
    """A model: settings, a lexicon, and the weights of lifting, search, tagging and attachment.

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
        self.tagger = Tagger(Weights(self.settings.attach_bits), self.lexicon)
        self.attacher = Attacher(Weights(self.settings.attach_bits), self.lexicon, labelled=self.settings.labelled)
        bits = self.settings.attach_bits
        self.lifter = Lifter(Weights(bits), Weights(bits))
        self.lifts = False  # whether it should learn to lift: then a stored model has tables for it
        self.root_label = 0

    @property
    def builds_trees(self) -> bool:
        """Whether the search builds the tree with the order."""
        return self.experts["partial"][0].system.builds_trees

    @property
    def finisher(self) -> Finisher:
        """Adds to orders what is not given."""
        return Finisher(self.tagger, self.attacher, self.settings, self.builds_trees, self.root_label)

    def pack(self, bag: Bag) -> PackedBag:
        """A bag as the search reads it. Words without a tag get their usual one."""
        return PackedBag(bag, self.lexicon)

    # Ordering

    def order(
        self, bags: Sequence[Bag], options: SearchOptions | None = None, choose: Choose | None = None
    ) -> list[list[Order]]:
        """The best orders of some bags, best first. Other threads can run meanwhile.

        options (Optional[SearchOptions]): How to search. None for the defaults.
        choose (Optional[Choose]): Ranks anew what is found, before tags and arcs are added to the best.
        RETURNS (List[List[Order]]): For each bag. No two orders of a bag have the same words in the same sequence.
        """
        options = options or SearchOptions()
        if options.n_best < 1:
            raise error("SL022", key="n_best", value=options.n_best, expected="1 or more")
        ready = [self.prepare(bag, options.projective) for bag in bags]
        found = self._search([one for _, one in ready], options)
        for i, (bag, (lifted, one)) in enumerate(zip(bags, ready, strict=True)):
            if not found[i] and lifted is not bag and some_order(one, OrderFirst()) is None:
                ready[i] = self.prepare(bag, projective=True)
                found[i] = self._search([ready[i][1]], options)[0]
        lists: Sequence[Sequence[Order]]
        lists = [orders or [self._any_order(one)] for (_, one), orders in zip(ready, found, strict=True)]
        if choose is not None:
            lists = choose([kind_of(one) for _, one in ready], lists)
        results, finisher = [], self.finisher
        for bag, (lifted, one), orders in zip(bags, ready, lists, strict=True):
            tokens = None if lifted.tokens is None else self.pack(lifted.tokens)
            best = orders[: options.n_best]
            finished = (finisher.finish(lifted, one, tokens, order, options.tree) for order in best)
            results.append([finisher.put_back(bag, lifted, order, options.tree) for order in finished])
        return results

    def _search(self, packed: Sequence[PackedBag], options: SearchOptions) -> list[list[Order]]:
        """What the search finds. Nothing for a bag whose precedences led all hypotheses into dead ends."""
        return decode(
            [self.experts.decoders_for(one) for one in packed],
            packed,
            widths=[width_for(one, options) for one in packed],
            weights=[self.experts.ngram_weight_for(one) for one in packed],
            n_best=[n_found_for(one, options) for one in packed],
        )

    def prepare(self, bag: Bag, projective: bool = False) -> tuple[Bag, PackedBag]:
        """A bag as it is ordered, with the words lifted that the model wants to lift, and packed. Nothing is lifted if
        the precedences do not allow it.

        projective (bool): Whether to lift nothing.
        """
        packed = odd = None
        if not projective and (bag.lifts is not None or self.lifter.is_trained):
            packed = PackedBag(bag, self.lexicon, check=False)
            lifts = lifts_of(bag, self.lifter.choose(packed)) if bag.lifts is None else bag.lifts
            if lifts:
                # Words that only their given arcs tell apart are equal once they are lifted: their numbers decide.
                numbers = 1 + np.argsort(packed.positions).astype(np.uint64)
                lifted = replace(apply_lifts(bag, lifts), kept=numbers)
                own = PackedBag(lifted, self.lexicon, check=False)
                if not own.cycle:
                    return lifted, own
                odd = own
        if packed is None or packed.cycle:
            packed = self.pack(bag)
        if packed.cycle:
            raise self._no_order(packed if odd is None else odd)
        return bag, packed

    def _any_order(self, bag: PackedBag) -> Order:
        """Any legal order, good or not, for a bag whose precedences led all hypotheses into dead ends."""
        positions = some_order(bag, OrderFirst())
        if positions is None:
            raise self._no_order(bag)
        order, tags, labels = np.array(positions, dtype=np.int32), bag.column(TAG), bag.column(LABEL)
        bare = Order(order=order, tags=tags, heads=bag.heads, labels=labels, score=0.0)
        found = self.finisher.attach(bag, bare, tree=self.builds_trees)
        target = (found.order, found.heads, found.tags, found.labels)
        weight = self.experts.ngram_weight_for(bag)
        scores = [decoder.score(bag, *target, ngram_weight=weight) for decoder in self.experts.decoders_for(bag)]
        return replace(found, score=sum(scores))

    def _no_order(self, bag: PackedBag) -> LinearizeError:
        """The error for a bag whose precedences cannot be kept."""
        pairs = conflict(bag, OrderFirst())
        return error("SL008", pairs=pairs, texts=bag.texts) if pairs is not None else error("SL009")

    # Learning

    def learn_lexicon(self, sentences: Iterable[Bag]) -> int:
        """Learn the usual tags and labels of gold sentences, and choose the size of the tables if it is left open, and
        whether to lift. Comes before all other learning.

        RETURNS (int): The number of sentences with crossing arcs.
        """
        roots: Counter[int] = Counter()
        n_words = n_sentences = n_crossing = 0

        def count_roots() -> Iterator[Bag]:  # on the way: the sentences may be a stream
            nonlocal n_words, n_sentences, n_crossing
            for sentence in sentences:
                n_words += len(sentence)
                n_sentences += 1
                n_crossing += not is_projective(sentence.column("heads"))
                roots.update(sentence.column("labels")[sentence.column("heads") == ROOT].tolist())
                yield sentence

        self.lexicon.learn(count_roots())
        self.lifts = n_crossing >= MIN_CROSSING * max(1, n_sentences)
        self.root_label = max(sorted(filter(None, roots)), key=roots.__getitem__, default=0)
        if self.settings.table_bits is None:
            self.settings = self.settings.for_corpus(n_words)
            self.experts = Experts(self.settings, self.lexicon)
        return n_crossing

    def learn_ngrams(self, texts: Sequence[Text], how: Estimation | None = None) -> list[float]:
        """Estimate the language model.

        texts (Sequence[Text]): The sources. With several, their weights suit the first one.
        how (Optional[Estimation]): How to make it; its order is that of the settings. None for the defaults.
        RETURNS (List[float]): The weights of the sources. Empty if there is nothing to learn.
        """
        texts = [text for text in texts if text.n_sentences]
        if not self.settings.ngram_order or not texts:
            return []
        estimator = Estimator(texts, replace(how or Estimation(), order=self.settings.ngram_order))
        fill_table(self.experts.ngrams, estimator.model(), estimator.vocabulary.keys)
        return estimator.weights

    def update(
        self,
        pairs: Sequence[tuple[Bag, Bag]],
        *,
        beam_width: int = 16,
        tree_beam_width: int | None = None,
        projective: bool | None = None,
        dropout: float = 0.0,
        seed: int = 0,
        n_threads: int = 1,
    ) -> Progress:
        """Learn from gold sentences, each behind the bag of its words, which are in gold order there, too.

        With the system "order_first" the gold tree may be incomplete, with FREE heads: then only the order is learned.
        The result does not depend on n_threads. What contradicts its bag is refused before anything is learned.

        tree_beam_width (Optional[int]): The width of the beam where all arcs are given. None for the same.
        projective (Optional[bool]): Whether to skip sentences with crossing arcs, or to lift these and learn which ones
            to lift. None to let what `learn_lexicon` saw decide.
        dropout (float): Share of the features to leave out, from 0 to below 1.
        seed (int): For dropout; should differ from call to call.
        n_threads (int): How many of the searches may learn at the same time.
        """
        if not 0 <= dropout < 1:
            raise error("SL022", key="dropout", value=dropout, expected="a number from 0 to below 1")
        lifts = self.should_lift(projective)
        examples = [Example(bag, self.pack, gold) for bag, gold in pairs]
        if lifts:
            examples = [one.lifted() for one in examples]
        usable = [example for example in examples if is_projective(example.heads)]
        options = SearchOptions(beam_width=beam_width, tree_beam_width=tree_beam_width)
        jobs: list[Callable[[], Progress]] = []
        # The searches take longest, and come in pairs that take equally long. The short jobs come last, so that threads
        # end at the same time.
        own: dict[Decoder, list[Example]] = defaultdict(list)
        for example in usable:
            for decoder in self.experts.decoders_for(example.bag):
                own[decoder].append(example)
        for number, (_, decoder) in enumerate(self.experts):
            mask_seed = mix_values([seed, number])
            jobs.append(partial(self._update_search, decoder, own[decoder], options, dropout, mask_seed))
        if not self.builds_trees:
            jobs.append(partial(self._update_attacher, usable))
        if self.settings.tags != "search":
            jobs.append(partial(self._update_tagger, usable))
        if lifts:
            jobs.append(partial(self._update_lifter, usable))
        progress = Progress(examples=len(usable), skipped=len(examples) - len(usable))
        with worker_pool(n_threads) as pool:
            for part in pool.map(_call, jobs) if n_threads > 1 else map(_call, jobs):
                progress += part
        return progress

    def should_lift(self, projective: bool | None) -> bool:
        """Whether crossing arcs are lifted in training: as it is asked for, or for None as the corpus suggests."""
        return self.lifts if projective is None else not projective

    def _update_search(
        self, decoder: Decoder, examples: list[Example], options: SearchOptions, dropout: float, seed: int
    ) -> Progress:
        gold = [(one.bag, one.order, one.heads, one.tags, one.labels) for one in examples]
        widths = [width_for(one.bag, options) for one in examples]
        lost, actions = update(decoder, gold, widths=widths, rule=self.settings.update, dropout=dropout, seed=seed)
        return Progress(violations=lost, actions=actions)

    def _update_tagger(self, examples: list[Example]) -> Progress:
        return Progress(wrong_tags=sum(self.tagger.update(one.bag, one.order, one.tags) for one in examples))

    def _update_attacher(self, examples: list[Example]) -> Progress:
        """Let `attach` learn the gold trees that are complete."""
        wrong_arcs = wrong_labels = 0
        for one in examples:
            if one.has_tree:
                columns = one.bag.column(FORM), one.tags_to_attach(), one.bag.heads, one.bag.column(LABEL)
                arcs, labels = self.attacher.update(one.order, *columns, one.heads, one.labels)
                wrong_arcs, wrong_labels = wrong_arcs + arcs, wrong_labels + labels
        return Progress(wrong_arcs=wrong_arcs, wrong_labels=wrong_labels)

    def _update_lifter(self, examples: list[Example]) -> Progress:
        for one in examples:
            self.lifter.update(one.given, one.given_lifted)
        return Progress(lifted=sum(one.bag is not one.given for one in examples))

    # Storing

    def change_ngrams(self, *, order: int | None = None, weights: dict[str, float] | None = None) -> None:
        """Change settings of the language model, the only ones that trained weights do not depend on. A new order
        empties the model."""
        if order is not None:
            self.settings = replace(self.settings, ngram_order=order)
            self.experts.ngrams.fill([])
        self.settings = replace(self.settings, ngram_weights={**self.settings.ngram_weights, **(weights or {})})
        self.experts.settings = self.settings

    def compact(self, prune: float, free_prune: float | None = None) -> None:
        """Make the model small: drop light weights, and round the others to multiples of a step, which a file stores as
        bytes. Those of `attach` take two: its largest weights are a thousand times the usual ones.

        prune (float): Weights below this count as 0. What updates add is 1, averaged over training. The step is not
            coarser than this: the few weights of the search that would be more than 127 steps are 127.
        free_prune (Optional[float]): The same for bags without arcs, whose weights are lighter. None for the same.
        """
        for name, weights in self._tables():
            table = weights.to_array()
            least = free_prune if free_prune is not None and name.startswith("free.") else prune
            table[np.abs(table) < least] = 0
            n_steps = ATTACH_STEPS if name == "attach" else SEARCH_STEPS
            largest = float(np.abs(table).max())
            scale = np.float32((min(largest, least * n_steps) or max(largest, 1.0)) / n_steps)
            units = np.clip(np.rint(table / scale), -n_steps, n_steps)
            weights.from_units(units.astype(np.int16 if name == "attach" else np.int8), float(scale))

    @property
    def fingerprint(self) -> int:
        """One number for all that the weights depend on beside the settings: templates may change between versions."""
        fingerprints = [self.experts.fingerprint, self.attacher.fingerprint]
        fingerprints += [self.tagger.fingerprint] if self.tagger.is_trained else []
        return mix_values([*fingerprints, *(judge.fingerprint for judge in self._judges().values())])

    def _tables(self) -> Iterator[tuple[str, Weights]]:
        """All weights, by the names they are stored under. A tagger or lifter that has learned nothing has none."""
        yield from ((name, decoder.weights) for name, decoder in self.experts)
        yield "attach", self.attacher.weights
        if self.tagger.is_trained:
            yield "tagger", self.tagger.weights
        yield from ((name, judge.weights) for name, judge in self._judges().items())

    def _judges(self) -> dict[str, Judge]:
        """The parts of the lifter, if it has learned something, or is to."""
        return self.lifter.judges if self.lifts or self.lifter.is_trained else {}

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """The model with its averaged weights, as a header and arrays for `store.pack`."""
        keys, lengths, symbols = self.lexicon.to_arrays()
        settings = self.settings.to_dict()
        header = {"settings": settings, "fingerprint": self.fingerprint, "root_label": self.root_label}
        arrays = {"lexicon.keys": keys, "lexicon.lengths": lengths, "lexicon.symbols": symbols}
        arrays.update({f"ngrams.{name}": array for name, array in self.experts.ngrams.to_arrays().items()})
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
            engine.tagger.is_trained = any(name.startswith("tagger.") for name in arrays)
            engine.lifts = any(name.startswith("lift.") for name in arrays)
            for name, weights in engine._tables():
                store.check_table(arrays, name, weights.bits, source)
            if header["fingerprint"] != engine.fingerprint:
                raise error("SL033", source=source, found=header["fingerprint"], known=engine.fingerprint)
            engine.root_label = int(np.uint64(header["root_label"]))
            names = {"lexicon.keys": "<u8", "lexicon.lengths": "<u4", "lexicon.symbols": "<u8"}
            lexicon = [store.take(arrays, name, dtype, source=source) for name, dtype in names.items()]
            engine.lexicon.from_arrays(*lexicon)
            types = {name: array.dtype.str for name, array in empty_arrays().items()}
            table = {name: store.take(arrays, f"ngrams.{name}", types[name], source=source) for name in types}
            engine.experts.ngrams.from_arrays(table)
            for name, weights in engine._tables():
                store.unpack_table(arrays, name, weights)
            for judge in engine._judges().values():
                judge.is_trained = bool(judge.weights.to_array().any())
        except LinearizeError:
            raise
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as broken:
            raise error("SL032", source=source, what=f"{broken} is missing or of the wrong type") from broken
        except MemoryError as full:
            raise error("SL034", source=source, size=_megabytes(settings)) from full
        return engine

    def __reduce__(self) -> tuple[Callable[..., "Engine"], tuple[Any, ...]]:
        return Engine.from_arrays, self.to_arrays()


def _call(job: Callable[[], Progress]) -> Progress:
    return job()


def _megabytes(settings: Settings) -> int:
    n_tables = len(settings.groups) * len(settings.directions)
    return ((n_tables << settings.bits) + (2 << settings.attach_bits)) * 4 >> 20
