"""Random Docs of several sentences against the promises of the package, beside `fuzz`, which checks one bag at a time.

    python benchmarks/fuzz_docs.py --bags 20000 --seed 1

Docs of 1 to 5 sentences, each a bag of `fuzz`, ordered with sentences = "sents": with entities, spans, span extensions,
ids and extension values of any kind, with units and precedences, with tags, heads or labels ignored, and the n best
orders. Beside what `fuzz` checks of each sentence: sentences stay where they are, the n best orders are the best of all
combinations, a span is kept if and only if its tokens stand together in their sequence, what is dropped is named, and
values go with their tokens.
"""

import itertools
import random
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import fuzz
from fuzz import Answer, Broken, near
from fuzz_cases import LONG, Case, pipeline, random_case, with_options
from spacy.language import Language
from spacy.tokens import Doc, Span, Token

import spacy_linearize
from spacy_linearize.doc.write import _set_boundaries
from spacy_linearize.errors import LinearizeError
from spacy_linearize.linearizer import Linearizer
from spacy_linearize.trees import FREE, ROOT

ITSELF: list[Any] = []
ITSELF.append(ITSELF)
VALUES = (ITSELF, 10**5000, object(), float("nan"), {"a": ITSELF}, b"\x00", None, "", len, {1, 2}, [[]])
MAX_SENTENCES, MAX_WORDS = 5, 12
RECORDED = ("order", "lifted")
SWITCHES = ("use_tags", "use_heads", "use_deps", "overwrite")


@dataclass(frozen=True)
class DocCase:
    """A Doc of several sentences. Positions are those in the Doc.

    spans, ents (Tuple[Tuple[int, int], ...]): Where spans begin and end. Some are empty.
    span_values (Tuple[Tuple[int, int], ...]): The same for spans with a value of an extension.
    values (Tuple[int, ...]): For each token which of VALUES it has.
    """

    sentences: tuple[Case, ...]
    spans: tuple[tuple[int, int], ...] = ()
    ents: tuple[tuple[int, int], ...] = ()
    span_values: tuple[tuple[int, int], ...] = ()
    values: tuple[int, ...] = ()
    use_tags: bool = True
    use_heads: bool = True
    use_deps: bool = True
    overwrite: bool = False

    def __len__(self) -> int:
        return sum(map(len, self.sentences))

    @property
    def first(self) -> Case:
        """What says how all of them are ordered."""
        return self.sentences[0]

    @property
    def level(self) -> str:
        return "sents"

    @property
    def system(self) -> str:
        return self.first.system

    @property
    def lifts(self) -> bool:
        return self.first.lifts

    @property
    def units(self) -> bool:
        return any(case.units for case in self.sentences)

    @property
    def pairs(self) -> bool:
        return any(case.pairs for case in self.sentences)

    @property
    def starts(self) -> list[int]:
        return list(itertools.accumulate(map(len, self.sentences), initial=0))[:-1]

    @property
    def keeps_heads(self) -> bool:
        """Whether heads that are ignored stay."""
        is_whole = all(label for case in self.sentences for label in case.labels)
        return not self.use_heads and not self.overwrite and (is_whole or not self.first.tree)


def random_doc_case(rng: random.Random, doc_share: float = 1.0) -> DocCase:
    first = small_case(rng)
    more = [small_case(rng) for _ in range(rng.randint(0, MAX_SENTENCES - 1))]
    same = ("system", "direction", "is_trained", "width", "n_best", "tree", "shuffle")
    settings = {name: getattr(first, name) for name in same}
    case = DocCase(tuple(replace(one, **settings) for one in (first, *more)))
    n = len(case)

    def ranges(n_ranges: int) -> tuple[tuple[int, int], ...]:
        starts = [rng.randint(0, n) for _ in range(n_ranges)]
        return tuple((start, min(n, start + rng.choice([0, 1, 2, 2, 3, n]))) for start in starts)

    ents: list[tuple[int, int]] = []
    for start, end in sorted(ranges(rng.choice([0, 0, 2, 5]))):
        if start < end and (not ents or ents[-1][1] <= start):
            ents.append((start, end))
    switches = dict.fromkeys(SWITCHES[:3], True)
    if rng.random() < 0.3:
        switches = {name: rng.random() < 0.5 for name in SWITCHES}
    return replace(
        case,
        spans=ranges(rng.choice([0, 0, 1, 5])),
        ents=tuple(ents),
        span_values=tuple({pair for pair in ranges(rng.choice([0, 0, 3])) if pair[0] < pair[1]}),
        values=tuple(rng.randrange(len(VALUES)) for _ in range(n)),
        **switches,
    )


