"""Everything that a Doc has moves with its words."""

import itertools
import random
import warnings

import numpy as np
import pytest
from helpers.docs import bag
from spacy.tokens import Doc, DocBin, Span, Token

import spacy_linearize


@pytest.fixture
def doc(nlp):
    for name in ("colour", "size"):
        Token.set_extension(name, default=None, force=True)
    Span.set_extension("kind", default=None, force=True)
    Doc.set_extension("source", default=None, force=True)
    doc = Doc(
        nlp.vocab,
        words=["door", "the", "opened", "?", "Who"],
        pos=["NOUN", "DET", "VERB", "PUNCT", "PRON"],
        morphs=["Number=Sing", "Definite=Def", "Tense=Past", "", "PronType=Int"],
        lemmas=["door", "the", "open", "?", "who"],
        ents=["B-OBJ", "I-OBJ", "O", "O", "B-PERS"],
    )
    doc[2].norm_ = "OPENED"
    doc[0]._.colour = "red"
    doc[4]._.size = 7
    doc[0:2]._.kind = "noun phrase"
    doc[1:3]._.kind = "apart afterwards"
    doc._.source = "here"
    doc.user_data["anything"] = {"x": 1}
    doc.cats = {"QUESTION": 1.0}
    doc.spans["phrases"] = [doc[0:2], Span(doc, 4, 5, label="WH", span_id="7"), doc[1:3]]
    doc.spans["phrases"].attrs["by"] = "hand"
    doc.user_hooks["sentiment"] = len
    doc.user_token_hooks["lower"] = str
    doc.user_span_hooks["root"] = len
    doc._context = "context"
    return doc


def test_tokens(nlp, doc):
    out = nlp(doc)
    assert out.text == "Who opened the door?"
    assert [t.pos_ for t in out] == ["PRON", "VERB", "DET", "NOUN", "PUNCT"]
    assert [t.lemma_ for t in out] == ["who", "open", "the", "door", "?"]
    assert [str(t.morph) for t in out] == ["PronType=Int", "Tense=Past", "Definite=Def", "Number=Sing", ""]
    assert [t.norm_ for t in out] == ["who", "OPENED", "the", "door", "?"]
    assert [t._.colour for t in out] == [None, None, None, "red", None]
    assert [t._.size for t in out] == [7, None, None, None, None]


def test_spans_that_stay_together(nlp):
    doc = bag(nlp, "? Who opened the door")
    doc.set_ents([Span(doc, 1, 2, label="PERS"), Span(doc, 3, 5, label="OBJ", kb_id="Q1")])
    doc.spans["phrases"] = [Span(doc, 1, 5, label="ALL", span_id="7"), doc[3:5]]
    doc.spans["phrases"].attrs["by"] = "hand"
    Span.set_extension("kind", default=None, force=True)
    doc[3:5]._.kind = "noun phrase"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = nlp(doc)
    assert out.text == "Who opened the door?"
    assert [(e.text, e.label_, e.kb_id_) for e in out.ents] == [("Who", "PERS", ""), ("the door", "OBJ", "Q1")]
    found = [(s.text, s.label_, s.id_) for s in out.spans["phrases"]]
    assert found == [("Who opened the door", "ALL", "7"), ("the door", "", "")]
    assert out.spans["phrases"].attrs == {"by": "hand"}
    assert out[2:4]._.kind == "noun phrase"
    assert out._.linearization["dropped"] == ()


def test_spans_that_come_apart_are_dropped(nlp, component):
    """Also those whose tokens meet again in another sequence: "the opened", "door the"."""
    Span.set_extension("kind", default=None, force=True)
    doc = bag(nlp, "Who ? the opened door the")
    doc.set_ents([Span(doc, 0, 2, label="X", kb_id="Q1", span_id="7")])
    doc.spans["pairs"] = [doc[0:2], doc[2:4], doc[5:6], Span(doc, 1, 1)]
    doc[2:4]._.kind = "apart afterwards"
    with pytest.warns(UserWarning, match=r"SL059.*'Who \?' \(doc.ents, X\), .*'the opened' \(span._.kind\)") as caught:
        out = component(doc)
    assert len(caught) == 1
    assert out.ents == ()
    assert {(t.ent_id, t.ent_kb_id) for t in out} == {(0, 0)}
    assert [s.text for s in out.spans["pairs"]] == ["the"]
    expected = (
        ("doc.ents", "X", "Who ?"),
        ("doc.spans['pairs']", "", "Who ?"),
        ("doc.spans['pairs']", "", "the opened"),
        ("doc.spans['pairs']", "", ""),
        ("span._.kind", "", "the opened"),
    )
    assert out._.linearization["dropped"] == expected
    again = next(DocBin(docs=[out], store_user_data=True).get_docs(nlp.vocab))
    assert again._.linearization["dropped"] == expected
    with warnings.catch_warnings():  # once is enough
        warnings.simplefilter("error")
        assert component(doc)._.linearization["dropped"] == expected


