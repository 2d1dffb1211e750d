"""Random bags against the promises of the package: what is given is kept, and there is always an answer.

    python benchmarks/fuzz.py --bags 100000 --seed 1
    python benchmarks/fuzz.py --bags 1000000 --seed 2 --minutes 240

Bags of 1 to 60 words with any mix of tags, arcs, labels, precedences, fixed groups, pins, units, equal words and odd
characters, in both systems and all directions, with random and with trained weights, with and without crossing arcs:
most at the level of the core, some as Docs. Every answer is checked; see `problems`. An error is fine only if it is one
of ours and there is a reason for it. What fails is made as small as possible and printed, and the exit code is 1.
"""

import argparse
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from fuzz_cases import TESTS, WORDS, Case, Pair, engine_of, pipeline, random_case, with_options
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_linearize.core.lift.lifting import apply_lifts
from spacy_linearize.core.records import Bag, Lifts, Order, SearchOptions
from spacy_linearize.errors import LinearizeError
from spacy_linearize.trees import FREE, ROOT, is_projective

MAX_BRUTE = 5  # words: up to here all orders are enumerated
SHRINK_SECONDS = 60  # to make a failing bag smaller
TOLERANCE = 1e-3


# Ordering and checking


@dataclass
class Answer:
    """An order, in terms of the input: like an Order, but with texts."""

    order: list[int]
    tags: list[str]
    heads: list[int]
    labels: list[str]
    score: float
    lifts: Lifts = ()

    def rows(self, words: tuple[str, ...]) -> list[tuple[str, str, int, str]]:
        """The sentence that it stands for, whatever the input order was."""
        place = {k: i for i, k in enumerate(self.order)}
        return [(words[k], self.tags[k], place.get(self.heads[k], self.heads[k]), self.labels[k]) for k in self.order]


def answers(case: Case, n_best: int) -> list[Answer]:
    nlp = pipeline(case.system, case.direction, case.is_trained, case.lifts)
    return doc_answers(nlp, case, n_best) if case.level == "doc" else core_answers(nlp, case, n_best)


def core_bag(nlp: Language, case: Case) -> Bag:
    add = nlp.vocab.strings.add
    return Bag(
        forms=[add(word) for word in case.words],
        tags=[add(tag) if tag else 0 for tag in case.tags],
        heads=list(case.heads),
        labels=[0 if label in ("", "dep") else add(label) for label in case.labels],
        lowers=[add(word.lower()) for word in case.words],
        puncts=[2 if "?" in word else int(word in ".,!-") for word in case.words],
        before=case.pairs,
    )


def core_answers(nlp: Language, case: Case, n_best: int) -> list[Answer]:
    strings = nlp.vocab.strings
    engine = engine_of(nlp)
    bag = core_bag(nlp, case)
    (found,) = engine.order([bag], SearchOptions(beam_width=case.width, n_best=n_best, tree=case.tree))
    if case.tree or case.system == "order_first":
        lifted = apply_lifts(bag, found[0].lifts)
        packed = engine.pack(lifted)
        weight = engine.experts.ngram_weight_for(packed)
        for best in found[:1]:
            heads, labels = best.heads.copy(), best.labels.copy()
            for word, head in best.lifts:
                heads[word], labels[word] = head, lifted.column("labels")[word]
            arrays = (best.order, heads, best.tags, labels)
            again = sum(d.score(packed, *arrays, ngram_weight=weight) for d in engine.experts.decoders_for(packed))
            if case.system == "order_first" and not near(again, best.score):
                raise Broken("score", f"the order scores {again}, the search said {best.score}")
    return [to_answer(best, strings) for best in found]


def to_answer(best: Order, strings: Any) -> Answer:
    tags, labels = ([strings[int(key)] if key else "" for key in keys] for keys in (best.tags, best.labels))
    return Answer(best.order.tolist(), tags, best.heads.tolist(), labels, best.score, best.lifts)


def make_doc(nlp: Language, case: Case) -> Doc:
    heads = [None if h == FREE else k if h == ROOT else h for k, h in enumerate(case.heads)]
    tags, labels = list(case.tags), list(case.labels)
    doc = Doc(nlp.vocab, words=list(case.words), tags=tags, heads=heads, deps=labels)
    doc.spans["units"] = [Span(doc, start, end) for start, end in case.units]
    for name in ("before", "fixed", "first", "last"):
        if getattr(case, name):
            setattr(doc._, f"linearize_{name}", [list(v) if isinstance(v, tuple) else v for v in getattr(case, name)])
    return doc


