"""The random bags of `fuzz`: words, what is given about them, and how they are ordered."""

import random
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.training.converters import conllu_to_docs

from spacy_linearize.core.engine import Engine
from spacy_linearize.linearizer import Linearizer
from spacy_linearize.training.corpus import give
from spacy_linearize.trees import FREE, ROOT

TESTS = Path(__file__).parent.parent / "tests"
SYSTEMS = ("order_first", "joint")
DIRECTIONS = ("both", "left_to_right", "right_to_left")
ODD = (
    " ", "  ", "\t", "\n", "\u00a0", "\u200b", "\u200d", "\u00ad", "\ufeff", "\x00", "\x07", "\x1b[31m", "\x7f",
    "🙂", "👩‍👩‍👧", "🏳️‍🌈", "e\u0301", "\u0301", "Z\u0351\u036b\u0343\u034f", "שלום", "مرحبا", "\u202eabc", "中文",
    "𝕏", "\U0010ffff", "ß", "İ", "ﬁ", "?", "!?", "??", "...", "'s", "-", "--", "/", "\\", '"', "<s>", "</s>", "_",
    "0", "-1", "1e9", "ROOT", "dep", "a b",
)  # fmt: skip
LONG = "x" * 10_000
WORDS = (
    "a", "the", "The", "dog", "dogs", "saw", "sees", "he", "He", "she", "of", "in", ".", ",", "?", "!", "and", "that",
    "big", "red", "house", "who", "Who", "'s", "not",
)  # fmt: skip
TAGS = ("DT", "NN", "NNS", "VBD", "VBZ", "PRP", "IN", ".", ",", "JJ", "no such tag")
LABELS = ("det", "nsubj", "obj", "obl", "case", "punct", "conj", "mark", "no such label")
Pair = tuple[int, int]


@dataclass(frozen=True)
class Case:
    """A bag, and how it is ordered. Tags and labels "" are not given; a label "dep" is an arc without one."""

    level: str  # "core" or "doc"
    system: str
    direction: str
    is_trained: bool
    words: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...]
    before: tuple[Pair, ...] = ()
    fixed: tuple[tuple[int, ...], ...] = ()
    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    units: tuple[Pair, ...] = ()  # start and end; Docs only
    width: int = 4
    n_best: int = 1
    tree: bool = True
    is_possible: bool = False  # known to have an order
    shuffle: int = field(default=0)  # seed for another input order, 0 for none
    lifts: bool = False  # whether given arcs may cross

    def __len__(self) -> int:
        return len(self.words)

    @property
    def pairs(self) -> list[Pair]:
        """All that is asked for as pairs."""
        pairs = [*self.before, *(pair for group in self.fixed for pair in pairwise(group))]
        pairs += [(k, other) for k in self.first for other in range(len(self)) if other != k]
        pairs += [(other, k) for k in self.last for other in range(len(self)) if other != k]
        return list(dict.fromkeys(pairs))


# What orders the bags


@cache
def pipeline(system: str, direction: str, is_trained: bool, lifts: bool = False, seed: int = 0) -> Language:
    """A pipeline that has seen a few sentences, or one whose weights are then replaced by random ones. Those of its
    lifter are always random."""
    nlp = spacy.blank("en")
    config = {"system": system, "direction": direction, "table_bits": 14, "attach_bits": 12}
    nlp.add_pipe("linearizer", config={"model": config, "units": "units"})
    text = (TESTS / "data" / "mini_en.conllu").read_text(encoding="utf8")
    rng = random.Random(seed)
    golds = list(conllu_to_docs(text, n_sents=1, no_print=True))[:60]
    examples = [Example(give(gold, rng.random(), rng.choice([0, rng.random(), 1]), rng=rng), gold) for gold in golds]
    nlp.initialize(lambda: examples)
    nlp.update(examples, drop=0.0)
    if not is_trained:
        generator = np.random.default_rng(seed)
        for _, weights in engine_of(nlp)._tables():
            weights.from_array(generator.normal(size=len(weights)).astype(np.float32))
    if lifts:
        generator, lifter = np.random.default_rng(seed), engine_of(nlp).lifter
        for judge in (lifter.lifting, lifter.lowering):
            judge.weights.from_array(generator.normal(size=len(judge.weights)).astype(np.float32))
            judge.is_trained = True
    return nlp


def engine_of(nlp: Language) -> Engine:
    return nlp.get_pipe("linearizer").engine  # type: ignore[no-any-return]


def with_options(nlp: Language, **settings: Any) -> Linearizer:
    """The component of a pipeline with other settings. That of the pipeline, which all cases share, stays as it is."""
    component = copy(nlp.get_pipe("linearizer"))
    component.options = component.options.change(**settings)
    return component


# Making bags


