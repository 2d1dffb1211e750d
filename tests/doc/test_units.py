"""Units: tokens that stay together."""

import random
from pathlib import Path

import pytest
import spacy
from helpers import brute
from helpers.components import with_options
from helpers.random_docs import WORDS, permuted, place_of, random_doc, random_pairs, random_units, try_order, units
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_linearize.errors import LinearizeError
from spacy_linearize.files.convert import convert
from spacy_linearize.training.corpus import Corpus

DATA = Path(__file__).parent.parent / "data"


def test_units_stay_together(nlp, component):
    rng = random.Random(1)
    component.units = "units"
    n_ordered = 0
    for _ in range(400):
        doc = random_doc(nlp.vocab, rng, share=0.3)
        doc.spans["units"] = random_units(doc, rng)
        doc._.linearize_before = random_pairs(rng, len(doc))[:1]
        new = try_order(component, doc, "SL008", "SL064", "SL067", "SL068", "SL069")
        if new is None:
            continue
        n_ordered += len(doc) > 1
        place = place_of(new)
        for span in doc.spans["units"]:
            assert [place[k] for k in range(span.start, span.end)] == list(
                range(place[span.start], place[span.start] + len(span))
            )
        # Also the spaces between their tokens.
        assert [span.text for span in new.spans["units"]] == [span.text for span in doc.spans["units"]]
        assert sorted(place) == list(range(len(doc)))
        heads = [brute.ROOT if token.head.i == token.i else token.head.i for token in new]
        assert heads.count(brute.ROOT) == 1
        assert brute.is_projective(heads)
        for token in doc:
            if token.has_head() and token.head.i != token.i:
                assert new[place[token.i]].head.i == place[token.head.i]
            assert token.tag in (0, new[place[token.i]].tag)
        again = component(new)  # each unit is tied to the outside by one word: the answer is a bag again
        assert sorted(again._.linearization["order"]) == sorted(place)
    assert n_ordered > 100


@pytest.mark.parametrize("system", ["component", "joint"])
def test_an_answer_is_a_bag_again(nlp, request, system):
    """Of words alone, with and without arcs."""
    component = with_options(request.getfixturevalue(system), units="units")
    rng = random.Random(5)
    for _ in range(100):
        doc = Doc(nlp.vocab, words=rng.sample(WORDS, rng.randint(2, min(8, len(WORDS)))))
        doc.spans["units"] = random_units(doc, rng)
        new = component(doc)
        again = component(new)
        place = place_of(again)
        assert [again[place[token.i]].head.i for token in new] == [place[token.head.i] for token in new]
        for span in new.spans["units"]:
            tied = [t for t in span if t.head.i == t.i or t.head not in span]
            assert len(tied) == 1
            assert not [t for t in new if t not in span and t.head in span and t.head != tied[0]]


def test_a_unit_is_tied_by_its_head(nlp, component):
    """New York City, with a preposition that hangs on its head: all of its annotation is there afterwards."""
    words = ["lives", "New", "York", "City", "She", "in", "."]
    deps = ["ROOT", "compound", "compound", "obl", "nsubj", "case", "punct"]
    doc = Doc(nlp.vocab, words=words, heads=[0, 3, 3, 0, 0, 3, 0], deps=deps, lemmas=[w.lower() for w in words])
    doc.ents = [Span(doc, 1, 4, label="GPE")]
    component.units = "ents"
    new = component(doc)
    assert "New York City" in " ".join(token.text for token in new)
    assert [ent.text for ent in new.ents] == ["New York City"]
    assert {(token.text, token.head.text, token.dep_, token.lemma_) for token in new} == {
        (token.text, token.head.text, token.dep_, token.lemma_) for token in doc
    }


def test_the_joint_system_orders_units(joint):
    joint.units = "units"
    rng = random.Random(2)
    for _ in range(40):
        doc = Doc(joint.vocab, words=rng.sample(WORDS, 5))
        doc.spans["units"] = [Span(doc, 1, 3, label="U")]
        new = joint(doc)
        place = place_of(new)
        assert place[2] == place[1] + 1
        heads = [brute.ROOT if token.head.i == token.i else token.head.i for token in new]
        assert heads.count(brute.ROOT) == 1
        assert brute.is_projective(heads)


def seen(doc):
    """All that a shuffled input must not change."""
    return [(token.text, token.tag_, token.head.i, token.dep_) for token in doc]


def check_permuted(component, doc):
    rng = random.Random(0)
    expected = seen(component(doc))
    for _ in range(8):
        assert seen(component(permuted(doc, rng))) == expected


