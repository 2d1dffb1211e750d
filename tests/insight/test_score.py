"""The score of an order, and the gap to the best one."""

import random

import pytest
from helpers.components import with_options
from helpers.random_docs import random_doc
from spacy.tokens import Doc

import spacy_linearize
from spacy_linearize.errors import LinearizeError


def test_the_score_of_the_best_order_is_that_of_the_search(nlp, component):
    rng = random.Random(4)
    for _ in range(100):
        doc = random_doc(nlp.vocab, rng)
        new = component(doc)
        result = component.score_order(new)
        assert result.score == pytest.approx(new._.linearization["score"])
        assert result.gap == pytest.approx(0)
        assert result.best_order == tuple(range(len(doc)))


@pytest.mark.parametrize("unit", [None, "together"])
def test_the_best_order_has_no_gap_whatever_the_tree(joint, unit):
    """The joint system may find another tree over the same order, once it is fixed."""
    rng = random.Random(7)
    n_equal = 0
    component = with_options(joint, beam_width=2, units=unit)
    for _ in range(150):
        doc = random_doc(joint.vocab, rng)
        doc.spans["together"] = [] if doc.has_annotation("DEP") or len(doc) < 2 else [doc[:2]]
        new = component(doc)
        result = component.score_order(new)
        assert result.score >= new._.linearization["score"] - 1e-6
        assert result.gap == 0
        assert [new[k].text for k in result.best_order] == [token.text for token in new]
        n_equal += len(set(doc.text.split())) < len(doc)
    assert n_equal > 20


def test_the_score_of_another_order(nlp, component):
    """Of the alternatives, each has the score that the search gave it, and the gap to the best one."""
    rng = random.Random(5)
    for _ in range(40):
        doc = random_doc(nlp.vocab, rng)
        best, *others = component.alternatives(doc, 4)
        for other in others:
            result = component.score_order(other)
            assert result.score == pytest.approx(other._.linearization["score"])
            assert result.gap == pytest.approx(best._.linearization["score"] - result.score)
            assert result.gap_per_word == pytest.approx(result.gap / len(doc))
            assert " ".join(other[k].text for k in result.best_order) == " ".join(token.text for token in best)


@pytest.mark.parametrize("tree", [True, False])
@pytest.mark.parametrize("units", [None, "together"])
@pytest.mark.parametrize("system", ["component", "joint"])
def test_the_best_order_is_ready_to_use(request, system, tree, units):
    """It is what the component returns, unless the Doc's own order is as good."""
    component = with_options(request.getfixturevalue(system), tree=tree, units=units)
    rng = random.Random(6)
    n_better = 0
    for _ in range(60):
        n = rng.randint(2, 9)
        doc = random_doc(component.vocab, rng, n)
        start = rng.randrange(n - 1)
        doc.spans["together"] = [] if doc.has_annotation("DEP") else [doc[start : start + 2]]
        try:
            result = component.score_order(doc)
        except LinearizeError:
            continue  # its arcs cross
        best = result.best
        assert result.best is best
        assert best._.linearization["order"] == result.best_order
        assert best._.linearization["score"] == pytest.approx(result.best_score)
        assert best._.linearization["gap"] == 0
        if result.gap:
            n_better += 1
            expected = component(doc)
            assert best.to_json() == expected.to_json()
            assert best._.linearization == expected._.linearization
        else:
            assert [token.text for token in best] == [token.text for token in doc]
    assert n_better > 20


def test_the_best_order_of_sentences_and_of_nothing(nlp, component):
    component.sentences = "sents"
    words = ["sees", "dog", "the", ".", "barks", "dog", "the", "."]
    doc = Doc(nlp.vocab, words=words, sent_starts=[True, *[False] * 3, True, *[False] * 3])
    result = component.score_order(doc)
    assert result.best.to_json() == component(doc).to_json()
    assert [len(sent) for sent in result.best.sents] == [4, 4]
    assert len(component.score_order(Doc(nlp.vocab)).best) == 0


def test_an_order_that_breaks_its_own_constraints(nlp, component):
    doc = Doc(nlp.vocab, words=["dog", "the", "sees"])
    doc._.linearize_before = [(2, 0)]
    with pytest.raises(LinearizeError, match=r"SL048.*word 2 'sees', word 0 'dog'"):
        component.score_order(doc)
    crossing = Doc(nlp.vocab, words=["a", "b", "c", "d"], heads=[2, 3, 2, 2], deps=["x", "x", "ROOT", "x"])
    with pytest.raises(LinearizeError, match=r"SL049.*word 1 'b'"):
        component.score_order(crossing)
    assert component.score_order(Doc(nlp.vocab)).gap == 0


@pytest.mark.parametrize("text", ["She came home.\n", " She came home.", "She\tcame  home .", "\n", "  "])
def test_white_space_is_no_word(text):
    nlp = spacy_linearize.load()
    component = nlp.get_pipe("linearizer")
    bare = component.score_order(nlp.make_doc(" ".join(text.split())))
    result = component.score_order(nlp.make_doc(text))
    assert (result.score, result.gap, result.probability) == (bare.score, bare.gap, bare.probability)
    assert result.moves == []
    assert result.to_dict()["better"] is None
    assert result.doc.text == text


def test_moves_around_white_space():
    """Their spans are those of the Doc, with its characters."""
    nlp = spacy_linearize.load("en_core_web")
    doc = nlp.make_doc("\nHe always  is late.")
    (move,) = nlp.get_pipe("linearizer").score_order(doc).moves
    assert (move.span.text, doc[move.before].text) == ("is", "always")
    assert doc.text[move.span.start_char : move.span.end_char] == "is"


@pytest.mark.parametrize("sentences", ["doc", "sents"])
def test_no_words(component, nlp, sentences):
    component.sentences = sentences
    result = component.score_order(Doc(nlp.vocab))
    assert (result.score, result.probability, result.best.text) == (0.0, None, "")
