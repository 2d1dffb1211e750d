"""The pipeline component: a Doc in any order in, the sentence out."""

import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.util import logger, minibatch
from spacy.vocab import Vocab
from thinc.api import Config, Model

from .architecture import EngineShim, engine_shim
from .bag import Use, Words
from .build import EXTENSION, Builder, by_rank
from .control import EXTENSIONS as CONTROLS
from .errors import error
from .examples import gold_sentences, training_pairs
from .language_model import read_sentences
from .ordering import Found, Orderer
from .projective import is_projective
from .scorer import SCORES
from .units import NOUN_PHRASE

if TYPE_CHECKING:
    from .core.records import Linearization
    from .explain import Explanation
    from .scoring import OrderScore

DEFAULT_MODEL_CONFIG = """
[model]
@architectures = "spacy_linearize.TransitionLinearizer.v1"
system = "order_first"
direction = "both"
groups = null
tree_groups = null
free_groups = null
templates = []
markers = ["case", "mark"]
atomic_shift = false
table_bits = 22
attach_bits = 20
tags = "usual"
labelled = true
update = "max_violation"
copies = 1
experts = ["tree", "free"]
ngram_order = 3
ngram_weight = 4.0
tree_ngram_weight = 8.0
"""
DEFAULT_LINEARIZER_MODEL = Config().from_str(DEFAULT_MODEL_CONFIG)["model"]
DOCS_AT_ONCE = 32  # for one thread of `pipe`


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
        # Only what training finds out is stored with the component; the settings are stored in the config.
        self.cfg: dict[str, list[str]] = {"tags": [], "labels": []}
        self._check_settings(seed)
        self._rng = random.Random(seed)
        self._known: dict[str, set[int]] = {"tags": set(), "labels": set()}
        self._reported: set[tuple[str, int]] = set()
        _claim_extensions()

    def _check_settings(self, seed: Any) -> None:
        for key in ("beam_width", "tree_beam_width", "update_beam_width", "n_best", "max_words", "n_threads"):
            value = getattr(self, key)
            may_be_null = key in ("tree_beam_width", "update_beam_width", "max_words")
            if (type(value) is not int or value < 1) and not (may_be_null and value is None):
                expected = "a whole number, 1 or more" + (", or null" if may_be_null else "")
                raise error("SL022", key=key, value=value, expected=expected)
        for key in ("use_tags", "use_heads", "use_deps", "tree", "overwrite"):
            if type(getattr(self, key)) is not bool:
                raise error("SL022", key=key, value=getattr(self, key), expected="true or false")
        if self.sentences not in ("doc", "sents"):
            raise error("SL022", key="sentences", value=self.sentences, expected="'doc' or 'sents'")
        if self.units is not None and (type(self.units) is not str or not self.units):
            expected = "null, 'ents', 'noun_chunks' or the key of a span group"
            raise error("SL022", key="units", value=self.units, expected=expected)
        if type(seed) is not int:
            raise error("SL022", key="seed", value=seed, expected="a whole number")

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
        return {"tags": list(self.cfg["tags"]), "labels": list(self.cfg["labels"])}

    # Ordering

    def __call__(self, doc: Doc) -> Doc | None:
        """Order one Doc.

        RETURNS (Doc): A new Doc with the same words and all annotation. `doc._.linearization` says what was done.
        """
        for new in self._report(doc, self._try_order([doc])[0]):
            return new
        return None  # as spaCy's own components do; Language reports it

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Order a stream of Docs, with `n_threads` threads. The sequence stays. A Doc that cannot be ordered goes to
        the error handler on its own; the others are not concerned."""
        if self.n_threads == 1:
            for doc in stream:
                yield from self._report(doc, self._try_order([doc])[0])
            return
        from .core.interrupt import worker_pool

        with worker_pool(self.n_threads) as pool:
            for batch in minibatch(stream, size=batch_size):
                # A thread that asks for the interpreter's lock for each Doc would wait most of the time.
                size = min(DOCS_AT_ONCE, -(-len(batch) // self.n_threads))
                parts = [batch[start : start + size] for start in range(0, len(batch), size)]
                results = chain.from_iterable(pool.map(self._try_order, parts))
                for doc, result in zip(batch, results, strict=True):
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
        return [[results[0] for _, results in lists] for lists in self._linearize(docs)]

    def set_annotations(self, docs: Iterable[Doc], scores: Any) -> None:
        """Not possible: the words of a Doc cannot change places. Use `__call__` or `pipe`, which return new Docs."""
        raise error("SL044")

    def alternatives(self, doc: Doc, n_best: int) -> list[Doc]:
        """The best orders of a Doc, best first, no two with the same words in the same sequence.

        n_best (int): How many to return at most.
        RETURNS (List[Doc]): A new Doc for each.
        """
        if not len(doc):
            return [doc]
        builder = self._builder(n_best=1)
        return [builder.build(doc, [bags]) for bags in by_rank(self._linearize([doc], n_best)[0])]

    def score_order(self, doc: Doc) -> "OrderScore":
        """The score of the order that a Doc has, under its constraints, with the gap to the best order.

        RETURNS (OrderScore): Score, gap and the best order; see `scoring.OrderScore`.
        """
        from .scoring import score_order

        return score_order(self.orderer, doc)

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
        # A model that was trained on base noun phrases as units knows them by a tag of their own.
        noun_phrase = self.vocab.strings.add(NOUN_PHRASE)
        has_tag = self.units == "noun_chunks" and self.use_tags and noun_phrase in self._known["tags"]
        return Orderer(
            engine=self.shim.engine,
            use=self.use,
            sentences=self.sentences,
            units=self.units,
            unit_tag=noun_phrase if has_tag else 0,
            max_words=self.max_words,
            tree=self.tree,
            name=self.name,
            width_for=self.width_for,
            without_unknown=self._without_unknown,
        )

    def _linearize(self, docs: Iterable[Doc], n_best: int = 1) -> list[Found]:
        """The bags of each Doc with their best orders."""
        return self.orderer.order(docs, n_best)

    def _without_unknown(self, words: Words) -> Words:
        """A tag or label that training never saw is kept, but not seen by the search."""
        tags = self._unknown(words.doc, words.tags, "tags")
        labels = self._unknown(words.doc, words.labels, "labels")
        return words if tags is None and labels is None else words.without(tags, labels)

    def width_for(self, is_open: bool) -> int:
        """The width of the beam for a bag that has arcs missing, or none."""
        return self.beam_width if is_open else self.tree_beam_width or self.beam_width

    def _unknown(self, doc: Doc, keys: Any, kind: str) -> Any:
        """Which of the keys training never saw, or None if it saw all. Says so once for each."""
        unknown = set(keys.tolist()) - self._known[kind]
        if not unknown:
            return None
        for key in sorted(unknown):
            if (kind, key) not in self._reported:
                self._reported.add((kind, key))
                # The Doc may have another vocabulary than the component.
                text = doc.vocab.strings[key] if key in doc.vocab.strings else str(key)
                warnings.warn(str(error("SL058", name=self.name, kind=kind[:-1], text=text)), stacklevel=2)
        return np.isin(keys, np.array(sorted(unknown), dtype=np.uint64))

    def _order(self, docs: list[Doc]) -> list[Doc | Exception]:
        found = iter(self._linearize((doc for doc in docs if len(doc)), self.n_best))
        builder = self._builder(self.n_best)
        return [builder.build(doc, by_rank(next(found))) if len(doc) else doc for doc in docs]

    def _builder(self, n_best: int) -> Builder:
        return Builder(spacing=self.shim.spacing, use=self.use, tree=self.tree, overwrite=self.overwrite, n_best=n_best)

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
        examples = corpus(nlp) if corpus is not None and nlp is not None else get_examples()
        engine = self.shim.start()
        tags, deps = Counter[str](), Counter[str]()
        sentences, spaced, n_broken = [], [], 0
        for eg in examples:
            spaced.append(eg.predicted if eg.reference.has_unknown_spaces else eg.reference)
            for words in gold_sentences(eg.reference):
                sentences.append(words.to_sentence())
                n_broken += not is_projective(words.heads.tolist())
            tags.update(token.tag_ for token in eg.reference if token.tag)
            deps.update(token.dep_ for token in eg.reference if token.dep)
        if not any(len(sentence) for sentence in sentences):
            raise error("SL045")
        if n_broken:
            logger.info("%d of %d sentences are not projective: skipped in training.", n_broken, len(sentences))
        engine.learn_lexicon(sentences)
        more = read_sentences(nlp, text) if nlp is not None and text is not None else []
        engine.learn_ngrams([*(sentence.forms.tolist() for sentence in sentences), *more])
        self.shim.spacing.learn(spaced)
        labels = labels or {}
        self.cfg["tags"] = sorted({*tags, *labels.get("tags", [])})
        self.cfg["labels"] = sorted({*deps, *labels.get("labels", [])})
        self._know_labels()
        self.model.initialize()

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from examples: what the predicted Doc has of tags, heads and labels is given, the reference is gold.

        drop (float): Share of the features to leave out.
        losses (Optional[Dict[str, float]]): The number of examples whose gold order lost is added here.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "Linearizer.update")
        if not self.shim.is_trained:
            raise error("SL040", name=self.name)
        self._learn_names(examples)
        # The training loop sorts a batch by length, which an online learner should not see.
        self._rng.shuffle(examples)
        engine = self.shim.engine
        progress = engine.update(
            [
                (given.to_bag(engine), gold.to_sentence())
                for eg in examples
                for given, gold in training_pairs(eg, self.use)
            ],
            beam_width=self.update_beam_width or self.beam_width,
            dropout=drop,
            seed=self._rng.getrandbits(63),
            n_threads=self.n_threads,
        )
        losses[self.name] += progress.violations
        return losses

    def _learn_names(self, examples: list[Example]) -> None:
        """Take in the tags and labels of examples that initialize() has not seen."""
        found = {
            "tags": {token.tag_ for eg in examples for token in eg.reference if token.tag},
            "labels": {token.dep_ for eg in examples for token in eg.reference if token.dep},
        }
        if any(found[kind] - set(self.cfg[kind]) for kind in found):
            self.cfg = {kind: sorted({*self.cfg[kind], *found[kind]}) for kind in found}
            self._know_labels()

    # Serialisation: TrainablePipe does it; what is left is to make known the strings of tags and labels.

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "Linearizer":
        super().from_bytes(bytes_data, exclude=tuple(exclude))
        self._know_labels()
        return self

    def from_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> "Linearizer":
        super().from_disk(path, exclude=tuple(exclude))
        self._know_labels()
        return self

    def _know_labels(self) -> None:
        for kind, texts in self.cfg.items():
            # The names that any Doc may have for the root, and 0 for nothing, are no news.
            self._known[kind] = {0, *(self.vocab.strings.add(text) for text in (*texts, "ROOT", "root"))}


def _claim_extensions() -> None:
    for name in (EXTENSION, *CONTROLS):
        if not Doc.has_extension(name):
            Doc.set_extension(name, default=None)
        elif Doc.get_extension(name) != (None, None, None, None):
            raise error("SL041", name=name)
