"""Why a word stands where it does, in words."""

import pytest
from helpers.page import DOOR, Page
from helpers.rerankers import Fake
from spacy.tokens import Doc, Span

from spacy_linearize.view.why import show_why


@pytest.mark.parametrize("word", range(5))
def test_rivals_and_features(component, word):
    doc = Doc(component.vocab, words=DOOR)
    page = Page(show_why(component, doc, word))
    assert [h2["text"] for h2 in page.find("h2")] == [f"Why “{DOOR[word]}” here?"]
    assert [h3["text"] for h3 in page.find("h3")] == ["Left to right", "Right to left"]
    (explanation,) = component.explain(doc, n_rivals=3, n_reasons=5)
    for derivation, shown in zip(explanation.derivations, page.find("div", "direction"), strict=True):
        (step,) = [step for step in derivation.steps if step.position == word]
        for rival in step.rivals:
            assert f"rather than {rival.action}, {rival.score:+.1f}" in shown["text"]
            for reason in rival.reasons:
                assert f"{reason.weight:+.1f}{reason.instance}"[:60] in shown["text"]
        if not step.rivals:
            assert "no other word could stand here" in shown["text"]


def test_where_it_stands(component):
    doc = Doc(component.vocab, words=DOOR)
    assert "As the first word" in show_why(component, doc, 4)
    assert "As the last word" in show_why(component, doc, 3)
    assert "After “Who opened”" in show_why(component, doc, 1)
    assert "Before “door ?”" in show_why(component, doc, 1)


def test_units(component):
    """Each word of a unit is explained by the place of the unit."""
    doc = Doc(component.vocab, words=["sees", "the", "dog", "Maria"])
    doc.spans["linearize_units"] = [Span(doc, 1, 3)]
    both = [show_why(component, doc, word) for word in (1, 2)]
    assert all(page.count('class="direction"') == 2 for page in both)
    assert both[0].partition("</h2>")[2] == both[1].partition("</h2>")[2]


def test_one_word(component):
    assert "no other word could stand here" in show_why(component, Doc(component.vocab, words=["dog"]), 0)


def test_two_opinions(component):
    component.reranker = Fake()
    doc = Doc(component.vocab, words=DOOR)
    page = Page(show_why(component, doc, 0))
    (explanation,) = component.explain(doc, n_rivals=3, word=0)
    assert [h3["text"] for h3 in page.find("h3")][-1] == "Two opinions"
    assert explanation.choices
    for choice in explanation.choices:
        assert f"{choice.score - choice.second:.1f}{choice.second:+.1f}{choice.text}" in page.text
