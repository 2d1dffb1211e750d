"""The component: a Doc in any order in, the sentence out."""

import copy
import multiprocessing
import os
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import spacy
from docs import read_docs
from spacy.tokens import Doc, DocBin, Span, Token
from spacy.training import Example

import spacy_linearize.linearizer
from spacy_linearize.bag import Use, read_words
from spacy_linearize.corpus import Corpus, give
from spacy_linearize.errors import LinearizeError

CONFIG = {"model": {"table_bits": 16, "attach_bits": 14}, "beam_width": 8}
SETTINGS = {"free": (0, 0), "tags": (1, 0), "partial": (0.5, 0.5), "full": (1, 1)}


@pytest.fixture(scope="module")
def nlp(trained_path):
    return spacy.load(trained_path)


def shuffled(doc, rng):
    """The same words and annotation in another order."""
    order = rng.sample(range(len(doc)), len(doc))
    place = {k: i for i, k in enumerate(order)}
    return Doc(
        doc.vocab,
        words=[doc[k].text for k in order],
        tags=[doc[k].tag_ for k in order],
        heads=[place[doc[k].head.i] if doc[k].has_head() else None for k in order],
        deps=[doc[k].dep_ for k in order],
    )


def rows(doc):
    return [(t.text, t.whitespace_, t.tag_, t.dep_, t.head.i) for t in doc]


def bag(nlp, words, **annotation):
    return Doc(nlp.vocab, words=words.split(), **annotation)


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

    def test_predict_builds_no_docs(self, nlp):
        (result,) = nlp.get_pipe("linearizer").predict([bag(nlp, "door the opened ? Who")])
        assert result[0].order.tolist() == [4, 2, 1, 0, 3]
        with pytest.raises(LinearizeError, match="SL044"):
            nlp.get_pipe("linearizer").set_annotations([], [])


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
            read_words(doc, Use(), 0, 1)

    def test_unknown_tag_and_label_are_kept(self, nlp):
        out = nlp(bag(nlp, "dog the", tags=["TAGS", "TAGT"], heads=[0, 0], deps=["ROOT", "strange"]))
        assert {t.text: (t.tag_, t.dep_) for t in out} == {"dog": ("TAGS", "ROOT"), "the": ("TAGT", "strange")}

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


@pytest.fixture(scope="module")
def bags(nlp):
    rng = random.Random(2)
    return [give(doc, 0.5, 0.5, rng=rng) for doc in read_docs(nlp.vocab)[:25]]


