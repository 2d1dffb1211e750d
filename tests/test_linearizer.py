"""The component: a Doc in any order in, the sentence out."""

import copy
import pickle
import random
from dataclasses import replace

import pytest
import spacy
from helpers.components import make_nlp, with_options
from helpers.docs import bag, read_docs, rows, shuffled
from helpers.random_docs import random_doc
from spacy.tokens import Doc, DocBin
from spacy.training import Example

import spacy_linearize
from spacy_linearize.errors import LinearizeError
from spacy_linearize.options import NAMES
from spacy_linearize.training.corpus import Corpus, give

SETTINGS = {"free": (0, 0), "tags": (1, 0), "partial": (0.5, 0.5), "full": (1, 1)}


def test_a_bag_becomes_a_sentence(nlp):
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
def test_promises(nlp, setting):
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


def test_most_sentences_come_back(nlp, corpus_path):
    scores = nlp.evaluate(list(Corpus(corpus_path)(nlp)))
    assert scores["bleu"] > 0.9
    assert scores["uas"] is None  # all arcs were given


def test_evaluation_cannot_see_the_gold_order(nlp, corpus_path):
    rng = random.Random(5)
    for tags, heads in SETTINGS.values():
        examples = list(Corpus(corpus_path, tags=tags, heads=heads)(nlp))
        moved = [Example(shuffled(eg.predicted, rng), eg.reference) for eg in examples]
        first, second = nlp.evaluate(examples), nlp.evaluate(moved)
        for name in first:
            if name.startswith("linearize"):
                assert first[name] == second[name], name


def test_sentences_are_ordered_on_their_own(nlp, component):
    component.sentences = "sents"
    words = ["sleeps", "dog", "The", ".", "?", "door", "the", "Who", "opened"]
    doc = Doc(nlp.vocab, words=words, sent_starts=[True, *[False] * 3, True, *[False] * 4])
    out = component(doc)
    assert out.text == "The dog sleeps. Who opened the door?"
    assert [sent.text for sent in out.sents] == ["The dog sleeps.", "Who opened the door?"]
    with pytest.raises(LinearizeError, match="SL042"):
        component(bag(nlp, "dog The"))


def test_predict_builds_no_docs(nlp, component):
    (result,) = component.predict([bag(nlp, "door the opened ? Who")])
    assert result[0].order.tolist() == [4, 2, 1, 0, 3]
    with pytest.raises(LinearizeError, match="SL044"):
        component.set_annotations([], [])


class TestOneWayToOrder:
    """`__call__`, `pipe`, `predict`, `alternatives` and the insights go through the model, and agree."""

    @pytest.fixture
    def docs(self, nlp):
        rng = random.Random(8)
        docs = [random_doc(nlp.vocab, rng) for _ in range(40)]
        for doc in docs:
            doc.spans["units"] = [] if doc.has_annotation("DEP") or len(doc) < 2 else [doc[:2]]
        return docs

    @pytest.mark.parametrize("system", ["component", "joint"])
    @pytest.mark.parametrize("units", [None, "units"])
    @pytest.mark.parametrize("n_best", [1, 3])
    def test_all_agree(self, request, docs, system, units, n_best):
        component = with_options(request.getfixturevalue(system), units=units, n_best=n_best)
        expected = [component(doc) for doc in docs]
        piped = list(component.pipe(docs, batch_size=7))
        threaded = list(with_options(component, n_threads=3).pipe(docs, batch_size=7))
        for doc, one, two, three, found in zip(docs, expected, piped, threaded, component.predict(docs), strict=True):
            assert rows(one) == rows(two) == rows(three)
            assert one._.linearization == two._.linearization == three._.linearization
            assert len(found) <= n_best
            others = component.alternatives(doc, n_best)
            assert [other._.linearization["order"] for other in others] == [tuple(o.order.tolist()) for o in found]
            assert [other._.linearization["score"] for other in others] == [o.score for o in found]
            assert rows(others[0]) == rows(one)

    @pytest.mark.parametrize(
        ("way", "n_bags"),
        [
            (lambda component, doc: component(doc), 1),
            (lambda component, doc: list(component.pipe([doc, doc])), 2),
            (lambda component, doc: component.predict([doc]), 1),
            (lambda component, doc: component.alternatives(doc, 3), 1),
            (lambda component, doc: component.score_order(doc), 2),
            (lambda component, doc: component.explain(doc), 1),
        ],
    )
    def test_all_go_through_the_model(self, nlp, component, monkeypatch, way, n_bags):
        seen = []
        forward = component.model._func

        def spy(model, inputs, is_train):
            seen.append((model, len(inputs[0]), is_train))
            return forward(model, inputs, is_train)

        monkeypatch.setattr(component.model, "_func", spy)
        way(component, bag(nlp, "door the opened ? Who"))
        assert {(model, is_train) for model, _, is_train in seen} == {(component.model, False)}
        assert sum(n for _, n, _ in seen) == n_bags

    def test_what_the_model_says_counts(self, nlp, component, monkeypatch):
        """A second opinion may be put around it."""
        forward = component.model._func

        def reversed_orders(model, inputs, is_train):
            found, backprop = forward(model, inputs, is_train)
            return [[replace(best, order=best.order[::-1].copy()) for best in orders] for orders in found], backprop

        doc = bag(nlp, "door the opened ? Who")
        expected = [token.text for token in component(doc)][::-1]
        monkeypatch.setattr(component.model, "_func", reversed_orders)
        assert [token.text for token in component(doc)] == expected
        assert [token.text for token in next(component.pipe([doc]))] == expected
        assert [token.text for token in component.alternatives(doc, 1)[0]] == expected


