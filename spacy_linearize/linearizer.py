"""The pipeline component: a Doc in any order in, the sentence out.

read      Doc -> bags               doc.read
predict   bags -> orders            model, core.engine; rerank, if there is a second opinion
write     orders -> new Doc         doc.write
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import srsly
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.util import logger
from spacy.vocab import Vocab

from .atomic import save
from .core.engine import Engine
from .core.ngrams.estimate import Estimation
from .core.records import Bag, Order, SearchOptions, best_combinations
from .doc.gold import Gold, checked_examples, gold_pairs
from .doc.known import KINDS, Known, check_names, check_stored, new_names
from .doc.read import Reader, check_doc
from .doc.reorder import Dropped
from .doc.sentence import sentences_of
from .doc.surface import FILE_NAME as SURFACE
from .doc.surface import Surface
from .doc.tags import check_parts
from .doc.text import read_text
from .doc.write import Writer, claim_extensions
from .errors import error
from .model import SOURCE, LinearizerModel, engine_of, read_damaged, shim_of
from .options import Options, check_reader, check_scores
from .rerank.opinion import SecondOpinion
from .rerank.reranker import Reranker, RerankOptions
from .threads import in_threads

if TYPE_CHECKING:
    from .insight.explain import Explanation
    from .insight.score import OrderScore

ValueT = TypeVar("ValueT")
OWN_ATTRIBUTES = (
    "_known",
    "_options",
    "_reported",
    "_reranker",
    "_rng",
    "surface",
    "error_handler",
)  # spaCy's own is last


class Setting(Generic[ValueT]):
    """One of the options as an attribute of the component. Setting it replaces the options."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, component: "Linearizer | None", owner: type) -> ValueT:
        # Asked of the class, it is the default, as with a dataclass.
        value: ValueT = getattr(Options if component is None else component.options, self.name)
        return value

    def __set__(self, component: "Linearizer", value: ValueT) -> None:
        component.options = component.options.change(**{self.name: value})


