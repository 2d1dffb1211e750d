"""Units, precedences and pins: properties on random Docs, and bad input."""

import random
from pathlib import Path

import numpy as np
import pytest
import spacy
from helpers import brute
from random_docs import WORDS, permuted, place_of, random_doc, random_pairs, random_units, settings, try_order, units
from spacy.tokens import Doc, Span, Token
from spacy.vocab import Vocab

import spacy_linearize
from spacy_linearize.errors import LinearizeError
from spacy_linearize.files.convert import convert
from spacy_linearize.training.corpus import Corpus

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def nlp(trained_path):
    return spacy.load(trained_path)


def test_precedences_are_kept(nlp, component):
    rng = random.Random(0)
    n_kept = 0
    for _ in range(300):
        doc = random_doc(nlp.vocab, rng)
        doc._.linearize_before = random_pairs(rng, len(doc))
        doc._.linearize_fixed = [rng.sample(range(len(doc)), rng.randint(1, min(3, len(doc))))]
        if rng.random() < 0.3:
            doc._.linearize_first = rng.randrange(len(doc))
        if rng.random() < 0.3:
            doc._.linearize_last = rng.randrange(len(doc))
        new = try_order(component, doc)
        if new is None:
            continue
        n_kept += 1
        place = place_of(new)
        assert all(place[first] < place[second] for first, second in doc._.linearize_before)
        assert [place[k] for k in doc._.linearize_fixed[0]] == sorted(place[k] for k in doc._.linearize_fixed[0])
        assert doc._.linearize_first is None or place[doc._.linearize_first] == 0
        assert doc._.linearize_last is None or place[doc._.linearize_last] == len(doc) - 1
        # The new Doc says the same about the same tokens.
        assert new._.linearize_before == tuple((place[a], place[b]) for a, b in doc._.linearize_before)
        assert all(first < second for first, second in new._.linearize_before)
    assert n_kept > 100


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
    assert n_ordered > 100


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


def test_the_joint_system_orders_units(joint_nlp):
    component = joint_nlp.get_pipe("linearizer")
    component.units = "units"
    rng = random.Random(2)
    for _ in range(40):
        doc = Doc(joint_nlp.vocab, words=rng.sample(WORDS, 5))
        doc.spans["units"] = [Span(doc, 1, 3, label="U")]
        new = component(doc)
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


@pytest.mark.parametrize("system", ["nlp", "joint_nlp"])
def test_units_that_differ_inside_are_not_the_same(request, system):
    """Both sequences of two units with equal heads are found, and which is better does not depend on the input."""
    nlp = request.getfixturevalue(system)
    words = ["New", "York", "sees", "Old", "York"]
    doc = units(Doc(nlp.vocab, words=words), (0, 2), (3, 5))
    with settings(nlp.get_pipe("linearizer"), units="units", beam_width=50) as component:
        texts = [" ".join(token.text for token in one) for one in component.alternatives(doc, 10)]
        assert len(texts) == len(set(texts)) == 6
        assert {"New York sees Old York", "Old York sees New York"} <= set(texts)
        check_permuted(component, doc)
        # But where they do not differ, one is as good as the other.
        same = units(Doc(nlp.vocab, words=["Old", "York", "sees", "Old", "York"]), (0, 2), (3, 5))
        assert len(component.alternatives(same, 10)) == 3


def test_words_that_differ_in_unknown_names_read_the_same(nlp, component):
    doc = Doc(nlp.vocab, words=["dog", "sees", "dog"], tags=["?A", "", "?B"])
    with pytest.warns(UserWarning, match="SL058"):
        assert len(component.alternatives(doc, 10)) == 3


def test_what_is_ignored_does_not_tell_equal_words_apart(nlp, component):
    """The search is as if it were not there; of equal words the first stays the first, with all that it has."""
    words, names = ["the", "dog", "the", "dog", "sees"], ["A", "B", "C", "D", "E"]
    component.use_tags = component.use_heads = component.use_deps = False
    alone = component(Doc(nlp.vocab, words=words))
    new = component(Doc(nlp.vocab, words=words, tags=names, heads=[4] * 5, deps=[*names[:4], "ROOT"]))
    assert new._.linearization["order"] == alone._.linearization["order"]
    assert [t.tag_ for t in new if t.text == "the"] == ["A", "C"]
    assert [t.dep_ for t in new if t.text == "dog"] == ["B", "D"]


