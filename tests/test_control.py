"""Units, precedences, pins, n best orders, and the score of an order: properties on random Docs, and bad input."""

import random
from pathlib import Path

import brute
import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

import spacy_linearize
from spacy_linearize.corpus import Corpus
from spacy_linearize.errors import LinearizeError
from spacy_linearize.treebanks.convert import convert

DATA = Path(__file__).parent / "data"

WORDS = ["the", "a", "dog", "cat", "sees", "old", "very", ".", ",", "and", "Maria", "who", "in", "house", "größer"]


@pytest.fixture(scope="module")
def nlp(trained_path):
    return spacy.load(trained_path)


@pytest.fixture(scope="module")
def joint_nlp(corpus_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("linearizer", config={"model": {"system": "joint", "table_bits": 14, "attach_bits": 10}})
    corpus = Corpus(corpus_path, settings=[[0, 0], [1, 1]], resample=True)
    nlp.initialize(lambda: corpus(nlp))
    nlp.update(list(corpus(nlp)))
    return nlp


@pytest.fixture
def component(nlp):
    """The trained component, with its settings put back afterwards."""
    component = nlp.get_pipe("linearizer")
    before = {
        key: getattr(component, key) for key in ("units", "n_best", "tree", "beam_width", "sentences", "use_heads")
    }
    yield component
    for key, value in before.items():
        setattr(component, key, value)


def random_doc(vocab, rng, n=None, share=0.5):
    """Random words with a random forest of given arcs."""
    n = n or rng.randint(1, 9)
    heads = brute.random_forest(rng, n, rng.choice([0, share, 1.0]))
    return Doc(
        vocab,
        words=[rng.choice(WORDS) for _ in range(n)],
        tags=[rng.choice(["", "NN", "DT"]) for _ in range(n)],
        heads=[None if h == brute.FREE else k if h == brute.ROOT else h for k, h in enumerate(heads)],
        deps=["" if h == brute.FREE else "ROOT" if h == brute.ROOT else "dep" for h in heads],
    )


def random_pairs(rng, n):
    return [tuple(rng.sample(range(n), 2)) for _ in range(rng.randint(1, 3))] if n > 1 else []


def place_of(new):
    """Where each token of the input stands now."""
    return {old: i for i, old in enumerate(new._.linearization["order"])}


def try_order(component, doc, *codes):
    """The new Doc, or None where what is asked for cannot be."""
    try:
        return component(doc)
    except LinearizeError as problem:
        if problem.code not in (codes or ("SL008",)):
            raise
        return None


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


def random_units(doc, rng):
    spans, at = [], 0
    while at < len(doc):
        size = min(len(doc) - at, rng.choice([1, 1, 2, 3]))
        spans.append(Span(doc, at, at + size, label="U"))
        at += size
    return [span for span in spans if rng.random() < 0.7]


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
        docs = [spacy_linearize.alternative(new, rank) for rank in range(len(found))]
        for rank, (one, direct) in enumerate(zip(docs, component.alternatives(doc, 5), strict=True)):
            assert one.to_json() == direct.to_json()
            assert one._.linearization["order"] == direct._.linearization["order"] == found[rank]["order"]
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


@pytest.mark.parametrize("rank", [-1, 3])
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


def test_an_order_that_breaks_its_own_constraints(nlp, component):
    doc = Doc(nlp.vocab, words=["dog", "the", "sees"])
    doc._.linearize_before = [(2, 0)]
    with pytest.raises(LinearizeError, match=r"SL048.*word 2 'sees', word 0 'dog'"):
        component.score_order(doc)
    crossing = Doc(nlp.vocab, words=["a", "b", "c", "d"], heads=[2, 3, 2, 2], deps=["x", "x", "ROOT", "x"])
    with pytest.raises(LinearizeError, match=r"SL049.*word 1 'b'"):
        component.score_order(crossing)
    assert component.score_order(Doc(nlp.vocab)).gap == 0


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
    doc = Doc(nlp.vocab, words=["dog", "the", "sees"])
    doc._.set(name, value)
    with pytest.raises(LinearizeError, match=rf"SL061.*doc\._\.{name}"):
        component(doc)


def test_two_pins(nlp, component):
    doc = Doc(nlp.vocab, words=["dog", "the", "sees"])
    doc._.linearize_first = [0, 1]
    with pytest.raises(
        LinearizeError, match=r"SL008.*word 0 'dog' before word 1 'the', word 1 'the' before word 0 'dog'"
    ):
        component(doc)


def units(doc, *ranges):
    doc.spans["units"] = [Span(doc, start, end) for start, end in ranges]
    return doc


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
