"""From texts to models: vocabularies, settings, weights of sources, sizes."""

import warnings

import numpy as np
import pytest
from helpers.core import make
from helpers.texts import TWO, entries_of, make_corpus, text_from

from spacy_linearize.core.ngrams import estimate
from spacy_linearize.core.ngrams.backoff import interpolate
from spacy_linearize.core.ngrams.counts import Text, count
from spacy_linearize.core.ngrams.estimate import (
    BYTES_OF_NGRAM,
    MIN_CLASS,
    Estimation,
    Estimator,
    Vocabulary,
    fill_table,
)
from spacy_linearize.core.ngrams.kneser_ney import smooth
from spacy_linearize.core.ngrams.table import BEGIN_KEY, END_KEY, UNKNOWN_KEY, Ngrams, class_keys
from spacy_linearize.errors import LinearizeError

ING, ED, LOWER, TITLE = 501, 502, 601, 602


def class_key(suffix, shape):
    return int(class_keys(np.array([suffix], dtype=np.uint64), np.array([shape], dtype=np.uint64))[0])


def with_forms(sentences, forms):
    text = text_from(sentences)
    text.add_forms(np.array(forms, dtype=np.uint64).reshape(-1, 3))
    return text


def names_of(vocabulary, i=0):
    """What stands for the words of a text."""
    return vocabulary.keys[vocabulary.numbers[i]].tolist()


def test_all_words_are_known_by_their_frequency():
    text = text_from([[7, 9, 9], [8, 9, 7], [5]])
    vocabulary = Vocabulary.choose([text], 1)
    assert vocabulary.keys.tolist() == [0, BEGIN_KEY, END_KEY, UNKNOWN_KEY, 9, 7, 5, 8]
    assert vocabulary.classes == {}
    assert names_of(vocabulary) == text.words()[:, 0].tolist()