class TestConfigure:
    @pytest.fixture
    def nlp(self, trained_path):
        return spacy.load(trained_path)

    def test_component_and_config_change_together(self, nlp, tmp_path):
        spacy_linearize.configure(nlp, beam_width=5, units="ents", tree_beam_width=None)
        component = nlp.get_pipe("linearizer")
        assert (component.beam_width, component.units, component.n_best) == (5, "ents", 1)
        config = nlp.config["components"]["linearizer"]
        assert (config["beam_width"], config["units"]) == (5, "ents")
        nlp.to_disk(tmp_path / "model")
        loaded = spacy.load(tmp_path / "model")
        assert loaded.get_pipe("linearizer").options == component.options
        assert loaded.config["components"]["linearizer"] == config
        # What a config says on loading still speaks last.
        changed = spacy.load(tmp_path / "model", config={"components.linearizer.beam_width": 40})
        assert changed.get_pipe("linearizer").options == component.options.change(beam_width=40)

    def test_an_attribute_is_not_saved(self, nlp, tmp_path):
        component = nlp.get_pipe("linearizer")
        component.beam_width, component.sentences = 5, "sents"
        assert nlp.config["components"]["linearizer"]["beam_width"] == 8
        nlp.to_disk(tmp_path / "model")
        loaded = spacy.load(tmp_path / "model").get_pipe("linearizer")
        assert (loaded.beam_width, loaded.sentences) == (8, "doc")
        component.from_bytes(component.to_bytes())
        assert (component.beam_width, component.sentences) == (5, "sents")

    def test_a_wrong_setting_changes_nothing(self, nlp):
        component = nlp.get_pipe("linearizer")
        before = component.options
        for settings in ({"n_best": 2, "beam_width": 0}, {"n_best": 2, "colour": 1}, {"n_best": 2, "model": None}):
            with pytest.raises(LinearizeError, match="SL022"):
                spacy_linearize.configure(nlp, **settings)
            assert component.options is before
            assert nlp.config["components"]["linearizer"]["n_best"] == 1

    def test_several_linearizers(self, nlp):
        nlp.add_pipe("linearizer", name="second")
        with pytest.raises(LinearizeError, match=r"SL196.*2 linearizers \(linearizer, second\)"):
            spacy_linearize.configure(nlp, n_best=2)
        with pytest.raises(LinearizeError, match="SL196"):
            spacy_linearize.configure(nlp, "third", n_best=2)
        spacy_linearize.configure(nlp, "second", n_best=2)
        assert [nlp.get_pipe(name).n_best for name in ("linearizer", "second")] == [1, 2]
        config = nlp.config["components"]
        assert [config[name]["n_best"] for name in ("linearizer", "second")] == [1, 2]

    def test_no_linearizer(self):
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        for name in (None, "sentencizer"):
            with pytest.raises(LinearizeError, match=r"SL196.*0 linearizers \(none\)"):
                spacy_linearize.configure(nlp, name, n_best=2)

    def test_a_disabled_one(self, nlp):
        nlp.disable_pipe("linearizer")
        spacy_linearize.configure(nlp, n_best=2)
        nlp.enable_pipe("linearizer")
        assert nlp.get_pipe("linearizer").n_best == 2


