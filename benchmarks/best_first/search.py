"""The search: hypotheses, the agenda, the chart, and glue for what is left when time runs out."""

import heapq
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from spacy_linearize.core.records import Bag
from spacy_linearize.trees import FREE

from .features import OF_ONE, TEMPLATES, Array, join_slots

HEAD_LEFT, HEAD_RIGHT = 1, 2  # how two hypotheses are joined
NO_SLOTS = np.empty((0, len(TEMPLATES)), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """A projective tree over some of the words, in order.

    cover (int): A bit for each of its words.
    words (Tuple[int, ...]): Positions in the bag, in order.
    tags (Tuple[int, ...]): Their tags.
    head (int): The word on top.
    arcs (Tuple[Tuple[int, int], ...]): Pairs of dependent and head.
    has_right (bool): Whether the head has a dependent on its right. Left ones are joined first, so that every tree is
        built in one way only.
    atoms (ndarray): What features look at.
    score (float): The sum over all of its joins.
    parts (Tuple): The two hypotheses that it was joined from, the slots of that join; nothing for a word.
    """

    cover: int
    words: tuple[int, ...]
    tags: tuple[int, ...]
    head: int
    arcs: tuple[tuple[int, int], ...]
    has_right: bool
    atoms: Array
    score: float
    parts: tuple["Hypothesis", "Hypothesis", Array] | tuple[()] = ()

    def slots(self) -> Iterator[Array]:
        """The slots of all joins."""
        if self.parts:
            left, right, own = self.parts
            yield own
            yield from left.slots()
            yield from right.slots()


@dataclass(frozen=True)
class Result:
    """An order that was found.

    words, tags, heads: In order; heads are positions in the bag, FREE where nothing was joined.
    covered (float): The share of the words in the largest hypothesis: 1 if the search came to its end.
    """

    words: tuple[int, ...]
    tags: tuple[int, ...]
    heads: tuple[int, ...]
    covered: float
    seconds: float


class Problem:
    """A bag with what is given: which hypotheses may be joined."""

    def __init__(self, bag: Bag, tags_of: Sequence[Sequence[int]]) -> None:
        self.n = len(bag)
        self.forms = bag.column("forms")
        self.given = bag.column("heads").tolist()
        self.tags_of = tags_of
        self.full = (1 << self.n) - 1
        self.dependents = [0] * self.n  # the given ones of each word, as bits
        for word, head in enumerate(self.given):
            if head >= 0:
                self.dependents[head] |= 1 << word

    def words(self) -> Iterator[Hypothesis]:
        """The hypotheses to begin with: each word with each of its tags. They come in a sequence of their own: ties and
        glue must not give away the input order, which may be the gold one."""
        for word in sorted(range(self.n), key=lambda word: (int(self.forms[word]), *self.tags_of[word])):
            for tag in self.tags_of[word]:
                yield self.make((word,), (tag,), word, (), has_right=False, score=0.0)

    def may_join(self, head: Hypothesis, dependent: Hypothesis, how: int) -> bool:
        """Whether a hypothesis may become a dependent of another on that side."""
        if how == HEAD_RIGHT and head.has_right:
            return False
        own = self.given[dependent.head]
        is_complete = self.dependents[dependent.head] & ~dependent.cover == 0
        return is_complete and (own == head.head or own == FREE)

    def join(self, left: Hypothesis, right: Hypothesis, how: int, slots: Array, score: float) -> Hypothesis:
        head, dependent = (left, right) if how == HEAD_LEFT else (right, left)
        arcs = (*left.arcs, *right.arcs, (dependent.head, head.head))
        has_right = how == HEAD_LEFT or head.has_right
        words, tags = left.words + right.words, left.tags + right.tags
        parts = (left, right, slots)
        return self.make(words, tags, head.head, arcs, has_right=has_right, score=score, parts=parts)

    def make(
        self,
        words: tuple[int, ...],
        tags: tuple[int, ...],
        head: int,
        arcs: tuple[tuple[int, int], ...],
        *,
        has_right: bool,
        score: float,
        parts: tuple[Hypothesis, Hypothesis, Array] | tuple[()] = (),
    ) -> Hypothesis:
        place = {word: i for i, word in enumerate(words)}
        own = [place[dependent] for dependent, of in arcs if of == head]
        top, n = place[head], len(words)
        looked_at = (top, 0, 1 if n > 1 else None, n - 1, n - 2 if n > 1 else None)
        looked_at += (min(own), max(own)) if own else (None, None)
        atoms = np.zeros(len(OF_ONE), dtype=np.uint64)
        for i, at in enumerate(looked_at):
            if at is not None:
                atoms[2 * i], atoms[2 * i + 1] = self.forms[words[at]], tags[at]
        atoms[-1] = min(n, 5)
        return Hypothesis(sum(1 << word for word in words), words, tags, head, arcs, has_right, atoms, score, parts)


class Chart:
    """The hypotheses that were taken from the agenda."""

    def __init__(self, problem: Problem, weights: Array) -> None:
        self.problem, self.weights = problem, weights
        self.found: list[Hypothesis] = []

    def add(self, new: Hypothesis) -> tuple[list[tuple[Hypothesis, Hypothesis, int]], Array, Array]:
        """Take a hypothesis in. Returns all joins that it makes possible, with their slots and scores."""
        may_join = self.problem.may_join
        joins = []
        for other in self.found:
            if other.cover & new.cover:
                continue
            for left, right in ((new, other), (other, new)):
                if may_join(left, right, HEAD_LEFT):
                    joins.append((left, right, HEAD_LEFT))
                if may_join(right, left, HEAD_RIGHT):
                    joins.append((left, right, HEAD_RIGHT))
        self.found.append(new)
        if not joins:
            return [], NO_SLOTS, np.empty(0)
        left_atoms, right_atoms = (np.array([join[i].atoms for join in joins]) for i in (0, 1))  # type: ignore[union-attr]
        slots = join_slots(left_atoms, right_atoms, np.array([how for _, _, how in joins], dtype=np.uint64))
        scores = self.weights[slots].sum(axis=1) + [left.score + right.score for left, right, _ in joins]
        return joins, slots, scores


def order(problem: Problem, weights: Array, *, seconds: float) -> Result:
    """Search until all words are covered, or until time runs out."""
    start = time.perf_counter()
    chart = Chart(problem, weights)
    agenda: list[tuple[float, int, Hypothesis | tuple[Hypothesis, Hypothesis, int, Array]]] = []
    n_made = 0
    for word in problem.words():
        heapq.heappush(agenda, (0.0, n_made, word))
        n_made += 1
    best: Hypothesis | None = None
    while agenda and time.perf_counter() - start < seconds:
        negative, _, item = heapq.heappop(agenda)
        new = item if isinstance(item, Hypothesis) else problem.join(*item, score=-negative)
        if new.cover == problem.full:
            best = new
            break
        joins, slots, scores = chart.add(new)
        for join, row, score in zip(joins, slots, scores.tolist(), strict=True):
            heapq.heappush(agenda, (-score, n_made, (*join, row)))
            n_made += 1
    pieces = [best] if best is not None else glue(problem, chart.found)
    arcs = dict(arc for piece in pieces for arc in piece.arcs)
    words = tuple(word for piece in pieces for word in piece.words)
    return Result(
        words=words,
        tags=tuple(tag for piece in pieces for tag in piece.tags),
        heads=tuple(arcs.get(word, FREE) for word in words),
        covered=max((len(piece.words) for piece in pieces), default=0) / max(1, problem.n),
        seconds=time.perf_counter() - start,
    )


def glue(problem: Problem, found: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Hypotheses that cover all words together: the largest first, of equally large ones the best."""
    by_size: dict[int, list[Hypothesis]] = defaultdict(list)
    for one in (*found, *problem.words()):  # time may run out before all words are in the chart
        by_size[len(one.words)].append(one)
    pieces, covered = [], 0
    for size in sorted(by_size, reverse=True):
        for one in sorted(by_size[size], key=lambda one: -one.score):
            if not one.cover & covered:
                pieces.append(one)
                covered |= one.cover
    return pieces