def test_rare_words_go_into_classes():
    """By suffix and shape, if these are frequent enough; else by shape; else they are unknown."""
    narrow = range(100, 100 + MIN_CLASS)  # one each: just enough
    wide = range(200, 200 + MIN_CLASS // 2), range(300, 300 + MIN_CLASS // 2)  # only together
    few = range(400, 400 + MIN_CLASS - 1)
    forms = [(key, ING, LOWER) for key in narrow]
    forms += [(key, suffix, TITLE) for suffix, keys in zip((ING, ED), wide, strict=True) for key in keys]
    forms += [(key, 503, 603) for key in few] + [(11, ING, LOWER)]
    sentence = [11, 11, *narrow, *wide[0], *wide[1], *few, 999]  # nobody knows what 999 looks like
    vocabulary = Vocabulary.choose([with_forms([sentence], forms)], 2)
    by_suffix, by_shape = class_key(ING, LOWER), class_key(0, TITLE)
    assert vocabulary.classes == {by_suffix: (ING, LOWER), by_shape: (0, TITLE)}
    assert set(vocabulary.keys.tolist()) == {0, BEGIN_KEY, END_KEY, UNKNOWN_KEY, 11, by_suffix, by_shape}
    expected = [11, *[by_suffix] * MIN_CLASS, *[by_shape] * MIN_CLASS, *[UNKNOWN_KEY] * (len(few) + 1)]
    assert names_of(vocabulary) == expected


def test_words_are_counted_in_all_texts():
    forms = [(key, ING, LOWER) for key in range(1, 30)]
    one, two = with_forms([[1, 2]], forms), with_forms([[1, 3, 3]], forms)
    vocabulary = Vocabulary.choose([one, two], 2)
    assert set(vocabulary.keys.tolist()[4:]) == {1, 3}
    known = dict(zip(two.words()[:, 0].tolist(), names_of(vocabulary, 1), strict=True))
    assert (known[1], known[2], known[3]) == (1, UNKNOWN_KEY, 3)


@pytest.mark.parametrize("min_word", [1, 2, 5])
def test_the_sequence_of_texts_does_not_matter(min_word):
    forms = [(key, 500 + key % 3, 600 + key % 2) for key in range(1, 60)]
    texts = [with_forms(make_corpus(50, n, seed=n), forms) for n in (20, 40, 59)]
    first, other = Vocabulary.choose(texts, min_word), Vocabulary.choose(texts[::-1], min_word)
    assert first.keys.tolist() == other.keys.tolist()
    assert first.classes == other.classes
    for one, two in zip(first.numbers, other.numbers[::-1], strict=True):
        assert one.tolist() == two.tolist()


def test_forms_that_only_one_text_knows():
    """What a word looks like may be told by any of them."""
    forms = [(key, ING, LOWER) for key in range(1, 60)]
    sentences = [list(range(1, 60))]
    for texts in ([text_from(sentences), with_forms([], forms)], [with_forms([], forms), text_from(sentences)]):
        assert Vocabulary.choose(texts, 2).classes == {class_key(ING, LOWER): (ING, LOWER)}


def test_huge_vocabularies_lose_their_rarest_words(monkeypatch):
    monkeypatch.setattr(estimate, "MAX_WORDS", 5)
    sentences = [[key] * key for key in range(1, 10)]
    vocabulary = Vocabulary.choose([text_from(sentences)], 1)
    assert set(vocabulary.keys.tolist()[4:]) == {6, 7, 8, 9}
    assert len(Vocabulary.choose([text_from([[1, 2, 3, 4, 5]])], 1).keys) == 9


def test_words_with_the_key_of_a_mark():
    """No word has one, unless by the worst of luck. It must not become a second UNKNOWN."""
    vocabulary = Vocabulary.choose([text_from([[UNKNOWN_KEY, 5]])], 1)
    assert vocabulary.keys.tolist().count(UNKNOWN_KEY) == 1
    model = Estimator([text_from([[UNKNOWN_KEY, 5]])], Estimation()).model()
    fill_table(Ngrams(), model, vocabulary.keys)


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_word": 0},
        {"min_word": 1.5},
        {"min_word": True},
        {"memory": 0},
        {"memory": "2GB"},
        {"size": 0},
        {"size": -5},
        {"min_counts": ()},
        {"min_counts": (1, 0)},
        {"min_counts": (1, 1.5)},
        {"min_counts": 2},
        {"weights": 1.0},
        {"weights": ["a", "b"]},
        {"weights": [float("nan"), 1.0]},
        {"weights": [2.0, -1.0]},
    ],
)
def test_settings_that_cannot_be(wrong):
    (key,) = wrong
    for make_one in (Estimation, lambda **values: Estimation.from_dict(values)):
        with pytest.raises(LinearizeError, match=f"SL022.*'{key}'"):
            make_one(**wrong)


def test_settings_of_a_config():
    values = {"min_counts": [1, 2], "min_word": 3, "size": 1000, "weights": [0.5, 0.5], "memory": 10**6}
    how = Estimation.from_dict(values)
    assert {key: getattr(how, key) for key in values} == values
    assert Estimation.from_dict({}) == Estimation()
    for key in ("order", "sizes"):
        with pytest.raises(LinearizeError, match=rf"SL022.*'{key}'.*one of min_counts"):
            Estimation.from_dict({key: 3})


@pytest.mark.parametrize("weights", [[1.0], [0.5, 0.4], [0.5, 0.25, 0.25]])
def test_weights_that_do_not_fit_the_texts(weights):
    with pytest.raises(LinearizeError, match=r"SL022.*'weights'.*2 shares whose sum is 1"):
        Estimator([text_from(sentences) for sentences in TWO], Estimation(weights=weights))


@pytest.mark.parametrize("order", [0, 6])
def test_orders_that_cannot_be(order):
    with pytest.raises(LinearizeError, match=r"SL022.*'order'"):
        Estimator([text_from(TWO[0])], Estimation(order=order)).model()