def test_a_seed_that_is_set_starts_anew():
    component = make_nlp().get_pipe("linearizer")
    first = component._rng.random()
    component.beam_width = 3
    second = component._rng.random()
    assert first != second
    component.seed = 1
    component.seed = 0
    assert [component._rng.random() for _ in range(2)] == [first, second]


def test_alternatives(nlp):
    component = nlp.get_pipe("linearizer")
    docs = component.alternatives(bag(nlp, "door the opened ? Who"), 4)
    assert docs[0].text == nlp(bag(nlp, "door the opened ? Who")).text
    assert len({doc.text for doc in docs}) == 4
    scores = [doc._.linearization["score"] for doc in docs]
    assert scores == sorted(scores, reverse=True)
    assert len(component.alternatives(bag(nlp, "dog"), 4)) == 1
    assert component.alternatives(Doc(nlp.vocab), 4)[0].text == ""


def test_alternatives_of_several_sentences(nlp, component):
    """One of a single word has one order, which goes with all those of the others."""
    words = ["barks", "The", "dog", ".", "Yes", "Who", "?", "opened"]
    doc = Doc(nlp.vocab, words=words, sent_starts=[1, 0, 0, 0, 1, 1, 0, 0])
    docs = with_options(component, sentences="sents").alternatives(doc, 5)
    assert len({tuple(token.text for token in one) for one in docs}) == len(docs) == 5
    assert {one[4].text for one in docs} == {"Yes"}
    gaps = [one._.linearization["gap"] for one in docs]
    assert gaps == sorted(gaps)
    assert gaps[0] == 0


@pytest.fixture(scope="module")
def bags(nlp):
    rng = random.Random(2)
    return [give(doc, 0.5, 0.5, rng=rng) for doc in read_docs(nlp.vocab)[:25]]


def test_doc_bin_keeps_what_was_done(nlp, bags):
    out = [nlp(doc) for doc in bags]
    again = list(DocBin(docs=out, store_user_data=True).get_docs(nlp.vocab))
    assert [doc._.linearization for doc in again] == [doc._.linearization for doc in out]
    assert [rows(doc) for doc in again] == [rows(doc) for doc in out]


def test_as_tuples(nlp, bags):
    pairs = list(nlp.pipe(((doc, i) for i, doc in enumerate(bags)), as_tuples=True))
    assert [context for _, context in pairs] == list(range(len(bags)))


def test_untrained():
    nlp = make_nlp()
    with pytest.raises(LinearizeError, match=r"SL040.*not trained.*spacy train.*source="):
        nlp(bag(nlp, "a b"))
    with pytest.raises(LinearizeError, match="SL040"):
        nlp.get_pipe("linearizer").update([Example.from_dict(bag(nlp, "a b"), {})])


def test_nothing_to_order(nlp):
    assert nlp(Doc(nlp.vocab)).text == ""
    assert nlp("").text == ""
    assert nlp(Doc(nlp.vocab, words=[" ", "\n"])).text.split() == []
    assert nlp("dog")[0].dep_ == "ROOT"


def test_duplicate_words(nlp):
    out = nlp(bag(nlp, "the the the dog dog ."))
    assert sorted(t.text for t in out) == [".", "dog", "dog", "the", "the", "the"]


def test_no_doc(nlp):
    component = nlp.get_pipe("linearizer")
    for call in (component, component.explain, component.score_order, lambda text: component.alternatives(text, 2)):
        for value in ("a b c", "", None):
            with pytest.raises(LinearizeError, match=rf"SL192.*given {value!r}"):
                call(value)


