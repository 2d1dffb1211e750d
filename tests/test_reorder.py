"""Everything that a Doc has moves with its words."""

import itertools
import random

import numpy as np
import pytest
import spacy
from docs import bag
from random_docs import settings
from spacy.tokens import Doc, Span, Token


@pytest.fixture(scope="module")
def nlp(trained_path):
    return spacy.load(trained_path)


class TestEverythingMoves:
    @pytest.fixture
    def doc(self, nlp):
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

    def test_tokens(self, nlp, doc):
        out = nlp(doc)
        assert out.text == "Who opened the door?"
        assert [t.pos_ for t in out] == ["PRON", "VERB", "DET", "NOUN", "PUNCT"]
        assert [t.lemma_ for t in out] == ["who", "open", "the", "door", "?"]
        assert [str(t.morph) for t in out] == ["PronType=Int", "Tense=Past", "Definite=Def", "Number=Sing", ""]
        assert [t.norm_ for t in out] == ["who", "OPENED", "the", "door", "?"]
        assert [t._.colour for t in out] == [None, None, None, "red", None]
        assert [t._.size for t in out] == [7, None, None, None, None]

    def test_spans_that_stay_together(self, nlp, doc):
        out = nlp(doc)
        assert [(e.text, e.label_) for e in out.ents] == [("Who", "PERS"), ("the door", "OBJ")]
        # The third, "the opened", is no longer side by side in the right sequence but still adjacent: it stays too.
        assert [(s.text, s.label_, s.id_) for s in out.spans["phrases"]] == [
            ("the door", "", ""),
            ("Who", "WH", "7"),
            ("opened the", "", ""),
        ]
        assert out.spans["phrases"].attrs == {"by": "hand"}
        assert out[2:4]._.kind == "noun phrase"

    def test_spans_that_come_apart_are_dropped(self, nlp):
        doc = bag(nlp, "Who ? the door opened")
        doc.set_ents([Span(doc, 0, 2, label="X")])
        doc.spans["pairs"] = [doc[0:2], doc[2:4]]
        out = nlp(doc)
        assert out.text == "Who opened the door?"
        assert out.ents == ()
        assert [s.text for s in out.spans["pairs"]] == ["the door"]

    def test_values_of_tokens_that_are_no_more(self, nlp):
        Token.set_extension("colour", default=None, force=True)
        doc = bag(nlp, "door the opened ? Who")
        doc[1]._.colour = "red"
        doc[2]._.colour = "blue"
        with doc.retokenize() as retokenizer:
            retokenizer.merge(doc[0:2])
        out = nlp(doc)
        assert {t.text: t._.colour for t in out} == {"door the": None, "opened": "blue", "?": None, "Who": None}

    def test_missing_entities_stay_missing(self, nlp):
        doc = bag(nlp, "door the opened ? Who")
        doc.set_ents([Span(doc, 4, 5, label="PERS")], missing=[doc[0:2]], outside=[doc[2:4]])
        out = nlp(doc)
        assert {t.text: t.ent_iob_ for t in out} == {"Who": "B", "opened": "O", "the": "", "door": "", "?": "O"}

    def test_blocked_entities_stay_blocked(self, nlp):
        doc = bag(nlp, "door the opened ? Who")
        doc.set_ents([Span(doc, 4, 5, label="PERS")], blocked=[doc[0:1]])
        out = nlp(doc)
        place = [t.text for t in out].index("door")
        assert out.to_array(["ENT_IOB", "ENT_TYPE"])[place].tolist() == [3, 0]
        assert [e.text for e in out.ents] == ["Who"]

    def test_the_rest(self, nlp, doc):
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

    @pytest.mark.parametrize("setting", ["free", "partial", "full", "ignored"])
    def test_equal_words_that_are_not_the_same(self, nlp, setting):
        """Which of equal words goes where does not depend on the order of the input, with all that hangs on them."""
        Token.set_extension("colour", default=None, force=True)
        with settings(nlp.get_pipe("linearizer"), use_heads=setting != "ignored"):
            self.check_equal_words(nlp, setting)

    def check_equal_words(self, nlp, setting):
        rng = random.Random(5)
        n_different = 0
        for _ in range(40):
            n = rng.randint(4, 12)
            words = rng.choices(["the", "dog", "saw", ","], k=n)
            arcs = [0, *(rng.randrange(k) for k in range(1, n))]
            share = {"free": 0.0, "partial": 0.5, "full": 1.0, "ignored": 1.0}[setting]
            given = [k == 0 or rng.random() < share for k in range(n)] if share else [False] * n
            lemmas, colours = rng.choices("abc", k=n), rng.choices(["red", "blue", None], k=n)
            is_person = [rng.random() < 0.3 for _ in words]
            found = []
            for sequence in (list(range(n)), rng.sample(range(n), n)):
                place = {k: i for i, k in enumerate(sequence)}
                doc = Doc(
                    nlp.vocab,
                    words=[words[k] for k in sequence],
                    lemmas=[lemmas[k] for k in sequence],
                    heads=[place[arcs[k]] if given[k] else None for k in sequence],
                    deps=["" if not given[k] else "ROOT" if k == 0 else "dep" for k in sequence],
                    ents=["B-PERS" if is_person[k] else "O" for k in sequence],
                )
                for k, token in zip(sequence, doc, strict=True):
                    token._.colour = colours[k]
                out = nlp(doc)
                found.append([(t.text, t.lemma_, t._.colour, t.ent_type_, t.head.i, t.dep_) for t in out])
            assert found[0] == found[1]
            n_different += len({row[:4] for row in found[0]}) > len({row[0] for row in found[0]})
        assert n_different > 30

    def test_ignored_trees_that_are_the_same(self, nlp):
        """Two equal subtrees: one or the other may come first, but not a word of one before a word of the other."""
        words, heads = ["the", "dog", "saw", "the", "dog"], [1, 2, 2, 4, 2]
        found = set()
        with settings(nlp.get_pipe("linearizer"), use_heads=False):
            for sequence in itertools.permutations(range(5)):
                place = {k: i for i, k in enumerate(sequence)}
                doc = Doc(
                    nlp.vocab,
                    words=[words[k] for k in sequence],
                    heads=[place[heads[k]] for k in sequence],
                    deps=["ROOT" if k == 2 else "dep" for k in sequence],
                )
                found.add(tuple((t.text, t.head.i) for t in nlp(doc)))
        assert len(found) == 1

    def test_equal_words_with_other_values(self, nlp):
        """The same for spans, values that are lists, rows of a tensor, and heads that are ignored."""
        Token.set_extension("colour", default=None, force=True)
        Span.set_extension("kind", default=None, force=True)
        component = nlp.get_pipe("linearizer")
        words = ["the", "dog", "saw", "the", "cat"]
        component.use_heads = False
        try:
            for what in ("lists", "spans", "rows", "heads"):
                found = set()
                for sequence in ([0, 1, 2, 3, 4], [3, 1, 2, 0, 4], [4, 3, 2, 1, 0]):
                    doc = Doc(nlp.vocab, words=[words[k] for k in sequence])
                    for k, token in zip(sequence, doc, strict=True):
                        if what == "lists":
                            token._.colour = [k]
                        elif what == "spans":
                            doc[token.i : token.i + 1]._.kind = k
                        elif what == "heads":
                            head = {0: 1, 1: 2, 2: 2, 3: 4, 4: 2}[k]
                            token.head, token.dep_ = doc[sequence.index(head)], "ROOT" if k == head else "x"
                    if what == "rows":
                        doc.tensor = np.array(sequence, dtype=np.float32).reshape(5, 1)
                    out = nlp(doc)
                    values = {
                        "lists": [str(t._.colour) for t in out],
                        "spans": [out[t.i : t.i + 1]._.kind for t in out],
                        "rows": out.tensor.tolist() if what == "rows" else [],
                        "heads": [t.head.i for t in out],
                    }[what]
                    found.add(str(values))
                assert len(found) == 1, what
        finally:
            component.use_heads = True
