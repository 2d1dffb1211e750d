"""The model of the component: a thinc Model around the compiled core.

The core learns online, in its own tables. So the Model has no parameters, and there are no gradients: a Shim holds
the engine, and thinc's serialisation, copying and pickling go through it. Averaged weights live in the engine.
"""

import gc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from thinc.api import Model, Shim

from .atomic import save
from .core import store
from .core.engine import Engine
from .core.records import Bag, Choose, Order, SearchOptions
from .core.settings import Settings
from .errors import LinearizeError, error

InT = tuple[Sequence[Bag], SearchOptions, Choose | None]
OutT = list[list[Order]]
LinearizerModel: TypeAlias = "Model[InT, OutT]"
ResultT = TypeVar("ResultT")

SOURCE = "The model of the linearizer"  # in messages


def make_model(settings: Settings) -> LinearizerModel:
    """A model that is not trained yet."""
    return EngineModel("transition_linearizer", forward, shims=[EngineShim(settings)])


def forward(model: LinearizerModel, inputs: InT, is_train: bool) -> tuple[OutT, Callable[[OutT], InT]]:
    """Order bags: the only way from the component to the search. There is no gradient to send back: learning goes
    through `Engine.update`."""
    bags, options, choose = inputs
    return engine_of(model).order(bags, options, choose), _no_backprop


def _no_backprop(gradient: OutT) -> InT:
    return [], SearchOptions(), None


def shim_of(model: LinearizerModel) -> "EngineShim":
    """The shim that holds a model's engine."""
    shim = model.shims[0] if model.shims else None
    if not isinstance(shim, EngineShim):
        raise error("SL022", key="model", value=model.name, expected="spacy_linearize.TransitionLinearizer.v1")
    return shim


def engine_of(model: LinearizerModel, name: str = "linearizer") -> Engine:
    """The engine of a trained model.

    name (str): Of the component, for the error if it is not trained.
    """
    engine = shim_of(model).engine
    if engine is None:
        raise error("SL040", name=name)
    return engine


class EngineModel(Model[InT, OutT]):
    """A thinc Model whose file is written atomically, and whose damage is reported as an error of this package."""

    def to_disk(self, path: Path | str) -> None:
        save(path, self.to_bytes())

    def from_bytes(self, bytes_data: bytes) -> "EngineModel":
        read_damaged(lambda: super(EngineModel, self).from_bytes(bytes_data))
        return self


class EngineShim(Shim):
    """Holds the engine. There is none before training, or loading.

    settings (Settings): What a new engine is made of.
    """

    cfg: dict[str, Any]

    def __init__(self, settings: Settings) -> None:
        super().__init__(None, config=settings.to_dict())
        self.engine: Engine | None = None

    def new_engine(self) -> Engine:
        """Another engine with the same settings that has learned nothing yet."""
        return Engine(Settings.from_dict(self.cfg))

    def replace(self, engine: Engine | None) -> None:
        """Hold this one from now on."""
        self.engine = engine
        if engine is not None:
            self.cfg = engine.settings.to_dict()

    def finish_update(self, optimizer: Any) -> None:
        """Updates are online: there is nothing left to do at the end of a step."""

    def to_device(self, device_type: str, device_id: int) -> None:
        """The engine works on the CPU."""

    def to_bytes(self) -> bytes:
        if self.engine is None:
            return b""
        header, arrays = self.engine.to_arrays()
        return store.pack(header, arrays)

    def from_bytes(self, data: bytes) -> "EngineShim":
        if not isinstance(data, bytes):
            raise error("SL032", source=SOURCE, what="it holds no engine")
        if not data:
            self.replace(None)
            return self
        header, arrays = store.unpack(data, SOURCE)
        self.replace(Engine.from_arrays(header, arrays, SOURCE))
        return self


def read_damaged(read: Callable[[], ResultT]) -> ResultT:
    """The result of a function that reads a model. All that msgpack and thinc raise for bytes that are no model becomes
    one error of this package. A missing file stays an error of the operating system."""
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