def small_case(rng: random.Random) -> Case:
    while True:
        case = random_case(rng, 1.0)
        if len(case) <= MAX_WORDS and LONG not in case.words:
            return case


def make(nlp: Language, case: DocCase) -> Doc:
    words, tags, heads, labels = [], [], [], []
    control: dict[str, list[Any]] = {"before": [], "fixed": [], "first": [], "last": []}
    units = []
    for start, one in zip(case.starts, case.sentences, strict=True):
        words += one.words
        tags += one.tags
        labels += one.labels
        heads += [None if h == FREE else start + (k if h == ROOT else h) for k, h in enumerate(one.heads)]
        for name in ("before", "fixed"):
            control[name] += [[start + k for k in group] for group in getattr(one, name)]
        for name in ("first", "last"):
            control[name] += [start + k for k in getattr(one, name)]
        units += [(start + low, start + high) for low, high in one.units]
    doc = Doc(nlp.vocab, words=words, tags=tags, heads=heads, deps=labels)
    _set_boundaries(doc, case.starts)
    doc.spans["units"] = [Span(doc, *unit) for unit in units]
    doc.spans["more"] = [Span(doc, *span, label=f"L{i}") for i, span in enumerate(case.spans)]
    doc.set_ents([Span(doc, *span, label=f"E{i}", kb_id=f"K{i}") for i, span in enumerate(case.ents)])
    for i, span in enumerate(case.span_values):
        doc[span[0] : span[1]]._.fuzz_span = i
    inside = {k for start, end in case.ents for k in range(start, end)}
    for token in doc:
        token._.fuzz_value = VALUES[case.values[token.i]]
        token.lemma_ = str(token.i)
        if token.i not in inside:
            token.ent_id_ = f"id {token.i}"
    for name, value in control.items():
        if value:
            setattr(doc._, f"linearize_{name}", value)
    return doc


@contextmanager
def settings_of(case: DocCase, sentences: str) -> Iterator[tuple[Language, Linearizer]]:
    """The pipeline, and a component with the settings that the case asks for."""
    for extended, name in ((Token, "fuzz_value"), (Span, "fuzz_span")):
        extended.set_extension(name, default=None, force=True)
    nlp = pipeline(case.first.system, case.first.direction, case.first.is_trained, case.lifts)
    wanted: dict[str, Any] = {name: getattr(case, name) for name in SWITCHES}
    wanted |= {"sentences": sentences, "beam_width": case.first.width, "tree": case.first.tree}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unknown names, and of what is dropped
        yield nlp, with_options(nlp, **wanted)


def check(case: DocCase) -> str:
    """Order a Doc and check everything. Returns what came of it, or raises Broken."""
    try:
        with settings_of(case, "sents") as (nlp, component):
            doc = make(nlp, case)
            found = component.alternatives(doc, case.first.n_best)
            component.n_best = case.first.n_best
            new = component(doc)
            stored = [spacy_linearize.alternative(new, rank) for rank in range(len(found))] if len(found) > 1 else [new]
    except LinearizeError as problem:
        check_error(case, problem)
        return problem.code
    except KeyboardInterrupt:
        raise
    except BaseException as problem:
        raise Broken("crash", f"{type(problem).__name__}: {problem}") from problem
    for one, again in zip(found, stored, strict=True):
        check_doc(case, doc, one)
        if rows(one) != rows(again) or any(one._.linearization[k] != again._.linearization[k] for k in RECORDED):
            raise Broken("alternative", f"{one.text!r} is stored as {again.text!r}")
    check_ranks(case, found)
    if case.first.shuffle:
        check_shuffled(case, found)
    return "ordered"


