"""The pipelines that come with this package, each a folder below `pretrained`."""

from collections.abc import Iterable
from pathlib import Path

import srsly

from .errors import error

FOLDER = Path(__file__).parent / "pretrained"
DEFAULT = "en_ud"


def bundled_names() -> list[str]:
    """The names of all bundled pipelines."""
    return sorted(path.parent.name for path in FOLDER.glob("*/meta.json"))


def bundled_path(name: str = DEFAULT) -> Path:
    """The folder of a bundled pipeline. An unknown name is an error."""
    names = bundled_names()
    if name not in names:
        raise error("SL197", value=name, names=", ".join(names))
    return FOLDER / name


def bundled_for(labels: Iterable[str]) -> str | None:
    """The name of a bundled pipeline that was trained with all of these arc labels, or None."""
    wanted = set(labels)
    for name in bundled_names():
        if wanted <= set(srsly.read_json(FOLDER / name / "meta.json")["labels"]["linearizer"]):
            return name
    return None