@pytest.mark.parametrize("system", ["component", "joint"])
def test_units_that_differ_inside_are_not_the_same(request, system):
    """Both sequences of two units with equal heads are found, and which is better does not depend on the input."""
    component = with_options(request.getfixturevalue(system), units="units", beam_width=300)
    words = ["New", "York", "sees", "Old", "York"]
    doc = units(Doc(component.vocab, words=words), (0, 2), (3, 5))
    texts = [" ".join(token.text for token in one) for one in component.alternatives(doc, 10)]
    assert len(texts) == len(set(texts)) == 6
    assert {"New York sees Old York", "Old York sees New York"} <= set(texts)
    check_permuted(component, doc)
    # But where they do not differ, one is as good as the other.
    same = units(Doc(component.vocab, words=["Old", "York", "sees", "Old", "York"]), (0, 2), (3, 5))
    assert len(component.alternatives(same, 10)) == 3


def test_noun_chunks_are_units(nlp, component):
    component.units = "noun_chunks"
    words = ["sees", "the", "old", "dog", "Maria"]
    doc = Doc(
        nlp.vocab,
        words=words,
        pos=["VERB", "DET", "ADJ", "NOUN", "PROPN"],
        heads=[0, 3, 3, 0, 0],
        deps=["ROOT", "det", "amod", "obj", "nsubj"],
    )
    new = component(doc)
    assert "the old dog" in new.text
    doc = Doc(Vocab(), words=words)
    with pytest.raises(LinearizeError, match=r"SL062.*'linearizer' has units = 'noun_chunks'"):
        component(doc)


def test_noun_chunks_of_a_model_that_knows_noun_phrases(tmp_path):
    """Trained on brackets with base noun phrases in one piece: an ordinary Doc's noun chunks are such words."""
    convert(DATA / "mini.mrg", tmp_path / "train.spacy", base_nps=True, report=print)
    nlp = spacy.blank("en")
    component = nlp.add_pipe(
        "linearizer", config={"model": {"table_bits": 14, "attach_bits": 10}, "units": "noun_chunks"}
    )
    corpus = Corpus(tmp_path / "train.spacy", settings=[[0, 0], [1, 1]], resample=True)
    nlp.initialize(lambda: corpus(nlp))
    phrase = next(
        token.text for eg in corpus(nlp) for token in eg.reference if token.tag_ == "NP" and " " in token.text
    )
    texts = [*phrase.split(), "sleeps"]
    n = len(texts) - 1
    doc = Doc(
        nlp.vocab,
        words=texts,
        tags=["NN"] * n + ["VBZ"],
        pos=["NOUN"] * n + ["VERB"],
        heads=[n - 1] * (n - 1) + [n, n],
        deps=["det"] * (n - 1) + ["nsubj", "ROOT"],
    )
    (words,) = component.reader.read(doc)
    assert [nlp.vocab.strings[int(key)] for key in words.forms] == [phrase, "sleeps"]
    assert [nlp.vocab.strings[int(key)] for key in words.tags] == ["NP", "VBZ"]
    new = component(doc)
    assert phrase in new.text
    assert {token.tag_ for token in new} == {"NN", "VBZ"}


def test_an_empty_span_is_no_unit(nlp, component):
    component.units = "units"
    doc = Doc(nlp.vocab, words=["dog", "the", "sees"])
    for ranges in ([(1, 1)], [(0, 0), (0, 2), (2, 2), (3, 3)]):
        units(doc, *ranges)
        assert sorted(token.text for token in component(doc)) == ["dog", "sees", "the"]


def test_bad_units(nlp, component):
    component.units = "units"
    words = ["dog", "the", "sees", "Maria"]
    with pytest.raises(LinearizeError, match=r"SL063.*'units'"):
        component(Doc(nlp.vocab, words=words))
    with pytest.raises(LinearizeError, match=r"SL066.*word 1 'the'"):
        component(units(Doc(nlp.vocab, words=words), (0, 2), (1, 3)))
    two = Doc(nlp.vocab, words=words, heads=[2, 3, None, None], deps=["x", "x", "", ""])
    with pytest.raises(LinearizeError, match=r"SL067.*word 0 'dog', word 1 'the'"):
        component(units(two, (0, 2)))
    inner = Doc(nlp.vocab, words=words, heads=[2, None, None, 1], deps=["x", "", "", "x"])
    with pytest.raises(LinearizeError, match=r"SL068.*word 1 'the', word 0 'dog'"):
        component(units(inner, (0, 2)))
    covered = Doc(nlp.vocab, words=words, heads=[2, 3, None, None], deps=["x", "x", "", ""])
    with pytest.raises(LinearizeError, match=r"SL069.*word 0 'dog', word 1 'the', word 2 'sees'"):
        component(units(covered, (0, 3)))
    turned = units(Doc(nlp.vocab, words=words), (0, 2))
    turned._.linearize_before = [(1, 0)]
    with pytest.raises(LinearizeError, match=r"SL064.*word 1 'the', word 0 'dog'"):
        component(turned)
    component.sentences = "sents"
    across = Doc(nlp.vocab, words=words, sent_starts=[True, False, True, False])
    with pytest.raises(LinearizeError, match=r"SL065.*word 1 'the'"):
        component(units(across, (1, 3)))
