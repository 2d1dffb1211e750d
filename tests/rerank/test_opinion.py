"""A second opinion chooses among the orders of the search, and does nothing else."""

import copy
import pickle
import random
import warnings

import numpy as np
import pytest
import spacy
from helpers.components import with_options
from helpers.docs import bag, read_docs, shuffled
from helpers.random_docs import random_doc
from helpers.rerankers import CONFIG, FAILURES, Fake, Malicious, inversions
from spacy.tokens import Doc, Span

import spacy_linearize
from spacy_linearize.core.records import Order
from spacy_linearize.doc.surface import Surface
from spacy_linearize.errors import LinearizeError
from spacy_linearize.rerank.opinion import merge
from spacy_linearize.rerank.reranker import Question, Reranker, RerankOptions

WORDS = "the dog sees the old cat ."


@pytest.fixture
def fake(component):
    component.reranker = Fake()
    return component


def words_of(doc):
    return [token.text for token in doc]


def test_it_chooses_among_the_orders_of_the_search(nlp, component):
    rng = random.Random(1)
    docs = [shuffled(doc, rng) for doc in read_docs(nlp.vocab)[:20]]
    for doc in docs:
        doc.user_data.clear()
    changed = 0
    for doc in docs:
        free = Doc(nlp.vocab, words=words_of(doc))
        component.reranker = None
        before = component.alternatives(free, 6)
        component.reranker = Fake()
        chosen = component(free)
        texts = [words_of(one) for one in before]
        assert words_of(chosen) in texts
        assert inversions(words_of(chosen)) == min(map(inversions, texts))
        changed += words_of(chosen) != texts[0]
    assert changed > 5


