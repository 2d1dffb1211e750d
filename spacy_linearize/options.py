"""The settings of the component. Those of its model are in `core.settings`."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from .core.records import SearchOptions
from .errors import error

MAX_COUNT = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a linearizer does with a Doc.

    beam_width (int): How many hypotheses the search keeps.
    tree_beam_width (Optional[int]): The same for bags with all arcs given, which need fewer. None: `beam_width`.
    update_beam_width (Optional[int]): The same in training, for all bags. None: `beam_width`.
    use_tags, use_heads, use_deps (bool): Whether tags, heads and labels that a Doc has are constraints, or ignored.
    sentences (str): "doc": one Doc is one bag. "sents": each sentence of the Doc is ordered on its own.
    units (Optional[str]): Tokens that stay together: "ents", "noun_chunks", or the key of a span group.
    n_best (int): How many orders `doc._.linearization` holds, best first.
    max_words (Optional[int]): Refuse to order longer bags, with SL005: the time grows with the square of the length,
        and 10,000 free words take minutes. None for no limit.
    tree (bool): Whether to add the arcs and labels that are not given.
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
    sentences: str = "doc"
    units: str | None = None
    n_best: int = 1
    max_words: int | None = 10_000
    tree: bool = True
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
        )


# Not isinstance: true is an int.
def _is_count(value: Any) -> bool:
    return type(value) is int and 1 <= value <= MAX_COUNT


def _is_count_or_none(value: Any) -> bool:
    return value is None or _is_count(value)


def _is_limit(value: Any) -> bool:
    return value is None or (type(value) is int and value >= 1)


def _is_switch(value: Any) -> bool:
    return type(value) is bool


def _is_units(value: Any) -> bool:
    return value is None or (type(value) is str and bool(value))


def _is_sentences(value: Any) -> bool:
    return value in ("doc", "sents")


def _is_whole(value: Any) -> bool:
    return type(value) is int


COUNT = (_is_count, f"a whole number from 1 to {MAX_COUNT:,}")
COUNT_OR_NULL = (_is_count_or_none, f"a whole number from 1 to {MAX_COUNT:,}, or null")
SWITCH = (_is_switch, "true or false")
CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "beam_width": COUNT,
    "tree_beam_width": COUNT_OR_NULL,
    "update_beam_width": COUNT_OR_NULL,
    "use_tags": SWITCH,
    "use_heads": SWITCH,
    "use_deps": SWITCH,
    "sentences": (_is_sentences, "'doc' or 'sents'"),
    "units": (_is_units, "null, 'ents', 'noun_chunks' or the key of a span group"),
    "n_best": COUNT,
    "max_words": (_is_limit, "a whole number, 1 or more, or null"),
    "tree": SWITCH,
    "overwrite": SWITCH,
    "n_threads": COUNT,
    "seed": (_is_whole, "a whole number"),
}
NAMES = tuple(field.name for field in fields(Options))
