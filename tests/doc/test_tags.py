"""Tags made of several attributes: read as one, known as one, written apart."""

import random

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin
from spacy.training import Example

import spacy_linearize
from spacy_linearize.doc.tags import read_tags
from spacy_linearize.errors import LinearizeError
from spacy_linearize.training.corpus import give

PARTS = "TAG|POS|Case"
NOUNS = {"puella": "Nom", "rosam": "Acc", "servus": "Nom", "aquam": "Acc", "poeta": "Nom", "librum": "Acc"}
VERBS = ("amat", "portat", "videt")
FEATURES = {"Nom": "Case=Nom|Number=Sing", "Acc": "Case=Acc|Number=Sing"}


def latin(vocab, words):
    """A gold sentence: a subject, an object, a verb. XPOS tags may hold the separator."""
    nouns = [word in NOUNS for word in words]
    verb = nouns.index(False)
    return Doc(
        vocab,
        words=words,
        tags=["n|c" if noun else "v" for noun in nouns],
        pos=["NOUN" if noun else "VERB" for noun in nouns],
        morphs=[FEATURES[NOUNS[word]] if word in NOUNS else "" for word in words],
        heads=[verb] * len(words),
        deps=["dep" if noun else "ROOT" for noun in nouns],
    )


def sentences():
    subjects, objects = ([word for word, case in NOUNS.items() if case == one] for one in ("Nom", "Acc"))
    return [[a, b, verb] for a in subjects for b in objects for verb in VERBS]


def trained(tags_from, **config):
    nlp = spacy.blank("la")
    nlp.add_pipe(
        "linearizer", config={"tags_from": tags_from, "model": {"table_bits": 14, "attach_bits": 12}, **config}
    )
    golds = [latin(nlp.vocab, words) for words in sentences()]
    examples = [Example(give(gold, tags, 1), gold) for gold in golds for tags in (1, 0)]
    nlp.initialize(lambda: examples)
    for _ in range(4):
        nlp.update(examples)
    return nlp


@pytest.fixture(scope="module")
def nlp():
    return trained(PARTS, n_best=3)


def names(doc, tags_from):
    return [doc.vocab.strings[key] for key in read_tags(doc, tags_from)]


def facts(token):
    return token.tag_, token.pos_, str(token.morph)


def test_read(nlp):
    doc = latin(nlp.vocab, ["puella", "rosam", "amat"])
    assert names(doc, "TAG") == ["n|c", "n|c", "v"]
    assert names(doc, PARTS) == ["n|c|NOUN|Nom", "n|c|NOUN|Acc", "v|VERB|_"]
    assert names(doc, "Case|POS") == ["Nom|NOUN", "Acc|NOUN", "_|VERB"]
    assert names(doc, "Number") == ["Sing", "Sing", "_"]


@pytest.mark.parametrize("missing", ["tags", "pos", "morphs"])
def test_a_part_that_is_missing_leaves_the_tag_open(nlp, missing):
    annotation = {"tags": ["v", "n|c"], "pos": ["VERB", "NOUN"], "morphs": ["", "Case=Nom"]}
    del annotation[missing]
    doc = Doc(nlp.vocab, words=["amat", "puella"], **annotation)
    assert names(doc, PARTS) == ["", ""]
    before = {token.text: facts(token) for token in doc}
    new = nlp(doc)
    assert new._.linearization["given_tags"] == (False, False)
    assert {token.text: facts(token) for token in new} == before  # nothing that could contradict the rest is added


def test_the_model_knows_the_tags_as_a_whole(nlp):
    assert nlp.get_pipe("linearizer").label_data["tags"] == ["n|c|NOUN|Acc", "n|c|NOUN|Nom", "v|VERB|_"]


@given(order=st.permutations(range(3)), hidden=st.sets(st.integers(0, 2)), chosen=st.sampled_from(sentences()))
def test_given_attributes_stay_and_others_are_added_apart(nlp, order, hidden, chosen):
    gold = latin(nlp.vocab, chosen)
    doc = Doc(
        nlp.vocab,
        words=[chosen[k] for k in order],
        tags=["" if k in hidden else gold[k].tag_ for k in order],
        pos=["" if k in hidden else gold[k].pos_ for k in order],
        morphs=["" if k in hidden else str(gold[k].morph) for k in order],
    )
    new = nlp(doc)
    assert sorted(token.text for token in new) == sorted(chosen)
    assert new._.linearization["tags_from"] == PARTS
    for token in new:
        own = gold[chosen.index(token.text)]
        is_given = own.i not in hidden
        assert new._.linearization["given_tags"][token.i] == is_given
        if is_given:
            assert facts(token) == facts(own)
        else:
            assert (token.tag_, token.pos_, token.morph.get("Case")) == (own.tag_, own.pos_, own.morph.get("Case"))


