"""The settings of a model, checked by name."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import log2
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
DIRECTIONS = {"left_to_right": (False,), "right_to_left": (True,), "both": (False, True)}  # whether mirrored
TAG_CHOICES = ("usual", "search")
KINDS = ("partial", "tree", "free")  # of bags: some, all, or none of their arcs are given
DEFAULT_EXPERTS = {"partial": DEFAULT_GROUPS, "tree": TREE_GROUPS, "free": FREE_GROUPS}
DEFAULT_NGRAM_WEIGHTS = {"partial": 5.0, "tree": 8.0, "free": 5.0}
MAX_NGRAM_WEIGHT = 1000
DEFAULT_BITS = 22
# The size of a table chosen from the corpus: these bits for this many words, and one more for four times as many words.
# New words bring ever fewer new features.
CHOSEN_BITS = (14, 25)
WORDS_FOR_DEFAULT_BITS = 200_000
CHOICES: dict[str, Sequence[str]] = {
    "system": tuple(SYSTEMS),
    "direction": tuple(DIRECTIONS),
    "tags": TAG_CHOICES,
    "update": RULES,
}
RANGES = {
    "table_bits": (MIN_BITS, MAX_BITS),
    "attach_bits": (MIN_BITS, MAX_BITS),
    "min_updates": (1, MAX_UPDATES),
    "ngram_order": (0, HIGHEST_ORDER),
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a model is made of. All of it is stored with the model.

    system (str): "order_first", or "joint" for the papers' system.
    direction (str): "left_to_right", "right_to_left", or "both": two searches with weights of their own, whose best
        orders are scored by both and ranked by the sum.
    experts (Optional[Mapping[str, Sequence[str]]]): The kinds of bags that have weights of their own, each with the
        groups of templates that its expert looks at (see `templates.GROUPS`): "partial" for bags with some arcs given,
        and for kinds that are not here, "tree" for all, "free" for none. None for those that suit the system.
    templates (Sequence[str]): Further templates for all experts, each a few atoms joined by spaces.
    markers (Sequence[int]): Keys of labels whose words mark the constituent of their head, such as prepositions.
    atomic_shift (bool): Join templates with the whole action SHIFT-word-tag, as in Liu et al. 2015.
    table_bits (Optional[int]): Each table of a search holds 2 ** table_bits weights. None to choose it from the corpus,
        see `for_corpus`.
    attach_bits (int): The tables of `attach` and of the tagger likewise.
    tags (str): A word without a given tag gets its "usual" one, or the joint system may "search" among its tags.
    labelled (bool): Whether arcs that are added get labels.
    update (str): "softmax", "max_violation" or "early", see `search.learn`.
    min_updates (int): A weight of a search stays 0 until this many updates have met it: the model gets smaller, and
        loses less when it is made compact.
    ngram_order (int): Length of the n-grams of the language model; 0 for none.
    ngram_weights (Mapping[str, float]): How much the language model counts, by kind of bag.
    """

    system: str = "order_first"
    direction: str = "both"
    experts: Mapping[str, Sequence[str]] | None = None
    templates: Sequence[str] = ()
    markers: Sequence[int] = ()
    atomic_shift: bool = False
    table_bits: int | None = DEFAULT_BITS
    attach_bits: int = 20
    tags: str = "usual"
    labelled: bool = True
    update: str = "softmax"
    min_updates: int = 1
    ngram_order: int = 3
    ngram_weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, known in CHOICES.items():
            if getattr(self, key) not in known:
                raise error("SL022", key=key, value=getattr(self, key), expected=" or ".join(known))
        for key, (low, high) in RANGES.items():
            value = getattr(self, key)
            if key == "table_bits" and value is None:
                continue
            if type(value) is not int or not low <= value <= high:
                raise error("SL022", key=key, value=value, expected=f"a whole number from {low} to {high}")
        for key in ("atomic_shift", "labelled"):
            if type(getattr(self, key)) is not bool:
                raise error("SL022", key=key, value=getattr(self, key), expected="true or false")
        if self.tags == "search" and self.system != "joint":
            raise error("SL022", key="tags", value=self.tags, expected="usual with the system order_first")
        for marker in self.markers:
            if type(marker) is not int or not 0 <= marker < 1 << 64:
                raise error("SL022", key="markers", value=marker, expected="keys of labels, whole numbers of 64 bits")
        # Set once, here: the dataclass is frozen.
        fill = object.__setattr__
        fill(self, "experts", self._checked_experts())
        fill(self, "templates", tuple(self.templates))
        fill(self, "markers", tuple(self.markers))
        fill(self, "ngram_weights", self._checked_weights())
        for kind in self.groups:
            self.expand(kind)

    @property
    def bits(self) -> int:
        """The size of the tables of a search."""
        return DEFAULT_BITS if self.table_bits is None else self.table_bits

    def for_corpus(self, n_words: int) -> "Settings":
        """The same settings with the size of the tables chosen, if it is left open.

        n_words (int): How many words there are to learn from.
        """
        if self.table_bits is not None:
            return self
        wanted = round(DEFAULT_BITS + log2(max(1, n_words) / WORDS_FOR_DEFAULT_BITS) / 2)
        low, high = CHOSEN_BITS
        return replace(self, table_bits=max(low, min(high, wanted)))

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The groups of templates of each expert."""
        return {kind: tuple(groups) for kind, groups in (self.experts or {}).items()}

    def _checked_experts(self) -> dict[str, tuple[str, ...]]:
        experts: Any = self.experts
        if experts is None:
            experts = {"partial": JOINT_GROUPS} if self.system == "joint" else DEFAULT_EXPERTS
        is_known = isinstance(experts, Mapping) and "partial" in experts and set(experts) <= set(KINDS)
        if not is_known or any(isinstance(groups, str) for groups in experts.values()):
            expected = "lists of template groups under 'partial' and, if you like, 'tree' and 'free'"
            raise error("SL022", key="experts", value=self.experts, expected=expected)
        return {kind: tuple(experts[kind]) for kind in KINDS if kind in experts}

    def _checked_weights(self) -> dict[str, float]:
        weights: Any = self.ngram_weights
        is_known = isinstance(weights, Mapping) and set(weights) <= set(KINDS)
        if not is_known or any(
            type(weight) not in (int, float) or not 0 <= weight <= MAX_NGRAM_WEIGHT for weight in weights.values()
        ):
            expected = f"numbers from 0 to {MAX_NGRAM_WEIGHT:,} under {', '.join(map(repr, KINDS))}"
            raise error("SL022", key="ngram_weights", value=self.ngram_weights, expected=expected)
        return {kind: float(weights.get(kind, DEFAULT_NGRAM_WEIGHTS[kind])) for kind in KINDS}

    @property
    def directions(self) -> tuple[bool, ...]:
        """For each direction of the search, whether it is mirrored: from right to left."""
        return DIRECTIONS[self.direction]

    def expand(self, kind: str) -> list[str]:
        """All templates of an expert, checked."""
        return expand(self.groups[kind], self.templates)

    def to_dict(self) -> dict[str, Any]:
        """All settings as plain values, for JSON."""
        experts = {kind: list(groups) for kind, groups in self.groups.items()}
        lists = {"experts": experts, "templates": list(self.templates), "markers": list(self.markers)}
        return {**asdict(self), **lists}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Settings":
        """Settings from `to_dict`. An unknown key is an error."""
        for key in values:
            if key not in cls.__dataclass_fields__:
                known = ", ".join(cls.__dataclass_fields__)
                raise error("SL022", key=key, value=values[key], expected=f"one of {known}")
        return cls(**values)
