"""The settings of the component. Those of its model are in `core.settings`."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.util import registry

from .core.records import SearchOptions
from .errors import LinearizeError, error

MAX_COUNT = 1_000_000
SEPARATOR = "|"  # of the parts of a tag
FEATURE = re.compile(r"[A-Z][a-z]\w*(\[\w+\])?")  # the name of a morphological feature: "Case", "Number[psor]"


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a linearizer does with a Doc.

    beam_width (int): How many hypotheses the search keeps.
    tree_beam_width (Optional[int]): The same for bags with all arcs given, which need fewer. None: `beam_width`.
    update_beam_width (Optional[int]): The same in training. None: `beam_width`. Not wider than `tree_beam_width` for
        bags with all arcs given.
    use_tags, use_heads, use_deps (bool): Whether tags, heads and labels that a Doc has are constraints, or ignored.
    tags_from (str): Which attributes of a token make its tag: "TAG", "POS" and names of morphological features, joined
        by "|", "TAG" first: "TAG|POS|Case". See `doc.tags`. The same as in training.
    sentences (str): "doc": one Doc is one bag. "sents": each sentence of the Doc is ordered on its own.
    units (Optional[str]): Tokens that stay together: "ents", "noun_chunks", or the key of a span group.
    n_best (int): How many orders `doc._.linearization` holds, best first.
    max_words (Optional[int]): Refuse to order longer bags, with SL005: the time grows with the square of the length,
        and 10,000 free words take minutes. None for no limit.
    tree (bool): Whether to add the arcs and labels that are not given.
    projective (Optional[bool]): Whether given arcs must not cross: true forbids it, false lets the model learn which
        ones do. None: false, if they cross in enough of the training data.
    truecase (bool): Whether to change the forms of tokens for their new places: the first word has a capital, and one
        that a word only had for being the first is lowered. Names keep theirs.
    overwrite (bool): Whether predictions replace annotation that was ignored.
    n_threads (int): How many Docs `pipe` orders, and how many searches `update` trains, at the same time.
    seed (int): For the sequence of training examples and for dropout.

    Example:

        Options(beam_width=16, sentences="sents")
    """

    beam_width: int = 8
    tree_beam_width: int | None = None
    update_beam_width: int | None = None
    use_tags: bool = True
    use_heads: bool = True
    use_deps: bool = True
    tags_from: str = "TAG"
    sentences: str = "doc"
    units: str | None = None
    n_best: int = 1
    max_words: int | None = 10_000
    tree: bool = True
    projective: bool | None = None
    truecase: bool = False
    overwrite: bool = False
    n_threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        for key, (is_right, expected) in CHECKS.items():
            value = getattr(self, key)
            if not is_right(value):
                raise error("SL022", key=key, value=value, expected=expected)

    def to_dict(self) -> dict[str, Any]:
        """All settings by name, as a config has them."""
        return {name: getattr(self, name) for name in NAMES}

    def change(self, **settings: Any) -> "Options":
        """The same with some settings changed. An unknown name is an error."""
        for key, value in settings.items():
            if key not in CHECKS:
                raise error("SL022", key=key, value=value, expected=f"one of the settings {', '.join(CHECKS)}")
        return replace(self, **settings)

    def search(self, n_best: int | None = None) -> SearchOptions:
        """How to search.

        n_best (Optional[int]): How many orders to find, instead of the setting.
        """
        return SearchOptions(
            beam_width=self.beam_width,
            tree_beam_width=self.tree_beam_width,
            n_best=self.n_best if n_best is None else n_best,
            tree=self.tree,
            projective=self.projective is True,
        )


def _is(value: Any, *, kind: type[Any], low: float = -math.inf, high: float = math.inf, null: bool = False) -> bool:
    """Whether a value is of just this type (true is an int, too) and within limits, or None where that is allowed."""
    if value is None:
        return null
    return type(value) is kind and (kind is not int or low <= value <= high)


def _is_units(value: Any) -> bool:
    return _is(value, kind=str, null=True) and value != ""


