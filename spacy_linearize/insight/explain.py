"""Why this order? The derivation, action by action: which were legal, what they scored, and which features decided."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from spacy.strings import StringStore
from spacy.tokens import Doc

from ..core.features.atom_table import ATOM_KINDS, SET, SPECIAL_VALUES, TEXT
from ..core.records import Bag, Order
from ..core.search.beam import Decoder
from ..core.search.stepper import Stepper
from ..doc.known import text_of
from ..errors import error
from ..linearizer import Linearizer

LANGUAGE_MODEL = "language model"


@dataclass(frozen=True, kw_only=True)
class Reason:
    """A feature, and how much it speaks for the action taken rather than for the rival.

    template (str): The template, or "language model".
    instance (str): The template with what it saw for the action taken; for pairs, which word comes before which.
    weight (float): Its weight for the action taken, minus that for the rival.
    """

    template: str
    instance: str
    weight: float


@dataclass(frozen=True, kw_only=True)
class Rival:
    """Another action that was legal."""

    action: str
    score: float
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One action.

    action (str): The word that was placed, or the arc that was added.
    position (Optional[int]): The word's position in the input; None for an arc.
    stack (Tuple[str, ...]): The words that were open, the last one on top.
    n_legal (int): How many actions were legal.
    score (float): What the action added to the score.
    rivals (Tuple[Rival, ...]): The best other actions, best first.
    """

    action: str
    position: int | None
    stack: tuple[str, ...]
    n_legal: int
    score: float
    rivals: tuple[Rival, ...]