def test_words_that_training_never_saw_take_part(nlp):
    """Only their case tells these two apart."""
    for cases in (("Nom", "Acc"), ("Acc", "Nom")):
        doc = Doc(
            nlp.vocab,
            words=["xa", "xb", "amat"],
            tags=["n|c", "n|c", "v"],
            pos=["NOUN", "NOUN", "VERB"],
            morphs=[*(FEATURES[case] for case in cases), ""],
            heads=[2, 2, 2],
            deps=["dep", "dep", "ROOT"],
        )
        assert [token.morph.get("Case") for token in nlp(doc)] == [["Nom"], ["Acc"], []]


def test_alternatives_have_the_parts_of_their_own_tags(nlp):
    best = nlp(Doc(nlp.vocab, words=["amat", "rosam", "puella"]))
    records = best._.linearization["alternatives"]
    assert len(records) == 3
    for rank, record in enumerate(records):
        other = spacy_linearize.alternative(best, rank)
        expected = [nlp.vocab.strings[record["tags"][k]] for k in record["order"]]
        assert names(other, PARTS) == expected
        assert {token.tag_ for token in other} == {"n|c", "v"}


def test_tags_alone_are_left_as_they_are_without_a_part_for_them():
    nlp = trained("POS|Case")
    doc = Doc(nlp.vocab, words=["amat", "rosam", "puella"], tags=["x", "y", ""])
    new = nlp(doc)
    assert {token.text: facts(token) for token in new} == {
        "puella": ("", "NOUN", "Case=Nom"),
        "rosam": ("y", "NOUN", "Case=Acc"),
        "amat": ("x", "VERB", ""),
    }


def test_ignored_tags_stay_unless_they_are_overwritten(nlp):
    linearizer = nlp.get_pipe("linearizer")
    doc = Doc(nlp.vocab, words=["amat"], tags=["v"], pos=["NOUN"], morphs=["Case=Nom|Mood=Ind"])
    try:
        linearizer.use_tags = False
        assert facts(nlp(doc)[0]) == ("v", "NOUN", "Case=Nom|Mood=Ind")
        linearizer.overwrite = True
        assert facts(nlp(doc)[0]) == ("v", "VERB", "Mood=Ind")
    finally:
        linearizer.use_tags, linearizer.overwrite = True, False


def test_disk_and_docbin(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    again = spacy.load(tmp_path / "model")
    assert again.get_pipe("linearizer").tags_from == PARTS
    words = ["librum", "videt", "poeta"]
    ours, theirs = nlp(Doc(nlp.vocab, words=words)), again(Doc(again.vocab, words=words))
    assert [facts(token) for token in ours] == [facts(token) for token in theirs]
    stored = DocBin(store_user_data=True, docs=[ours]).to_bytes()
    (back,) = DocBin().from_bytes(stored).get_docs(again.vocab)
    for rank in range(2):
        one, two = spacy_linearize.alternative(ours, rank), spacy_linearize.alternative(back, rank)
        assert [facts(token) for token in one] == [facts(token) for token in two]


def test_explain_and_score_order(nlp):
    linearizer = nlp.get_pipe("linearizer")
    order = random.Random(0).sample(["puella", "rosam", "amat"], 3)
    gold = latin(nlp.vocab, ["puella", "rosam", "amat"])
    assert linearizer.score_order(gold).gap == pytest.approx(0)
    assert linearizer.score_order(latin(nlp.vocab, order)).gap >= 0
    predicted = nlp(Doc(nlp.vocab, words=order))
    best = linearizer.score_order(predicted).best
    assert best._.linearization["given_tags"] == (False, False, False)  # what was added is not given
    assert [facts(token) for token in best] == [facts(token) for token in predicted]
    assert "NOUN|Acc" in str(linearizer.explain(gold, n_reasons=99)[0])


@pytest.mark.parametrize("wrong", ["", "LEMMA", "TAG|LEMMA", "POS|TAG", "TAG|TAG", "TAG||POS", "case", ["TAG"], None])
def test_a_name_that_is_no_attribute_is_refused(wrong):
    with pytest.raises(LinearizeError, match=r"\[SL022\].*tags_from"):
        spacy.blank("la").add_pipe("linearizer").tags_from = wrong


@pytest.mark.parametrize(("tags_from", "named"), [("POS|Cas", "Cas"), ("POS|Mood|Tense", "Mood and Tense")])
def test_an_attribute_that_no_word_has_is_refused(tags_from, named):
    with pytest.raises(LinearizeError, match=rf"\[SL203\].*has {named}, "):
        trained(tags_from)


def test_another_setting_than_in_training_is_refused(nlp):
    linearizer = nlp.get_pipe("linearizer")
    try:
        linearizer.tags_from = "TAG|POS|Case|Number|Gender"
        with pytest.raises(LinearizeError, match=r"\[SL204\].*Set the one that it was trained with"):
            nlp(Doc(nlp.vocab, words=["amat", "rosam", "puella"]))
    finally:
        linearizer.tags_from = PARTS