def _is_tags_from(value: Any) -> bool:
    names = value.split(SEPARATOR) if type(value) is str else [""]
    in_place = len(set(names)) == len(names) and "TAG" not in names[1:]
    return in_place and all(name in ("TAG", "POS") or FEATURE.fullmatch(name) for name in names)


def _is_sentences(value: Any) -> bool:
    return value in ("doc", "sents")


COUNT = (partial(_is, kind=int, low=1, high=MAX_COUNT), f"a whole number from 1 to {MAX_COUNT:,}")
COUNT_OR_NULL = (partial(COUNT[0], null=True), f"{COUNT[1]}, or null")
SWITCH = (partial(_is, kind=bool), "true or false")
CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "beam_width": COUNT,
    "tree_beam_width": COUNT_OR_NULL,
    "update_beam_width": COUNT_OR_NULL,
    "use_tags": SWITCH,
    "use_heads": SWITCH,
    "use_deps": SWITCH,
    "tags_from": (_is_tags_from, "'TAG', 'POS' and features such as 'Case', each once, joined by '|', 'TAG' first"),
    "sentences": (_is_sentences, "'doc' or 'sents'"),
    "units": (_is_units, "null, 'ents', 'noun_chunks' or the key of a span group"),
    "n_best": COUNT,
    "max_words": (partial(_is, kind=int, low=1, null=True), "a whole number, 1 or more, or null"),
    "tree": SWITCH,
    "projective": (partial(_is, kind=bool, null=True), "true, false or null"),
    "truecase": SWITCH,
    "overwrite": SWITCH,
    "n_threads": COUNT,
    "seed": (partial(_is, kind=int), "a whole number"),
}
NAMES = tuple(field.name for field in fields(Options))


def linearizer_names(nlp: Language) -> list[str]:
    """The names of the linearizers in a pipeline, whatever these are called."""
    return [name for name in nlp.component_names if nlp.get_pipe_meta(name).factory == "linearizer"]


def configure(nlp: Language, name: str | None = None, **settings: Any) -> None:
    """Change settings of a linearizer and of the config of its pipeline: see `spacy_linearize.configure`."""
    names = linearizer_names(nlp)
    chosen = [name] if name is not None else names
    if len(chosen) != 1 or chosen[0] not in names:
        raise error("SL196", n=len(names), names=", ".join(names) or "none")
    component = nlp.get_pipe(chosen[0])
    options = component.options.change(**{key: value for key, value in settings.items() if key != "reranker"})
    if "reranker" in settings:  # as a config has it: a dict that names a registered function, or None
        component.reranker = _resolve(settings["reranker"])
    component.options = options
    nlp.get_pipe_config(chosen[0]).update(settings)


def _resolve(settings: Any) -> Any:
    """A reranker from what a config has of it."""
    if settings is not None and not isinstance(settings, dict):
        expected = "null or a table with the key '@misc', so that it can be saved; objects: component.reranker = ..."
        raise error("SL022", key="reranker", value=settings, expected=expected)
    try:
        return registry.resolve({"reranker": settings})["reranker"]
    except LinearizeError:
        raise
    except Exception as problem:  # of the registry, or of pydantic: many lines
        lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
        raise error("SL238", problem="; ".join(lines)[:300]) from problem


def check_reader(nlp: Language | None) -> None:
    """Refuse spaCy's own reader where its Docs could not be evaluated: their spaces must be unknown, and sentences that
    it makes of them have lost that."""
    settings = {} if nlp is None else nlp.config.interpolate().get("corpora", {}).get("dev", {})
    if nlp is None or not str(settings.get("@readers")).startswith("spacy.") or not settings.get("path"):
        return
    dev = registry.resolve({"dev": settings})["dev"]
    for eg in islice(dev(nlp) if Path(settings["path"]).exists() else (), 1):
        if not eg.reference.has_unknown_spaces:
            raise error("SL250")


def check_scores(nlp: Language | None, labelled: bool) -> None:
    """Refuse a score that would be 0 in the training table and in meta.json, although it is not measured."""
    weights = {} if nlp is None else nlp.config.get("training", {}).get("score_weights", {})
    if not labelled and "las" in weights:
        raise error("SL254")
