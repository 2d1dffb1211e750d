"""The registered architecture: a thinc Model around the compiled core.

The core learns online, in tables of its own. So the Model has no parameters, and there are no gradients: a Shim holds
the engine, and thinc's serialisation, copying and pickling go through it. Averaged weights live in the engine.
"""

import gc
import inspect
import zlib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly
from spacy.strings import get_string_id
from thinc.api import Model, Shim

from .atomic import save
from .errors import LinearizeError, error
from .settings import SETTINGS, check_setting
from .spacing import Spacing

if TYPE_CHECKING:
    from .core.bag.bag import PackedBag
    from .core.engine import Engine
    from .core.records import Linearization
    from .core.settings import Settings

# Bags with the width of the beam and the other arguments of Engine.order.
InT = list[tuple["PackedBag", dict[str, Any]]]
OutT = list[list["Linearization"]]

SOURCE = "The model of the linearizer"  # in messages
DEFAULT_MARKERS = ("case", "mark")  # of Universal Dependencies: prepositions, and what introduces a clause


def build_transition_linearizer(
    system: str = "order_first",
    direction: str = "both",
    groups: list[str] | None = None,
    tree_groups: list[str] | None = None,
    free_groups: list[str] | None = None,
    templates: list[str] = [],  # noqa: B006 (shown by `spacy init config`, never changed)
    markers: list[str] = list(DEFAULT_MARKERS),  # noqa: B006
    atomic_shift: bool = False,
    table_bits: int = 22,
    attach_bits: int = 20,
    tags: str = "usual",
    labelled: bool = True,
    update: str = "max_violation",
    copies: int = 1,
    min_updates: int = 1,
    experts: list[str] | bool = ["tree", "free"],  # noqa: B006
    ngram_order: int = 3,
    ngram_weight: float = 4.0,
    tree_ngram_weight: float = 8.0,
) -> Model[InT, OutT]:
    """spacy_linearize.TransitionLinearizer.v1: a transition-based linearizer with beam search.

    system (str): "order_first": order the words, then attach what is free. "joint": the papers' system.
    direction (str): "left_to_right", "right_to_left", or "both": two searches whose results are ranked by both.
    groups (Optional[List[str]]): Groups of feature templates that are on, or null for those that suit the system.
    tree_groups, free_groups (Optional[List[str]]): The same for the experts, if these are there.
    templates (List[str]): Further templates, each a few atoms joined by spaces, such as "W0.lower L.lower".
    markers (List[str]): Labels of words that mark the constituent of their head, such as prepositions.
    atomic_shift (bool): Join templates with the whole action SHIFT-word-tag, as in Liu et al. 2015.
    table_bits (int): The table of the search holds 2 ** table_bits weights.
    attach_bits (int): The table for free arcs and labels likewise.
    tags (str): "usual": a word without a given tag gets its usual one. "search": the joint system chooses.
    labelled (bool): Whether arcs that are added get labels.
    update (str): "max_violation", "early" or "softmax", see `core.learn`.
    copies (int): How many copies of the weights are trained, each on a random share of the examples and of
        the features. The model is their mean.
    min_updates (int): A weight stays 0 until so many updates have met it.
    experts (Union[List[str], bool]): The kinds of bags that have weights of their own: "tree" for those with all arcs
        given, "free" for those with none. true stands for ["tree"], false for [].
    ngram_order (int): Length of the n-grams of the language model, 0 for none.
    ngram_weight (float): How much the language model counts where arcs are missing.
    tree_ngram_weight (float): How much it counts where all arcs are given.
    """
    try:
        from .core.settings import Settings
    except ImportError as problem:
        raise error("SL046", problem=problem) from problem

    settings = Settings(
        system=system,
        direction=direction,
        groups=None if groups is None else tuple(groups),
        tree_groups=None if tree_groups is None else tuple(tree_groups),
        free_groups=None if free_groups is None else tuple(free_groups),
        templates=tuple(templates),
        markers=tuple(get_string_id(label) for label in markers),
        atomic_shift=atomic_shift,
        table_bits=table_bits,
        attach_bits=attach_bits,
        tags=tags,
        labelled=labelled,
        update=update,
        copies=copies,
        min_updates=min_updates,
        experts=experts if isinstance(experts, bool) else tuple(experts),
        ngram_order=ngram_order,
        ngram_weight=ngram_weight,
        tree_ngram_weight=tree_ngram_weight,
    )
    for kind, chosen in (("tree", tree_groups), ("free", free_groups)):
        if chosen is not None and kind not in settings.expert_kinds:
            raise error("SL022", key=f"{kind}_groups", value=chosen, expected=f"null, unless experts has '{kind}'")
    return LinearizerModel("transition_linearizer", forward, shims=[EngineShim(settings)])


DEFAULT_LINEARIZER_MODEL = {
    "@architectures": "spacy_linearize.TransitionLinearizer.v1",
    **{name: given.default for name, given in inspect.signature(build_transition_linearizer).parameters.items()},
}  # as a config has it


class LinearizerModel(Model[InT, OutT]):
    """A thinc Model whose file is written as a whole or not at all, and says so if it is damaged."""

    def to_disk(self, path: Path | str) -> None:
        save(path, self.to_bytes())

    def from_bytes(self, bytes_data: bytes) -> "LinearizerModel":
        read_damaged(lambda: super(LinearizerModel, self).from_bytes(bytes_data))
        return self


