"""The pipeline component: a Doc in any order in, the sentence out."""

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model

from .architecture import DEFAULT_LINEARIZER_MODEL, EngineShim, check_bytes, check_cfg, engine_shim, read_damaged
from .bag import Use, Words
from .build import Builder, best_orders, claim_extensions
from .errors import error
from .examples import read_gold, training_pairs
from .language_model import read_sentences
from .names import KINDS, KnownNames, add_given, add_names, check_names, no_names
from .ordering import Orderer, check_doc
from .reorder import Dropped
from .scorer import SCORES
from .settings import SETTINGS, check_setting, find_changes, with_changes
from .spacing import Spacing
from .threads import in_threads

if TYPE_CHECKING:
    from .core.records import Linearization
    from .explain import Explanation
    from .scoring import OrderScore


@Language.factory(
    "linearizer",
    assigns=["doc._.linearization", "token.tag", "token.dep", "token.head"],
    default_config={
        "model": DEFAULT_LINEARIZER_MODEL,
        "beam_width": 8,
        "tree_beam_width": None,
        "update_beam_width": None,
        "use_tags": True,
        "use_heads": True,
        "use_deps": True,
        "sentences": "doc",
        "units": None,
        "n_best": 1,
        "max_words": 10000,
        "tree": True,
        "overwrite": False,
        "n_threads": 1,
        "seed": 0,
        "scorer": {"@scorers": "spacy_linearize.linearizer_scorer.v1"},
    },
    default_score_weights={
        "linearize_bleu": 1.0,
        **dict.fromkeys(SCORES[1:], 0.0),
    },
)
def make_linearizer(
    nlp: Language,
    name: str,
    model: Model[Any, Any],
    beam_width: Any,
    tree_beam_width: Any,
    update_beam_width: Any,
    use_tags: Any,
    use_heads: Any,
    use_deps: Any,
    sentences: Any,
    units: Any,
    n_best: Any,
    max_words: Any,
    tree: Any,
    overwrite: Any,
    n_threads: Any,
    seed: Any,
    scorer: Callable[..., dict[str, Any]] | None,
) -> "Linearizer":
    """Create a Linearizer from a config. The arguments are those of the class."""
    return Linearizer(
        nlp.vocab,
        model,
        name,
        beam_width=beam_width,
        tree_beam_width=tree_beam_width,
        update_beam_width=update_beam_width,
        use_tags=use_tags,
        use_heads=use_heads,
        use_deps=use_deps,
        sentences=sentences,
        units=units,
        n_best=n_best,
        max_words=max_words,
        tree=tree,
        overwrite=overwrite,
        n_threads=n_threads,
        seed=seed,
        scorer=scorer,
    )


