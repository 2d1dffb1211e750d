"""From words to text: languages with multiword tokens, and without spaces."""

from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.lang.lex_attrs import word_shape
from spacy.tokens import Doc
from spacy.training import Example

import spacy_linearize
from spacy_linearize.doc.contraction import Range
from spacy_linearize.doc.surface import Surface, read_written, surface_text
from spacy_linearize.errors import LinearizeError
from spacy_linearize.files.conllu import read_conllu
from spacy_linearize.files.conllu_writer import to_conllu
from spacy_linearize.files.jsonl import doc_to_object, object_to_doc

DATA = Path(__file__).parent.parent / "data"
NO_TOKENIZER = {"nlp": {"tokenizer": {"@tokenizers": "spacy.Tokenizer.v1"}}}  # that of Japanese needs another package


def read(lang, vocab):
    return list(read_conllu(DATA / f"mini_{lang}.conllu", vocab))


@pytest.fixture(scope="module")
def pipelines():
    """Pipelines that were trained on small treebanks, by language."""
    trained = {}
    for lang in ("fr", "de", "pt", "ja"):
        nlp = spacy.blank(lang, config=NO_TOKENIZER)
        nlp.add_pipe("linearizer", config={"model": {"table_bits": 14, "attach_bits": 12}})
        examples = [Example(doc.copy(), doc) for doc in read(lang, nlp.vocab)]
        nlp.initialize(lambda examples=examples: examples)
        for _ in range(8):
            nlp.update(examples)
        trained[lang] = nlp
    return trained


@pytest.mark.parametrize("lang", ["fr", "de", "pt", "ja"])
def test_texts_come_back(pipelines, lang):
    """Without what the treebank says about its tokens: only the words and the trees are given."""
    nlp = pipelines[lang]
    docs = read(lang, nlp.vocab)
    same = 0
    for doc in docs:
        bare = object_to_doc({key: value for key, value in doc_to_object(doc).items() if key != "ranges"}, nlp.vocab)
        new = nlp(bare)
        if [token.text for token in new] == [token.text for token in doc]:
            same += 1
            assert new._.linearization["text"] == surface_text(new) == doc.user_data["text"]
            ranges = doc.user_data.get(("._.", "linearize_ranges", None, None), ())
            assert [one[:3] for one in new._.linearize_ranges or ()] == [one[:3] for one in ranges]
    assert same >= 0.8 * len(docs)


def test_other_neighbours(pipelines):
    """What stands side by side is contracted, and nothing else."""
    nlp = pipelines["fr"]
    cases = [("de le village", "ADP DET NOUN", "du village"), ("de petit le village", "ADP ADJ DET NOUN", None)]
    for words, tags, text in [*cases, ("de le voir", "ADP PRON VERB", None)]:
        doc = Doc(nlp.vocab, words=words.split(), tags=tags.split())
        doc._.linearize_fixed = [list(range(len(doc)))]
        assert nlp(doc)._.linearization["text"] == (text or words)


def test_conllu_and_json_have_the_ranges(pipelines):
    nlp = pipelines["fr"]
    doc = read("fr", nlp.vocab)[0]
    new = nlp(doc)
    assert to_conllu(new) == to_conllu(doc)
    assert "3-4\tdu\t_" in to_conllu(new)
    assert doc_to_object(new)["ranges"] == [[2, 4, "du"]]
    assert doc_to_object(new)["text"] == "Les membres du club arrivent."
    again = object_to_doc(doc_to_object(new), nlp.vocab)
    assert surface_text(nlp(again)) == "Les membres du club arrivent."


def test_alternatives_have_their_own(pipelines):
    nlp = spacy.blank("fr")
    nlp.add_pipe("linearizer", source=pipelines["fr"])
    component = nlp.get_pipe("linearizer")
    doc = read("fr", nlp.vocab)[3]
    component.n_best = 4
    try:
        new = nlp(doc)
        texts = [spacy_linearize.alternative(new, rank) for rank in range(len(new._.linearization["alternatives"]))]
        for one, direct in zip(texts, component.alternatives(doc, 4), strict=True):
            assert one._.linearization["text"] == direct._.linearization["text"] == surface_text(one)
            assert one._.linearize_ranges == direct._.linearize_ranges
        assert len({one._.linearization["text"] for one in texts}) == len(texts)
    finally:
        component.n_best = 1