def doc_answers(nlp: Language, case: Case, n_best: int) -> list[Answer]:
    component = with_options(nlp, beam_width=case.width, tree=case.tree)
    doc = make_doc(nlp, case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of tags and labels that are not known
        docs = component.alternatives(doc, n_best) if n_best > 1 else [component(doc)]
        if case.system == "order_first":
            own = component.score_order(docs[0])
            if not near(own.score, docs[0]._.linearization["score"]):
                said = docs[0]._.linearization["score"]
                raise Broken("score", f"score_order says {own.score}, the search said {said}")
    return [read_doc(new, case) for new in docs]


def read_doc(new: Doc, case: Case) -> Answer:
    order = list(new._.linearization["order"])
    if [case.words[k] for k in order] != [token.text for token in new]:
        raise Broken("permutation", "the words of the Doc are not those of its order")
    n = len(order)
    tags, heads, labels = [""] * n, [FREE] * n, [""] * n
    for token, k in zip(new, order, strict=True):
        tags[k], labels[k] = token.tag_, token.dep_
        if token.has_head():
            heads[k] = ROOT if token.head.i == token.i else order[token.head.i]
    lifts = tuple((order[word], order[head]) for word, head in new._.linearization["lifted"])
    return Answer(order, tags, heads, labels, new._.linearization["score"], lifts)


class Broken(Exception):
    """A promise that was not kept."""

    def __init__(self, kind: str, what: str) -> None:
        super().__init__(kind, what)
        self.kind = kind


def near(a: float, b: float) -> bool:
    return abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b))


def check(case: Case) -> str:
    """Order a bag and check everything. Returns what came of it, or raises Broken."""
    try:
        found = answers(case, case.n_best)
    except LinearizeError as problem:
        check_error(case, problem)
        return problem.code
    except (Broken, KeyboardInterrupt):
        raise
    except BaseException as problem:
        raise Broken("crash", f"{type(problem).__name__}: {problem}") from problem
    for answer in found:
        check_answer(case, answer)
    check_list(case, found)
    if case.shuffle:
        check_shuffled(case, found)
    return "ordered"


def check_error(case: Case, problem: LinearizeError) -> None:
    """An error needs a reason."""
    code = problem.code
    if case.units and code in ("SL064", "SL067", "SL068", "SL069"):
        return
    if code not in ("SL008", "SL009"):
        raise Broken("error", str(problem))
    if code == "SL008" and case.is_possible:
        raise Broken("error", f"there is an order, but: {problem}")
    if len(case) <= MAX_BRUTE and not case.units and any(keeps(order, case.pairs) for order in brute_orders(case)):
        raise Broken("error", f"enumeration finds an order, but: {problem}")


def brute_orders(case: Case) -> Iterator[tuple[int, ...]]:
    if str(TESTS) not in sys.path:
        sys.path.append(str(TESTS))
    from helpers import brute

    return (order for order, _ in brute.expected(case.heads))


def keeps(order: Any, pairs: list[Pair]) -> bool:
    place = {k: i for i, k in enumerate(order)}
    return all(place[a] < place[b] for a, b in pairs)


def check_answer(case: Case, answer: Answer) -> None:
    n = len(case)
    if sorted(answer.order) != list(range(n)):
        raise Broken("permutation", f"the order is {answer.order}")
    for k in range(n):
        if case.tags[k] not in ("", answer.tags[k]):
            raise Broken("tag", f"of word {k} is {answer.tags[k]!r}")
        if case.heads[k] not in (FREE, answer.heads[k]):
            raise Broken("arc", f"of word {k} is to {answer.heads[k]}")
        is_root = answer.heads[k] == ROOT  # any name of the root will do
        if case.labels[k] not in ("", "dep", answer.labels[k]) and not is_root:
            raise Broken("label", f"of word {k} is {answer.labels[k]!r}")
        if not case.tree and not case.units and answer.heads[k] != case.heads[k]:
            raise Broken("arc", f"word {k} has a head, but no tree was asked for")
    place = {k: i for i, k in enumerate(answer.order)}
    heads = [place.get(answer.heads[k], answer.heads[k]) for k in answer.order]
    lifted = list(heads)
    for word, head in answer.lifts:
        if not case.lifts or case.heads[word] == FREE:
            raise Broken("lifting", f"of word {word} to {head}")
        lifted[place[word]] = place[head]
    if not is_projective(lifted):
        raise Broken("tree", f"is not projective: {lifted}")
    if case.tree and (heads.count(ROOT) != 1 or FREE in heads or not ends_at_root(heads)):
        raise Broken("tree", f"is none: {heads}")
    if not keeps(answer.order, case.pairs):
        raise Broken("precedence", f"is not kept by {answer.order}")
    for start, end in case.units:
        places = [place[k] for k in range(start, end)]
        if places != list(range(places[0], places[0] + end - start)):
            raise Broken("unit", f"{start} to {end} is broken in {answer.order}")


