"""A short run of the fuzz campaign, see benchmarks/fuzz.py, and a check that it would notice."""

import random

import fuzz
import fuzz_cases
import fuzz_docs
import pytest
from spacy.tokens import Doc
from spacy_linearize.build import DocOrder

import spacy_linearize
from spacy_linearize.core.bag.bag import FREE, ROOT


def test_random_bags_keep_the_promises():
    report = fuzz.campaign(400, seed=3)
    assert not report.violations, report.violations
    assert report.counts["bags"] == 400
    assert report.counts["ordered"] > 300
    assert report.counts["SL008"] > 0  # some have no order


def test_every_kind_of_bag_is_made():
    cases = [fuzz.random_case(random.Random(i), 0.5) for i in range(600)]
    assert {(case.level, case.system, case.direction) for case in cases} == {
        (level, system, direction)
        for level in ("core", "doc")
        for system in fuzz_cases.SYSTEMS
        for direction in fuzz_cases.DIRECTIONS
    }
    for name in ("before", "fixed", "first", "last", "units"):
        assert any(getattr(case, name) for case in cases), name
    assert min(map(len, cases)) == 1
    assert max(map(len, cases)) > 50


def docs_campaign(n_docs, seed):
    kinds = {"make": fuzz_docs.random_doc_case, "verify": fuzz_docs.check, "simplify": fuzz_docs.simpler}
    return fuzz.campaign(n_docs, seed=seed, **kinds)


def test_random_docs_keep_the_promises():
    report = docs_campaign(150, seed=3)
    assert not report.violations, report.violations
    assert report.counts["ordered"] > 100


def test_every_kind_of_doc_is_made():
    cases = [fuzz_docs.random_doc_case(random.Random(i)) for i in range(300)]
    assert {len(case.sentences) for case in cases} == {1, 2, 3, 4, 5}
    for name in ("spans", "ents", "span_values", "units", "pairs", "overwrite", "keeps_heads"):
        assert any(getattr(case, name) for case in cases), name
    for name in ("use_tags", "use_heads", "use_deps"):
        assert not all(getattr(case, name) for case in cases), name
    assert any(case.first.n_best > 1 and len(case.sentences) > 1 for case in cases)


def test_what_would_break_a_promise_for_docs_is_noticed(monkeypatch):
    """Each sentence of the n-th order in its n-th best one, and spans whose tokens met by chance, as it once was."""

    def by_rank(found, n_best):
        n_found = max(len(results) for _, results in found)
        ranked = [
            [(words, results[min(rank, len(results) - 1)]) for words, results in found] for rank in range(n_found)
        ]
        scores = [sum(best.score for _, best in bags) for bags in ranked]
        return [DocOrder(bags=bags, score=s, gap=scores[0] - s) for bags, s in zip(ranked, scores, strict=True)]

    def find(self, start, end):
        places = self.place[start:end].tolist() or [0, 2]
        low, high = min(places), max(places) + 1
        return (low, high) if high - low == len(places) else None

    monkeypatch.setattr(fuzz, "SHRINK_SECONDS", 0)
    with monkeypatch.context() as patch:
        patch.setattr("spacy_linearize.linearizer.best_orders", by_rank)
        assert docs_campaign(60, seed=3).counts["VIOLATION: n-best"]
    with monkeypatch.context() as patch:
        patch.setattr("spacy_linearize.reorder._Mover.find", find)
        assert docs_campaign(60, seed=3).counts["VIOLATION: span"]


def make_case(**changes):
    columns = {
        "words": ("a", "the", "dog"),
        "tags": ("", "DT", ""),
        "heads": (2, FREE, ROOT),
        "labels": ("det", "", "ROOT"),
    }
    settings = {"level": "core", "system": "order_first", "direction": "both", "is_trained": True}
    return fuzz.Case(**{**settings, **columns, **changes})


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("permutation", {"order": [0, 0, 2]}),
        ("tag", {"tags": ["", "NN", ""]}),
        ("arc", {"heads": [1, 2, ROOT]}),
        ("label", {"labels": ["obj", "", "ROOT"]}),
        ("tree", {"heads": [2, FREE, ROOT]}),
        ("tree", {"heads": [2, 0, ROOT], "order": [1, 2, 0]}),
        ("precedence", {"order": [1, 0, 2]}),
    ],
)
def test_a_broken_promise_is_noticed(kind, change):
    case = make_case(before=((0, 1),) if kind == "precedence" else ())
    good = {"order": [0, 1, 2], "tags": ["", "DT", ""], "heads": [2, 2, ROOT], "labels": ["det", "", "ROOT"]}
    fuzz.check_answer(case, fuzz.Answer(**good, score=0.0))
    with pytest.raises(fuzz.Broken) as problem:
        fuzz.check_answer(case, fuzz.Answer(**{**good, **change}, score=0.0))
    assert problem.value.kind == kind