@pytest.mark.parametrize("how", [*FAILURES, "changes"])
def test_a_malicious_reranker(nlp, component, how):
    """Whatever it returns: a permutation that keeps all that is given, and without a right answer the search's own."""
    rng = random.Random(2)
    docs = [random_doc(nlp.vocab, rng) for _ in range(10)]
    plain = [component(doc) for doc in docs]
    component.reranker = Malicious(how)
    for doc, before in zip(docs, plain, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            new = component(doc)
        order = new._.linearization["order"]
        assert sorted(order) == list(range(len(doc)))
        assert words_of(new) == [doc[k].text for k in order]
        for place, k in enumerate(order):
            if doc[k].tag_:
                assert new[place].tag_ == doc[k].tag_
            if doc[k].has_head():
                assert order[new[place].head.i] == doc[k].head.i
        if how != "changes":
            assert new._.linearization == before._.linearization


@pytest.mark.parametrize(("how", "code"), FAILURES.items())
def test_strict(nlp, component, how, code):
    component.reranker = Malicious(how, strict=True)
    with pytest.raises(LinearizeError, match=code):
        component(bag(nlp, WORDS))
    component.reranker = Malicious(how)
    with pytest.warns(UserWarning, match=rf"{code}.*The order is that of the search"):
        component(bag(nlp, WORDS))


def test_one_bad_question_does_not_spoil_the_others(nlp, component):
    class Picky(Fake):
        def score(self, questions):
            if any("dog" in question.texts[0] for question in questions):
                raise ValueError("no dogs")
            return super().score(questions)

    docs = [bag(nlp, "a cat sees the bird ."), bag(nlp, WORDS), bag(nlp, "the bird sees a man .")]
    component.reranker = Picky()
    with pytest.warns(UserWarning, match="SL230.*no dogs"):
        found = list(component.pipe(docs))
    assert ["second" in doc._.linearization for doc in found] == [True, False, True]


def test_what_is_given_stays(nlp, component):
    """Units, precedences, arcs: the fake would like to break all of them."""
    component.reranker = Fake(n_candidates=20)
    component.units = "together"
    doc = bag(nlp, WORDS)
    doc.spans["together"] = [Span(doc, 3, 6)]
    doc._.linearize_before = [(2, 1)]
    words = words_of(component(doc))
    assert " ".join(words).count("the old cat") == 1
    assert words.index("sees") < words.index("dog")
    assert "the old cat" in component.reranker.questions[0].texts[0]


def test_the_input_order_does_not_matter(nlp, fake):
    rng = random.Random(4)
    for doc in read_docs(nlp.vocab)[:10]:
        doc = Doc(nlp.vocab, words=words_of(doc))
        assert len({fake(shuffled(doc, rng)).text for _ in range(3)}) == 1


def test_batches_and_threads(nlp, component):
    docs = [Doc(nlp.vocab, words=words_of(doc)) for doc in read_docs(nlp.vocab)[:30]] + [Doc(nlp.vocab)]
    component.reranker = Fake()
    alone = [component(doc).text for doc in docs]
    n_asked = len(component.reranker.questions)
    assert [doc.text for doc in component.pipe(docs)] == alone
    assert len(component.reranker.questions) == 2 * n_asked
    component.n_threads = 2
    assert [doc.text for doc in component.pipe(docs, batch_size=4)] == alone


def test_processes_pickle_and_copies(trained_path):
    nlp = spacy.load(trained_path, config={"components": {"linearizer": {"reranker": CONFIG}}})
    docs = [Doc(nlp.vocab, words=words_of(doc)) for doc in read_docs(nlp.vocab)[:8]]
    alone = [nlp(doc.copy()).text for doc in docs]
    assert alone != [doc.text for doc in spacy.load(trained_path).pipe(doc.copy() for doc in docs)]
    assert [doc.text for doc in nlp.pipe([doc.copy() for doc in docs], n_process=2)] == alone
    component = nlp.get_pipe("linearizer")
    for other in (pickle.loads(pickle.dumps(component)), copy.copy(component)):
        assert [other(doc.copy()).text for doc in docs] == alone


def test_the_config_is_saved(trained_path, tmp_path):
    nlp = spacy.load(trained_path)
    assert nlp.get_pipe("linearizer").reranker is None
    spacy_linearize.configure(nlp, reranker=CONFIG, n_best=2)
    nlp.to_disk(tmp_path / "with")
    again = spacy.load(tmp_path / "with")
    assert again.get_pipe("linearizer").reranker.options.weights["free"] == 500.0
    assert again.config["components"]["linearizer"]["reranker"]["@misc"] == "fake_reranker.v1"
    doc = bag(nlp, WORDS)
    assert again(doc).text == nlp(bag(nlp, WORDS)).text
    assert again.from_bytes(nlp.to_bytes())(bag(nlp, WORDS)).text == nlp(bag(nlp, WORDS)).text
    spacy_linearize.configure(again, reranker=None)
    again.to_disk(tmp_path / "without")
    assert spacy.load(tmp_path / "without").get_pipe("linearizer").reranker is None


def test_something_else_is_no_reranker(component):
    for value in ("en_ud", 5, object()):
        with pytest.raises(LinearizeError, match=r"SL022.*'reranker' is"):
            component.reranker = value
    assert component.reranker is None
    assert isinstance(Fake(), Reranker)


def test_alternatives_are_ranked_by_both(nlp, fake):
    found = fake.alternatives(bag(nlp, WORDS), 4)
    records = [doc._.linearization for doc in found]
    assert len(found) == 4
    assert [record["gap"] for record in records] == sorted(record["gap"] for record in records)
    for doc, record in zip(found, records, strict=True):
        assert record["second"] == -1000.0 * inversions(words_of(doc))
        assert records[0]["score"] - record["score"] == pytest.approx(record["gap"])
    more = with_options(fake, n_best=4)(bag(nlp, WORDS))
    assert [one["second"] for one in more._.linearization["alternatives"]] == [one["second"] for one in records]
    assert spacy_linearize.alternative(more, 2)._.linearization["second"] == records[2]["second"]


def test_n_best_beyond_the_candidates(nlp, component):
    component.reranker = Fake(n_candidates=2)
    found = component.alternatives(bag(nlp, WORDS), 5)
    assert len(found) == 5
    assert len(component.reranker.questions[0].texts) == 5


def test_the_margin(nlp, component):
    doc = bag(nlp, WORDS)
    gaps = [one._.linearization["gap"] for one in component.alternatives(doc, 6)]
    component.reranker = Fake(margin=(gaps[2] + gaps[3]) / 2)
    found = component.alternatives(doc, 6)
    assert len(component.reranker.questions[0].texts) == 3
    seconds = [one._.linearization["second"] for one in found]
    assert seconds[3:] == [min(seconds)] * 3
    component.reranker = Fake(margin=gaps[1] / 2)
    found = component.alternatives(doc, 6)
    assert not component.reranker.questions
    assert "second" not in found[0]._.linearization


def test_weight_0_is_the_search(nlp, component):
    docs = [Doc(nlp.vocab, words=words_of(doc)) for doc in read_docs(nlp.vocab)[:10]]
    wide = with_options(component, beam_width=8)
    plain = [wide(doc).text for doc in docs]
    wide.reranker = Fake(weight=0.0, n_candidates=8)
    assert [wide(doc).text for doc in docs] == plain


def test_texts_are_as_a_user_reads_them(nlp, fake):
    new = fake(bag(nlp, WORDS))
    assert new.text in fake.reranker.questions[0].texts
    assert tuple(words_of(new)) in fake.reranker.questions[0].words


def test_the_share_of_each_opinion(nlp, fake):
    best = fake(bag(nlp, WORDS))
    result = fake.score_order(best)
    assert result.gap == pytest.approx(0)
    assert result.second == result.best_second == best._.linearization["second"]
    other = fake.score_order(bag(nlp, "sees the the . cat old dog"))
    assert other.second == -1000.0 * inversions(["sees", "the", "the", ".", "cat", "old", "dog"])
    assert other.best_score == max(other.score, other.best_score)
    assert words_of(other.best) == [words_of(bag(nlp, "sees the the . cat old dog"))[k] for k in other.best_order]
    fake.reranker = Fake(margin=0.0)
    alone = fake.score_order(fake(bag(nlp, WORDS)))
    assert alone.second is None


def test_an_explanation_has_both(nlp, fake):
    (explanation,) = fake.explain(bag(nlp, WORDS), n_rivals=2)
    assert [choice.score for choice in explanation.choices] == sorted(
        (choice.score for choice in explanation.choices), reverse=True
    )
    assert explanation.choices[0].text == fake(bag(nlp, WORDS)).text
    assert explanation.score == pytest.approx(explanation.choices[0].score - explanation.choices[0].second)
    assert "both opinions" in str(explanation)
    fake.reranker = None
    (explanation,) = fake.explain(bag(nlp, WORDS))
    assert not explanation.choices
    assert "opinion" not in str(explanation)


def test_sentences_and_their_context(nlp, component):
    component.sentences = "sents"
    words = ["the", "dog", "sleeps", ".", "the", "cat", "sees", "the", "dog", ".", "she", "sleeps", "."]
    doc = Doc(nlp.vocab, words=words, sent_starts=[i in (0, 4, 10) for i in range(len(words))])
    doc._.linearize_context = "It was late."
    component.reranker = Fake()
    component(doc)
    assert {question.context for question in component.reranker.questions} == {""}
    component.reranker = Fake(context=True)
    new = component(doc)
    first, second, _ = (sent.text for sent in new.sents)
    contexts = [question.context for question in component.reranker.questions]
    assert contexts == ["It was late.", f"It was late. {first}", f"It was late. {first} {second}"]
    assert new._.linearize_context == "It was late."
    doc._.linearize_context = 7
    with pytest.raises(LinearizeError, match=r"SL233.*linearize_context holds 7"):
        component(doc)


def test_a_custom_reranker_by_the_docstring(nlp, component):
    class LongWordsLast:
        options = RerankOptions.same(n_candidates=8, weight=1e6)

        def score(self, questions):
            return np.array([[words.index("cat") for words in question.words] for question in questions])

    doc = bag(nlp, WORDS)
    first, *others = (words_of(order).index("cat") for order in component.alternatives(doc, 8))
    component.reranker = LongWordsLast()
    assert words_of(component(doc)).index("cat") == max(others) > first


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("n_candidates", {"tree": 0, "partial": 1, "free": 1}),
        ("n_candidates", {"tree": 1}),
        ("n_candidates", 5),
        ("weights", {"tree": -1.0, "partial": 1.0, "free": 1.0}),
        ("weights", {"tree": float("nan"), "partial": 1.0, "free": 1.0}),
        ("margins", {"tree": "x", "partial": None, "free": None}),
        ("strict", 1),
        ("context", "yes"),
    ],
)
def test_options_are_checked(key, value):
    right = RerankOptions.same(3, 1.0)
    with pytest.raises(LinearizeError, match=rf"SL022.*'{key}' is"):
        RerankOptions(**{**{name: getattr(right, name) for name in right.__dataclass_fields__}, key: value})


