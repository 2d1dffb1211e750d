"""The component: a Doc in any order in, the sentence out."""

import random
import subprocess
import sys

import pytest
import spacy
from docs import bag, read_docs, rows, shuffled
from random_docs import settings
from spacy.tokens import Doc
from spacy.training import Example
from spacy_linearize.bag import Use, read_words

import spacy_linearize.linearizer
from spacy_linearize.errors import LinearizeError
from spacy_linearize.training.corpus import Corpus, give

CONFIG = {"model": {"table_bits": 16, "attach_bits": 14}, "beam_width": 8}


SETTINGS = {"free": (0, 0), "tags": (1, 0), "partial": (0.5, 0.5), "full": (1, 1)}


@pytest.fixture(scope="module")
def nlp(trained_path):
    return spacy.load(trained_path)


class TestOrdering:
    def test_a_bag_becomes_a_sentence(self, nlp):
        doc = bag(nlp, "door the opened ? Who")
        out = nlp(doc)
        assert out.text == "Who opened the door?"
        assert out is not doc
        assert [t.text for t in doc] == ["door", "the", "opened", "?", "Who"]
        assert [t.dep_ for t in out] == ["nsubj", "ROOT", "det", "obj", "punct"]
        assert out._.linearization["order"] == (4, 2, 1, 0, 3)
        assert out._.linearization["given_tags"] == out._.linearization["given_heads"] == (False,) * 5
        assert isinstance(out._.linearization["score"], float)

    @pytest.mark.parametrize("setting", SETTINGS)
    def test_promises(self, nlp, setting):
        """A permutation, one projective tree, everything given kept, and no trace of the input order."""
        rng = random.Random(1)
        for gold in read_docs(nlp.vocab):
            given = give(gold, *SETTINGS[setting], rng=rng)
            other = shuffled(given, rng)
            out = nlp(other)
            assert sorted(t.text for t in out) == sorted(t.text for t in gold)
            assert len(list(out.sents)) == 1
            order = out._.linearization["order"]
            for token, k in zip(out, order, strict=True):
                source = other[k]
                assert token.text == source.text
                assert source.tag_ in ("", token.tag_)
                if source.has_head():
                    assert order[token.head.i] == source.head.i
                    assert token.dep_ == source.dep_
                assert all(t.i in {d.i for d in token.subtree} for t in out[token.left_edge.i : token.right_edge.i + 1])
            assert rows(nlp(given)) == rows(out)

    def test_most_sentences_come_back(self, nlp, corpus_path):
        scores = nlp.evaluate(list(Corpus(corpus_path)(nlp)))
        assert scores["linearize_bleu"] > 0.9
        assert scores["linearize_uas"] is None  # all arcs were given

    def test_evaluation_cannot_see_the_gold_order(self, nlp, corpus_path):
        rng = random.Random(5)
        for tags, heads in SETTINGS.values():
            examples = list(Corpus(corpus_path, tags=tags, heads=heads)(nlp))
            moved = [Example(shuffled(eg.predicted, rng), eg.reference) for eg in examples]
            first, second = nlp.evaluate(examples), nlp.evaluate(moved)
            for name in first:
                if name.startswith("linearize"):
                    assert first[name] == second[name], name

    def test_sentences_are_ordered_on_their_own(self, nlp):
        nlp.get_pipe("linearizer").sentences = "sents"
        try:
            words = ["sleeps", "dog", "The", ".", "?", "door", "the", "Who", "opened"]
            doc = Doc(nlp.vocab, words=words, sent_starts=[True, *[False] * 3, True, *[False] * 4])
            out = nlp(doc)
            assert out.text == "The dog sleeps. Who opened the door?"
            assert [sent.text for sent in out.sents] == ["The dog sleeps.", "Who opened the door?"]
            with pytest.raises(LinearizeError, match="SL042"):
                nlp(bag(nlp, "dog The"))
        finally:
            nlp.get_pipe("linearizer").sentences = "doc"

    def test_sentences_stay_sentences_without_trees(self, nlp):
        component = nlp.get_pipe("linearizer")
        component.sentences, component.tree = "sents", False
        try:
            out = nlp(Doc(nlp.vocab, words=["dog", "The", "Who", "opened"], sent_starts=[True, False, True, False]))
        finally:
            component.sentences, component.tree = "doc", True
        assert [sent.text for sent in out.sents] == ["The dog", "Who opened"]

    @pytest.mark.parametrize("whole", [False, True])
    def test_sentences_stay_sentences_with_arcs_but_without_trees(self, nlp, whole):
        component = nlp.get_pipe("linearizer")
        words = ["dog", "The", "Who", "opened"]
        if whole:
            doc = Doc(nlp.vocab, words=words, heads=[0, 0, 3, 3], deps=["ROOT", "det", "nsubj", "ROOT"])
        else:
            doc = Doc(nlp.vocab, words=words, sent_starts=[True, False, True, False])
            doc[1].head, doc[1].dep_ = doc[0], "det"
        component.sentences, component.tree, component.n_best = "sents", False, 2
        try:
            out = nlp(doc)
        finally:
            component.sentences, component.tree, component.n_best = "doc", True, 1
        assert [sent.text for sent in out.sents] == ["The dog", "Who opened"]
        assert out[0].head.text == "dog"
        for rank in range(2):
            assert [len(sent) for sent in spacy_linearize.alternative(out, rank).sents] == [2, 2]

    def test_labels_do_not_count_without_heads(self, nlp):
        """Otherwise the label of the root would land on another word."""
        component = nlp.get_pipe("linearizer")
        component.use_heads, component.overwrite = False, True
        try:
            for doc in read_docs(nlp.vocab)[:30]:
                assert [t.dep_ for t in nlp(doc) if t.head.i == t.i] == ["ROOT"]
                assert [t.dep_ for t in nlp(doc)].count("ROOT") == 1
        finally:
            component.use_heads, component.overwrite = True, False

    def test_no_tree_when_none_is_wanted(self, nlp):
        component = nlp.get_pipe("linearizer")
        component.tree = False
        try:
            out = nlp(
                bag(nlp, "the door opened Who ?", heads=[1, None, None, None, None], deps=["det", "", "", "", ""])
            )
        finally:
            component.tree = True
        assert [(t.text, t.dep_) for t in out if t.has_head()] == [("the", "det")]
        assert out[[t.text for t in out].index("the")].head.text == "door"

    def test_ignored_annotation(self, nlp):
        """With use_tags = false, tags are no constraint: they stay, or give way when overwrite is on."""
        component = nlp.get_pipe("linearizer")
        doc = bag(nlp, "door the opened ? Who", tags=["X"] * 5, heads=[1] * 5, deps=["dep", "ROOT", *["dep"] * 3])
        for key in ("use_tags", "use_heads", "use_deps"):
            setattr(component, key, False)
        try:
            kept = nlp(doc)
            component.overwrite = True
            predicted = nlp(doc)
        finally:
            for key in ("use_tags", "use_heads", "use_deps"):
                setattr(component, key, True)
            component.overwrite = False
        assert kept.text == predicted.text == "Who opened the door?"
        assert [t.tag_ for t in kept] == ["X"] * 5
        assert {t.head.text for t in kept} == {"the"}
        assert [t.tag_ for t in predicted] == ["WP", "VBD", "DT", "NN", "."]
        assert [t.head.text for t in predicted] == ["opened", "opened", "door", "opened", "opened"]

    def test_ignored_labels_of_given_arcs(self, nlp):
        component = nlp.get_pipe("linearizer")
        component.use_deps = False
        try:
            out = nlp(bag(nlp, "door the opened ? Who", heads=[2, 0, 2, None, 2], deps=["x", "y", "ROOT", "", "dep"]))
        finally:
            component.use_deps = True
        labels = {t.text: t.dep_ for t in out}
        assert (labels["door"], labels["the"]) == ("x", "y")
        assert labels["Who"] not in ("", "dep")

    def test_ignored_heads_stay_where_no_tree_is_added(self, nlp):
        component = nlp.get_pipe("linearizer")
        component.use_heads, component.tree = False, False
        try:
            out = nlp(bag(nlp, "door the opened", heads=[2, None, None], deps=["obj", "", ""]))
        finally:
            component.use_heads, component.tree = True, True
        assert {(t.text, t.head.text, t.dep_) for t in out if t.has_head()} == {("door", "opened", "obj")}

    def test_a_free_label_is_predicted_although_tags_are_ignored(self, nlp):
        component = nlp.get_pipe("linearizer")
        component.use_tags = False
        try:
            out = nlp(
                bag(nlp, "door the opened ? Who", heads=[2, 0, 2, 2, 2], deps=["dep", "dep", "ROOT", "dep", "dep"])
            )
        finally:
            component.use_tags = True
        assert "dep" not in {t.dep_ for t in out}

    def test_predict_builds_no_docs(self, nlp):
        (result,) = nlp.get_pipe("linearizer").predict([bag(nlp, "door the opened ? Who")])
        assert result[0].order.tolist() == [4, 2, 1, 0, 3]
        with pytest.raises(LinearizeError, match="SL044"):
            nlp.get_pipe("linearizer").set_annotations([], [])

    def test_alternatives(self, nlp):
        component = nlp.get_pipe("linearizer")
        docs = component.alternatives(bag(nlp, "door the opened ? Who"), 4)
        assert docs[0].text == nlp(bag(nlp, "door the opened ? Who")).text
        assert len({doc.text for doc in docs}) == 4
        scores = [doc._.linearization["score"] for doc in docs]
        assert scores == sorted(scores, reverse=True)
        assert len(component.alternatives(bag(nlp, "dog"), 4)) == 1
        assert component.alternatives(Doc(nlp.vocab), 4)[0].text == ""

    def test_alternatives_of_several_sentences(self, nlp):
        """One of a single word has one order, which goes with all those of the others."""
        words = ["barks", "The", "dog", ".", "Yes", "Who", "?", "opened"]
        doc = Doc(nlp.vocab, words=words, sent_starts=[1, 0, 0, 0, 1, 1, 0, 0])
        with settings(nlp.get_pipe("linearizer"), sentences="sents") as component:
            docs = component.alternatives(doc, 5)
        assert len({tuple(token.text for token in one) for one in docs}) == len(docs) == 5
        assert {one[4].text for one in docs} == {"Yes"}
        gaps = [one._.linearization["gap"] for one in docs]
        assert gaps == sorted(gaps)
        assert gaps[0] == 0