def test_truecase():
    """Forms change only when that is asked for."""
    words = ["yesterday", "The", "dog", "saw", "I", "in", "London", "."]
    nlp = spacy_linearize.load()
    plain = nlp(Doc(nlp.vocab, words=words))
    assert sorted(token.text for token in plain) == sorted(words)
    spacy_linearize.configure(nlp, truecase=True, n_best=2)
    new = nlp(Doc(nlp.vocab, words=words))
    assert [token.lower_ for token in new] == [token.lower_ for token in plain]
    texts = [token.text for token in new]
    assert texts[0][0].isupper()
    assert {"London", "I"} <= set(texts)
    assert sum(text[0].isupper() for text in texts) <= 3
    second = spacy_linearize.alternative(new, 1)
    assert second[0].text[0].isupper()
    assert sum(token.text[0].isupper() for token in second) <= 3


def test_english_contractions():
    nlp = spacy_linearize.load()
    for words, text in (
        ("I 'm gon na go .", "I'm gonna go."),
        ("You can not go .", "You cannot go."),
        ("Do n't go !", "Don't go!"),
        ("It is family - friendly .", "It is family-friendly."),
    ):
        doc = Doc(nlp.vocab, words=words.split())
        doc._.linearize_fixed = [list(range(len(doc)))]
        assert nlp(doc)._.linearization["text"] == text


def test_spaces_that_nothing_is_known_of():
    """Old treebanks have none. Then words are joined where a writing system has no letters."""
    docs = [Doc(spacy.blank("xx").vocab, words=["猫", "が"], spaces=[True, False])]
    for joins in (False, True):
        surface = Surface(joins)
        surface.learn(map(read_written, docs))
        columns = [docs[0].to_array(name) for name in ("ORTH", "SHAPE", "TAG")]
        assert surface.write(*columns, docs[0].vocab.strings).spaces[0] is not joins


def test_what_is_stored_comes_back(pipelines):
    for nlp in pipelines.values():
        surface = nlp.get_pipe("linearizer").surface
        assert Surface.from_dict(surface.to_dict()).to_json() == surface.to_json()


@pytest.mark.parametrize(
    "value",
    [
        "abc",
        5,
        ((0, 2),),
        ((0.0, 2, "du", "_"),),
        ((0, 0, "du", "_"),),
        ((1, 9, "du", "_"),),
        ((0, 2, 5, "_"),),
        ((0, 2, "du", None),),
        ((0, 2, "", "_"),),
        ((0, 2, "_", "_"),),
        ((0, 2, "d\tu", "_"),),
        ((0, 2, "du", "a\nb"),),
        ((0, 2, "du", "_"), (1, 3, "x", "_")),
    ],
)
def test_bad_ranges(pipelines, value, tmp_path):
    """They are refused wherever a Doc is read."""
    nlp = pipelines["fr"]
    doc = Doc(nlp.vocab, words=["de", "le", "club"])
    doc._.linearize_ranges = value
    with pytest.raises(LinearizeError, match="SL223"):
        nlp(doc)
    with pytest.raises(LinearizeError, match="SL223"):
        read_written(doc)
    if isinstance(value, tuple) and isinstance(value[0][0], int):
        ranges = [list(one[:3]) for one in value]
        if all(len(one) == 3 for one in ranges) and value[0][3:] in ((), ("_",)):
            with pytest.raises(LinearizeError, match=r"SL221.*ranges"):
                object_to_doc({"words": ["de", "le", "club"], "ranges": ranges}, nlp.vocab)


@pytest.mark.parametrize(
    ("words", "first", "form", "text"),
    [
        ("le chat boit De le lait", "De", "Du", "Le chat boit du lait"),
        ("à le bar il boit", "à", "au", "Au bar il boit"),
    ],
)
def test_truecase_of_given_forms(words, first, form, text):
    surface = Surface()
    surface.casing.capitalises = True
    surface.casing.lower = {"de", "le", "lait", "chat", "boit", "il", "à", "bar"}
    order, strings = words.split(), spacy.blank("fr").vocab.strings
    keys = np.array([strings.add(word) for word in order], dtype=np.uint64)
    shapes = np.array([strings.add(word_shape(word)) for word in order], dtype=np.uint64)
    start = order.index(first)
    given = [Range(start, start + 2, form)]
    written = surface.write(keys, shapes, np.zeros_like(keys), strings, given=given, truecase=True)
    assert written.text(order) == text
