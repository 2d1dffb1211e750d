"""The settings of an engine, checked by name."""

from dataclasses import asdict, dataclass
from typing import Any

from ..errors import error
from .learn import RULES
from .templates import GROUPS, expand
from .weights import MAX_BITS, MIN_BITS

SYSTEM_NAMES = ("order_first", "joint")
DIRECTIONS = ("left_to_right", "right_to_left", "both")
TAG_CHOICES = ("usual", "search")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a model is made of. All of it is stored with the model.

    system (str): "order_first", or "joint" for the papers' system.
    direction (str): "left_to_right", "right_to_left", or "both": two searches with weights of their own, whose best
        orders are scored by both and ranked by the sum.
    groups (Tuple[str, ...]): Template groups that are on, from `templates.GROUPS`.
    templates (Tuple[str, ...]): Further templates, each a few atoms joined by spaces.
    atomic_shift (bool): Join templates with the whole action SHIFT-word-tag, as in Liu et al. 2015.
    table_bits (int): The table of the search holds 2 ** table_bits weights.
    attach_bits (int): The table of `attach` likewise.
    tags (str): A word without a given tag gets its "usual" one, or the joint system may "search" among its tags.
    labelled (bool): Whether arcs that are added get labels.
    update (str): "max_violation" or "early".
    """

    system: str = "order_first"
    direction: str = "left_to_right"
    groups: tuple[str, ...] = tuple(GROUPS)
    templates: tuple[str, ...] = ()
    atomic_shift: bool = False
    table_bits: int = 22
    attach_bits: int = 20
    tags: str = "usual"
    labelled: bool = True
    update: str = "max_violation"

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", tuple(self.groups))
        object.__setattr__(self, "templates", tuple(self.templates))
        for key, known in (
            ("system", SYSTEM_NAMES),
            ("direction", DIRECTIONS),
            ("tags", TAG_CHOICES),
            ("update", RULES),
        ):
            if getattr(self, key) not in known:
                raise error("SL022", key=key, value=getattr(self, key), expected=" or ".join(known))
        for key in ("table_bits", "attach_bits"):
            value = getattr(self, key)
            if type(value) is not int or not MIN_BITS <= value <= MAX_BITS:
                raise error("SL022", key=key, value=value, expected=f"a whole number from {MIN_BITS} to {MAX_BITS}")
        for key in ("atomic_shift", "labelled"):
            if type(getattr(self, key)) is not bool:
                raise error("SL022", key=key, value=getattr(self, key), expected="true or false")
        if self.tags == "search" and self.system != "joint":
            raise error("SL022", key="tags", value=self.tags, expected="usual with the system order_first")
        expand(self.groups, self.templates)

    def to_dict(self) -> dict[str, Any]:
        """All settings as plain values, for JSON."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Settings":
        """Settings from `to_dict`. An unknown key is an error."""
        for key in values:
            if key not in cls.__dataclass_fields__:
                raise error(
                    "SL022", key=key, value=values[key], expected=f"one of {', '.join(cls.__dataclass_fields__)}"
                )
        return cls(**values)