def test_what_alternatives_drop(component):
    component.n_best = 20
    doc = Doc(component.vocab, words=["the", "dog", "sees", "Maria"])
    doc.ents = [Span(doc, 0, 2, label="X")]
    new = component(doc)
    for rank in range(len(new._.linearization["alternatives"])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one = spacy_linearize.alternative(new, rank)
        assert (len(one.ents) == 1) != (one._.linearization["dropped"] == (("doc.ents", "X", "the dog"),))


def test_ids_of_tokens_outside_of_entities(nlp):
    doc = bag(nlp, "door the opened ? Who")
    doc[0].ent_id_, doc[2].ent_kb_id_ = "7", "Q1"
    for ents in ([], [Span(doc, 4, 5, label="PERS", kb_id="Q2")]):
        if ents:
            doc.set_ents(ents, default="unmodified")
        out = nlp(doc)
        ids = {t.text: (t.ent_id_, t.ent_kb_id_) for t in out if t.ent_id or t.ent_kb_id}
        assert ids == {"door": ("7", ""), "opened": ("", "Q1"), **({"Who": ("", "Q2")} if ents else {})}
        assert [e.kb_id_ for e in out.ents] == ["Q2"] * len(ents)


def test_vectors_and_tensors(nlp):
    doc = bag(nlp, "door the opened ? Who")
    doc.vector = np.array([1.0, 2.0])
    for tensor in (np.zeros((3, 2)), np.float32(3.0), np.ones((1, 5))):
        doc.tensor = tensor
        out = nlp(doc)
        assert out.tensor is tensor
        assert out.vector.tolist() == [1.0, 2.0]


def test_values_of_tokens_that_are_no_more(nlp):
    Token.set_extension("colour", default=None, force=True)
    doc = bag(nlp, "door the opened ? Who")
    doc[1]._.colour = "red"
    doc[2]._.colour = "blue"
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    out = nlp(doc)
    assert {t.text: t._.colour for t in out} == {"door the": None, "opened": "blue", "?": None, "Who": None}


def test_missing_entities_stay_missing(nlp):
    doc = bag(nlp, "door the opened ? Who")
    doc.set_ents([Span(doc, 4, 5, label="PERS")], missing=[doc[0:2]], outside=[doc[2:4]])
    out = nlp(doc)
    assert {t.text: t.ent_iob_ for t in out} == {"Who": "B", "opened": "O", "the": "", "door": "", "?": "O"}


def test_blocked_entities_stay_blocked(nlp):
    doc = bag(nlp, "door the opened ? Who")
    doc.set_ents([Span(doc, 4, 5, label="PERS")], blocked=[doc[0:1]])
    out = nlp(doc)
    place = [t.text for t in out].index("door")
    assert out.to_array(["ENT_IOB", "ENT_TYPE"])[place].tolist() == [3, 0]
    assert [e.text for e in out.ents] == ["Who"]


def test_the_rest(nlp, doc):
    out = nlp(doc)
    assert out._.source == "here"
    assert out.user_data["anything"] == {"x": 1}
    assert out.cats == {"QUESTION": 1.0}
    assert out._context == "context"
    assert out.user_hooks == {"sentiment": len}
    assert out.user_token_hooks == {"lower": str}
    assert out.user_span_hooks == {"root": len}
    doc.sentiment = 0.5
    doc.user_hooks.clear()
    assert nlp(doc).sentiment == 0.5
    doc.tensor = np.arange(10).reshape(5, 2)
    assert nlp(doc).tensor.tolist() == [[8, 9], [4, 5], [2, 3], [0, 1], [6, 7]]


@pytest.mark.parametrize("setting", ["free", "partial", "full"])
def test_equal_words_that_are_not_the_same(nlp, setting):
    """Text, tags and tree do not depend on the order of the input, whatever else equal words have."""
    rng = random.Random(5)
    for _ in range(40):
        n = rng.randint(4, 12)
        words = rng.choices(["the", "dog", "saw", ","], k=n)
        arcs = [0, *(rng.randrange(k) for k in range(1, n))]
        share = {"free": 0.0, "partial": 0.5, "full": 1.0}[setting]
        given = [k == 0 or rng.random() < share for k in range(n)] if share else [False] * n
        lemmas, tags = rng.choices("abc", k=n), rng.choices(["", "NN", "DT"], k=n)
        found = []
        for sequence in (list(range(n)), rng.sample(range(n), n)):
            place = {k: i for i, k in enumerate(sequence)}
            doc = Doc(
                nlp.vocab,
                words=[words[k] for k in sequence],
                lemmas=[lemmas[k] for k in sequence],
                tags=[tags[k] for k in sequence],
                heads=[place[arcs[k]] if given[k] else None for k in sequence],
                deps=["" if not given[k] else "ROOT" if k == 0 else "dep" for k in sequence],
            )
            found.append([(t.text, t.tag_, t.head.i, t.dep_) for t in nlp(doc)])
        assert found[0] == found[1]


def test_an_ignored_tree_over_equal_words(nlp, component):
    """It goes with its tokens, and stays a tree."""
    words, heads = ["the", "dog", "saw", "the", "dog"], [1, 2, 2, 4, 2]
    component.use_heads = False
    for sequence in itertools.permutations(range(5)):
        place = {k: i for i, k in enumerate(sequence)}
        doc = Doc(
            nlp.vocab,
            words=[words[k] for k in sequence],
            heads=[place[heads[k]] for k in sequence],
            deps=["ROOT" if k == 2 else "dep" for k in sequence],
        )
        new = component(doc)
        order = new._.linearization["order"]
        assert [order[token.head.i] for token in new] == [doc[k].head.i for k in order]
        assert len(list(new.sents)) == 1