class TestRoundTrips:
    def outputs(self, nlp, bags):
        """Outputs of another pipeline, over the same bags in its own vocabulary."""
        moved = DocBin(docs=bags).get_docs(nlp.vocab)
        return [rows(nlp(doc)) for doc in moved]

    def test_disk(self, nlp, bags, tmp_path):
        nlp.to_disk(tmp_path / "model")
        assert self.outputs(spacy.load(tmp_path / "model"), bags) == self.outputs(nlp, bags)

    def test_settings_can_be_changed_on_loading(self, nlp, tmp_path):
        nlp.to_disk(tmp_path / "model")
        changed = {"components.linearizer.beam_width": 3, "components.linearizer.sentences": "sents"}
        component = spacy.load(tmp_path / "model", config=changed).get_pipe("linearizer")
        assert (component.beam_width, component.sentences) == (3, "sents")
        assert component.labels == nlp.get_pipe("linearizer").labels

    def test_bytes(self, nlp, bags):
        other = spacy.blank("en")
        other.add_pipe("linearizer", config=CONFIG)
        other.from_bytes(nlp.to_bytes())
        assert self.outputs(other, bags) == self.outputs(nlp, bags)

    def test_pickle_and_deepcopy(self, nlp, bags):
        assert self.outputs(pickle.loads(pickle.dumps(nlp)), bags) == self.outputs(nlp, bags)
        model = nlp.get_pipe("linearizer").model
        assert copy.deepcopy(model).to_bytes() == model.to_bytes()
        assert model.copy().to_bytes() == model.to_bytes()

    def test_sourced(self, nlp, bags):
        other = spacy.blank("en")
        other.add_pipe("linearizer", source=nlp)
        assert self.outputs(other, bags) == self.outputs(nlp, bags)

    def test_untrained(self, tmp_path):
        nlp = spacy.blank("en")
        nlp.add_pipe("linearizer", config=CONFIG)
        nlp.to_disk(tmp_path / "model")
        with pytest.raises(LinearizeError, match="SL040"):
            spacy.load(tmp_path / "model")("a b")

    def test_doc_bin_keeps_what_was_done(self, nlp, bags):
        out = [nlp(doc) for doc in bags]
        again = list(DocBin(docs=out, store_user_data=True).get_docs(nlp.vocab))
        assert [doc._.linearization for doc in again] == [doc._.linearization for doc in out]
        assert [rows(doc) for doc in again] == [rows(doc) for doc in out]

    def test_as_tuples(self, nlp, bags):
        pairs = list(nlp.pipe(((doc, i) for i, doc in enumerate(bags)), as_tuples=True))
        assert [context for _, context in pairs] == list(range(len(bags)))

    def test_processes(self, nlp, bags):
        if "fork" not in multiprocessing.get_all_start_methods():
            pytest.skip("no fork here")
        expected = [rows(nlp(doc)) for doc in bags]
        assert [rows(doc) for doc in nlp.pipe(bags, n_process=2, batch_size=5)] == expected

    def test_spawned_processes(self, nlp, bags, tmp_path):
        nlp.to_disk(tmp_path / "model")
        DocBin(docs=bags).to_disk(tmp_path / "bags.spacy")
        code = (
            "import multiprocessing, spacy, sys\n"
            "from spacy.tokens import DocBin\n"
            "if __name__ == '__main__':\n"
            "    multiprocessing.set_start_method('spawn')\n"
            "    nlp = spacy.load(sys.argv[1] + '/model')\n"
            "    docs = list(DocBin().from_disk(sys.argv[1] + '/bags.spacy').get_docs(nlp.vocab))\n"
            "    for doc in nlp.pipe(docs, n_process=2, batch_size=5):\n"
            "        print(' '.join(token.text for token in doc))\n"
        )
        (tmp_path / "run.py").write_text(code)
        command = [sys.executable, str(tmp_path / "run.py"), str(tmp_path)]
        result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONIOENCODING": "utf8"})
        assert result.returncode == 0, result.stderr
        assert result.stdout.splitlines() == [" ".join(t.text for t in nlp(doc)) for doc in bags]

    def test_threads(self, nlp, bags):
        expected = [rows(nlp(doc)) for doc in bags]
        with ThreadPoolExecutor(8) as pool:
            assert [rows(doc) for doc in pool.map(nlp, bags * 4)] == expected * 4
        component = nlp.get_pipe("linearizer")
        component.n_threads = 8
        try:
            assert [rows(doc) for doc in nlp.pipe(bags)] == expected
        finally:
            component.n_threads = 1

    def test_memory_zone(self, nlp):
        before = nlp(bag(nlp, "dog The sleeps .")).text
        with nlp.memory_zone():
            for i in range(50):
                nlp(bag(nlp, f"dog The sleeps word{i} ."))
        assert nlp(bag(nlp, "dog The sleeps .")).text == before == "The dog sleeps."


