"""New Docs: what is given stays, what is ignored too or not, and the record of what was done."""

import random

import pytest
import spacy
from helpers.components import with_options
from helpers.docs import bag, read_docs
from helpers.random_docs import place_of, random_doc
from spacy.tokens import Doc, DocBin, Token
from spacy.tokens.underscore import Underscore

import spacy_linearize
from spacy_linearize.errors import LinearizeError


def test_sentences_stay_sentences_without_trees(component):
    words = ["dog", "The", "Who", "opened"]
    out = with_options(component, sentences="sents", tree=False)(
        Doc(component.vocab, words=words, sent_starts=[True, False, True, False])
    )
    assert [sent.text for sent in out.sents] == ["The dog", "Who opened"]


@pytest.mark.parametrize("whole", [False, True])
def test_sentences_stay_sentences_with_arcs_but_without_trees(component, whole):
    words = ["dog", "The", "Who", "opened"]
    if whole:
        doc = Doc(component.vocab, words=words, heads=[0, 0, 3, 3], deps=["ROOT", "det", "nsubj", "ROOT"])
    else:
        doc = Doc(component.vocab, words=words, sent_starts=[True, False, True, False])
        doc[1].head, doc[1].dep_ = doc[0], "det"
    out = with_options(component, sentences="sents", tree=False, n_best=2)(doc)
    assert [sent.text for sent in out.sents] == ["The dog", "Who opened"]
    assert out[0].head.text == "dog"
    for rank in range(2):
        assert [len(sent) for sent in spacy_linearize.alternative(out, rank).sents] == [2, 2]


def test_labels_do_not_count_without_heads(component):
    """Otherwise the label of the root would land on another word."""
    component = with_options(component, use_heads=False, overwrite=True)
    for doc in read_docs(component.vocab)[:30]:
        new = component(doc)
        assert [t.dep_ for t in new if t.head.i == t.i] == ["ROOT"]
        assert [t.dep_ for t in new].count("ROOT") == 1


def test_no_tree_when_none_is_wanted(nlp, component):
    doc = bag(nlp, "the door opened Who ?", heads=[1, None, None, None, None], deps=["det", "", "", "", ""])
    out = with_options(component, tree=False)(doc)
    assert [(t.text, t.dep_) for t in out if t.has_head()] == [("the", "det")]
    assert out[[t.text for t in out].index("the")].head.text == "door"


def test_ignored_annotation(nlp, component):
    """With use_tags = false, tags are no constraint: they stay, or give way when overwrite is on."""
    doc = bag(nlp, "door the opened ? Who", tags=["X"] * 5, heads=[1] * 5, deps=["dep", "ROOT", *["dep"] * 3])
    ignoring = with_options(component, use_tags=False, use_heads=False, use_deps=False)
    kept, predicted = ignoring(doc), with_options(ignoring, overwrite=True)(doc)
    assert kept.text == predicted.text == "Who opened the door?"
    assert [t.tag_ for t in kept] == ["X"] * 5
    assert {t.head.text for t in kept} == {"the"}
    assert [t.tag_ for t in predicted] == ["WP", "VBD", "DT", "NN", "."]
    assert [t.head.text for t in predicted] == ["opened", "opened", "door", "opened", "opened"]


def test_ignored_labels_of_given_arcs(nlp, component):
    doc = bag(nlp, "door the opened ? Who", heads=[2, 0, 2, None, 2], deps=["x", "y", "ROOT", "", "dep"])
    labels = {t.text: t.dep_ for t in with_options(component, use_deps=False)(doc)}
    assert (labels["door"], labels["the"]) == ("x", "y")
    assert labels["Who"] not in ("", "dep")


def test_ignored_heads_stay_where_no_tree_is_added(nlp, component):
    doc = bag(nlp, "door the opened", heads=[2, None, None], deps=["obj", "", ""])
    out = with_options(component, use_heads=False, tree=False)(doc)
    assert {(t.text, t.head.text, t.dep_) for t in out if t.has_head()} == {("door", "opened", "obj")}


def test_a_free_label_is_predicted_although_tags_are_ignored(nlp, component):
    doc = bag(nlp, "door the opened ? Who", heads=[2, 0, 2, 2, 2], deps=["dep", "dep", "ROOT", "dep", "dep"])
    assert "dep" not in {t.dep_ for t in with_options(component, use_tags=False)(doc)}


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


def test_alternatives_of_other_tokens(nlp, component):
    doc = Doc(nlp.vocab, words=["dog", "the", "sees"])
    component.n_best = 2
    new = component(doc)
    with new.retokenize() as retokenizer:
        retokenizer.merge(new[0:2])
    with pytest.raises(LinearizeError, match=r"SL193.*3 tokens, but the Doc has 2"):
        spacy_linearize.alternative(new, 1)


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


def test_extension_of_another_package(monkeypatch):
    nlp = spacy.blank("en")
    monkeypatch.setitem(Underscore.doc_extensions, "linearization", (None, None, len, None))
    with pytest.raises(LinearizeError, match=r"SL041.*doc._.linearization"):
        nlp.add_pipe("linearizer")
