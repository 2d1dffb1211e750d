"""N best orders, and the score of an order."""

import itertools
import math
import random
from typing import NamedTuple

import pytest
import spacy
from docs import bag
from random_docs import place_of, random_doc, settings
from spacy.tokens import Doc, DocBin
from spacy_linearize.build import best_orders

import spacy_linearize
from spacy_linearize.errors import LinearizeError


@pytest.fixture(scope="module")
def nlp(trained_path):
    return spacy.load(trained_path)


def test_n_best(nlp, component):
    rng = random.Random(3)
    component.n_best = 5
    n_several = 0
    for _ in range(60):
        doc = random_doc(nlp.vocab, rng)
        component.n_best = 5
        new = component(doc)
        found = new._.linearization["alternatives"]
        texts = [tuple(doc[k].text for k in one["order"]) for one in found]
        assert len(set(texts)) == len(texts) <= 5
        assert [one["score"] for one in found] == sorted((one["score"] for one in found), reverse=True)
        assert found[0]["order"] == new._.linearization["order"]
        assert found[0]["score"] == new._.linearization["score"]
        assert [one["gap"] for one in found] == [found[0]["score"] - one["score"] for one in found]
        assert new._.linearization["gap"] == 0
        docs = [spacy_linearize.alternative(new, rank) for rank in range(len(found))]
        for rank, (one, direct) in enumerate(zip(docs, component.alternatives(doc, 5), strict=True)):
            assert one.to_json() == direct.to_json()
            for key in ("order", "score", "gap"):
                assert one._.linearization[key] == direct._.linearization[key] == found[rank][key]
        n_several += len(found) > 1
    assert n_several > 40


def test_alternatives_survive_a_docbin(nlp, component):
    component.n_best = 3
    doc = Doc(nlp.vocab, words=["dog", "the", "sees", "Maria"])
    doc._.linearize_before = [(1, 0)]
    doc._.linearize_last = 0
    new = component(doc)
    data = DocBin(store_user_data=True, docs=[new, doc]).to_bytes()
    again, source = DocBin(store_user_data=True).from_bytes(data).get_docs(nlp.vocab)
    assert again._.linearization == new._.linearization
    assert again._.linearize_before == new._.linearize_before
    assert spacy_linearize.alternative(again, 1).text == spacy_linearize.alternative(new, 1).text
    assert component(source).text == new.text
    assert component(Doc(nlp.vocab).from_bytes(doc.to_bytes())).text == new.text


def test_alternatives_say_the_same_about_the_same_tokens(nlp, component):
    component.n_best = 20
    doc = Doc(nlp.vocab, words=["dog", "the", "sees", "Maria"])
    doc._.linearize_before = [(1, 0)]
    doc._.linearize_fixed = [[0, 3]]
    new = component(doc)
    n_found = len(new._.linearization["alternatives"])
    assert n_found == 4
    for rank in range(n_found):
        one = spacy_linearize.alternative(new, rank)
        place = place_of(one)
        assert one._.linearize_before == ((place[1], place[0]),)
        assert one._.linearize_fixed == ((place[0], place[3]),)
        assert place[1] < place[0] < place[3]


@pytest.mark.parametrize("rank", [-1, 3, "0", None, 0.0])
def test_no_such_alternative(nlp, component, rank):
    component.n_best = 3
    new = component(Doc(nlp.vocab, words=["dog", "the", "sees", "Maria"]))
    with pytest.raises(LinearizeError, match="SL047"):
        spacy_linearize.alternative(new, rank)
    with pytest.raises(LinearizeError, match=r"SL047.*holds 0"):
        spacy_linearize.alternative(Doc(nlp.vocab, words=["dog"]), 0)


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
def test_the_best_order_has_no_gap_whatever_the_tree(joint_nlp, unit):
    """The joint system may find another tree over the same order, once it is fixed."""
    rng = random.Random(7)
    n_equal = 0
    with settings(joint_nlp.get_pipe("linearizer"), beam_width=2, units=unit) as component:
        for _ in range(150):
            doc = random_doc(joint_nlp.vocab, rng)
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
            assert result.score_per_word == pytest.approx(result.score / len(doc))
            assert " ".join(other[k].text for k in result.best_order) == " ".join(token.text for token in best)


@pytest.mark.parametrize("tree", [True, False])
@pytest.mark.parametrize("units", [None, "together"])
@pytest.mark.parametrize("system", ["nlp", "joint_nlp"])
def test_the_best_order_is_ready_to_use(request, system, tree, units):
    """It is what the component returns, unless the Doc's own order is as good."""
    nlp = request.getfixturevalue(system)
    component = nlp.get_pipe("linearizer")
    rng = random.Random(6)
    n_better = 0
    with settings(component, tree=tree, units=units):
        for _ in range(60):
            n = rng.randint(2, 9)
            doc = random_doc(nlp.vocab, rng, n)
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


class Fake(NamedTuple):
    """An order of a sentence, as far as the ranking looks at it."""

    score: float
    name: str


@pytest.mark.parametrize("is_tied", [False, True])
def test_the_best_orders_of_several_sentences(is_tied):
    """All products of the orders of the sentences, by brute force."""
    rng = random.Random(7)
    for _ in range(200):
        lists = []
        for i in range(rng.randint(1, 4)):
            scores = [rng.randint(0, 3) if is_tied else rng.random() for _ in range(rng.randint(1, 5))]
            scores.sort(reverse=True)
            lists.append((None, [Fake(score, f"{i}.{k}") for k, score in enumerate(scores)]))
        products = list(itertools.product(*(range(len(results)) for _, results in lists)))
        gap_of = {
            ranks: math.fsum(own[0].score - own[k].score for (_, own), k in zip(lists, ranks, strict=True))
            for ranks in products
        }
        expected = sorted(products, key=lambda ranks: (gap_of[ranks], ranks))
        n_best = rng.choice([1, 2, 5, 1000])
        found = best_orders(lists, n_best)
        names = [[best.name for _, best in order.bags] for order in found]
        assert names == [[f"{i}.{k}" for i, k in enumerate(ranks)] for ranks in expected[:n_best]]
        assert [order.gap for order in found] == pytest.approx([gap_of[ranks] for ranks in expected[:n_best]])
        scores = [order.score for order in found]
        assert scores == sorted(scores, reverse=True)
        assert scores == pytest.approx([sum(best.score for _, best in order.bags) for order in found])


def test_many_sentences_have_their_best_orders_at_once():
    lists = [(None, [Fake(0.0, ""), Fake(-1.0 - i, "")]) for i in range(3000)]
    assert [order.gap for order in best_orders(lists, 5)] == [0.0, 1.0, 2.0, 3.0, 3.0]


def test_alternatives_change_one_sentence_first(nlp, component):
    """The second best order of a Doc has one sentence in its second best order: where that costs least."""
    texts = ["the dog sees a cat .", "who is in the house ?"]
    single = [component.alternatives(bag(nlp, text), 3) for text in texts]
    doc = Doc(nlp.vocab, words=" ".join(texts).split(), sent_starts=[i in (0, 6) for i in range(12)])
    component.sentences, component.n_best = "sents", 3
    found = component.alternatives(doc, 3)
    least = min(orders[1]._.linearization["gap"] for orders in single)
    assert found[1]._.linearization["gap"] == pytest.approx(least)
    texts = [[token.text for token in new] for new in found]
    assert len(set(map(tuple, texts))) == 3
    record = component(doc)._.linearization["alternatives"]
    assert [one["order"] for one in record] == [new._.linearization["order"] for new in found]