def test_a_failing_bag_is_made_small():
    """Whatever else a bag has: what is left is what makes it fail."""
    rng = random.Random(5)
    cases = [case for case in (fuzz.random_case(rng, 0) for _ in range(300)) if case.words.count("dog") > 1]
    assert cases
    for case in cases[:5]:
        small = fuzz.shrink(case, lambda other: other.words.count("dog") > 1)
        assert small.words == ("dog", "dog")
        assert small.heads == (FREE, FREE)
        assert not small.pairs


def test_an_error_needs_a_reason():
    circle = make_case(before=((0, 1), (1, 0)))
    assert fuzz.check(circle) == "SL008"
    with pytest.raises(fuzz.Broken, match="there is an order"):
        fuzz.check(make_case(before=((0, 1), (1, 0)), is_possible=True))


# What the campaign has found.


def test_a_single_unit_with_the_joint_system():
    case = make_case(level="doc", system="joint", words=("a",), tags=("",), heads=(FREE,), labels=("",))
    assert fuzz.check(case) == "ordered"


def test_the_only_alternative_of_one_word():
    nlp = fuzz.pipeline("order_first", "both", True)
    component = nlp.get_pipe("linearizer")
    component.n_best, before = 2, component.n_best
    try:
        doc = nlp(fuzz.make_doc(nlp, make_case(words=("a",), tags=("",), heads=(FREE,), labels=("",))))
    finally:
        component.n_best = before
    assert spacy_linearize.alternative(doc, 0).text == "a"


@pytest.mark.parametrize("system", fuzz_cases.SYSTEMS)
def test_equal_words_with_unknown_tags_do_not_depend_on_input_order(system):
    """A tag that training never saw is kept: which of the equal words has it must not follow from their input order."""
    words, tags = ("a", "a", "a", "b"), ("no such tag", "", "", "")
    rows = set()
    for seed in range(1, 12):
        case = make_case(level="doc", system=system, words=words, tags=tags, heads=(FREE,) * 4, labels=("",) * 4)
        case = fuzz.shuffled(fuzz.replace(case, shuffle=seed))
        rows.add(tuple(fuzz.answers(case, 1)[0].rows(case.words)))
    assert len(rows) == 1


def test_units_with_equal_heads_do_not_depend_on_input_order():
    """Without arcs the last word of a unit stands for it: "big dog" and "red dog" are still not the same."""
    texts = set()
    nlp = fuzz.pipeline("order_first", "both", True)
    for words in ("big dog red dog saw", "red dog big dog saw"):
        doc = Doc(nlp.vocab, words=words.split())
        doc.spans["units"] = [doc[0:2], doc[2:4]]
        texts.add(nlp(doc).text)
    assert len(texts) == 1


def test_an_order_that_one_direction_does_not_find_in_time():
    """It used to be refused, with precedences named that an order does keep."""
    heads = (2, -1, 27, 17, -1, 7, 12, 28, 0, -1, 18, 5, -1, -1, 15, 1, 8, -1, 3, -1, 19, 16, 6, -1, 13, -1, 4, 25, 22)
    words = tuple(f"w{k}" for k in range(len(heads)))
    labels = tuple("dep" if head >= 0 else "" for head in heads)
    case = make_case(words=words, tags=("",) * len(heads), heads=heads, labels=labels, before=((1, 16),), width=1)
    case = fuzz.replace(case, fixed=((2, 7, 15),), direction="right_to_left", is_possible=True)
    assert fuzz.check(case) == "ordered"
