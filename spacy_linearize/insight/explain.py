"""Why this order? The derivation, action by action: which were legal, what they scored, and which features decided."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from spacy.strings import StringStore
from spacy.tokens import Doc

from ..core.features.atom_table import ATOM_KINDS, SET, SPECIAL_VALUES, TEXT
from ..core.lift.lifting import apply_lifts
from ..core.records import Bag, Order
from ..core.search.beam import Decoder
from ..core.search.stepper import Stepper
from ..doc.known import text_of
from ..errors import error
from ..linearizer import Linearizer
from ..rerank.opinion import Source

LANGUAGE_MODEL = "language model"
LIFTED_LABEL = "||"  # between the label of a lifted word and that of its given head, as in spaCy's parser


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
class Choice:
    """An order that both opinions were compared on.

    text (str): The order as a reader sees it.
    score (float): The sum of both opinions.
    second (float): What the second opinion adds to it.
    """

    text: str
    score: float
    second: float


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why a bag was put into this order. `str()` gives a text to read, `to_dict()` plain data.

    words (Tuple[str, ...]): The words in order; units are one word.
    score (float): The sum over the derivations.
    lifted (Tuple[Tuple[str, str], ...]): Words that were ordered below another one than their given head.
    derivations (Tuple[Derivation, ...]): One for each direction of the search.
    choices (Tuple[Choice, ...]): If a second opinion was asked, the best orders by both, and the search's own best.
    """

    words: tuple[str, ...]
    score: float
    derivations: tuple[Derivation, ...]
    lifted: tuple[tuple[str, str], ...] = ()
    choices: tuple[Choice, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The same as dicts, lists, numbers and texts."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{' '.join(self.words)}   (score {self.score:.1f})"
        yield from (f"{word} is ordered as if it were below {head}" for word, head in self.lifted)
        if self.choices:
            yield "\nboth opinions: search + second = sum"
        for choice in self.choices:
            search = choice.score - choice.second
            yield f"  {search:8.1f} {choice.second:+8.1f} = {choice.score:8.1f}  {choice.text}"
        for derivation in self.derivations:
            yield f"\n{derivation.direction}: {derivation.score:.1f}"
            for number, step in enumerate(derivation.steps, 1):
                choices = "no choice" if step.n_legal == 1 else f"one of {step.n_legal}"
                yield f"{number:4}. {step.action}  {step.score:+.1f}  ({choices})"
                for rival in step.rivals:
                    yield f"      rather than {rival.action}  {rival.score:+.1f}  because of"
                    yield from (f"        {reason.weight:+7.1f}  {reason.instance}" for reason in rival.reasons)


def explain(
    linearizer: Linearizer, doc: Doc, *, n_rivals: int = 2, n_reasons: int = 4, word: int | None = None, rank: int = 0
) -> list[Explanation]:
    """Explain the best order of each bag of a Doc. What a linearizer has added to it does not count as given.

    n_rivals (int): How many other actions to show at each step.
    n_reasons (int): How many features to show for each of them.
    word (Optional[int]): Show these only where this token of the Doc is placed, which takes less time.
    rank (int): Which of the best orders of a bag to explain: 0 for the best, the worst found if there are fewer.
    """
    for key, value in (("n_rivals", n_rivals), ("n_reasons", n_reasons), ("rank", rank)):
        if value < 0:
            raise error("SL022", key=key, value=value, expected="0 or more")
    bags = linearizer.reader.read(doc, as_given=True)
    placed = [None] * len(bags) if word is None else find_word(bags, word)
    # A derivation orders units. It does not see their tokens.
    units = [replace(bag, tokens=None) for bag in bags]
    opinion = linearizer.second_opinion([doc], [bags])
    search = replace(linearizer.search(rank + 1, opinion), tree=linearizer.engine.builds_trees)
    compared: list[list[Order]] = [[] for _ in bags]

    def choose(kinds: Sequence[str], lists: Sequence[Sequence[Order]]) -> Sequence[Sequence[Order]]:
        if opinion is None:
            return lists
        compared[:] = opinion.rank(kinds, lists)
        return compared

    found = linearizer.model.predict((units, search, choose))
    explanations = []
    for i, (own, orders) in enumerate(zip(placed, found, strict=True)):
        walk = partial(_Walk, strings=doc.vocab.strings, n_rivals=n_rivals, n_reasons=n_reasons, placed=own)
        explanation = _explain_bag(linearizer, units[i], orders[-1], doc.vocab.strings, walk)
        if opinion is not None:
            explanation = replace(explanation, choices=tuple(_choices(opinion.sources[i], compared[i], n_rivals)))
        explanations.append(explanation)
    return explanations


def find_word(bags: Sequence[Bag], token: int) -> list[int]:
    """For each bag of a Doc, the word or unit that a token of the Doc belongs to; -1 where it does not."""
    found = []
    for bag in bags:
        members = bag.members or [range(k, k + 1) for k in range(len(bag))]
        found.append(next((k for k, unit in enumerate(members) if token in unit), -1))
        token -= members[-1].stop
    return found


def _choices(source: Source, orders: Sequence[Order], n_rivals: int) -> Iterator[Choice]:
    """The best orders by both opinions and, if it is not among these, the best one of the search."""
    asked = [order for order in orders if order.second is not None]
    first = max(asked, key=lambda order: order.score - (order.second or 0.0), default=None)
    for rank, order in enumerate(asked):
        if rank <= n_rivals or order is first:
            yield Choice(text=source.text(order), score=order.score, second=order.second or 0.0)


def _explain_bag(
    linearizer: Linearizer, units: Bag, best: Order, strings: StringStore, walk: Callable[..., "_Walk"]
) -> Explanation:
    engine = linearizer.engine
    ordered, names = apply_lifts(units, best.lifts), {}
    heads, labels, given = best.heads.copy(), best.labels.copy(), units.column("labels")
    for word, head in best.lifts:  # as the derivation saw them
        key = int(ordered.column("labels")[word])
        if key != given[word]:
            names[key] = LIFTED_LABEL.join(text_of(int(given[k]), strings) for k in (word, best.heads[word]))
        heads[word], labels[word] = head, key
    best = replace(best, heads=heads, labels=labels)
    packed, texts = engine.pack(ordered), list(units.texts or ())
    weight = engine.experts.ngram_weight_for(packed)
    explained = [
        walk(decoder=decoder, texts=texts, names=names).explain(Stepper(decoder, packed, ngram_weight=weight), best)
        for decoder in engine.experts.decoders_for(packed)
    ]
    return Explanation(
        words=tuple(texts[k] for k in best.order.tolist()),
        score=sum(d.score for d in explained),
        lifted=tuple((texts[word], texts[head]) for word, head in best.lifts),
        derivations=tuple(explained),
    )


@dataclass(frozen=True)
class _Walk:
    """Follows one derivation.

    placed (Optional[int]): The only word whose placing has rivals. None for all.
    """

    decoder: Decoder
    texts: list[str]
    strings: StringStore
    names: dict[int, str]  # of the labels of lifted words
    n_rivals: int
    n_reasons: int
    placed: int | None

    def explain(self, state: Stepper, best: Order) -> Derivation:
        steps = []
        while not state.is_final:
            taken = state.gold(best.order, best.heads, best.tags, best.labels)
            steps.append(self._step(state, taken))
            state = state.step(taken)
        direction = "right to left" if self.decoder.mirrored else "left to right"
        return Derivation(direction=direction, score=state.total, steps=tuple(steps))

    def _step(self, state: Stepper, taken: int) -> Step:
        if self.placed is not None and state.legal[taken][1] != self.placed:
            return self._plain_step(state, taken)
        scores = [state.score(i) for i in range(len(state.legal))]
        others = sorted((i for i in range(len(scores)) if i != taken), key=lambda i: -scores[i])[: self.n_rivals]
        own = self._contributions(state, taken)
        reasons = {i: self._reasons(own, self._contributions(state, i)) for i in others}
        rivals = tuple(Rival(action=self._name(state, i), score=scores[i], reasons=reasons[i]) for i in others)
        return replace(self._plain_step(state, taken), rivals=rivals)

    def _plain_step(self, state: Stepper, taken: int) -> Step:
        """A step without its rivals."""
        return Step(
            action=self._name(state, taken),
            position=state.legal[taken][1],
            stack=tuple(self.texts[k] for k in state.stack),
            n_legal=len(state.legal),
            score=state.score(taken),
            rivals=(),
        )

    def _name(self, state: Stepper, i: int) -> str:
        name, word, symbol = state.legal[i]
        if word is not None:
            return self.texts[word]
        return f"{name}-{self.names.get(symbol) or text_of(symbol, self.strings)}" if symbol else name

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
            return SPECIAL_VALUES.get(value) or self.names.get(value) or text_of(value, self.strings)
        return "{...}" if ATOM_KINDS[atom] == SET else str(value)  # sets are only known by their hashes
