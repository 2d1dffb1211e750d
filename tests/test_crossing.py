"""Crossing arcs, from Docs to Docs: a linearizer that was trained on a few Dutch sentences."""

import random
from pathlib import Path

import pytest
import spacy
from helpers.components import with_options
from helpers.page import Page
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.converters import conllu_to_docs

import spacy_linearize
from spacy_linearize.errors import LinearizeError
from spacy_linearize.training.corpus import give
from spacy_linearize.trees import ROOT, is_projective
from spacy_linearize.view import render

TEXT = (Path(__file__).parent / "data" / "mini_nl.conllu").read_text(encoding="utf8")


@pytest.fixture(scope="module")
def golds():
    return list(conllu_to_docs(TEXT, n_sents=1, no_print=True))


@pytest.fixture(scope="module")
def nlp(golds):
    nlp = spacy.blank("nl")
    nlp.add_pipe("linearizer", config={"model": {"table_bits": 16, "attach_bits": 14}})
    examples = [Example(give(gold, 1, 1), gold) for gold in golds]
    nlp.initialize(lambda: examples)
    for _ in range(12):
        nlp.update(examples, drop=0.0)
    return nlp


def heads_of(doc):
    return [ROOT if token.head.i == token.i else token.head.i for token in doc]


def shuffled(nlp, gold, rng):
    """The words of a sentence in any order, with its tree."""
    order = rng.sample(range(len(gold)), len(gold))
    place = {k: i for i, k in enumerate(order)}
    return Doc(
        nlp.vocab,
        words=[gold[k].text for k in order],
        tags=[gold[k].tag_ for k in order],
        heads=[place[gold[k].head.i] for k in order],
        deps=[gold[k].dep_ for k in order],
    )


def test_sentences_come_back_with_their_arcs(nlp, golds):
    rng = random.Random(0)
    n_crossing = 0
    for gold in golds:
        new = nlp(shuffled(nlp, gold, rng))
        assert [token.text for token in new] == [token.text for token in gold]
        assert heads_of(new) == heads_of(gold)
        assert [token.dep_ for token in new] == [token.dep_ for token in gold]
        lifted = new._.linearization["lifted"]
        assert bool(lifted) == (not is_projective(heads_of(gold)))
        heads = heads_of(new)
        for word, head in lifted:
            assert heads[word] != head
            heads[word] = head
        assert is_projective(heads)
        n_crossing += bool(lifted)
    assert n_crossing == 15


def test_projective_forbids_it(nlp, golds):
    with_arcs = [gold for gold in golds if not is_projective(heads_of(gold))]
    linearizer = with_options(nlp.get_pipe("linearizer"), projective=True)
    for gold in with_arcs:
        new = linearizer(shuffled(nlp, gold, random.Random(1)))
        assert is_projective(heads_of(new))
        assert new._.linearization["lifted"] == ()
        with pytest.raises(LinearizeError, match="SL049"):
            linearizer.score_order(shuffled(nlp, gold, SameOrder()))


class SameOrder:
    """A shuffler that leaves all as it is."""

    def sample(self, values, n):
        return list(values)


def test_alternatives(nlp, golds):
    linearizer = nlp.get_pipe("linearizer")
    doc = shuffled(nlp, golds[0], random.Random(2))
    found = linearizer.alternatives(doc, 4)
    assert len({new.text for new in found}) == 4
    assert found[0]._.linearization["lifted"]
    best = with_options(linearizer, n_best=4)(doc)
    for rank, new in enumerate(found):
        again = spacy_linearize.alternative(best, rank)
        assert (again.text, heads_of(again)) == (new.text, heads_of(new))
        assert again._.linearization["lifted"] == new._.linearization["lifted"]
        arcs = {(token.text, token.head.text, token.dep_) for token in new}
        assert arcs == {(token.text, token.head.text, token.dep_) for token in golds[0]}


def test_score_order(nlp, golds):
    """An order is scored with what the model lifts, or with what it has to lift itself."""
    linearizer = nlp.get_pipe("linearizer")
    for gold in golds:
        own = shuffled(nlp, gold, SameOrder())
        assert linearizer.score_order(own).gap == pytest.approx(0)
        other = shuffled(nlp, gold, random.Random(3))
        result = linearizer.score_order(other)
        assert result.gap >= 0
        assert [token.text for token in result.best] == [token.text for token in gold] or result.gap == 0


def test_explain(nlp, golds):
    (explained,) = nlp.get_pipe("linearizer").explain(shuffled(nlp, golds[1], random.Random(4)), n_reasons=99)
    assert explained.lifted == (("woont", "gezien"),)
    assert "woont is ordered as if it were below gezien" in str(explained)
    assert "acl:relcl||obj" in str(explained)
    assert explained.to_dict()["lifted"] == (("woont", "gezien"),)


def test_view(nlp, golds):
    bag = shuffled(nlp, golds[1], random.Random(4))
    page = Page(render(nlp.get_pipe("linearizer").alternatives(bag, 1), bag))
    assert "Arcs that cross have the colours of their words. woont is ordered as if it were below gezien." in page.text


def test_precedences(nlp, golds):
    """A precedence that only the given tree allows: then nothing is lifted."""
    doc = shuffled(nlp, golds[1], SameOrder())
    doc._.linearize_before = [(7, 4)]  # "woont" before "gezien"
    new = nlp(doc)
    place = {token.text: token.i for token in new}
    assert place["woont"] < place["gezien"]
    assert {(t.text, t.head.text) for t in new} == {(t.text, t.head.text) for t in golds[1]}


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_partial_trees(nlp, golds, share):
    for gold in golds:
        given = give(gold, 1, share, rng=random.Random(5))
        arcs = {(t.i, t.head.i, t.dep_) for t in given if t.has_head()}
        new = nlp(given)
        order = new._.linearization["order"]
        assert arcs <= {(order[t.i], order[t.head.i], t.dep_) for t in new}
        assert sum(t.head.i == t.i for t in new) == 1


def test_units(nlp, golds):
    doc = shuffled(nlp, golds[0], SameOrder())
    doc.spans["noun"] = [doc[2:4]]
    new = with_options(nlp.get_pipe("linearizer"), units="noun")(doc)
    assert new.text.replace(" ", "") == golds[0].text.replace(" ", "")
    assert heads_of(new) == heads_of(golds[0])
    assert len(new._.linearization["lifted"]) == 1


def test_stored(nlp, golds, tmp_path):
    nlp.to_disk(tmp_path)
    doc = shuffled(nlp, golds[0], random.Random(6))
    again = spacy.load(tmp_path)(doc)
    assert again.text == nlp(doc).text
    assert again._.linearization == nlp(doc)._.linearization