def check_error(case: DocCase, problem: LinearizeError) -> None:
    """One of the sentences must have it on its own, with a reason."""
    with settings_of(case, "doc") as (nlp, component):
        for one in (as_given(case, one) for one in case.sentences):
            try:
                component.alternatives(fuzz.make_doc(nlp, one), one.n_best)
            except LinearizeError as own:
                if own.code == problem.code:
                    return fuzz.check_error(one, own)
    raise Broken("error", f"no sentence has it on its own: {problem}")


def as_given(case: DocCase, one: Case) -> Case:
    """A sentence with what counts as given."""
    nothing = ("",) * len(one)
    one = replace(one, lifts=case.lifts)
    if not case.use_heads:
        one = replace(one, heads=(FREE,) * len(one), labels=nothing)
    elif not case.use_deps:
        one = replace(one, labels=tuple("dep" if label not in ("", "ROOT") else label for label in one.labels))
    return one if case.use_tags else replace(one, tags=nothing)


def as_kept(case: DocCase, one: Case) -> Case:
    """A sentence with what the new Doc must have: what is given, and what is ignored, unless it is overwritten."""
    given = as_given(case, one)
    if case.overwrite:
        return given
    return replace(given, tags=one.tags, labels=one.labels if case.use_heads else given.labels)


def check_doc(case: DocCase, doc: Doc, new: Doc) -> None:
    order = new._.linearization["order"]
    place = {k: i for i, k in enumerate(order)}
    for start, one in zip(case.starts, case.sentences, strict=True):
        end = start + len(one)
        if sorted(order[start:end]) != list(range(start, end)):
            raise Broken("sentence", f"{start} to {end} is now {order[start:end]}")
        if case.keeps_heads:
            for k in range(start, end):
                head = order[new[place[k]].head.i] if new[place[k]].has_head() else None
                if head != (doc[k].head.i if doc[k].has_head() else None):
                    raise Broken("ignored arc", f"of word {k} is to {head}")
            continue
        fuzz.check_answer(as_kept(case, one), sentence_answer(new, start, end, order))
    for i, token in enumerate(new):
        old = doc[order[i]]
        if (token.text, token.lemma_) != (old.text, str(old.i)) or token._.fuzz_value is not old._.fuzz_value:
            raise Broken("value", f"of word {old.i} is {token.lemma_}")
        if not old.ent_type and (token.ent_id_ != f"id {old.i}" or token.ent_type):
            raise Broken("entity id", f"of word {old.i} is {token.ent_id_!r}")
    check_spans(case, new, place)


def sentence_answer(new: Doc, start: int, end: int, order: tuple[int, ...]) -> Answer:
    """What is found for one sentence, by position in it."""
    n = end - start
    tags, heads, labels = [""] * n, [FREE] * n, [""] * n
    for token in new[start:end]:
        k = order[token.i] - start
        tags[k], labels[k] = token.tag_, token.dep_
        if token.has_head():
            heads[k] = ROOT if token.head.i == token.i else order[token.head.i] - start
    found = new._.linearization["lifted"]
    lifts = tuple((order[word] - start, order[head] - start) for word, head in found if start <= word < end)
    return Answer([k - start for k in order[start:end]], tags, heads, labels, 0.0, lifts)


def check_spans(case: DocCase, new: Doc, place: dict[int, int]) -> None:
    def moved(start: int, end: int) -> tuple[int, int] | None:
        places = [place[k] for k in range(start, end)]
        is_kept = places and places == list(range(places[0], places[0] + len(places)))
        return (places[0], places[-1] + 1) if is_kept else None

    groups: dict[str, list[Any]] = {
        "doc.ents": [(moved(*span), f"E{i}") for i, span in enumerate(case.ents)],
        "doc.spans['more']": [(moved(*span), f"L{i}") for i, span in enumerate(case.spans)],
        "span._.fuzz_span": [(moved(*span), i) for i, span in enumerate(case.span_values)],
    }
    found: dict[str, list[Any]] = {
        "doc.ents": [((span.start, span.end), span.label_) for span in new.ents],
        "doc.spans['more']": [((span.start, span.end), span.label_) for span in new.spans["more"]],
        "span._.fuzz_span": [
            (span, new[span[0] : span[1]]._.fuzz_span) for span, _ in groups["span._.fuzz_span"] if span
        ],
    }
    for name, expected in groups.items():
        if Counter(found[name]) != Counter((span, label) for span, label in expected if span):
            raise Broken("span", f"{name} are {found[name]} instead of {expected}")
        n_dropped = sum(where == name for where, _, _ in new._.linearization["dropped"])
        if n_dropped != sum(span is None for span, _ in expected):
            raise Broken("dropped", f"{new._.linearization['dropped']} instead of {expected}")
    if len(new.spans["units"]) != sum(len(one.units) for one in case.sentences):
        raise Broken("unit", f"{new.spans['units']} are left")