class TestTraining:
    def make(self, **config):
        nlp = spacy.blank("en")
        nlp.add_pipe("linearizer", config={**CONFIG, **config})
        return nlp

    def test_no_data(self):
        nlp = self.make()
        with pytest.raises(TypeError, match="E930"):
            nlp.get_pipe("linearizer").initialize("wrong")
        with pytest.raises(TypeError, match="E978"):
            nlp.get_pipe("linearizer").initialize(lambda: "wrong")
        with pytest.raises(TypeError, match="E930"):
            nlp.get_pipe("linearizer").initialize(lambda: [])
        empty = Doc(nlp.vocab)
        with pytest.raises(LinearizeError, match="SL045"):
            nlp.get_pipe("linearizer").initialize(lambda: [Example(empty, empty)])

    def test_words_alone_teach_the_order(self):
        """No tags, no trees, no spaces: plain text in its right order."""
        nlp = self.make(use_tags=False)
        docs = [Doc(nlp.vocab, words=[t.text for t in doc]) for doc in read_docs()[:40]]
        examples = [Example(doc.copy(), doc) for doc in docs]
        nlp.initialize(lambda: examples)
        losses = []
        for _ in range(6):
            losses.append(nlp.update(examples, drop=0.0)["linearizer"])
        assert losses[-1] < 0.4 * losses[0]
        assert nlp.evaluate(examples)["linearize_bleu"] > 0.8
        assert "  " not in nlp(docs[0]).text

    def test_stock_corpus(self, corpus_path):
        """Examples of spaCy's own reader have nothing given: free ordering."""
        nlp = self.make()
        corpus = spacy.training.Corpus(corpus_path, gold_preproc=True)
        examples = list(corpus(nlp))
        nlp.initialize(lambda: examples)
        first = nlp.update(examples, drop=0.0)["linearizer"]
        for _ in range(4):
            last = nlp.update(examples, drop=0.0)["linearizer"]
        assert last < 0.5 * first

    def test_a_permuted_prediction_is_matched(self):
        nlp = self.make()
        gold = read_docs(nlp.vocab)[0]
        assert gold.text.strip() == "The dog sleeps in the garden."
        rng = random.Random(0)
        straight = [Example(give(gold, 1, 1), gold)]
        permuted = [Example(shuffled(give(gold, 1, 1), rng), gold)]
        nlp.initialize(lambda: straight)
        weights = nlp.get_pipe("linearizer").model.to_bytes()
        nlp.update(straight, drop=0.0)
        other = self.make().from_bytes(nlp.to_bytes())
        other.get_pipe("linearizer").model.from_bytes(weights)
        other.update(permuted, drop=0.0)
        assert other.get_pipe("linearizer").model.to_bytes() == nlp.get_pipe("linearizer").model.to_bytes()

    def test_a_prediction_that_leaves_its_match_open(self):
        nlp = self.make()
        gold = bag(nlp, "the dog saw the cat", tags=["DT", "NN", "VBD", "DT", "NN"])
        nlp.initialize(lambda: [Example(gold.copy(), gold)])
        bare = bag(nlp, "the the dog cat saw")
        nlp.update([Example(bare, gold)], drop=0.0)  # the two are the same: either will do
        tagged = bag(nlp, "the the dog cat saw", tags=["DT", "X", "", "", ""])
        with pytest.raises(LinearizeError, match=r"SL013.*'the'"):
            nlp.update([Example(tagged, gold)], drop=0.0)
        with pytest.raises(LinearizeError, match=r"SL013.*'house'|SL013.*'cat'"):
            nlp.update([Example(bag(nlp, "the the dog house saw"), gold)], drop=0.0)

    def test_several_sentences_in_one_example(self):
        nlp = self.make()
        gold = Doc.from_docs(read_docs(nlp.vocab)[:3])
        assert len(list(gold.sents)) == 3
        nlp.initialize(lambda: [Example(give(gold, 1, 1), gold)])
        assert nlp.update([Example(give(gold, 1, 1), gold)], drop=0.0)["linearizer"] <= 3

    def test_not_projective_is_reported_and_skipped(self, corpus_path, caplog):
        nlp = self.make()
        corpus = Corpus(corpus_path)
        spacy.util.logger.propagate, before = True, spacy.util.logger.propagate
        try:
            with caplog.at_level("INFO", logger="spacy"):
                nlp.initialize(lambda: corpus(nlp))
        finally:
            spacy.util.logger.propagate = before
        assert "2 of 113 sentences are not projective: skipped in training." in caplog.text
        nlp.update(list(corpus(nlp)), drop=0.0)

    def test_initialize_reads_a_corpus_of_its_own(self, corpus_path):
        nlp = self.make()
        corpus = Corpus(corpus_path)
        few = list(corpus(nlp))[:3]
        component = nlp.get_pipe("linearizer")
        component.initialize(lambda: few, nlp=nlp)
        some = component.labels
        component.initialize(lambda: few, nlp=nlp, corpus=corpus)
        assert len(component.labels) > len(some)

    def test_dropout_and_seed(self, corpus_path):
        def train(seed, drop):
            nlp = self.make(seed=seed)
            corpus = Corpus(corpus_path, limit=20)
            nlp.initialize(lambda: corpus(nlp))
            nlp.update(list(corpus(nlp)), drop=drop)
            return nlp.get_pipe("linearizer").model.to_bytes()

        assert train(1, 0.2) == train(1, 0.2)
        assert train(1, 0.2) != train(2, 0.2)
        assert train(1, 0.2) != train(1, 0.0)

    def test_labels(self, nlp):
        component = nlp.get_pipe("linearizer")
        assert {"nsubj", "ROOT", "punct"} < set(component.labels)
        assert set(component.label_data) == {"tags", "labels"}
        other = self.make()
        gold = read_docs(other.vocab)[0]
        other.get_pipe("linearizer").initialize(
            lambda: [Example(gold.copy(), gold)], nlp=other, labels={"tags": ["ZZ"], "labels": ["zz"]}
        )
        assert "ZZ" in other.get_pipe("linearizer").label_data["tags"]
        assert "zz" in other.vocab.strings

    def test_frozen_weights_survive_use_params(self, nlp):
        with nlp.use_params({}):
            assert nlp(bag(nlp, "dog The sleeps .")).text == "The dog sleeps."


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
        "except ImportError as problem:\n"
        "    print(problem)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "blocked: spacy_linearize.core" in result.stdout


def test_the_package_imports_nothing_heavy(tmp_path):
    code = "import sys, spacy_linearize; sys.exit('spacy' in sys.modules or 'numpy' in sys.modules)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=tmp_path)
    assert spacy_linearize.__version__