@dataclass(frozen=True, kw_only=True)
class Derivation:
    """What one search says of an order."""

    direction: str
    score: float
    steps: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why a bag was put into this order. `str()` gives a text to read, `to_dict()` plain data.

    words (Tuple[str, ...]): The words in order; units are one word.
    score (float): The sum over the derivations.
    derivations (Tuple[Derivation, ...]): One for each direction of the search.
    """

    words: tuple[str, ...]
    score: float
    derivations: tuple[Derivation, ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as dicts, lists, numbers and texts."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{' '.join(self.words)}   (score {self.score:.1f})"
        for derivation in self.derivations:
            yield f"\n{derivation.direction}: {derivation.score:.1f}"
            for number, step in enumerate(derivation.steps, 1):
                choices = "no choice" if step.n_legal == 1 else f"one of {step.n_legal}"
                yield f"{number:4}. {step.action}  {step.score:+.1f}  ({choices})"
                for rival in step.rivals:
                    yield f"      rather than {rival.action}  {rival.score:+.1f}  because of"
                    yield from (f"        {reason.weight:+7.1f}  {reason.instance}" for reason in rival.reasons)


def explain(linearizer: Linearizer, doc: Doc, *, n_rivals: int = 2, n_reasons: int = 4) -> list[Explanation]:
    """Explain the best order of each bag of a Doc. What a linearizer has added to it does not count as given.

    n_rivals (int): How many other actions to show at each step.
    n_reasons (int): How many features to show for each of them.
    """
    for key, value in (("n_rivals", n_rivals), ("n_reasons", n_reasons)):
        if value < 0:
            raise error("SL022", key=key, value=value, expected="0 or more")
    bags = linearizer.reader.read(doc, as_given=True)
    return [_explain_bag(linearizer, bag, doc.vocab.strings, n_rivals, n_reasons) for bag in bags]


def _explain_bag(linearizer: Linearizer, bag: Bag, strings: StringStore, n_rivals: int, n_reasons: int) -> Explanation:
    engine = linearizer.engine
    # A derivation orders units. It does not see their tokens.
    units = replace(bag, tokens=None)
    search = replace(linearizer.options.search(n_best=1), tree=engine.builds_trees)
    best = linearizer.model.predict(([units], search))[0][0]
    packed, texts = engine.pack(units), list(bag.texts or ())
    weight = engine.experts.ngram_weight_for(packed)
    explained = [
        _Walk(decoder, texts, strings, n_rivals, n_reasons).explain(Stepper(decoder, packed, ngram_weight=weight), best)
        for decoder in engine.experts.decoders_for(packed)
    ]
    words = tuple(texts[k] for k in best.order.tolist())
    return Explanation(words=words, score=sum(d.score for d in explained), derivations=tuple(explained))


@dataclass(frozen=True)
class _Walk:
    """Follows one derivation."""

    decoder: Decoder
    texts: list[str]
    strings: StringStore
    n_rivals: int
    n_reasons: int

    def explain(self, state: Stepper, best: Order) -> Derivation:
        steps = []
        while not state.is_final:
            taken = state.gold(best.order, best.heads, best.tags, best.labels)
            steps.append(self._step(state, taken))
            state = state.step(taken)
        direction = "right to left" if self.decoder.mirrored else "left to right"
        return Derivation(direction=direction, score=state.total, steps=tuple(steps))

    def _step(self, state: Stepper, taken: int) -> Step:
        scores = [state.score(i) for i in range(len(state.legal))]
        others = sorted((i for i in range(len(scores)) if i != taken), key=lambda i: -scores[i])[: self.n_rivals]
        own = self._contributions(state, taken)
        reasons = {i: self._reasons(own, self._contributions(state, i)) for i in others}
        return Step(
            action=self._name(state, taken),
            position=state.legal[taken][1],
            stack=tuple(self.texts[k] for k in state.stack),
            n_legal=len(scores),
            score=scores[taken],
            rivals=tuple(Rival(action=self._name(state, i), score=scores[i], reasons=reasons[i]) for i in others),
        )

    def _name(self, state: Stepper, i: int) -> str:
        name, word, symbol = state.legal[i]
        if word is not None:
            return self.texts[word]
        return f"{name}-{text_of(symbol, self.strings)}" if symbol else name

    def _contributions(self, state: Stepper, i: int) -> dict[str, tuple[float, str]]:
        """For each template its weight for an action, summed over pairs, with what it saw."""
        found: dict[str, tuple[float, str]] = {}
        instances = state.instances(i)
        weights = self.decoder.weights.at(slot for _, _, slot in instances)
        for (template, values, _), weight in zip(instances, weights, strict=True):
            total, seen = found.get(template, (0.0, ""))
            instance = self._instance(template, values)
            found[template] = (total + weight, f"{seen}, {instance}" if seen else instance)
        rest = state.score(i) - sum(weights)
        if abs(rest) > 1e-6:
            found[LANGUAGE_MODEL] = (rest, LANGUAGE_MODEL)
        return found

    def _reasons(self, own: dict[str, tuple[float, str]], other: dict[str, tuple[float, str]]) -> tuple[Reason, ...]:
        nothing = (0.0, "")
        reasons = []
        for template in dict.fromkeys([*own, *other]):
            (weight, seen), (against, seen_there) = own.get(template, nothing), other.get(template, nothing)
            reasons.append(Reason(template=template, instance=seen or f"not {seen_there}", weight=weight - against))
        reasons.sort(key=lambda reason: (-abs(reason.weight), reason.template))
        return tuple(reason for reason in reasons[: self.n_reasons] if reason.weight)

    def _instance(self, template: str, values: dict[str, int] | tuple[int, int, int]) -> str:
        if isinstance(values, tuple):
            _, first, second = values
            side = "after" if self.decoder.mirrored else "before"
            return f"{template} ({self.texts[first]} {side} {self.texts[second]})"
        shown = (f"{atom}={self._value(atom, value)}" for atom, value in values.items() if atom not in ("SHIFT", "A"))
        return " ".join(shown) or template

    def _value(self, atom: str, value: int) -> str:
        if ATOM_KINDS[atom] == TEXT:
            return SPECIAL_VALUES.get(value) or text_of(value, self.strings)
        return "{...}" if ATOM_KINDS[atom] == SET else str(value)  # sets are only known by their hashes