def read_damaged(read: Callable[[], Any]) -> Any:
    """What a function returns that reads a model. Whatever msgpack and thinc raise for bytes that are none is one error
    of this package. A file that is not there is the system's."""
    collects = gc.isenabled()
    try:
        return read()
    except (LinearizeError, MemoryError, OSError):
        raise
    except Exception as broken:
        raise error("SL032", source=SOURCE, what=f"it cannot be read ({type(broken).__name__}: {broken})") from broken
    finally:
        if collects:
            gc.enable()  # srsly switches it off, and leaves it so when it fails


def check_bytes(data: bytes, exclude: Collection[str]) -> None:
    """Refuse the bytes of a component that lack a part, instead of which spaCy would leave what was there before."""
    content = read_damaged(lambda: srsly.msgpack_loads(data))
    for part in ("cfg", "model"):
        if part not in exclude and (not isinstance(content, dict) or part not in content):
            raise error("SL032", source=SOURCE, what=f"it has no part '{part}'")
    if "cfg" not in exclude:
        check_cfg(read_damaged(lambda: srsly.json_loads(content["cfg"])))


def check_cfg(cfg: Any) -> None:
    """Refuse what a component stores beside its model, if its tags and labels are no texts or its settings none."""
    for key in ("tags", "labels"):
        names = cfg.get(key) if isinstance(cfg, dict) else None
        if not isinstance(names, list) or any(type(name) is not str for name in names):
            raise error("SL032", source=SOURCE, what=f"its cfg has no list of {key}")
    changed = cfg.get("changed", {})
    if not isinstance(changed, dict):
        raise error("SL032", source=SOURCE, what="its cfg has no settings under 'changed'")
    for key, values in changed.items():
        if key not in SETTINGS or not isinstance(values, list) or len(values) != 2:
            raise error("SL032", source=SOURCE, what=f"its cfg has '{key}' under 'changed'")
        try:
            check_setting(key, values[1])
        except LinearizeError as problem:
            raise error("SL032", source=SOURCE, what=f"its cfg has a wrong setting ({problem.args[0]})") from problem


def forward(model: Model[InT, OutT], bags: InT, is_train: bool) -> tuple[OutT, Callable[[OutT], InT]]:
    """Order bags. There is no gradient to send back: learning goes through `Engine.update`."""
    engine = engine_shim(model).engine
    return [engine.order(bag, **settings) for bag, settings in bags], no_backprop


def no_backprop(gradient: OutT) -> InT:
    return []


def engine_shim(model: Model[InT, OutT]) -> "EngineShim":
    """The shim that holds a model's engine."""
    shim = model.shims[0]
    if not isinstance(shim, EngineShim):
        raise error("SL022", key="model", value=model.name, expected="a model with a linearization engine")
    return shim


class EngineShim(Shim):
    """Holds the engine and the table of spaces. There is no engine before training, or loading."""

    cfg: dict[str, Any]

    def __init__(self, settings: "Settings") -> None:
        super().__init__(None, config=settings.to_dict())
        self._model: Engine | None = None
        self.spacing = Spacing()

    @property
    def is_trained(self) -> bool:
        return self._model is not None

    @property
    def engine(self) -> "Engine":
        if self._model is None:
            raise error("SL040", name="linearizer")
        return self._model

    def new_engine(self) -> "Engine":
        """Another engine with the same settings, without any memory."""
        from .core.engine import Engine
        from .core.settings import Settings

        return Engine(Settings.from_dict(self.cfg))

    def replace(self, engine: "Engine", spacing: Spacing) -> None:
        """Hold these from now on."""
        self._model = engine
        self.spacing = spacing

    def finish_update(self, optimizer: Any) -> None:
        """Updates are online: there is nothing left to do at the end of a step."""

    def to_device(self, device_type: str, device_id: int) -> None:
        """The engine works on the CPU."""

    def to_bytes(self) -> bytes:
        engine = self._model.to_bytes() if self._model is not None else None
        spacing = self.spacing.to_dict()
        data: bytes = srsly.msgpack_dumps({"engine": engine, "spacing": spacing, "checksum": _checksum(spacing)})
        return data

    def from_bytes(self, data: bytes) -> "EngineShim":
        from .core.engine import Engine

        content = read_damaged(lambda: srsly.msgpack_loads(data))
        if not isinstance(content, dict) or not isinstance(content.get("engine", ""), bytes | None):
            raise error("SL032", source=SOURCE, what="it holds no engine")
        # The engine has its own.
        if content.get("checksum") != _checksum(content.get("spacing")):
            raise error("SL032", source=SOURCE, what="the checksum of its spaces is wrong")
        spacing = Spacing()
        read_damaged(lambda: spacing.from_dict(content["spacing"]))
        # Nothing is replaced before all of it has been read.
        engine = Engine.from_bytes(content["engine"], SOURCE) if content["engine"] is not None else None
        if engine is not None:
            self.cfg = engine.settings.to_dict()
        self._model = engine
        self.spacing = spacing
        return self


def _checksum(spacing: Any) -> int:
    return zlib.crc32(srsly.msgpack_dumps(spacing))