def ends_at_root(heads: list[int]) -> bool:
    """Whether no arcs form a cycle, without recursion."""
    good = {i for i, h in enumerate(heads) if h == ROOT}
    for i in range(len(heads)):
        way = []
        while i not in good and i not in way:
            way.append(i)
            i = heads[i]
        if i not in good:
            return False
        good.update(way)
    return True


def check_list(case: Case, found: list[Answer]) -> None:
    """The best orders: sorted, different, and the first is the one that is found alone."""
    scores = [answer.score for answer in found]
    if scores != sorted(scores, reverse=True) or not 1 <= len(found) <= case.n_best:
        raise Broken("n-best", f"scores {scores}")
    texts = [tuple(case.words[k] for k in answer.order) for answer in found]
    # Units are told apart by their heads: different units may have the same text.
    if len(set(texts)) != len(texts) and not case.units:
        raise Broken("n-best", f"the same words twice: {texts}")
    if 1 < case.n_best <= case.width:  # a longer list would take a wider beam
        (alone,) = answers(case, 1)
        if alone.rows(case.words) != found[0].rows(case.words) or not near(alone.score, found[0].score):
            raise Broken("n-best", "the first is not the one that is found alone")


def check_shuffled(case: Case, found: list[Answer]) -> None:
    """The same bag in another input order, units as wholes."""
    again = shuffled(case)
    try:
        results = answers(again, case.n_best)
    except LinearizeError as problem:
        raise Broken("input order", f"an error only when shuffled: {problem}") from problem
    if [a.rows(again.words) for a in results] != [a.rows(case.words) for a in found]:
        raise Broken("input order", f"{[a.order for a in found]} {[a.score for a in found]} but shuffled "
                     f"{[a.order for a in results]} {[a.score for a in results]}")  # fmt: skip


def shuffled(case: Case) -> Case:
    blocks, at = [], 0
    for start, end in (*case.units, (len(case), len(case))):
        blocks += [range(k, k + 1) for k in range(at, start)]
        blocks.append(range(start, end))
        at = end
    random.Random(case.shuffle).shuffle(blocks)
    return chosen(case, [k for block in blocks for k in block])


