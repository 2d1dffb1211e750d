"""What the settings of the component may be. Those of its model are in `core.settings`."""

from collections.abc import Mapping, Sequence
from typing import Any

from .errors import error

MAX_COUNT = 1_000_000
COUNTS = ("beam_width", "n_best", "n_threads")
COUNTS_OR_NULL = ("tree_beam_width", "update_beam_width")
SWITCHES = ("use_tags", "use_heads", "use_deps", "tree", "overwrite")
SETTINGS = (*COUNTS, *COUNTS_OR_NULL, "max_words", *SWITCHES, "sentences", "units")


def check_setting(key: str, value: Any) -> None:
    """Refuse a setting of a wrong type or value."""
    expected = _expected(key, value)
    if expected:
        raise error("SL022", key=key, value=value, expected=expected)


def find_changes(configured: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The settings that are not those of the config: what the config says, and what they are."""
    return {key: [old, now[key]] for key, old in configured.items() if now[key] != old}


def with_changes(configured: Mapping[str, Any], changed: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """The settings of a config with changes that were stored. A config that says something else than the one that was
    there when they were stored speaks last."""
    settings = dict(configured)
    for key, (old, value) in changed.items():
        if settings[key] == old:
            settings[key] = value
    return settings


def _expected(key: str, value: Any) -> str:
    """What a setting must be, if it is something else."""
    if key in COUNTS and not _is_count(value):
        return f"a whole number from 1 to {MAX_COUNT:,}"
    if key in COUNTS_OR_NULL and value is not None and not _is_count(value):
        return f"a whole number from 1 to {MAX_COUNT:,}, or null"
    if key == "max_words" and value is not None and (type(value) is not int or value < 1):
        return "a whole number, 1 or more, or null"
    if key in SWITCHES and type(value) is not bool:
        return "true or false"
    if key == "sentences" and value not in ("doc", "sents"):
        return "'doc' or 'sents'"
    if key == "units" and value is not None and (type(value) is not str or not value):
        return "null, 'ents', 'noun_chunks' or the key of a span group"
    if key == "seed" and type(value) is not int:
        return "a whole number"
    return ""


def _is_count(value: Any) -> bool:
    return type(value) is int and 1 <= value <= MAX_COUNT  # not isinstance: true is an int