def test_of_equal_words_the_first_stays_the_first(nlp, component):
    """Nothing that is promised tells them apart. What else they have goes with them, whatever it is."""
    itself = []
    itself.append(itself)
    Token.set_extension("anything", default=None, force=True)
    for value in (itself, 10**5000, {"a": itself}, object()):
        doc = Doc(nlp.vocab, words=["dog", "the", "sees", "the", "cat"], lemmas=["d", "t1", "s", "t2", "c"])
        doc[1]._.anything = value
        new = component(doc)
        assert [token.lemma_ for token in new if token.text == "the"] == ["t1", "t2"]
        assert next(token for token in new if token.lemma_ == "t1")._.anything is value


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
    words = [*phrase.split(), "sleeps"]
    n = len(words) - 1
    doc = Doc(
        nlp.vocab,
        words=words,
        tags=["NN"] * n + ["VBZ"],
        pos=["NOUN"] * n + ["VERB"],
        heads=[n - 1] * (n - 1) + [n, n],
        deps=["det"] * (n - 1) + ["nsubj", "ROOT"],
    )
    (part,) = component.orderer.parts(doc)
    assert [nlp.vocab.strings[int(key)] for key in part.merged.words.forms] == [phrase, "sleeps"]
    assert [nlp.vocab.strings[int(key)] for key in part.merged.words.tags] == ["NP", "VBZ"]
    new = component(doc)
    assert phrase in new.text
    assert {token.tag_ for token in new} == {"NN", "VBZ"}


def test_sentences_keep_their_sequence(nlp, component):
    component.sentences = "sents"
    doc = Doc(nlp.vocab, words=["dog", "the", ".", "cat", "a", "."], sent_starts=[True, False, False] * 2)
    doc._.linearize_first = [0, 3]
    doc._.linearize_before = [(0, 4)]
    new = component(doc)
    assert [sent[0].text for sent in new.sents] == ["dog", "cat"]
    doc._.linearize_before = [(4, 0)]
    with pytest.raises(LinearizeError, match=r"SL060.*linearize_before.*word 4 'a', word 0 'dog'"):
        component(doc)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("linearize_before", 5),
        ("linearize_before", [0, 1]),
        ("linearize_before", [(0, 0)]),
        ("linearize_before", [(0, 1, 2)]),
        ("linearize_before", [(0, 3)]),
        ("linearize_before", [("0", 1)]),
        ("linearize_before", "01"),
        ("linearize_fixed", [0, 1]),
        ("linearize_fixed", [[0, 0]]),
        ("linearize_fixed", [[-1, 0]]),
        ("linearize_first", 3),
        ("linearize_first", True),
        ("linearize_first", "0"),
        ("linearize_last", [0, 0]),
        ("linearize_last", 1.0),
    ],
)
def test_bad_control(nlp, component, name, value):
    check_bad_control(nlp, component, name, value)


@pytest.mark.parametrize("name", ["linearize_before", "linearize_fixed", "linearize_first", "linearize_last"])
def test_control_that_contains_itself(nlp, component, name):
    itself, deep = [], []
    itself.append(itself)
    for _ in range(100_000):
        deep = [deep]
    for value in (itself, [itself], deep, [10**5000], [object()], {0: 1}, np.array([[[0]]])):
        check_bad_control(nlp, component, name, value)


def check_bad_control(nlp, component, name, value):
    doc = Doc(nlp.vocab, words=["dog", "the", "sees"])
    doc._.set(name, value)
    with pytest.raises(LinearizeError, match=rf"SL061.*doc\._\.{name}"):
        component(doc)


def test_numbers_of_numpy(nlp, component):
    doc = Doc(nlp.vocab, words=["dog", "the", "sees"])
    doc._.linearize_before = np.array([[2, 0]])
    doc._.linearize_first = np.int64(1)
    new = component(doc)
    assert new[0].text == "the"
    assert [t.text for t in new].index("sees") < [t.text for t in new].index("dog")
    assert new._.linearize_first == 0


def test_alternatives_of_other_tokens(nlp, component):
    doc = Doc(nlp.vocab, words=["dog", "the", "sees"])
    component.n_best = 2
    try:
        new = component(doc)
    finally:
        component.n_best = 1
    with new.retokenize() as retokenizer:
        retokenizer.merge(new[0:2])
    with pytest.raises(LinearizeError, match=r"SL193.*3 tokens, but the Doc has 2"):
        spacy_linearize.alternative(new, 1)


def test_two_pins(nlp, component):
    doc = Doc(nlp.vocab, words=["dog", "the", "sees"])
    doc._.linearize_first = [0, 1]
    with pytest.raises(
        LinearizeError, match=r"SL190.*linearize_first names word 0 'dog', word 1 'the' of one sentence"
    ):
        component(doc)
    doc._.linearize_first = doc._.linearize_last = 1
    with pytest.raises(LinearizeError, match=r"SL191.*word 1 'the'"):
        component(doc)
    alone = Doc(nlp.vocab, words=["dog"])
    alone._.linearize_first = alone._.linearize_last = 0
    assert component(alone).text == "dog"


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


@pytest.mark.parametrize(
    ("key", "value"), [("units", ""), ("units", 3), ("n_best", 0), ("n_best", "2"), ("n_best", None)]
)
def test_bad_settings(nlp, key, value):
    with pytest.raises(LinearizeError, match=rf"SL022.*'{key}'"):
        nlp.create_pipe("linearizer", config={key: value})
