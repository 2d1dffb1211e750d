"""The settings of an engine, checked by name."""

from dataclasses import asdict, dataclass
from typing import Any

from ..errors import error
from .features.templates import DEFAULT_GROUPS, FREE_GROUPS, JOINT_GROUPS, TREE_GROUPS, expand
from .ngrams.table import HIGHEST_ORDER
from .search.learn import RULES
from .systems.joint import Joint
from .systems.order_first import OrderFirst
from .systems.system import TransitionSystem
from .weights import MAX_BITS, MAX_UPDATES, MIN_BITS

SYSTEMS: dict[str, type[TransitionSystem]] = {system.name: system for system in (OrderFirst, Joint)}
DIRECTIONS = ("left_to_right", "right_to_left", "both")
MAX_COPIES = 16
MAX_NGRAM_WEIGHT = 1000
TAG_CHOICES = ("usual", "search")
EXPERTS = ("tree", "free")  # for bags with all arcs given, and with none


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a model is made of. All of it is stored with the model.

    system (str): "order_first", or "joint" for the papers' system.
    direction (str): "left_to_right", "right_to_left", or "both": two searches with weights of their own, whose best
        orders are scored by both and ranked by the sum.
    groups (Optional[Tuple[str, ...]]): Template groups that are on, from `templates.GROUPS`. None stands for those that
        suit the system.
    tree_groups, free_groups (Optional[Tuple[str, ...]]): The same for the experts. None stands for those that suit
        them, or for `groups` if these are given.
    templates (Tuple[str, ...]): Further templates, each a few atoms joined by spaces.
    markers (Tuple[int, ...]): Keys of labels whose words mark the constituent of their head, such as prepositions.
    atomic_shift (bool): Join templates with the whole action SHIFT-word-tag, as in Liu et al. 2015.
    table_bits (int): The table of the search holds 2 ** table_bits weights.
    attach_bits (int): The table of `attach` likewise.
    tags (str): A word without a given tag gets its "usual" one, or the joint system may "search" among its tags.
    labelled (bool): Whether arcs that are added get labels.
    update (str): "max_violation", "early" or "softmax", see `core.learn`.
    copies (int): How many copies of the weights are trained, each on its own random share of the examples and of the
        features. The model is their mean, so that copies cost time and memory (16 bytes a weight) in training only.
    min_updates (int): A weight of the search stays 0 until so many updates have met it: the model gets smaller, and
        loses less when it is made compact.
    experts (Tuple[str, ...]): The kinds of bags that have weights of their own: "tree" for those with all arcs given,
        "free" for those with none. True stands for ("tree",), False for no experts.
    ngram_order (int): Length of the n-grams of the language model, up to 4; 0 for none.
    ngram_weight (float): How much the language model counts where arcs are missing.
    tree_ngram_weight (float): How much it counts where all arcs are given.
    """

    system: str = "order_first"
    direction: str = "left_to_right"
    groups: tuple[str, ...] | None = None
    tree_groups: tuple[str, ...] | None = None
    free_groups: tuple[str, ...] | None = None
    templates: tuple[str, ...] = ()
    markers: tuple[int, ...] = ()
    atomic_shift: bool = False
    table_bits: int = 22
    attach_bits: int = 20
    tags: str = "usual"
    labelled: bool = True
    update: str = "max_violation"
    copies: int = 1
    min_updates: int = 1
    experts: tuple[str, ...] | bool = ()
    ngram_order: int = 0
    ngram_weight: float = 4.0
    tree_ngram_weight: float = 8.0

    def __post_init__(self) -> None:
        chosen = JOINT_GROUPS if self.system == "joint" and self.groups is None else self.groups
        suited = {"groups": DEFAULT_GROUPS, "tree_groups": TREE_GROUPS, "free_groups": FREE_GROUPS}
        for key, groups in suited.items():
            own = getattr(self, key) if getattr(self, key) is not None else chosen
            object.__setattr__(self, key, tuple(own if own is not None else groups))
        if type(self.experts) is bool:
            object.__setattr__(self, "experts", ("tree",) if self.experts else ())
        object.__setattr__(self, "templates", tuple(self.templates))
        object.__setattr__(self, "markers", tuple(self.markers))
        for key, known in (
            ("system", SYSTEMS),
            ("direction", DIRECTIONS),
            ("tags", TAG_CHOICES),
            ("update", RULES),
        ):
            if getattr(self, key) not in known:
                raise error("SL022", key=key, value=getattr(self, key), expected=" or ".join(known))
        for key, low, high in (
            ("table_bits", MIN_BITS, MAX_BITS),
            ("attach_bits", MIN_BITS, MAX_BITS),
            ("copies", 1, MAX_COPIES),
            ("min_updates", 1, MAX_UPDATES),
            ("ngram_order", 0, HIGHEST_ORDER),
        ):
            value = getattr(self, key)
            if type(value) is not int or not low <= value <= high:
                raise error("SL022", key=key, value=value, expected=f"a whole number from {low} to {high}")
        for key in ("ngram_weight", "tree_ngram_weight"):
            value = getattr(self, key)
            if type(value) not in (int, float) or not 0 <= value <= MAX_NGRAM_WEIGHT:
                raise error("SL022", key=key, value=value, expected=f"a number from 0 to {MAX_NGRAM_WEIGHT:,}")
        for marker in self.markers:
            if type(marker) is not int or not 0 <= marker < 1 << 64:
                raise error("SL022", key="markers", value=marker, expected="keys of labels, whole numbers of 64 bits")
        self._check_experts()
        for key in ("atomic_shift", "labelled"):
            if type(getattr(self, key)) is not bool:
                raise error("SL022", key=key, value=getattr(self, key), expected="true or false")
        if self.tags == "search" and self.system != "joint":
            raise error("SL022", key="tags", value=self.tags, expected="usual with the system order_first")
        for kind in ("", *EXPERTS):
            self.expand(kind)

    def _check_experts(self) -> None:
        if not isinstance(self.experts, (tuple, list)) or any(kind not in EXPERTS for kind in self.experts):
            raise error("SL022", key="experts", value=self.experts, expected=f"a list of {' and '.join(EXPERTS)}")
        object.__setattr__(self, "experts", tuple(kind for kind in EXPERTS if kind in self.experts))

    @property
    def expert_kinds(self) -> tuple[str, ...]:
        """The experts that there are."""
        return self.experts if isinstance(self.experts, tuple) else ()

    def expand(self, kind: str = "") -> list[str]:
        """All templates that are on, checked.

        kind (str): One of the experts, or "" for the general decoders.
        """
        groups = {"": self.groups, "tree": self.tree_groups, "free": self.free_groups}[kind]
        return expand(groups or (), self.templates)

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
