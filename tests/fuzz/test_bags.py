"""A short run of the fuzz campaign over bags, see benchmarks/fuzz.py, and a check that it would notice."""

import random

import fuzz
import fuzz_cases
import pytest
from helpers.components import with_options
from spacy.tokens import Doc

import spacy_linearize
from spacy_linearize.trees import FREE, ROOT

pytestmark = pytest.mark.slow


def test_random_bags_keep_the_promises():
    report = fuzz.campaign(400, seed=3)
    assert not report.violations, report.violations
    assert report.counts["bags"] == 400
    assert report.counts["ordered"] > 300
    assert report.counts["SL008"] > 0  # some have no order


def test_a_few_random_bags_keep_the_promises():
    assert not fuzz.campaign(60, seed=4).violations


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


def test_a_single_unit_with_the_joint_system():
    case = make_case(level="doc", system="joint", words=("a",), tags=("",), heads=(FREE,), labels=("",))
    assert fuzz.check(case) == "ordered"


def test_the_only_alternative_of_one_word():
    nlp = fuzz.pipeline("order_first", "both", True)
    component = with_options(nlp.get_pipe("linearizer"), n_best=2)
    doc = component(fuzz.make_doc(nlp, make_case(words=("a",), tags=("",), heads=(FREE,), labels=("",))))
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