def test_merge():
    def order(score):
        empty = np.zeros(0, dtype=np.int32)
        return Order(order=empty, tags=empty, heads=empty, labels=empty, score=score)

    found = merge([order(9.0), order(8.0), order(7.0), order(1.0)], {0: -5.0, 1: -1.0, 2: 0.0})
    assert [(one.score, one.second) for one in found] == [(7.0, -1.0), (7.0, 0.0), (4.0, -5.0), (-4.0, -5.0)]


def test_a_question_is_plain_data():
    question = Question(("a b",), (("a", "b"),), "c")
    assert pickle.loads(pickle.dumps(question)) == question


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (Fake(), "SL022.*'@misc'"),
        ("fake_reranker.v1", "SL022"),
        ({"@misc": "no_such_reranker.v1"}, "SL238.*no_such_reranker"),
        ({"@misc": "spacy_linearize.CausalLM.v1"}, "SL238.*model"),
        ({"@misc": "spacy_linearize.NgramLM.v1", "path": "x", "weights": {"free": 1.0}}, "SL022.*weights"),
        ({"@misc": "fake_reranker.v1", "weight": 1e7}, "SL022.*weights.*1,000,000"),
    ],
)
def test_what_makes_no_reranker_changes_nothing(nlp, value, code):
    before = nlp.to_bytes()
    with pytest.raises(LinearizeError, match=code) as problem:
        spacy_linearize.configure(nlp, reranker=value, n_best=4)
    assert "\n" not in str(problem.value)
    assert nlp.to_bytes() == before


def test_options_of_another_kind_are_refused(component):
    odd = Fake()
    odd.options = None
    with pytest.raises(LinearizeError, match="SL022"):
        component.reranker = odd


def test_what_reads_alike_is_not_asked_about(nlp, component):
    """Words without spaces between them may give one text in several orders."""
    component.surface = Surface(joins=True)
    component.reranker = Fake()
    orders = component.alternatives(Doc(nlp.vocab, words=["は", "はは"]), 5)
    assert len(orders) == 2
    assert not component.reranker.questions
