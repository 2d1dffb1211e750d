"""The pipelines that come with this package, each a folder below `pretrained`."""

from collections.abc import Iterable
from pathlib import Path

import srsly

from .errors import error

FOLDER = Path(__file__).parent / "pretrained"
DEFAULT = "en_ud"
SAME_SCHEME = 0.8  # the share of its labels from which on another model was trained on trees of the same kind


def bundled_names() -> list[str]:
    """The names of all bundled pipelines."""
    return sorted(path.parent.name for path in FOLDER.glob("*/meta.json"))


def bundled_path(name: str = DEFAULT) -> Path:
    """The folder of a bundled pipeline. An unknown name is an error."""
    names = bundled_names()
    if name not in names:
        raise error("SL197", value=name, names=", ".join(names))
    return FOLDER / name


def bundled_for(labels: Iterable[str], known: Iterable[str], lang: str) -> str | None:
    """The name of a bundled pipeline that knows trees with these arc labels much better, or None. Subtypes as in
    "obl:tmod" do not count.

    known (Iterable[str]): The labels that the pipeline in use knows. Another one of the same scheme is no help.
    lang (str): The language of the trees.
    """
    wanted, own = _bases(labels), _bases(known)
    for name in bundled_names():
        meta = srsly.read_json(FOLDER / name / "meta.json")
        theirs = _bases(meta["labels"]["linearizer"])
        is_same_scheme = len(theirs & own) > SAME_SCHEME * len(theirs)
        if meta["lang"] == lang and not is_same_scheme and 2 * len(wanted - theirs) < len(wanted - own):
            return name
    return None


def _bases(labels: Iterable[str]) -> set[str]:
    return {label.partition(":")[0] for label in labels} - {"ROOT", "root"}