class Linearizer(TrainablePipe):
    """Orders the words of a Doc under the tags, heads and labels that it has. Returns a new Doc.

    vocab (Vocab): The shared vocabulary.
    model (Model): The model, see `model`.
    name (str): The component instance name.
    options (Optional[Options]): The settings, see `options.Options`. None for the defaults. Each is an attribute, too.
    reranker (Optional[Reranker]): A second opinion on what the search finds, see `rerank.reranker`. May be replaced.
    scorer (Optional[Callable]): The scoring method.

    Example:

        linearizer = nlp.add_pipe("linearizer", config={"beam_width": 16})
        linearizer.n_best = 3  # for as long as the object lives; spacy_linearize.configure(nlp, n_best=3) is saved
    """

    __slots__ = OWN_ATTRIBUTES  # no dict, so that a setting whose name is misspelt is refused

    beam_width = Setting[int]()
    tree_beam_width = Setting[int | None]()
    update_beam_width = Setting[int | None]()
    use_tags = Setting[bool]()
    use_heads = Setting[bool]()
    use_deps = Setting[bool]()
    tags_from = Setting[str]()
    sentences = Setting[str]()
    units = Setting[str | None]()
    n_best = Setting[int]()
    max_words = Setting[int | None]()
    tree = Setting[bool]()
    projective = Setting[bool | None]()
    truecase = Setting[bool]()
    overwrite = Setting[bool]()
    n_threads = Setting[int]()
    seed = Setting[int]()

    def __init__(
        self,
        vocab: Vocab,
        model: LinearizerModel,
        name: str = "linearizer",
        *,
        options: Options | None = None,
        reranker: Reranker | None = None,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        self.vocab = vocab
        self.model = model
        self.name = name
        self.scorer = scorer
        self.cfg: dict[str, Any] = {kind: [] for kind in KINDS}  # what training and calibration have found
        self._options = options or Options()
        self._rng = random.Random(self._options.seed)
        self._known = Known()
        self._reported: set[Dropped] = set()
        self.reranker = reranker
        self.surface = Surface()  # how words become text
        claim_extensions()

    @property
    def options(self) -> Options:
        """The settings. They are frozen: replace them, or set one of the attributes."""
        return self._options

    @options.setter
    def options(self, options: Options) -> None:
        if options.seed != self._options.seed:
            self._rng = random.Random(options.seed)
        self._options = options

    @property
    def reranker(self) -> Reranker | None:
        """The second opinion, or None."""
        return self._reranker

    @reranker.setter
    def reranker(self, reranker: Reranker | None) -> None:
        is_one = isinstance(reranker, Reranker) and isinstance(reranker.options, RerankOptions)
        if reranker is not None and not is_one:
            raise error(
                "SL022", key="reranker", value=reranker, expected="null, or a Reranker: see its registered names"
            )
        self._reranker = reranker

    @property
    def labels(self) -> tuple[str, ...]:
        """The arc labels seen in training."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> dict[str, list[str]]:
        """Tags and arc labels, as `spacy init labels` stores them."""
        return {kind: list(self.cfg[kind]) for kind in KINDS}

    @property
    def engine(self) -> Engine:
        """The core of the trained model."""
        return engine_of(self.model, self.name)

    @property
    def lifts(self) -> bool:
        """Whether given arcs may cross: the model has learned which ones to lift, and it is not forbidden."""
        return self.engine.lifter.is_trained and not self.projective

    # Ordering

    def __call__(self, doc: Doc) -> Doc | None:
        """Order one Doc.

        RETURNS (Doc): A new Doc with the same words and all annotation. `doc._.linearization` says what was done. A Doc
            without words is returned as it is.
        """
        for new in self._report(doc, self._try_order([doc])[0]):
            return new
        return None  # as spaCy's own components do; Language reports it

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Order a stream of Docs, with `n_threads` threads. They keep their sequence. A Doc that cannot be ordered goes
        to the error handler; the others are not affected."""
        results = in_threads(self._try_order, stream, n_threads=self.n_threads, batch_size=batch_size)
        with closing(results):  # or the threads would go on after an error that is raised here
            for doc, result in results:
                yield from self._report(doc, result)

    def _try_order(self, docs: list[Doc]) -> Sequence[Doc | Exception]:
        """Order some Docs at once. For a Doc that cannot be ordered, its error stands in its place."""
        try:
            return self._order(docs)
        except Exception as problem:
            if len(docs) == 1:
                return [problem]
        return [self._try_order([doc])[0] for doc in docs]

    def _report(self, doc: Doc, result: Doc | Exception) -> Iterator[Doc]:
        if isinstance(result, Exception):
            self.get_error_handler()(self.name, self, [doc], result)
        else:
            yield result

    def _order(self, docs: list[Doc]) -> list[Doc]:
        reader, writer, keeps_others = self.reader, self.writer, self.n_best > 1
        for doc in docs:
            check_doc(doc)
        bags = [reader.read(doc) if len(doc) else [] for doc in docs]
        return [
            writer.write(doc, own, found[0], alternatives=found if keeps_others else ()) if len(doc) else doc
            for doc, own, found in zip(docs, bags, self.order_bags(docs, bags), strict=True)
        ]

    def predict(self, docs: Iterable[Doc]) -> list[list[Order]]:
        """The best orders of Docs, best first, without new Docs."""
        docs = list(docs)
        return self.order_bags(docs, [self.reader.read(doc) for doc in docs])

    def order_bags(
        self, docs: Sequence[Doc], bags: Sequence[Sequence[Bag]], n_best: int | None = None
    ) -> list[list[Order]]:
        """The best orders of Docs, best first.

        bags (Sequence[Sequence[Bag]]): What the reader made of each.
        n_best (Optional[int]): How many, instead of the setting.
        """
        choose = self.second_opinion(docs, bags)
        search = self.search(n_best, choose)
        found = iter(self.model.predict(([bag for own in bags for bag in own], search, choose)))
        lists = [[next(found) for _ in own] for own in bags]
        return [best_combinations(own, search.n_best) if own else [] for own in lists]

    def search(self, n_best: int | None, opinion: SecondOpinion | None) -> SearchOptions:
        """How to search: for as many orders as are asked for, and as the second opinion wants to choose from.

        n_best (Optional[int]): Instead of the setting.
        """
        search = self.options.search(n_best)
        return search if opinion is None else replace(search, n_found=opinion.reranker.options.n_candidates)

    def second_opinion(self, docs: Sequence[Doc], bags: Sequence[Sequence[Bag]]) -> SecondOpinion | None:
        """What the reranker, if there is one, thinks of the orders of bags. Takes the same as `order_bags`."""
        if self.reranker is None:
            return None
        writer = self.writer
        sources = [one for doc, own in zip(docs, bags, strict=True) for one in sentences_of(doc, own, writer)]
        return SecondOpinion(self.reranker, sources)

    def set_annotations(self, docs: Iterable[Doc], scores: Any) -> None:
        """Not possible: the words of a Doc cannot change places. Use `__call__` or `pipe`, which return new Docs."""
        raise error("SL044")

    def alternatives(self, doc: Doc, n_best: int) -> list[Doc]:
        """The best orders of a Doc, best first, no two with the same words in the same sequence.

        n_best (int): How many to return at most.
        RETURNS (List[Doc]): A new Doc for each.
        """
        check_doc(doc)
        self.options.change(n_best=n_best)  # to check it
        if not len(doc):
            return [doc]
        bags, writer = self.reader.read(doc), self.writer
        orders = self.order_bags([doc], [bags], n_best)[0]
        return [writer.write(doc, bags, order, gap=orders[0].score - order.score) for order in orders]

    def score_order(self, doc: Doc) -> "OrderScore":
        """How good is the order that a Doc has? Scored under its constraints, beside the best order.

        RETURNS (OrderScore): The probability that a reader prefers it to the best order, the words in the wrong place,
            what to move, score, gap and the best order; see `insight.score.OrderScore`.
        """
        from .insight.score import score_order  # stands above the component

        return score_order(self, doc)

    def explain(
        self, doc: Doc, *, n_rivals: int = 2, n_reasons: int = 4, word: int | None = None, rank: int = 0
    ) -> list["Explanation"]:
        """Why a Doc is put into its best order: the derivation, action by action.

        n_rivals (int): How many other actions to show at each step.
        n_reasons (int): How many features to show for each of them, the ones that decided first.
        word (Optional[int]): Show them only where this token is placed.
        rank (int): Which of the best orders to explain, as with `spacy_linearize.alternative`.
        RETURNS (List[Explanation]): One for each bag. `print()` shows it as text, `to_dict()` returns data.
        """
        from .insight.explain import explain  # stands above the component

        return explain(self, doc, n_rivals=n_rivals, n_reasons=n_reasons, word=word, rank=rank)

    @property
    def reader(self) -> Reader:
        """Reads Docs under the current settings."""
        return Reader(options=self.options, known=self._known, is_word=self.engine.lexicon.knows, name=self.name)

    @property
    def writer(self) -> Writer:
        """Makes new Docs under the current settings."""
        return Writer(options=self.options, surface=self.surface, reported=self._reported)

    # Training

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, list[str]] | None = None,
        corpus: Callable[[Language], Iterable[Example]] | None = None,
        text: str | Path | list[str] | None = None,
        language_model: dict[str, Any] | None = None,
    ) -> None:
        """Start a new model: learn usual tags, labels and spaces from the examples.

        get_examples (Callable[[], Iterable[Example]]): The training examples, all of them.
        nlp (Optional[Language]): The pipeline.
        labels (Optional[Dict[str, List[str]]]): Tags and labels from `spacy init labels`, beside those of the examples.
        corpus (Optional[Callable]): A reader to take the examples from instead. With max_epochs = -1 spaCy hands over
            only the first 100.
        text (Optional[Union[str, Path, List[str]]]): Further text for the language model: files and folders, see
            `doc.text.read_sentences`. Each is a source, with the interpolation weight that suits the examples.
        language_model (Optional[Dict[str, Any]]): How to make it, see `core.ngrams.estimate.Estimation`.
        """
        if nlp is None and (corpus is not None or text is not None):
            raise error("SL194", key="text" if corpus is None else "corpus")
        check_reader(nlp)
        check_scores(nlp, shim_of(self.model).cfg["labelled"])
        more_names, how = check_names(labels or {}), Estimation.from_dict(language_model or {})
        if corpus is not None and nlp is not None:
            get_examples = partial(corpus, nlp)
        gold = Gold(checked_examples(get_examples, "Linearizer.initialize"), self.options.tags_from)
        paths = [] if text is None else [text] if isinstance(text, (str, Path)) else text
        # A model that is there already stays until all of this has gone well.
        engine = shim_of(self.model).new_engine()
        surface = Surface(joins=not self.vocab.writing_system.get("has_letters", True))
        n_crossing = engine.learn_lexicon(gold)
        check_parts(gold.names["tags"], self.options.tags_from)
        if n_crossing:
            way = "lifted" if engine.should_lift(self.options.projective) else "skipped"
            logger.info(
                "%d of %d sentences have crossing arcs: %s in training.", n_crossing, gold.text.n_sentences, way
            )
        engine.learn_ngrams([gold.text, *(read_text(nlp, path) for path in paths)], how)
        surface.learn(gold.written)
        self.cfg = {kind: sorted(gold.names[kind] | more_names[kind]) for kind in KINDS}
        shim_of(self.model).replace(engine)
        self.surface = surface
        self._known.know(self.cfg, self.vocab.strings)
        self.model.initialize()

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from examples: tags, heads and labels of the predicted Doc are given, the reference is gold. A
        reference without a tree teaches only the order.

        drop (float): Share of the features to leave out.
        losses (Optional[Dict[str, float]]): The number of examples whose gold order lost is added here.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        if not isinstance(drop, (int, float)) or not 0 <= drop < 1:
            raise error("SL022", key="drop", value=drop, expected="a number from 0 to below 1")
        examples = list(examples)
        validate_examples(examples, "Linearizer.update")
        engine, options = self.engine, self.options
        # The training loop sorts a batch by length, which an online learner should not see.
        self._rng.shuffle(examples)
        pairs = [list(gold_pairs(eg, options, needs_tree=engine.builds_trees)) for eg in examples]
        self._learn_names(examples, pairs)
        width = options.update_beam_width or options.beam_width
        progress = engine.update(
            [pair for own in pairs for pair in own],
            beam_width=width,
            tree_beam_width=min(width, options.tree_beam_width or width),
            projective=options.projective,
            dropout=drop,
            seed=self._rng.getrandbits(63),
            n_threads=options.n_threads,
        )
        losses[self.name] += progress.violations
        return losses

    def _learn_names(self, examples: list[Example], pairs: list[list[tuple[Bag, Bag]]]) -> None:
        """Add the tags and labels of examples that initialize() has not seen, and the given ones."""
        found = new_names(self.cfg, examples, pairs)
        if any(found.values()):
            self.cfg |= {kind: sorted({*self.cfg[kind], *found[kind]}) for kind in KINDS}
            self._known.know(self.cfg, self.vocab.strings)

    # Serialisation: TrainablePipe does it. Here the parts are checked before they replace anything, and the strings of
    # tags and labels are added.

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "Linearizer":
        exclude = tuple(exclude)
        content = read_damaged(lambda: srsly.msgpack_loads(bytes_data))
        for part in ("cfg", "model", SURFACE):
            # spaCy would keep the old value instead.
            if part not in exclude and (not isinstance(content, dict) or part not in content):
                raise error("SL032", source=SOURCE, what=f"it has no part '{part}'")
        if "cfg" not in exclude:
            check_stored(read_damaged(lambda: srsly.json_loads(content["cfg"])), SOURCE)
        surface = None if SURFACE in exclude else Surface.from_json(content[SURFACE], SOURCE)
        self._load(partial(super().from_bytes, bytes_data, exclude=exclude), exclude, surface)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        exclude = tuple(exclude)
        content = srsly.msgpack_loads(super().to_bytes(exclude=exclude))
        if SURFACE not in exclude:
            content[SURFACE] = self.surface.to_json()
        packed: bytes = srsly.msgpack_dumps(content)
        return packed

    def from_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> "Linearizer":
        exclude = tuple(exclude)
        if "cfg" not in exclude:
            # A missing file is not a damaged one: srsly raises the same error for both.
            data = (Path(path) / "cfg").read_bytes()
            check_stored(read_damaged(lambda: srsly.json_loads(data)), SOURCE)
        surface = None if SURFACE in exclude else Surface.from_json((Path(path) / SURFACE).read_bytes(), SOURCE)
        self._load(partial(super().from_disk, path, exclude=exclude), exclude, surface)
        return self

    def to_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> None:
        exclude = tuple(exclude)
        super().to_disk(path, exclude=exclude)
        if SURFACE not in exclude:
            save(Path(path) / SURFACE, self.surface.to_json())

    def _load(self, read: Callable[[], Any], exclude: Sequence[str], surface: Surface | None) -> None:
        shim = shim_of(self.model)
        cfg, engine = self.cfg, shim.engine
        self.cfg = {} if "cfg" not in exclude else dict(cfg)  # what is read is added to this
        try:
            read_damaged(read)
            known = Known()
            known.know(self.label_data, self.vocab.strings)
            if shim.engine is not None:
                symbols = {*shim.engine.lexicon.symbols, shim.engine.root_label}
                read_damaged(lambda: known.check(symbols))
        except BaseException:
            self.cfg = cfg
            shim.replace(engine)
            raise
        self._known = known
        self.surface = surface or self.surface

    def __reduce__(self) -> tuple[Any, ...]:
        # The one that spaCy's classes have from Cython knows nothing of slots.
        names = ("vocab", "model", "name", "scorer", "cfg", *OWN_ATTRIBUTES)
        return _restore, (type(self), {name: getattr(self, name) for name in names if hasattr(self, name)})


def _restore(cls: type[Linearizer], attributes: dict[str, Any]) -> Linearizer:
    """A component that was pickled."""
    component = cls.__new__(cls)
    for name, value in attributes.items():
        setattr(component, name, value)
    claim_extensions()
    return component
