"""From a Doc to bags: what counts as given, and what is wrong with it, in one sentence."""

import pytest
import spacy
from helpers.components import with_options
from helpers.docs import bag
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_linearize.doc.read import read_bags
from spacy_linearize.errors import LinearizeError
from spacy_linearize.options import Options
from spacy_linearize.trees import FREE, ROOT


def read(doc, **options):
    (words,) = read_bags(doc, [(0, len(doc))], Options(**options))
    return words


def test_cycle(nlp):
    with pytest.raises(LinearizeError, match=r"SL001.*word 0 'a', word 1 'b'"):
        nlp(bag(nlp, "a b c", heads=[1, 0, None], deps=["x", "x", ""]))


def test_another_vocabulary(nlp):
    """Tags and labels that are added have their texts there too."""
    out = nlp(Doc(Vocab(), words=["door", "the", "opened", "?", "Who"]))
    assert {t.dep_ for t in out} > {"ROOT"}
    assert all(t.tag_ for t in out)
    assert out.text == "Who opened the door?"  # though a bare vocabulary knows no shapes


def test_words_are_named_as_the_doc_has_them(component):
    """Not as units, or sentences, number them."""
    vocab = component.vocab
    words = ["New", "York", "is", "big", "and", "old"]
    doc = Doc(vocab, words=words, heads=[None, None, None, 3, None, 5], deps=["", "", "", *["ROOT", "", "ROOT"]])
    doc.spans["names"] = [doc[0:2]]
    twice = Doc(vocab, words=words[:4])
    twice.spans["names"] = [twice[0:2]]
    twice._.linearize_before = [(1, 3), (3, 0)]
    of_units = with_options(component, units="names")
    with pytest.raises(LinearizeError, match=r"SL002.*word 3 'big', word 5 'old'") as caught:
        of_units(doc)
    assert caught.value.words == (3, 5)
    with pytest.raises(LinearizeError, match=r"SL008.*word 0 'New York' before word 3 'big'"):
        of_units(twice)
    doc = Doc(vocab, words=["a", "b", "x", "y", "z"], sent_starts=[1, 0, 1, 0, 0])
    doc._.linearize_before = [(3, 4), (4, 3)]
    with pytest.raises(LinearizeError, match=r"SL008.*word 3 'y' before word 4 'z'") as caught:
        with_options(component, sentences="sents")(doc)
    assert caught.value.words == (3, 4)


def test_two_roots(nlp):
    with pytest.raises(LinearizeError, match=r"SL002.*word 0 'a', word 2 'c'"):
        nlp(bag(nlp, "a b c", heads=[0, 0, 2], deps=["ROOT", "x", "ROOT"]))


def test_own_head_without_being_the_root(nlp):
    with pytest.raises(LinearizeError, match=r"SL004.*word 1 'b'"):
        nlp(bag(nlp, "a b", heads=[1, 1], deps=["x", "nsubj"]))


def test_head_in_another_sentence(nlp):
    doc = bag(nlp, "a b c d", heads=[1, 1, 3, 3], deps=["x", "ROOT", "x", "ROOT"])
    with pytest.raises(LinearizeError, match=r"SL043.*word 0 'a'"):
        next(read_bags(doc, [(0, 1)], Options()))
    assert len(next(read_bags(doc, [(0, 1)], Options(use_heads=False)))) == 1


def test_several_sentences_in_one_bag(nlp):
    doc = bag(nlp, "dog barks cat sleeps", heads=[1, 1, 3, 3], deps=["nsubj", "ROOT", "nsubj", "ROOT"])
    with pytest.raises(LinearizeError, match=r"SL002.*word 1 'barks', word 3 'sleeps'.*sentences = 'sents'"):
        nlp(doc)


def test_punctuation_and_question_marks_are_told_to_the_core():
    nlp = spacy.blank("en")
    doc = bag(nlp, "Who , then ? what? !? ! ...")
    assert read(doc).puncts.tolist() == [0, 1, 0, 2, 0, 2, 1, 1]
    (part,) = read_bags(doc, [(3, 6)], Options())
    assert part.puncts.tolist() == [2, 0, 2]


def test_given_or_missing_is_as_spacy_has_it():
    nlp = spacy.blank("en")
    doc = Doc(
        nlp.vocab,
        words=["a", "dog", "sees", "him"],
        tags=["DT", "", "VBZ", ""],
        heads=[1, 2, 2, None],
        deps=["det", "dep", "ROOT", ""],
    )
    key = nlp.vocab.strings.as_int
    words = read(doc)
    assert words.tags.tolist() == [key("DT"), 0, key("VBZ"), 0]
    assert words.heads.tolist() == [1, 2, ROOT, FREE]
    assert words.labels.tolist() == [key("det"), 0, key("ROOT"), 0]
    assert list(words.texts) == ["a", "dog", "sees", "him"]


def test_what_is_ignored_is_missing():
    nlp = spacy.blank("en")
    doc = Doc(nlp.vocab, words=["a", "dog"], tags=["DT", "NN"], heads=[1, 1], deps=["det", "ROOT"])
    assert not read(doc, use_tags=False).column("tags").any()
    assert not read(doc, use_deps=False).column("labels").any()
    assert read(doc, use_deps=False).heads.tolist() == [1, ROOT]
    bare = read(doc, use_heads=False)
    assert bare.column("heads").tolist() == [FREE, FREE]
    assert not bare.column("labels").any()  # a label without its arc would fit no other
    assert read(doc, use_heads=False).column("tags").all()


def test_what_a_linearizer_has_added_is_not_given(component):
    doc = Doc(component.vocab, words=["door", "the", "opened"], tags=["", "DT", ""])
    new = component(doc)
    (all_of_it,), (given,) = component.reader.read(new), component.reader.read(new, as_given=True)
    assert all_of_it.column("tags").all()
    assert FREE not in all_of_it.column("heads")
    assert [token.text for token in new if given.column("tags")[token.i]] == ["the"]
    assert set(given.column("heads").tolist()) == {FREE}
    assert not given.column("labels").any()


def test_a_bare_vocabulary_knows_no_shapes():
    """What it does not tell is looked up, as a full one has it."""
    words = ["Who", "opened", "U.S.", "?"]
    full, bare = (read(Doc(vocab, words=words)) for vocab in (spacy.blank("en").vocab, Vocab()))
    for name in ("forms", "lowers", "suffixes", "shapes", "puncts"):
        assert full.column(name).tolist() == bare.column(name).tolist(), name


def test_one_bag_for_each_sentence(component):
    doc = Doc(component.vocab, words=["a", "b", "c"], sent_starts=[True, False, True])
    assert [len(words) for words in with_options(component, sentences="sents").reader.read(doc)] == [2, 1]
    assert [len(words) for words in component.reader.read(doc)] == [3]
