"""Everything that setup.cfg names: spaCy loads it when it starts. The rest is imported only when it is called, so that
`spacy.blank("en")` costs nothing, and works even where the compiled modules are missing."""

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from spacy.strings import get_string_id
from spacy.training import Example
from thinc.api import Model

from .errors import error

if TYPE_CHECKING:
    from .linearizer import Linearizer

RERANK_OPTIONS = ("n_candidates", "weights", "margins", "strict")


def build_transition_linearizer(
    system: str = "order_first",
    direction: str = "both",
    experts: dict[str, list[str]] | None = None,
    templates: list[str] = [],  # noqa: B006 (shown by `spacy init config`, never changed)
    markers: list[str] = ["case", "mark"],  # noqa: B006
    atomic_shift: bool = False,
    table_bits: int | None = 22,
    attach_bits: int = 20,
    tags: str = "usual",
    labelled: bool = True,
    update: str = "softmax",
    min_updates: int = 1,
    ngram_order: int = 3,
    ngram_weights: dict[str, float] = {"partial": 5.0, "tree": 8.0, "free": 5.0},  # noqa: B006
) -> Model[Any, Any]:
    """spacy_linearize.TransitionLinearizer.v1: a transition-based linearizer with beam search. The arguments are the
    fields of `core.settings.Settings`, with the labels of markers as texts."""
    given = locals()
    try:
        from .core.settings import Settings
        from .model import make_model
    except ImportError as problem:
        raise error("SL046", problem=problem) from problem

    return make_model(Settings(**{**given, "markers": [get_string_id(label) for label in markers]}))


def _defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """The arguments of a function that have a default, as a config has them."""
    parameters = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not one.empty}


DEFAULT_MODEL = {
    "@architectures": "spacy_linearize.TransitionLinearizer.v1",
    **_defaults(build_transition_linearizer),
}


def make_linearizer(
    nlp: Language,
    name: str,
    model: Model[Any, Any],
    scorer: Callable[..., dict[str, Any]] | None,
    reranker: Any = None,
    beam_width: int = 8,
    tree_beam_width: int | None = None,
    update_beam_width: int | None = None,
    use_tags: bool = True,
    use_heads: bool = True,
    use_deps: bool = True,
    tags_from: str = "TAG",
    sentences: str = "doc",
    units: str | None = None,
    n_best: int = 1,
    max_words: int | None = 10_000,
    tree: bool = True,
    projective: bool | None = None,
    truecase: bool = False,
    overwrite: bool = False,
    n_threads: int = 1,
    seed: int = 0,
) -> "Linearizer":
    """Create a Linearizer from a config. Most arguments are the fields of `options.Options`."""
    given = locals()
    from .linearizer import Linearizer
    from .options import NAMES, Options

    options = Options(**{key: given[key] for key in NAMES})
    return Linearizer(nlp.vocab, model, name, options=options, reranker=reranker, scorer=scorer)


Language.factory(
    "linearizer",
    assigns=["doc._.linearization", "token.tag", "token.dep", "token.head"],
    default_config={
        "model": DEFAULT_MODEL,
        **_defaults(make_linearizer),
        "scorer": {"@scorers": "spacy_linearize.linearizer_scorer.v1"},
    },
    # Arcs and tags are scored only where some are left open: a config whose dev corpus does that shows them.
    default_score_weights={"bleu": 1.0, "exact": 0.0},
    func=make_linearizer,
)


def create_linearizer_corpus(
    path: Path | None = None,
    sources: dict[str, dict[str, Any]] = {},  # noqa: B006 (shown by `spacy init fill-config`, never changed)
    tags: float = 1.0,
    heads: float = 1.0,
    settings: list[list[float]] = [],  # noqa: B006 (shown by `spacy init fill-config`, never changed)
    labelled: bool = True,
    gold_preproc: bool = False,
    min_length: int = 0,
    max_length: int = 0,
    limit: int = 0,
    resample: bool = False,
    buffer_size: int = 20_000,
    seed: int = 0,
    augmenter: None = None,
) -> Callable[[Language], Iterable[Example]]:
    """spacy_linearize.Corpus.v1: see `training.corpus.Corpus`.

    augmenter (None): There is none. spaCy's own configs have the key: so their reader can be replaced by this one.
    """
    given = {key: value for key, value in locals().items() if key != "augmenter"}
    from .training.corpus import Corpus

    return Corpus(**given)


def make_causal_lm(
    model: str,
    n_candidates: dict[str, int] = {"partial": 64, "tree": 12, "free": 64},  # noqa: B006 (never changed)
    weights: dict[str, float] = {"partial": 32.0, "tree": 32.0, "free": 32.0},  # noqa: B006
    margins: dict[str, float | None] = {"partial": 240.0, "tree": 400.0, "free": 160.0},  # noqa: B006
    strict: bool = False,
    batch_size: int = 512,
    device: str = "cpu",
    dtype: str = "auto",
    prompt: str = "",
    context: int = 0,
    normalise: bool = False,
    tail: int | None = 2,
    share_prefixes: bool = True,
) -> Any:
    """spacy_linearize.CausalLM.v1: see `rerank.causal_lm`."""
    given = locals()
    from .rerank.causal_lm import CausalLM, CausalSettings
    from .rerank.reranker import RerankOptions

    options = {key: given.pop(key) for key in RERANK_OPTIONS}
    return CausalLM(CausalSettings(**given), RerankOptions(**options))


def make_ngram_lm(
    path: str,
    n_candidates: dict[str, int] = {"partial": 64, "tree": 12, "free": 64},  # noqa: B006 (never changed)
    weights: dict[str, float] = {"partial": 10.0, "tree": 10.0, "free": 10.0},  # noqa: B006
    margins: dict[str, float | None] = {"partial": None, "tree": None, "free": None},  # noqa: B006
    strict: bool = False,
    lowercase: bool = False,
) -> Any:
    """spacy_linearize.NgramLM.v1: see `rerank.ngram_lm`."""
    given = locals()
    from .rerank.ngram_lm import NgramLM
    from .rerank.reranker import RerankOptions

    options = {key: given[key] for key in RERANK_OPTIONS}
    return NgramLM(path, RerankOptions(**options), lowercase=lowercase)


def make_linearizer_scorer() -> Callable[..., dict[str, Any]]:
    """spacy_linearize.linearizer_scorer.v1: see `training.scorer.linearizer_score`."""
    from .training.scorer import linearizer_score

    return linearizer_score