class Linearizer(TrainablePipe):
    """Orders the words of a Doc under the tags, heads and labels that it has. Returns a new Doc.

    vocab (Vocab): The shared vocabulary.
    model (Model): The model, see `architecture`.
    name (str): The component instance name.
    beam_width (int): How many hypotheses the search keeps.
    tree_beam_width (Optional[int]): The same for bags with all arcs given, which need fewer. None: `beam_width`.
    update_beam_width (Optional[int]): The same in training, for all bags. None: `beam_width`.
    use_tags, use_heads, use_deps (bool): Whether tags, heads and labels that a Doc has are constraints, or ignored.
    sentences (str): "doc": one Doc is one bag. "sents": each sentence of the Doc is ordered on its own.
    units (Optional[str]): Tokens that stay together: "ents", "noun_chunks", or the key of a span group.
    n_best (int): How many orders `doc._.linearization` holds, best first.
    max_words (Optional[int]): Refuse to order longer bags, with SL005: the time grows with the square of the
        length, and 10,000 free words take minutes. None for no limit.
    tree (bool): Whether to add the arcs and labels that are not given.
    overwrite (bool): Whether predictions replace annotation that was ignored.
    n_threads (int): How many Docs `pipe` orders, and how many searches `update` trains, at the same time.
    seed (int): For the sequence of training examples and for dropout.
    scorer (Optional[Callable]): The scoring method.
    """

    # So that a setting whose name is misspelt is refused. The last is set by spaCy.
    __slots__ = (*SETTINGS, "_configured", "_rng", "_known", "_reported", "error_handler")

    def __init__(
        self,
        vocab: Vocab,
        model: Model[Any, Any],
        name: str = "linearizer",
        *,
        beam_width: int = 8,
        tree_beam_width: int | None = None,
        update_beam_width: int | None = None,
        use_tags: bool = True,
        use_heads: bool = True,
        use_deps: bool = True,
        sentences: str = "doc",
        units: str | None = None,
        n_best: int = 1,
        max_words: int | None = 10_000,
        tree: bool = True,
        overwrite: bool = False,
        n_threads: int = 1,
        seed: int = 0,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        self.vocab = vocab
        self.model = model
        self.name = name
        self.scorer = scorer
        self.beam_width = beam_width
        self.tree_beam_width = tree_beam_width
        self.update_beam_width = update_beam_width
        self.use_tags = use_tags
        self.use_heads = use_heads
        self.use_deps = use_deps
        self.sentences = sentences
        self.units = units
        self.n_best = n_best
        self.max_words = max_words
        self.tree = tree
        self.overwrite = overwrite
        self.n_threads = n_threads
        check_setting("seed", seed)
        # What is stored with the component: what training has found, and the settings that are not those of the config.
        self.cfg: dict[str, Any] = {kind: [] for kind in KINDS}
        self._configured = {key: getattr(self, key) for key in SETTINGS}
        self._rng = random.Random(seed)
        self._known = KnownNames()
        self._reported: set[Dropped] = set()
        claim_extensions()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in SETTINGS:
            check_setting(name, value)
        super().__setattr__(name, value)
        if name in SETTINGS and hasattr(self, "_configured"):
            changed = find_changes(self._configured, {key: getattr(self, key) for key in SETTINGS})
            names: dict[str, Any] = self.label_data
            self.cfg = {**names, "changed": changed} if changed else names

    def configure(self, **settings: Any) -> None:
        """Change settings along with the config of the pipeline, so that they are not stored as changes of it."""
        for key, value in settings.items():
            check_setting(key, value)
            self._configured[key] = value
            setattr(self, key, value)

    @property
    def shim(self) -> EngineShim:
        return engine_shim(self.model)

    @property
    def use(self) -> Use:
        return Use(tags=self.use_tags, heads=self.use_heads, deps=self.use_deps)

    @property
    def labels(self) -> tuple[str, ...]:
        """The arc labels seen in training."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> dict[str, list[str]]:
        """Tags and arc labels, as `spacy init labels` stores them."""
        return {kind: list(self.cfg[kind]) for kind in KINDS}

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
        """Order a stream of Docs, with `n_threads` threads. The sequence stays. A Doc that cannot be ordered goes to
        the error handler on its own; the others are not concerned."""
        results = in_threads(self._try_order, stream, n_threads=self.n_threads, batch_size=batch_size)
        with closing(results):  # or the threads would go on after an error that is raised here
            for doc, result in results:
                yield from self._report(doc, result)

    def _try_order(self, docs: list[Doc]) -> list[Doc | Exception]:
        """Order some Docs at once. What one of them is not ordered for stands in its place."""
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

    def predict(self, docs: Iterable[Doc]) -> list[list["Linearization"]]:
        """Order Docs without building new ones.

        RETURNS (List[List[Linearization]]): For each Doc the linearization of each of its bags.
        """
        return [[results[0] for _, results in lists] for lists in self.orderer.order(docs)]

    def set_annotations(self, docs: Iterable[Doc], scores: Any) -> None:
        """Not possible: the words of a Doc cannot change places. Use `__call__` or `pipe`, which return new Docs."""
        raise error("SL044")

    def alternatives(self, doc: Doc, n_best: int) -> list[Doc]:
        """The best orders of a Doc, best first, no two with the same words in the same sequence.

        n_best (int): How many to return at most.
        RETURNS (List[Doc]): A new Doc for each.
        """
        check_doc(doc)
        check_setting("n_best", n_best)
        if not len(doc):
            return [doc]
        builder = self._builder(n_best=1)
        orders = best_orders(self.orderer.order([doc], n_best)[0], n_best)
        return [builder.build(doc, [order]) for order in orders]

    def score_order(self, doc: Doc) -> "OrderScore":
        """The score of the order that a Doc has, under its constraints, with the gap to the best order.

        RETURNS (OrderScore): Score, gap and the best order; see `scoring.OrderScore`.
        """
        from .scoring import score_order

        return score_order(self.orderer, self._builder(n_best=1), doc)

    def explain(self, doc: Doc, *, n_rivals: int = 2, n_reasons: int = 4) -> list["Explanation"]:
        """Why a Doc is put into its best order: the derivation, action by action.

        n_rivals (int): How many other actions to show at each step.
        n_reasons (int): How many features to show for each of them, the ones that decided first.
        RETURNS (List[Explanation]): One for each bag. `print()` shows it as text, `to_dict()` returns data.
        """
        from .explain import explain

        return explain(self.orderer, doc, n_rivals=n_rivals, n_reasons=n_reasons)

    @property
    def orderer(self) -> Orderer:
        """Orders Docs under the current settings."""
        if not self.shim.is_trained:
            raise error("SL040", name=self.name)
        return Orderer(
            engine=self.shim.engine,
            use=self.use,
            sentences=self.sentences,
            units=self.units,
            max_words=self.max_words,
            tree=self.tree,
            name=self.name,
            width_for=self.width_for,
            known=self._known,
        )

    def width_for(self, is_open: bool) -> int:
        """The width of the beam for a bag that has arcs missing, or none."""
        return self.beam_width if is_open else self.tree_beam_width or self.beam_width

    def _order(self, docs: list[Doc]) -> list[Doc | Exception]:
        for doc in docs:
            check_doc(doc)
        n_best = self.n_best
        found = iter(self.orderer.order((doc for doc in docs if len(doc)), n_best))
        builder = self._builder(n_best)
        return [builder.build(doc, best_orders(next(found), n_best)) if len(doc) else doc for doc in docs]

    def _builder(self, n_best: int) -> Builder:
        return Builder(
            spacing=self.shim.spacing,
            use=self.use,
            tree=self.tree,
            overwrite=self.overwrite,
            n_best=n_best,
            reported=self._reported,
        )

    # Training

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, list[str]] | None = None,
        corpus: Callable[[Language], Iterable[Example]] | None = None,
        text: str | Path | None = None,
    ) -> None:
        """Start a new model: learn usual tags, labels and spaces from the examples.

        get_examples (Callable[[], Iterable[Example]]): The training examples, all of them.
        nlp (Optional[Language]): The pipeline.
        labels (Optional[Dict[str, List[str]]]): Tags and labels from `spacy init labels`, beside those of the examples.
        corpus (Optional[Callable]): A reader to take the examples from instead. With max_epochs = -1 spaCy hands over
            only the first 100.
        text (Optional[Union[str, Path]]): A file with further sentences for the language model, see
            `language_model.read_sentences`. The words of the examples always count.
        """
        validate_get_examples(get_examples, "Linearizer.initialize")
        more_names = check_names(labels or {})
        if nlp is None and (corpus is not None or text is not None):
            raise error("SL194", key="text" if corpus is None else "corpus")
        gold = read_gold(corpus(nlp) if corpus is not None and nlp is not None else get_examples())
        more = list(read_sentences(nlp, text)) if nlp is not None and text is not None else []
        # A model that is there already stays until all of this has gone well.
        engine, spacing = self.shim.new_engine(), Spacing()
        engine.learn_lexicon(gold.sentences)
        engine.learn_ngrams([*(sentence.forms.tolist() for sentence in gold.sentences), *more])
        spacing.learn(gold.spaced)
        self.cfg = {**self.cfg, **{kind: sorted(gold.names[kind] | more_names[kind]) for kind in KINDS}}
        self.shim.replace(engine, spacing)
        self._know_names()
        self.model.initialize()

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from examples: what the predicted Doc has of tags, heads and labels is given, the reference is gold. A
        reference without a tree teaches the order.

        drop (float): Share of the features to leave out.
        losses (Optional[Dict[str, float]]): The number of examples whose gold order lost is added here.
        """
        if not isinstance(drop, (int, float)) or not 0 <= drop < 1:
            raise error("SL022", key="drop", value=drop, expected="a number from 0 to below 1")
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "Linearizer.update")
        if not self.shim.is_trained:
            raise error("SL040", name=self.name)
        # The training loop sorts a batch by length, which an online learner should not see.
        self._rng.shuffle(examples)
        engine = self.shim.engine
        pairs = [pair for eg in examples for pair in training_pairs(eg, self.use, needs_tree=engine.builds_trees)]
        self._learn_names(examples, [given for given, _ in pairs])
        progress = engine.update(
            [(given.to_bag(engine), gold.to_sentence()) for given, gold in pairs],
            beam_width=self.update_beam_width or self.beam_width,
            dropout=drop,
            seed=self._rng.getrandbits(63),
            n_threads=self.n_threads,
        )
        losses[self.name] += progress.violations
        return losses

    def _learn_names(self, examples: list[Example], given: list[Words]) -> None:
        """Take in the tags and labels of examples that initialize() has not seen, and those that are given."""
        found = no_names()
        for eg in examples:
            add_names(found, eg.reference)
        for words in given:
            add_given(found, words)
        if any(found[kind] - set(self.cfg[kind]) for kind in KINDS):
            self.cfg = {**self.cfg, **{kind: sorted({*self.cfg[kind], *found[kind]}) for kind in KINDS}}
            self._know_names()

    def __reduce__(self) -> tuple[Any, ...]:
        # The one that spaCy's classes have from Cython knows nothing of slots.
        names = ("vocab", "model", "name", "scorer", "cfg", *Linearizer.__slots__, *getattr(self, "__dict__", ()))
        return _restore, (type(self), {name: getattr(self, name) for name in names if hasattr(self, name)})

    # Serialisation: TrainablePipe does it. What is left is to check what is read first, so that nothing is replaced by
    # something damaged, to set the settings that were changed, and to make known the strings of tags and labels.

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "Linearizer":
        exclude = tuple(exclude)
        check_bytes(bytes_data, exclude)
        self._load(partial(super().from_bytes, bytes_data, exclude=exclude), has_cfg="cfg" not in exclude)
        return self

    def from_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> "Linearizer":
        exclude = tuple(exclude)
        if "cfg" not in exclude:
            # What is not there is no damage: srsly would call both by the same name.
            data = (Path(path) / "cfg").read_bytes()
            check_cfg(read_damaged(lambda: srsly.json_loads(data)))
        self._load(partial(super().from_disk, path, exclude=exclude), has_cfg="cfg" not in exclude)
        return self

    def _load(self, read: Callable[[], Any], *, has_cfg: bool) -> None:
        old = self.cfg
        self.cfg = self.label_data if has_cfg else dict(old)  # what is read is added to this
        try:
            read_damaged(read)
        except BaseException:
            self.cfg = old
            raise
        if has_cfg:
            changed: Any = self.cfg.get("changed", {})
            for key, value in with_changes(self._configured, changed).items():
                setattr(self, key, value)
        self._know_names()

    def _know_names(self) -> None:
        self._known.know(self.label_data, self.vocab.strings)


def _restore(cls: type[Linearizer], attributes: dict[str, Any]) -> Linearizer:
    """A component that was pickled."""
    component = cls.__new__(cls)
    for name, value in attributes.items():
        setattr(component, name, value)
    claim_extensions()
    return component