def test_too_many_alternatives(nlp):
    for n_best in (0, 10**12):
        with pytest.raises(LinearizeError, match=r"SL022.*'n_best' is"):
            nlp.get_pipe("linearizer").alternatives(bag(nlp, "a b"), n_best)


def test_a_thousand_tokens(nlp, component):
    rng = random.Random(0)
    words = [rng.choice(["dog", "the", "a", "house", "sees", f"w{i}"]) for i in range(1000)]
    component.beam_width = 1
    assert sorted(t.text for t in component(Doc(nlp.vocab, words=words))) == sorted(words)


def test_a_setting_of_another_name(nlp, component):
    with pytest.raises(AttributeError, match="beamwidth"):
        component.beamwidth = 5
    assert not hasattr(component, "__dict__")
    component.n_best = 2
    for again in (pickle.loads(pickle.dumps(component)), copy.deepcopy(component), copy.copy(component)):
        for key in (*NAMES, "options", "cfg", "name"):
            assert getattr(again, key) == getattr(component, key)
        doc = bag(nlp, "dog The sleeps .")
        assert again(doc).text == component(doc).text
        again.beam_width = 3
        assert (again.options.beam_width, component.options.beam_width) == (3, 8)
        with pytest.raises(AttributeError, match="beamwidth"):
            again.beamwidth = 5


@pytest.mark.parametrize("n_threads", [1, 2])
def test_pipe_skips_a_bad_doc_and_loses_no_other(nlp, component, n_threads):
    good = [bag(nlp, "dog The sleeps .") for _ in range(5)]
    bad = bag(nlp, "a b", heads=[1, 0], deps=["x", "x"])
    caught = []

    def handler(name, component, docs, problem):
        caught.append((name, [doc.text for doc in docs], problem.code))

    component.n_threads = n_threads
    component.set_error_handler(handler)
    out = list(component.pipe([*good[:2], bad, *good[2:]]))
    assert [doc.text for doc in out] == ["The dog sleeps."] * 5
    assert caught == [("linearizer", ["a b "], "SL001")]
    assert component(bad) is None
    assert len(caught) == 2


@pytest.mark.parametrize("drop", [None, "0.1", 1.0, -0.5, float("nan")])
def test_a_wrong_drop(nlp, drop):
    with pytest.raises(LinearizeError, match=r"SL022.*'drop' is .*from 0 to below 1"):
        nlp.get_pipe("linearizer").update([], drop=drop)


def test_initialize_without_nlp(tmp_path):
    nlp = spacy.blank("en")
    component = nlp.add_pipe("linearizer")
    examples = [Example(bag(nlp, "a dog"), bag(nlp, "a dog"))]
    with pytest.raises(LinearizeError, match=r"SL194.*was given corpus, but no nlp"):
        component.initialize(lambda: examples, corpus=lambda nlp: examples)
    with pytest.raises(LinearizeError, match=r"SL194.*was given text, but no nlp"):
        component.initialize(lambda: examples, text=tmp_path / "text.txt")
    with pytest.raises(LinearizeError, match="SL040"):
        component.engine  # noqa: B018
    component.initialize(lambda: examples)


def test_no_data():
    nlp = make_nlp()
    with pytest.raises(TypeError, match="E930"):
        nlp.get_pipe("linearizer").initialize("wrong")
    with pytest.raises(TypeError, match="E978"):
        nlp.get_pipe("linearizer").initialize(lambda: "wrong")
    with pytest.raises(TypeError, match="E930"):
        nlp.get_pipe("linearizer").initialize(lambda: [])
    with pytest.raises(TypeError, match="E978"):
        nlp.get_pipe("linearizer").initialize(lambda: iter([Doc(nlp.vocab)]))
    empty = Doc(nlp.vocab)
    with pytest.raises(LinearizeError, match="SL045"):
        nlp.get_pipe("linearizer").initialize(lambda: [Example(empty, empty)])
    with pytest.raises(LinearizeError, match="SL045"):
        nlp.get_pipe("linearizer").initialize(lambda: iter([]))


