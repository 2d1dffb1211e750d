"""Learning-guided search (Zhang and Clark 2011): the weights learn until gold hypotheses come off the agenda first.

Only gold hypotheses are expanded. Whenever another one is at the top of the agenda, it loses, and the gold hypothesis
of the agenda with the lowest score wins, by a passive-aggressive update with a margin of 1; then everything is scored
anew. Decoding reads the mean of the weights over all examples.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from spacy_linearize.core.records import Bag
from spacy_linearize.trees import FREE

from .features import BITS, Array
from .search import Chart, Hypothesis, Problem

Join = tuple[Hypothesis, Hypothesis, int]
Signature = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # forms, tags, heads within

MAX_UPDATES = 5  # for each word of a sentence
TAGS_OF_UNKNOWN = 3


class Learner:
    """Weights, and the tags that words were seen with.

    sentences (Iterable[Bag]): The gold sentences of the training data.
    """

    def __init__(self, sentences: Iterable[Bag]) -> None:
        self.current = np.zeros(1 << BITS)
        self.weighted = np.zeros(1 << BITS)  # updates, each times the number of examples before it
        self.n_examples = 0
        self.tags: dict[int, Counter[int]] = defaultdict(Counter)
        for sentence in sentences:
            for form, tag in zip(sentence.column("forms").tolist(), sentence.column("tags").tolist(), strict=True):
                self.tags[form][tag] += 1
        all_tags = sum(self.tags.values(), Counter())
        self.usual = [tag for tag, _ in all_tags.most_common(TAGS_OF_UNKNOWN)]

    @property
    def mean(self) -> Array:
        return self.current - self.weighted / max(1, self.n_examples)

    def problem(self, bag: Bag) -> Problem:
        """A bag with the tags that its words may have."""
        pairs = zip(bag.column("forms").tolist(), bag.column("tags").tolist(), strict=True)
        tags_of = [[tag] if tag else list(self.tags[form]) if form in self.tags else self.usual for form, tag in pairs]
        return Problem(bag, tags_of)

    def update(self, bag: Bag, gold: Bag) -> int:
        """Learn from a sentence behind the bag of its words, both in gold order. Returns the number of updates."""
        gold_tags = gold.column("tags").tolist()
        problem = self.problem(bag)
        problem.tags_of = [sorted({*tags, tag}) for tags, tag in zip(problem.tags_of, gold_tags, strict=True)]
        wanted = gold_signatures(gold)
        chart, n_updates = Chart(problem, self.current), 0
        # Of joins: which are gold, their parts, their slots.
        is_gold: list[bool] = []
        joins: list[Join] = []
        slots: list[Array] = []
        for (
            word
        ) in problem.words():  # every right word is in the chart from the beginning: no join depends on its score
            if word.tags[0] == gold_tags[word.head]:
                self._expand(chart, word, wanted, joins, slots, is_gold)
        while any(is_gold) and n_updates <= MAX_UPDATES * problem.n:
            matrix, right = np.array(slots), np.array(is_gold)
            own = self._scores(chart)
            base = np.array([own[left] + own[other] for left, other, _ in joins])
            scores = self.current[matrix].sum(axis=1) + base
            top = int(scores.argmax())
            if not is_gold[top]:
                worst = int(np.where(right, scores, np.inf).argmin())
                self._move(joins[worst], slots[worst], joins[top], slots[top], float(scores[top] - scores[worst]))
                n_updates += 1
                continue
            left, other, how = joins.pop(top)
            is_gold.pop(top)
            new = problem.join(left, other, how, slots.pop(top), float(scores[top]))
            if new.cover == problem.full:
                break
            self._expand(chart, new, wanted, joins, slots, is_gold)
        self.n_examples += 1
        return n_updates

    def _expand(
        self,
        chart: Chart,
        new: Hypothesis,
        wanted: set[Signature],
        joins: list[Join],
        slots: list[Array],
        is_gold: list[bool],
    ) -> None:
        found, rows, _ = chart.add(new)
        for (left, right, how), row in zip(found, rows, strict=True):
            joined = chart.problem.join(left, right, how, row, 0.0)
            looks_gold = signature(chart.problem, joined) in wanted
            in_order = joined.words == tuple(range(joined.words[0], joined.words[0] + len(joined.words)))
            if looks_gold and not in_order:
                continue  # a gold one with equal words exchanged: nothing to learn from
            joins.append((left, right, how))
            slots.append(row)
            is_gold.append(looks_gold)

    def _scores(self, chart: Chart) -> dict[Hypothesis, float]:
        """The scores of all that is in the chart, parts before wholes."""
        scores: dict[Hypothesis, float] = {}
        for one in chart.found:
            scores[one] = 0.0
            if one.parts:
                left, right, row = one.parts
                scores[one] = scores[left] + scores[right] + float(self.current[row].sum())
        return scores

    def _move(self, right: Join, right_row: Array, wrong: Join, wrong_row: Array, lead: float) -> None:
        """A passive-aggressive update from the features of one join to those of another, with all that they are of."""
        change: Counter[int] = Counter()
        for (left, other, _), row, sign in ((right, right_row, 1), (wrong, wrong_row, -1)):
            for part in (row, *left.slots(), *other.slots()):
                for slot in part.tolist():
                    change[slot] += sign
        size = sum(count * count for count in change.values())
        if not size:
            return
        step = (lead + 1) / size
        for slot, count in change.items():
            self.current[slot] += step * count
            self.weighted[slot] += step * count * self.n_examples


def signature(problem: Problem, one: Hypothesis) -> Signature:
    """What a hypothesis looks like, whichever of equal words it is made of."""
    place = {word: i for i, word in enumerate(one.words)}
    heads = {dependent: place[head] for dependent, head in one.arcs}
    forms = tuple(problem.forms[list(one.words)].tolist())
    return forms, one.tags, tuple(heads.get(word, FREE) for word in one.words)


def gold_signatures(gold: Bag) -> set[Signature]:
    """Those of all hypotheses on the way to a gold tree: subtrees, of which the head may miss dependents, but none on
    the left once it has one on the right."""
    forms, tags, heads = (gold.column(name).tolist() for name in ("forms", "tags", "heads"))
    found = set()
    for start in range(len(heads)):
        for end in range(start + 1, len(heads) + 1):
            tops = [word for word in range(start, end) if not start <= heads[word] < end]
            missing = [word for word, head in enumerate(heads) if start <= head < end and not start <= word < end]
            if len(tops) > 1 or any(heads[word] != tops[0] for word in missing):
                continue
            if end > tops[0] + 1 and any(word < tops[0] for word in missing):
                continue
            inside = tuple(heads[word] - start if word != tops[0] else FREE for word in range(start, end))
            found.add((tuple(forms[start:end]), tuple(tags[start:end]), inside))
    return found
