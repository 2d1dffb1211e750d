"""The component: a Doc in any order in, the sentence out."""

import random
import subprocess
import sys
import warnings

import numpy as np
import pytest
import spacy
from docs import bag, read_docs, rows, shuffled
from spacy.tokens import Doc, Span, Token
from spacy.training import Example

import spacy_linearize.linearizer
from spacy_linearize.bag import ATTRS, Use, _words, read_words
from spacy_linearize.corpus import Corpus, give
from spacy_linearize.errors import LinearizeError

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

    def test_the_rest(self, nlp, doc):
        out = nlp(doc)
        assert out._.source == "here"
        assert out.user_data["anything"] == {"x": 1}
        assert out.cats == {"QUESTION": 1.0}
        assert out._context == "context"
        assert out.user_hooks == {"sentiment": len}
        doc.tensor = np.arange(10).reshape(5, 2)
        assert nlp(doc).tensor.tolist() == [[8, 9], [4, 5], [2, 3], [0, 1], [6, 7]]


class TestBadInput:
    def test_untrained(self):
        nlp = spacy.blank("en")
        nlp.add_pipe("linearizer", config=CONFIG)
        with pytest.raises(LinearizeError, match=r"SL040.*not trained.*spacy train.*source="):
            nlp(bag(nlp, "a b"))
        with pytest.raises(LinearizeError, match="SL040"):
            nlp.get_pipe("linearizer").update([Example.from_dict(bag(nlp, "a b"), {})])

    def test_nothing_to_order(self, nlp):
        assert nlp(Doc(nlp.vocab)).text == ""
        assert nlp("").text == ""
        assert nlp(Doc(nlp.vocab, words=[" ", "\n"])).text.split() == []
        assert nlp("dog")[0].dep_ == "ROOT"

    def test_duplicate_words(self, nlp):
        out = nlp(bag(nlp, "the the the dog dog ."))
        assert sorted(t.text for t in out) == [".", "dog", "dog", "the", "the", "the"]

    def test_cycle(self, nlp):
        with pytest.raises(LinearizeError, match=r"SL001.*word 0 'a', word 1 'b'"):
            nlp(bag(nlp, "a b c", heads=[1, 0, None], deps=["x", "x", ""]))

    def test_two_roots(self, nlp):
        with pytest.raises(LinearizeError, match=r"SL002.*word 0 'a', word 2 'c'"):
            nlp(bag(nlp, "a b c", heads=[0, 0, 2], deps=["ROOT", "x", "ROOT"]))

    def test_own_head_without_being_the_root(self, nlp):
        with pytest.raises(LinearizeError, match=r"SL004.*word 1 'b'"):
            nlp(bag(nlp, "a b", heads=[1, 1], deps=["x", "nsubj"]))

    def test_head_in_another_sentence(self, nlp):
        doc = bag(nlp, "a b c d", heads=[1, 1, 3, 3], deps=["x", "ROOT", "x", "ROOT"])
        with pytest.raises(LinearizeError, match=r"SL043.*word 0 'a'"):
            _words(doc, Use(), doc.to_array(ATTRS)[:1], 0)

    def test_unknown_tag_and_label_are_kept(self, nlp):
        out = nlp(bag(nlp, "dog the", tags=["TAGS", "TAGT"], heads=[0, 0], deps=["ROOT", "strange"]))
        assert {t.text: (t.tag_, t.dep_) for t in out} == {"dog": ("TAGS", "ROOT"), "the": ("TAGT", "strange")}

    def test_a_tag_learned_later_is_known(self):
        nlp = spacy.blank("en")
        component = nlp.add_pipe("linearizer", config={"model": {"table_bits": 10, "attach_bits": 8}})
        first, later = (Doc(nlp.vocab, words=["dogs", "bark"], tags=[tag, "VBP"]) for tag in ("NNS", "NEW"))
        nlp.initialize(lambda: [Example(first, first)])
        nlp.update([Example(later, later)])
        assert "NEW" in component.label_data["tags"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            nlp(later)

    def test_a_thousand_tokens(self, nlp):
        rng = random.Random(0)
        words = [rng.choice(["dog", "the", "a", "house", "sees", f"w{i}"]) for i in range(1000)]
        component = nlp.get_pipe("linearizer")
        component.beam_width, width = 1, component.beam_width
        try:
            assert sorted(t.text for t in nlp(Doc(nlp.vocab, words=words))) == sorted(words)
        finally:
            component.beam_width = width

    def test_extension_of_another_package(self):
        nlp = spacy.blank("en")
        old = Doc.remove_extension("linearization")
        Doc.set_extension("linearization", getter=len)
        try:
            with pytest.raises(LinearizeError, match=r"SL041.*doc._.linearization"):
                nlp.add_pipe("linearizer")
        finally:
            Doc.remove_extension("linearization")
            Doc.set_extension("linearization", default=old[0])

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("beam_width", "8"),
            ("beam_width", 0),
            ("beam_width", True),
            ("n_threads", 1.5),
            ("use_tags", 1),
            ("use_heads", "yes"),
            ("use_deps", None),
            ("tree", "no"),
            ("overwrite", 2),
            ("sentences", "paragraphs"),
            ("seed", "x"),
        ],
    )
    def test_wrong_types_name_the_key(self, key, value):
        with pytest.raises(LinearizeError, match=rf"SL022.*'{key}' is"):
            spacy.blank("en").add_pipe("linearizer", config={key: value})

    def test_wrong_model_settings(self):
        with pytest.raises(LinearizeError, match=r"SL022.*'table_bits' is 99"):
            spacy.blank("en").add_pipe("linearizer", config={"model": {"table_bits": 99}})

    @pytest.mark.parametrize("n_threads", [1, 2])
    def test_pipe_skips_a_bad_doc_and_loses_no_other(self, nlp, n_threads):
        good = [bag(nlp, "dog The sleeps .") for _ in range(5)]
        bad = bag(nlp, "a b", heads=[1, 0], deps=["x", "x"])
        caught = []

        def handler(name, component, docs, problem):
            caught.append((name, [doc.text for doc in docs], problem.code))

        component = nlp.get_pipe("linearizer")
        component.n_threads = n_threads
        component.set_error_handler(handler)
        try:
            out = list(nlp.pipe([*good[:2], bad, *good[2:]]))
        finally:
            component.set_error_handler(spacy.util.raise_error)
            component.n_threads = 1
        assert [doc.text for doc in out] == ["The dog sleeps."] * 5
        assert caught == [("linearizer", ["a b "], "SL001")]


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