def test_examples_are_read_once():
    nlp = make_nlp()
    doc = bag(nlp, "a dog")
    n_readings = 0

    def read():
        nonlocal n_readings
        n_readings += 1
        yield Example(doc, doc)

    nlp.get_pipe("linearizer").initialize(read)
    assert n_readings == 1


def test_words_alone_teach_the_order():
    """No tags, no trees, no spaces: plain text in its right order."""
    nlp = make_nlp(use_tags=False)
    docs = [Doc(nlp.vocab, words=[t.text for t in doc]) for doc in read_docs()[:40]]
    examples = [Example(doc.copy(), doc) for doc in docs]
    nlp.initialize(lambda: examples)
    losses = []
    for _ in range(6):
        losses.append(nlp.update(examples, drop=0.0)["linearizer"])
    assert losses[-1] < 0.4 * losses[0]
    assert nlp.evaluate(examples)["bleu"] > 0.8
    assert "  " not in nlp(docs[0]).text


def test_stock_corpus(corpus_path):
    """Examples of spaCy's own reader have nothing given: free ordering."""
    nlp = make_nlp()
    corpus = spacy.training.Corpus(corpus_path, gold_preproc=True)
    examples = list(corpus(nlp))
    nlp.initialize(lambda: examples)
    first = nlp.update(examples, drop=0.0)["linearizer"]
    for _ in range(4):
        last = nlp.update(examples, drop=0.0)["linearizer"]
    assert last < 0.5 * first


def test_initialize_reads_a_corpus_of_its_own(corpus_path):
    nlp = make_nlp()
    corpus = Corpus(corpus_path)
    few = list(corpus(nlp))[:3]
    component = nlp.get_pipe("linearizer")
    component.initialize(lambda: few, nlp=nlp)
    some = component.labels
    component.initialize(lambda: few, nlp=nlp, corpus=corpus)
    assert len(component.labels) > len(some)


def test_dropout_and_seed(corpus_path):
    def train(seed, drop):
        nlp = make_nlp(seed=seed)
        corpus = Corpus(corpus_path, limit=20)
        nlp.initialize(lambda: corpus(nlp))
        nlp.update(list(corpus(nlp)), drop=drop)
        return nlp.get_pipe("linearizer").model.to_bytes()

    assert train(1, 0.2) == train(1, 0.2)
    assert train(1, 0.2) != train(2, 0.2)
    assert train(1, 0.2) != train(1, 0.0)
    assert train(1, 0.0) != train(2, 0.0)  # the sequence of the examples


def test_a_failed_start_changes_nothing(tmp_path):
    nlp = make_nlp()
    gold = read_docs(nlp.vocab)[0]
    component = nlp.get_pipe("linearizer")
    component.initialize(lambda: [Example(gold.copy(), gold)], nlp=nlp)
    before = component.to_bytes()
    other = read_docs(nlp.vocab)[1]
    with pytest.raises(LinearizeError, match=r"SL210.*missing\.txt"):
        component.initialize(lambda: [Example(other.copy(), other)], nlp=nlp, text=tmp_path / "missing.txt")
    for labels in (["nsubj"], {"tags": "NN"}, {"tags": [1]}, {"labels": 7}):
        with pytest.raises(LinearizeError, match=r"SL022.*'labels' is"):
            component.initialize(lambda: [Example(other.copy(), other)], nlp=nlp, labels=labels)
    assert component.to_bytes() == before


def test_labels(nlp):
    component = nlp.get_pipe("linearizer")
    assert {"nsubj", "ROOT", "punct"} < set(component.labels)
    assert set(component.label_data) == {"tags", "labels"}
    other = make_nlp()
    gold = read_docs(other.vocab)[0]
    other.get_pipe("linearizer").initialize(
        lambda: [Example(gold.copy(), gold)], nlp=other, labels={"tags": ["ZZ"], "labels": ["zz"]}
    )
    assert "ZZ" in other.get_pipe("linearizer").label_data["tags"]
    assert "zz" in other.vocab.strings