def test_a_missing_extension_module_does_not_break_spacy(tmp_path):
    code = (
        "import sys\n"
        "class Block:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.startswith('spacy_linearize.core.') or name == 'spacy_linearize.arrays':\n"
        "            raise ImportError('blocked: ' + name)\n"
        "sys.meta_path.insert(0, Block())\n"
        "import spacy\n"
        "nlp = spacy.blank('en')\n"
        "assert nlp.has_factory('linearizer')\n"
        "try:\n"
        "    nlp.add_pipe('linearizer')\n"
        "except ValueError as problem:\n"
        "    print(problem)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "[SL046]" in result.stdout
    assert "blocked: spacy_linearize.core" in result.stdout


def test_the_package_imports_nothing_heavy(tmp_path):
    code = "import sys, spacy_linearize; sys.exit('spacy' in sys.modules or 'numpy' in sys.modules)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=tmp_path)
    assert spacy_linearize.__version__


def test_punctuation_and_question_marks_are_told_to_the_core():
    nlp = spacy.blank("en")
    doc = bag(nlp, "Who , then ? what? !? ! ...")
    given = read_words(doc, Use())
    sentence = given.to_sentence()
    assert sentence.puncts.tolist() == [0, 1, 0, 2, 0, 2, 1, 1]
    part = given.part(3, 6).to_sentence()
    assert part.puncts.tolist() == [2, 0, 2]


def test_markers_are_labels_by_name():
    nlp = spacy.blank("en")
    component = nlp.add_pipe("linearizer", config={"model": {**CONFIG["model"], "markers": ["case", "cc"]}})
    keys = [nlp.vocab.strings.add(label) for label in ("case", "cc")]
    assert component.shim.cfg["markers"] == keys
    gold = read_docs(nlp.vocab)[0]
    nlp.initialize(lambda: [Example(gold.copy(), gold)])
    words = {"words": ["in", "In", "the", "house"], "deps": ["case", "det", "cc", "ROOT"], "heads": [3] * 4}
    given = read_words(Doc(nlp.vocab, **words), Use()).to_bag(component.shim.engine)
    marks = given.column(6).tolist()
    assert marks[:3] == [0, 0, 0]
    assert marks[3] != 0


def test_text_teaches_the_language_model(tmp_path):
    """Its lines count beside the words of the examples, in the tokenization of the pipeline."""
    (tmp_path / "text").write_text("\nthe cat saw the dog.\n\n  the dog saw me\n", encoding="utf8")

    def ngrams(text):
        nlp = spacy.blank("en")
        component = nlp.add_pipe("linearizer", config=CONFIG)
        gold = bag(nlp, "John left .")
        component.initialize(lambda: [Example(gold.copy(), gold)], nlp=nlp, text=text)
        return nlp, [decoder.ngrams for decoder in component.shim.engine.decoders]

    nlp, (forth, back) = ngrams(tmp_path / "text")
    _, (bare, _) = ngrams(None)
    seen, unseen = ([nlp.vocab.strings.add(word) for word in text.split()] for text in ("the dog .", "dog the ."))
    assert forth.score(seen) > forth.score(unseen)
    assert forth.score(seen) > bare.score(seen)
    assert back.score(seen[::-1]) > back.score(unseen[::-1])