def chosen(case: Case, order: list[int]) -> Case:
    """Some of the words, in another input order. What hung on a word that is gone is free."""
    place = {k: i for i, k in enumerate(order)}
    heads = [case.heads[k] if case.heads[k] < 0 else place.get(case.heads[k], FREE) for k in order]

    def move(group: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(place[k] for k in group if k in place)

    return replace(
        case,
        words=tuple(case.words[k] for k in order),
        tags=tuple(case.tags[k] for k in order),
        heads=tuple(heads),
        labels=tuple("" if h == FREE else case.labels[k] for h, k in zip(heads, order, strict=True)),
        before=tuple(move(pair) for pair in case.before if len(move(pair)) == 2),  # type: ignore[misc]
        fixed=tuple(move(group) for group in case.fixed if len(move(group)) > 1),
        first=move(case.first),
        last=move(case.last),
        units=tuple(sorted(moved_unit(unit, place) for unit in case.units if moved_unit(unit, place))),  # type: ignore[misc]
    )


def moved_unit(unit: Pair, place: dict[int, int]) -> Pair | None:
    places = [place[k] for k in range(*unit) if k in place]
    return (min(places), max(places) + 1) if places else None


# Making a failing bag small


def shrink(case: Any, is_failing: Callable[[Any], bool], simplify: Callable[[Any], Iterator[Any]] | None = None) -> Any:
    """The smallest bag that can be found that fails in the same way."""
    end = time.monotonic() + SHRINK_SECONDS
    while True:
        for smaller in (simplify or simpler)(case):
            if time.monotonic() > end:
                return case
            if is_failing(smaller):
                case = smaller
                break
        else:
            return case


def simpler(case: Case) -> Iterator[Case]:
    n = len(case)
    if n > 1:
        for size in (n // 2, n // 4, 1):
            for start in range(0, n, max(1, size)):
                rest = [k for k in range(n) if not start <= k < start + size]
                if size and rest:
                    yield chosen(case, rest)
    for name in ("before", "fixed", "first", "last", "units"):
        values = getattr(case, name)
        yield from (replace(case, **{name: values[:i] + values[i + 1 :]}) for i in range(len(values)))
    for k in range(n):
        if case.heads[k] != FREE:
            yield replace(case, heads=put(case.heads, k, FREE), labels=put(case.labels, k, ""))
        if case.labels[k] not in ("", "dep", "ROOT"):
            yield replace(case, labels=put(case.labels, k, "dep"))
        if case.tags[k]:
            yield replace(case, tags=put(case.tags, k, ""))
        if case.words[k] not in WORDS:
            yield replace(case, words=put(case.words, k, "a"))
    if case.lifts:
        yield replace(case, lifts=False)
    if case.n_best > 1:
        yield replace(case, n_best=1)
    if case.width > 1:
        yield replace(case, width=case.width - 1, n_best=min(case.n_best, case.width - 1))
    if case.direction == "both":
        yield replace(case, direction="left_to_right")
    if case.level == "doc":
        yield replace(case, level="core", units=())


def put(values: tuple[Any, ...], k: int, value: Any) -> tuple[Any, ...]:
    return (*values[:k], value, *values[k + 1 :])


def broken_kind(case: Any, verify: Callable[[Any], str]) -> str | None:
    try:
        verify(case)
    except Broken as problem:
        return problem.kind
    return None


# The campaign


@dataclass
class Report:
    counts: Counter[str] = field(default_factory=Counter)
    violations: list[tuple[str, Any]] = field(default_factory=list)  # the smallest of each, with what is wrong
    seconds: float = 0.0
    slowest: tuple[float, int] = (0.0, 0)  # seconds, and the number of the bag


def campaign(
    n_bags: int,
    seed: int,
    *,
    minutes: float = 1e9,
    doc_share: float = 0.2,
    say: Callable[[str], None] | None = None,
    make: Callable[[random.Random, float], Any] = random_case,
    verify: Callable[[Any], str] = check,
    simplify: Callable[[Any], Iterator[Any]] = simpler,
) -> Report:
    """Check many random bags.

    n_bags (int): How many at most.
    minutes (float): Stop after this time.
    doc_share (float): How many of them come as Docs.
    say (Optional[Callable[[str], None]]): Is told how it goes, once in a while.
    make, verify, simplify (Callable): Make a case, check it, and make smaller ones of it.
    """
    report = Report()
    start = said = time.monotonic()
    for i in range(n_bags):
        case = make(random.Random(f"{seed} {i}"), doc_share)
        report.counts["bags"] += 1
        report.counts[f"of which: {case.level}, {case.system}"] += 1
        for name in ("pairs", "units", "lifts"):
            report.counts[f"of which: with {name}"] += bool(getattr(case, name))
        began = time.monotonic()
        try:
            report.counts[verify(case)] += 1
        except Broken as problem:
            kind = problem.kind
            report.counts[f"VIOLATION: {kind}"] += 1
            if len(report.violations) < 5:
                if say:
                    say(f"bag {i}: {problem.args[0]}: {problem.args[1]}\n    {case}")
                small = shrink(case, lambda other, kind=kind: broken_kind(other, verify) == kind, simplify)  # type: ignore[misc]
                report.violations.append((f"bag {i}: {problem.args[0]}: {problem.args[1]}", small))
                if say:
                    say(f"    smallest: {small}")
        now = time.monotonic()
        report.counts["took over a second"] += now - began > 1
        report.slowest = max(report.slowest, (now - began, i))
        if say and now - said > 60:
            said = now
            say(f"{i + 1} bags, {(i + 1) / (now - start):.0f} a second")
        if now - start > 60 * minutes:
            break
    report.seconds = time.monotonic() - start
    return report


def main(
    make: Callable[[random.Random, float], Any] = random_case,
    verify: Callable[[Any], str] = check,
    simplify: Callable[[Any], Iterator[Any]] = simpler,
    description: str | None = __doc__,
) -> None:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bags", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--docs", type=float, default=0.2, help="share of the bags that come as Docs")
    arguments = parser.parse_args()
    report = campaign(
        arguments.bags,
        arguments.seed,
        minutes=arguments.minutes,
        doc_share=arguments.docs,
        say=lambda text: print(text, flush=True),
        make=make,
        verify=verify,
        simplify=simplify,
    )
    for name, count in sorted(report.counts.items()):
        print(f"{count:>9}  {name}")
    n_violations = sum(count for name, count in report.counts.items() if name.startswith("VIOLATION"))
    print(f"{report.counts['bags'] / report.seconds:.0f} bags a second; the slowest, number {report.slowest[1]}, took")
    print(f"{report.slowest[0]:.1f} s; {n_violations} violations")
    for what, case in report.violations:
        print(f"{what}\n    smallest: {case}")
    sys.exit(1 if report.violations else 0)


if __name__ == "__main__":
    main()