def random_case(rng: random.Random, doc_share: float) -> Case:
    n = rng.choice([rng.randint(1, 5), rng.randint(1, 5), rng.randint(6, 15), rng.randint(16, 60)])
    share = lambda: rng.choice([0, 0, 0.2, 0.5, 0.9, 1, 1])  # noqa: E731
    level = "doc" if rng.random() < doc_share else "core"
    system, direction = rng.choice([SYSTEMS[0], *SYSTEMS]), rng.choice([DIRECTIONS[0], *DIRECTIONS])
    pool = rng.choice([WORDS, WORDS, WORDS[:2], ODD, (*WORDS, *ODD), WORDS[:1], ODD[:6]])
    words = [rng.choice(pool) for _ in range(n)]
    if rng.random() < 0.01:
        words[rng.randrange(n)] = LONG
    heads, order = random_tree(rng, n)
    heads = keep_some(rng, heads, share())
    tag_share, label_share = share(), share()
    tags = [rng.choice(TAGS) if rng.random() < tag_share else "" for _ in range(n)]
    labels = ["" if h == FREE else rng.choice(LABELS) if rng.random() < label_share else "dep" for h in heads]
    labels = ["ROOT" if h == ROOT else label for h, label in zip(heads, labels, strict=True)]
    case = Case(
        level=level,
        system=system,
        direction=direction,
        is_trained=rng.random() < 0.5,
        words=tuple(words),
        tags=tuple(tags),
        heads=tuple(heads),
        labels=tuple(labels),
        width=rng.randint(1, 9),
        n_best=rng.choice([1, 1, 2, 5]),
        tree=rng.random() < 0.8,
        is_possible=True,
        shuffle=rng.getrandbits(30) if rng.random() < 0.5 else 0,
        lifts=rng.random() < 0.3,
    )
    case = with_control(rng, case, order)
    return with_units(rng, case) if level == "doc" and n > 2 and rng.random() < 0.3 else case


def random_tree(rng: random.Random, n: int) -> tuple[list[int], list[int]]:
    """A tree, deep, flat or in between, and an order in which it is projective."""
    reach = rng.choice([1, 3, n])
    place = rng.sample(range(n), n)  # names without a meaning
    heads = [ROOT] * n
    order = [place[0]]
    kids: dict[int, list[int]] = {k: [] for k in range(n)}
    for i in range(1, n):
        heads[place[i]] = place[rng.randrange(max(0, i - reach), i)]
        kids[heads[place[i]]].append(place[i])
    todo, order = [(place[0], False)], []
    while todo:
        k, is_word = todo.pop()
        if is_word:
            order.append(k)
            continue
        parts = [(k, True), *((kid, False) for kid in kids[k])]
        todo += rng.sample(parts, len(parts))
    return heads, order


def keep_some(rng: random.Random, heads: list[int], share: float) -> list[int]:
    return [h if rng.random() < share else FREE for h in heads]


def with_control(rng: random.Random, case: Case, order: list[int]) -> Case:
    """Add precedences, fixed groups and pins: mostly ones that a known order keeps."""
    n = len(case)
    if n < 2 or rng.random() < 0.5:
        return case
    # Where much has to be tried out it takes seconds, with a tree to build most of all: keep most of these bags short.
    is_partial = FREE in case.heads and any(head != FREE for head in case.heads)
    longest = 6 if case.system == "joint" else 24 if is_partial else n
    if n > (longest if rng.random() < 0.98 else 2 * longest):
        return case
    is_possible = rng.random() < 0.7
    if not is_possible:
        order = rng.sample(range(n), n)

    def some(k: int) -> tuple[int, ...]:
        return tuple(sorted(rng.sample(range(n), k), key=order.index))

    before = tuple((a, b) for a, b in (some(2) for _ in range(rng.choice([0, 1, 2, n // 2, n]))))
    if not is_possible and before and rng.random() < 0.3:
        before = (*before, before[0][::-1])
    fixed = tuple(some(rng.randint(2, min(n, 5))) for _ in range(rng.choice([0, 0, 1, 2])))
    first = (order[0],) if rng.random() < 0.2 else ()
    last = (order[-1],) if rng.random() < 0.2 else ()
    return replace(case, before=before, fixed=fixed, first=first, last=last, is_possible=is_possible)


def with_units(rng: random.Random, case: Case) -> Case:
    """Add units. What is given may not suit them, so that nothing is known of the orders any more."""
    units, at = [], 0
    while at < len(case):
        end = at + rng.randint(1, 4)
        if rng.random() < 0.3 and end <= len(case):
            units.append((at, end))
        at = end
    if rng.random() < 0.5:  # no arcs from or to the inside, so that most of these have an answer
        inside = {k for start, end in units for k in range(start, end)}
        heads = [FREE if k in inside or h in inside else h for k, h in enumerate(case.heads)]
        labels = ["" if h == FREE else label for h, label in zip(heads, case.labels, strict=True)]
        case = replace(case, heads=tuple(heads), labels=tuple(labels))
    return replace(case, units=tuple(units), is_possible=False)
