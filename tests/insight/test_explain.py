"""Explanations add up, name real alternatives, and can be read."""

import json
import random
from dataclasses import replace

import pytest
from helpers.docs import read_docs, shuffled
from spacy.tokens import Doc, Span

from spacy_linearize.errors import LinearizeError
from spacy_linearize.training.corpus import give


@pytest.mark.parametrize("heads", [0, 0.5, 1])
def test_adds_up(nlp, component, heads):
    """The steps of a derivation add up to its score, the derivations to that of the order."""
    rng = random.Random(0)
    for gold in read_docs(nlp.vocab)[:12]:
        doc = give(shuffled(gold, rng), 0.5, heads, rng=rng)
        (explanation,) = component.explain(doc, n_rivals=100, n_reasons=1000)
        new = component(doc)
        assert explanation.words == tuple(token.text for token in new)
        assert explanation.score == pytest.approx(new._.linearization["score"])
        assert len(explanation.derivations) == 2
        for derivation in explanation.derivations:
            assert derivation.score == pytest.approx(sum(step.score for step in derivation.steps))
            words = [step.action for step in derivation.steps]
            in_order = words if derivation.direction == "left to right" else words[::-1]
            assert tuple(in_order) == explanation.words
            for step in derivation.steps:
                assert step.n_legal == len(step.rivals) + 1
                assert [r.score for r in step.rivals] == sorted((r.score for r in step.rivals), reverse=True)
                for rival in step.rivals:
                    # All features together are the whole difference.
                    assert sum(r.weight for r in rival.reasons) == pytest.approx(step.score - rival.score)


def test_joint_system(joint):
    doc = Doc(joint.vocab, words=["dog", "the", "sees", "Maria"])
    (explanation,) = joint.explain(doc)
    assert explanation.score == pytest.approx(joint(doc)._.linearization["score"])
    actions = [step.action for step in explanation.derivations[0].steps]
    assert len(actions) == 2 * 4 - 1
    assert sum("ARC" in action for action in actions) == 3


def test_texts_and_data(nlp, component):
    doc = Doc(
        nlp.vocab,
        words=["dog", "the", "sleeps"],
        heads=[2, 0, 2],
        deps=["nsubj", "det", "ROOT"],
        tags=["NN", "DT", "VBZ"],
    )
    (explanation,) = component.explain(doc, n_rivals=1, n_reasons=3)
    text = str(explanation)
    assert text.startswith("the dog sleeps")
    assert "left to right" in text
    assert "right to left" in text
    assert "rather than" in text
    data = json.loads(json.dumps(explanation.to_dict()))
    first = data["derivations"][0]["steps"][0]
    assert (first["action"], first["position"]) == ("the", 1)
    assert all(len(rival["reasons"]) <= 3 for step in data["derivations"][0]["steps"] for rival in step["rivals"])
    templates = {r["template"] for rival in first["rivals"] for r in rival["reasons"]}
    known = {*component.engine.experts["tree"][0].features.templates, "language model"}
    known |= set(component.engine.experts["tree"][0].features.pair_templates)
    assert templates <= known


def test_values_are_texts(nlp, component):
    """Forms, tags and labels are spelt out, for given ones as for usual ones."""
    doc = Doc(nlp.vocab, words=["dog", "the"], tags=["NN", "DT"])
    (explanation,) = component.explain(doc, n_rivals=5, n_reasons=1000)
    step = explanation.derivations[0].steps[0]
    instances = {reason.instance for rival in step.rivals for reason in rival.reasons}
    assert any("W0.p=<start>" in instance and "L.w=the" in instance for instance in instances)
    assert not any("#" in instance for instance in instances)


def test_constraints_leave_fewer_choices(nlp, component):
    doc = Doc(nlp.vocab, words=["dog", "the", "sees", "Maria", "."])
    doc._.linearize_first = 3
    (explanation,) = component.explain(doc)
    assert explanation.words[0] == "Maria"
    assert explanation.derivations[0].steps[0].n_legal == 1


def test_units_are_words(nlp, component):
    doc = Doc(nlp.vocab, words=["dog", "the", "old", "sees", "Maria"])
    doc.spans["units"] = [Span(doc, 1, 3)]
    component.units = "units"
    (explanation,) = component.explain(doc)
    assert "the old" in explanation.words
    assert len(explanation.words) == 4


@pytest.mark.parametrize("key", ["n_rivals", "n_reasons"])
def test_bad_numbers(nlp, component, key):
    doc = Doc(nlp.vocab, words=["dog", "the"])
    with pytest.raises(LinearizeError, match=rf"SL022.*'{key}' is -1"):
        component.explain(doc, **{key: -1})


def test_one_word(nlp, component):
    """Only its steps have rivals; everything else is as without."""
    doc = Doc(nlp.vocab, words=["dog", "the", "sees", "Maria"])
    (whole,) = component.explain(doc)
    for word in range(4):
        (explanation,) = component.explain(doc, word=word)
        for derivation, all_of_it in zip(explanation.derivations, whole.derivations, strict=True):
            assert derivation.score == all_of_it.score
            for step, full in zip(derivation.steps, all_of_it.steps, strict=True):
                assert step == full if step.position == word else step == replace(full, rivals=())


def test_another_order(nlp, component):
    doc = Doc(nlp.vocab, words=["dog", "the", "sees", "Maria"])
    orders = component.alternatives(doc, 4)
    assert len(orders) == 4
    for rank, order in enumerate(orders):
        (explanation,) = component.explain(doc, rank=rank)
        assert explanation.words == tuple(token.text for token in order)
        assert explanation.score == pytest.approx(order._.linearization["score"])
    (last,) = component.explain(doc, rank=1000)
    assert last.score <= orders[-1]._.linearization["score"]
    with pytest.raises(LinearizeError, match="rank"):
        component.explain(doc, rank=-1)