def check_ranks(case: DocCase, found: list[Doc]) -> None:
    """The n best are those of all combinations of the orders of single sentences."""
    with settings_of(case, "doc") as (nlp, component):
        lists = []
        for one in case.sentences:
            single = fuzz.make_doc(nlp, one)
            lists.append(component.alternatives(single, one.n_best))
    gaps = [[new._.linearization["gap"] for new in own] for own in lists]
    expected = sorted(sum(chosen) for chosen in itertools.product(*gaps))[: case.first.n_best]
    said = [new._.linearization["gap"] for new in found]
    if len(said) != len(expected) or not all(map(near, said, expected)) or said != sorted(said):
        raise Broken("n-best", f"gaps {said} instead of {expected}")
    orders = {new._.linearization["order"] for new in found}
    if len(orders) != len(found):
        raise Broken("n-best", "the same order twice")
    best = [token.text for own in lists for token in own[0]]
    if [token.text for token in found[0]] != best:
        raise Broken("n-best", "the first is not made of the best orders of the sentences")


def check_shuffled(case: DocCase, found: list[Doc]) -> None:
    """The words of each sentence in another input order. Other annotation is left out: it tells no words apart."""
    again = replace(
        case,
        sentences=tuple(fuzz.shuffled(one) for one in case.sentences),
        spans=(),
        ents=(),
        span_values=(),
    )
    with settings_of(again, "sents") as (nlp, component):
        try:
            results = component.alternatives(make(nlp, again), case.first.n_best)
        except LinearizeError as problem:
            raise Broken("input order", f"an error only when shuffled: {problem}") from problem
    before, after = ([given_rows(case, new) for new in docs] for docs in (found, results))
    if before != after:
        raise Broken("input order", f"{before} but shuffled {after}")


def rows(new: Doc) -> list[tuple[str, str, int, str]]:
    """Text, tags, tree and labels."""
    return [(t.text, t.tag_, t.head.i if t.has_head() else FREE, t.dep_) for t in new]


def given_rows(case: DocCase, new: Doc) -> list[tuple[str, str, int, str]]:
    """The same without what is ignored and stays: which of equal words has it depends on the order of the input."""
    has_tags, has_labels = case.use_tags or case.overwrite, case.use_deps or case.overwrite or not case.use_heads
    return [
        (
            text,
            tag if has_tags else "",
            FREE if case.keeps_heads else head,
            label if has_labels and not case.keeps_heads else "",
        )
        for text, tag, head, label in rows(new)
    ]


def simpler(case: DocCase) -> Iterator[DocCase]:
    """Smaller Docs that might fail in the same way."""
    for i, one in enumerate(case.sentences):
        rest = case.sentences[:i], case.sentences[i + 1 :]
        bare = replace(case, spans=(), ents=(), span_values=())
        if len(case.sentences) > 1:
            shorter = replace(bare, sentences=(*rest[0], *rest[1]))
            yield replace(shorter, values=(0,) * len(shorter))
        for other in fuzz.simpler(one):
            settings = ("system", "direction", "width", "n_best", "level")
            if all(getattr(other, name) == getattr(one, name) for name in settings):
                changed = replace(bare if len(other) < len(one) else case, sentences=(*rest[0], other, *rest[1]))
                yield replace(changed, values=case.values[: len(changed)])
    for name in ("spans", "ents", "span_values"):
        values = getattr(case, name)
        yield from (replace(case, **{name: values[:i] + values[i + 1 :]}) for i in range(len(values)))
    for name in SWITCHES:
        if getattr(case, name) != (name != "overwrite"):
            yield replace(case, **{name: name != "overwrite"})


if __name__ == "__main__":
    fuzz.main(random_doc_case, check, simpler, __doc__)
