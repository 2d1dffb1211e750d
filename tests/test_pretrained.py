"""The bundled English pipeline: what it orders, and how it copes with input that is not like its training data."""

import random
import warnings
from pathlib import Path

import pytest
import spacy
from helpers.docs import shuffled
from spacy.tokens import Doc, DocBin

import spacy_linearize
from spacy_linearize.bundled import bundled_names, bundled_path
from spacy_linearize.errors import LinearizeError

FOLDER = Path(spacy_linearize.__file__).parent / "pretrained"
PARSED = Path(__file__).parent / "data" / "parsed.spacy"  # by en_core_web_sm
WORDS = ["The", "dog", "chased", "the", "cat", "."]
TAGS = ["DT", "NN", "VBD", "DT", "NN", "."]
HEADS = [1, 2, 2, 4, 2, 2]
DEPS = ["det", "nsubj", "ROOT", "det", "obj", "punct"]


@pytest.fixture(scope="module")
def nlp():
    return spacy_linearize.load()


def bag(nlp, seed=0, **annotation):
    return shuffled(Doc(nlp.vocab, words=WORDS, **annotation), random.Random(seed))


@pytest.fixture(scope="module")
def web():
    return spacy_linearize.load("en_core_web")


def test_names():
    assert bundled_names() == ["en_core_web", "en_ud"]
    with pytest.raises(LinearizeError, match=r"SL197.*'en_core_web_sm'.*en_core_web, en_ud"):
        spacy_linearize.load("en_core_web_sm")


@pytest.mark.parametrize("name", ["en_ud", "en_core_web"])
def test_is_small_and_says_where_it_comes_from(name):
    folder = bundled_path(name)
    assert size_of(folder) <= 30_000_000
    meta = spacy.util.load_meta(folder / "meta.json")
    assert meta["license"] == "CC BY-SA 4.0"
    sources = [source["name"] for source in meta["sources"]]
    assert any("UD English EWT" in source for source in sources)
    card = (folder / "README.md").read_text(encoding="utf8")
    assert f"# {name}\n" in card
    assert "CC BY-SA 4.0" in card
    for source in meta["sources"]:
        assert source["name"].split(",")[0].split(" (")[0].removeprefix("English ") in card, source["name"]


def test_both_together_are_small():
    assert size_of(FOLDER) <= 50_000_000


def size_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_docs_of_spacys_own_pipeline_come_back(web):
    """A hundred parsed sentences that were kept out of training, with their words shuffled."""
    docs = list(DocBin().from_disk(PARSED).get_docs(web.vocab))
    assert len(docs) == 100
    found = [web(shuffled(doc, random.Random(seed))) for seed, doc in enumerate(docs)]
    right = [[t.text for t in new] == [t.text for t in doc] for new, doc in zip(found, docs, strict=True)]
    assert sum(right) >= 75
    for new, doc in zip(found, docs, strict=True):
        assert sorted((t.text, t.tag_, t.dep_) for t in new) == sorted((t.text, t.tag_, t.dep_) for t in doc)


def test_the_parsed_doc_of_the_readme(web):
    doc = Doc(
        web.vocab,
        words=["the", "old", "man", "feeds", "the", "ducks", "in", "the", "park", "every", "morning", "."],
        tags=["DT", "JJ", "NN", "VBZ", "DT", "NNS", "IN", "DT", "NN", "DT", "NN", "."],
        heads=[2, 2, 3, 3, 5, 3, 5, 8, 6, 10, 3, 3],
        deps=["det", "amod", "nsubj", "ROOT", "det", "dobj", "prep", "det", "pobj", "det", "npadvmod", "punct"],
    )
    doc._.linearize_first = 9
    assert web(doc).text == "every morning the old man feeds the ducks in the park."


@pytest.mark.parametrize(("name", "other"), [("en_ud", "en_core_web"), ("en_core_web", "en_ud")])
def test_labels_of_the_other_pipeline_name_it_once(name, other):
    nlp = spacy_linearize.load(name)
    deps = {"en_core_web": ["nsubj", "ROOT", "det", "dobj", "punct"], "en_ud": ["nsubj", "ROOT", "det", "obj", "punct"]}
    doc = Doc(nlp.vocab, words=["She", "opened", "the", "door", "."], heads=[1, 1, 3, 1, 1], deps=deps[other])
    with pytest.warns(UserWarning, match="SL058") as caught:
        new = nlp(doc)
    assert len(caught) == 1
    assert f"spacy_linearize.load('{other}')" in str(caught[0].message)
    assert sorted(token.dep_ for token in new) == sorted(deps[other])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp(doc)


def test_orders_free_words(nlp):
    assert nlp(Doc(nlp.vocab, words=["door", "the", "opened", "?", "Who"])).text == "Who opened the door?"


def test_orders_a_tree(nlp):
    for seed in range(5):
        doc = nlp(bag(nlp, seed, tags=TAGS, heads=HEADS, deps=DEPS))
        assert doc.text == "The dog chased the cat."
        assert [token.dep_ for token in doc] == DEPS


def test_moves_into_another_pipeline():
    other = spacy.blank("en")
    other.add_pipe("linearizer", source=spacy_linearize.load())
    assert other(Doc(other.vocab, words=["door", "the", "opened", "?", "Who"])).text == "Who opened the door?"


def test_unknown_tags_and_labels_are_kept_with_one_warning_for_all():
    nlp = spacy_linearize.load()
    upos = ["DET", "NOUN", "VERB", "DET", "NOUN", "PUNCT"]
    deps = ["det", "SUBJECT", "ROOT", "det", "obj", "punct"]
    with pytest.warns(UserWarning, match="SL058") as caught:
        doc = nlp(bag(nlp, tags=upos, heads=HEADS, deps=deps))
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 2
    assert "tags 'DET', 'NOUN', 'PUNCT', 'VERB'" in texts[0]
    assert "labels 'SUBJECT'" in texts[1]
    assert doc.text == "The dog chased the cat."
    assert [token.tag_ for token in doc] == upos
    assert [token.dep_ for token in doc] == deps
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp(bag(nlp, tags=upos, heads=HEADS, deps=deps))


def test_no_tags_at_all(nlp):
    assert nlp(bag(nlp, heads=HEADS, deps=DEPS)).text == "The dog chased the cat."


def test_lower_case_and_no_punctuation(nlp):
    words = ["the", "dog", "chased", "the", "cat"]
    doc = Doc(nlp.vocab, words=words, heads=HEADS[:5], deps=DEPS[:5])
    assert nlp(shuffled(doc, random.Random(1))).text == "the dog chased the cat"


def test_other_tokenization(nlp):
    """Words that training has never seen as one token."""
    words = ["I", "don't", "think", "she's", "here."]
    doc = nlp(Doc(nlp.vocab, words=words[::-1]))
    assert sorted(token.text for token in doc) == sorted(words)


def test_unknown_tag_in_another_pipeline():
    """The Doc's own vocabulary knows the tag, that of the component may not."""
    other = spacy.blank("en")
    other.add_pipe("linearizer", source=spacy_linearize.load())
    with pytest.warns(UserWarning, match=r"SL058.*tags 'NOVELTY'"):
        doc = other(Doc(other.vocab, words=["dogs", "bark"], tags=["NOVELTY", ""]))
    assert {token.tag_ for token in doc} >= {"NOVELTY"}