def test_one_source_counts_for_all():
    assert Estimator([text_from(TWO[0])], Estimation()).weights == [1.0]


def test_sources_are_mixed_with_the_weights_given():
    texts = [text_from(sentences) for sentences in TWO]
    estimator = Estimator(texts, Estimation(weights=[0.25, 0.75], min_counts=(1, 1, 2)))
    models = []
    for text, numbers in zip(texts, estimator.vocabulary.numbers, strict=True):
        run = count(text, numbers, 3)
        models.append(smooth(run, 3, len(estimator.vocabulary.keys), min_counts=(1, 1, 2))[0])
    expected = entries_of(interpolate(models, [0.25, 0.75]), estimator.vocabulary.keys)
    assert entries_of(estimator.model(), estimator.vocabulary.keys) == expected


def test_weights_suit_the_first_source():
    """Text of the same kind counts, text of another kind hardly does."""

    def text_of_kind(kind, n, seed):
        rng = np.random.default_rng(seed)
        steps = {"up": 1, "down": -1}[kind]
        starts = rng.integers(0, 50, size=n)
        return [[int(start + steps * k) % 50 + 1 for k in range(8)] for start in starts]

    like = text_from(text_of_kind("up", 60, 0))
    same_kind, other_kind = text_from(text_of_kind("up", 2000, 1)), text_from(text_of_kind("down", 2000, 2))
    own, close, far = Estimator([like, same_kind, other_kind], Estimation()).weights
    assert own + close + far == pytest.approx(1)
    assert far < 0.05
    assert close > far


def test_sources_with_hardly_anything_in_them():
    for sentences in ([[1]], [[1], [2]]):
        estimator = Estimator([text_from(sentences), text_from(TWO[0])], Estimation())
        assert sum(estimator.weights) == pytest.approx(1)
        assert sum(estimator.model().sizes) > 0
    own, nothing = Estimator([text_from(TWO[0]), Text()], Estimation()).weights
    assert own > nothing


def test_models_have_the_size_asked_for():
    sentences = make_corpus(3000, 200, longest=12)
    size = 20_000
    estimator = Estimator([text_from(sentences)], Estimation(size=size))
    assert sum(estimator.model().sizes) == int(size / BYTES_OF_NGRAM)
    everything = Estimator([text_from(sentences)], Estimation()).model()
    assert sum(everything.sizes) > size / BYTES_OF_NGRAM


def test_the_words_of_gold_sentences(mini):
    sentences = mini[:20]
    text = estimate.text_of(sentences)
    assert text.n_sentences == 20
    assert text.n_words == sum(len(sentence) for sentence in sentences)
    looks = {row[0]: tuple(row[1:3]) for row in text.words().tolist()}
    for sentence in sentences:
        for form, suffix, shape in zip(sentence.forms, sentence.suffixes, sentence.shapes, strict=True):
            assert looks[int(form)] == (int(suffix), int(shape))


def test_an_engine_learns_from_several_sources():
    engine = make(ngram_order=4, direction="both")
    weights = engine.learn_ngrams([Text(), *(text_from(sentences) for sentences in TWO)], Estimation(min_counts=(1, 2)))
    assert len(weights) == 2
    assert engine.experts.ngrams.order == 4
    assert engine.learn_ngrams([]) == engine.learn_ngrams([Text()]) == []
    assert engine.experts.ngrams.order == 4


def test_little_memory_is_said():
    """Where n-grams have to be left out, a warning says so, and a size that is no size is refused."""
    rng = np.random.default_rng(0)
    text = text_from(rng.integers(10, 2000, size=(40_000, 12)).tolist())
    with pytest.warns(UserWarning, match=r"SL225.*1 MB.*seen 1, 3, 3 times"):
        Estimator([text], Estimation(order=3, memory=1 << 20)).model()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Estimator([text], Estimation(order=3, min_counts=(1, 1, 2))).model()
    with pytest.raises(LinearizeError, match=r"SL022.*'memory'"):
        Estimation(memory=10)
