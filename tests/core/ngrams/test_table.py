"""The table of a language model: what it says of words, how it is stored, and what it refuses."""

import math
import random

import numpy as np
import pytest
from helpers import kneser_ney as slow
from helpers.texts import CORPORA, make_corpus, model_from
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_linearize.core.ngrams.estimate import fill_table
from spacy_linearize.core.ngrams.table import BEGIN_KEY as BEGIN
from spacy_linearize.core.ngrams.table import END_KEY as END
from spacy_linearize.core.ngrams.table import UNKNOWN_KEY as UNKNOWN
from spacy_linearize.core.ngrams.table import Ngrams, class_keys, empty_arrays, quantise
from spacy_linearize.errors import LinearizeError

UNSEEN = 77  # a word of no corpus
N_CODES = 256


def filled(order, entries):
    model = Ngrams()
    model.fill_grams(order, entries)
    return model


def model_of(sentences, order=3):
    return filled(order, slow.estimate(sentences, order))


def conditional(model, history, word):
    return model.score([*history, word], whole=False) - model.score(history, whole=False)


def same(arrays, others):
    return arrays.keys() == others.keys() and all((arrays[name] == others[name]).all() for name in arrays)


def test_nothing_to_learn_from():
    model = model_of([])
    assert (model.order, len(model)) == (0, 0)
    assert all(array.size == 0 for array in model.to_arrays().values())
    assert model.score([1, 2]) == model.score([]) == model.score([1], whole=False) == 0
    for empty in (lambda other: other.from_arrays(model.to_arrays()), lambda other: other.fill([])):
        other = model_of([[1, 2]])
        assert len(other) > 0
        empty(other)
        assert (other.order, len(other), other.score([1])) == (0, 0, 0)


def test_score_adds_up():
    entries = [
        ((BEGIN,), 0.0, -0.5),
        ((END,), -1.0, 0.0),
        ((UNKNOWN,), -6.0, 0.0),
        ((11,), -2.0, -0.25),
        ((12,), -3.0, -0.125),
        ((BEGIN, 11), -0.75, -1.0),
        ((11, 12), -1.5, -2.0),
        ((BEGIN, 11, 12), -0.0625, 0.0),
    ]
    model = filled(3, entries)
    assert len(model) == len(entries)
    assert model.score([]) == -0.5 - 1
    assert model.score([11, 12]) == -0.75 - 0.0625 - 2 - 0.125 - 1
    assert model.score([12, UNSEEN]) == -0.5 - 3 - 0.125 - 6 - 1
    assert model.score([11, 12], whole=False) == -2 - 1.5
    assert model.score(np.array([11, 12], dtype=np.uint64)) == model.score([11, 12])


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_the_table_says_what_the_model_says(order):
    """With few n-grams of each length every value has a code of its own: only rounding is left."""
    sentences = make_corpus(40, 4)
    model, vocabulary, text = model_from(sentences, order)
    table = Ngrams()
    fill_table(table, model, vocabulary.keys)
    assert (table.order, len(table)) == (order, sum(model.sizes) - 1)
    expected = np.log(model.probabilities(text.read(), vocabulary.numbers[0])).sum()
    found = sum(table.score(sentence) for sentence in sentences)
    n_words = sum(len(sentence) + 1 for sentence in sentences)
    assert found == pytest.approx(expected, abs=n_words * order / 1024)


def test_ngrams_with_the_unknown_word():
    """A model may know what stands beside words it does not know."""
    entries = [((UNKNOWN,), -6.0, -0.5), ((11,), -2.0, -0.25), ((11, UNKNOWN), -1.0, 0.0), ((UNKNOWN, 11), -1.5, 0.0)]
    model = filled(2, entries)
    assert conditional(model, [11], UNSEEN) == conditional(model, [11], UNKNOWN) == -1
    assert conditional(model, [UNSEEN], 11) == conditional(model, [UNKNOWN], 11) == -1.5
    assert conditional(model, [UNSEEN], UNSEEN) == -6.5


def test_no_unknown_word_in_the_model():
    model = filled(2, [((11,), -2.0, -0.25)])
    assert conditional(model, [], UNSEEN) == -32
    assert conditional(model, [11], UNSEEN) == -32.25


def test_words_that_are_not_known_are_of_a_class():
    """By suffix and shape, by shape alone, or none: in this sequence."""
    ing, shape, other = 501, 601, 602
    narrow, wide = class_keys(np.array([ing, 0], dtype=np.uint64), np.array([shape, shape], dtype=np.uint64)).tolist()
    entries = [((UNKNOWN,), -9.0, 0.0), ((11,), -1.0, 0.0), ((narrow,), -2.0, -0.5), ((wide,), -3.0, 0.0)]
    model = filled(2, [*entries, ((narrow, 11), -0.25, 0.0)])

    def score(words, suffixes, shapes):
        return model.score(words, suffixes, shapes, whole=False)

    assert score([11], [ing], [shape]) == -1  # is known
    assert score([UNSEEN], [ing], [shape]) == -2
    assert score([UNSEEN], [502], [shape]) == -3
    assert score([UNSEEN], [ing], [other]) == -9
    assert score([UNSEEN], None, None) == -9
    assert score([UNSEEN, 11], [ing, 0], [shape, 0]) == -2 - 0.25
    assert score([UNSEEN, 11], [502, 0], [shape, 0]) == -3 - 1
    arrays = [np.array(values, dtype=np.uint64) for values in ([UNSEEN, 11], [ing, 0], [shape, 0])]
    assert score(*arrays) == -2 - 0.25


def test_small_keys_are_words_like_any_other():
    """spaCy has small numbers for its own symbols, and 0 for an empty text."""
    model = model_of([[0, 0, 0], [0, 1, 2, 3], [3, 2, 1, 0]])
    assert model.score([0, 0, 0]) > model.score([0, 0, 2])
    assert model.score([0, 1, 2, 3]) > model.score([1, 0, 3, 2])


@given(st.floats(-31.9, 31.9), st.floats(-31.9, 31.9))
def test_logarithms_are_rounded(probability, backoff):
    model = filled(2, [((11,), probability, backoff)])
    assert model.score([11], whole=False) == pytest.approx(probability, abs=1 / 2048 + 1e-5)
    assert conditional(model, [11], 11) == pytest.approx(backoff + probability, abs=1 / 1024 + 1e-5)


def test_logarithms_out_of_range_are_cut():
    model = filled(1, [((11,), -1e300, 0.0), ((12,), 1e300, 0.0)])
    assert model.score([11], whole=False) == -32
    assert model.score([12], whole=False) == 32


@settings(deadline=None)
@given(st.lists(st.floats(-32, 32), max_size=255, unique=True), st.integers(1, 3))
def test_few_values_are_exact(values, times):
    logarithms = np.array(values * times, dtype=np.float64)
    book, codes = quantise(logarithms)
    assert (book.dtype, codes.dtype, len(book), len(codes)) == (np.float32, np.uint8, N_CODES, len(logarithms))
    assert (book[codes] == logarithms.astype(np.float32)).all() or np.allclose(book[codes], logarithms, rtol=1e-6)


@pytest.mark.parametrize("share_of_zeros", [0.0, 0.5])
def test_many_values_share_codes(share_of_zeros):
    """As many to each code, which stands for their mean; the sequence is kept, and 0 stays 0."""
    rng = np.random.default_rng(0)
    logarithms = -rng.gamma(2, 2, size=20_000)
    logarithms[rng.random(20_000) < share_of_zeros] = 0
    book, codes = quantise(logarithms)
    others = logarithms != 0
    assert (book[codes[~others]] == 0).all()
    numbers = np.bincount(codes[others], minlength=N_CODES)[1:]
    assert numbers.max() - numbers.min() <= 1
    for code in range(1, N_CODES):
        own = logarithms[others & (codes == code)]
        assert book[code] == pytest.approx(own.mean(), rel=1e-5)
    rank = np.argsort(logarithms[others], kind="stable")
    assert (np.diff(codes[others][rank].astype(int)) >= 0).all()
    assert np.abs(book[codes] - logarithms).mean() < 0.03


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ([((11,), math.nan, 0.0)], "not a finite number"),
        ([((11,), 0.0, math.nan)], "not a finite number"),
        ([((11,), -math.inf, 0.0)], "not a finite number"),
        ([((11,), 0.0, math.inf)], "not a finite number"),
        ([((), 0.0, 0.0)], "0 words"),
        ([((11, 12, 13), 0.0, 0.0)], "3 words"),
        ([((11, 12), 0.0, 0.0), ((12, 11), 0.0, 0.0), ((11, 12), -1.0, 0.0)], "two are the same"),
    ],
)
def test_fill_refuses_and_leaves_the_model_alone(entries, problem):
    model = model_of([[1, 2, 3]])
    before = model.to_arrays()
    with pytest.raises(LinearizeError, match=f"SL057.*{problem}"):
        model.fill_grams(2, [((14,), 0.0, 0.0), *entries])
    assert model.order == 3
    assert same(model.to_arrays(), before)


@pytest.mark.parametrize("order", [-1, 0, 6, 1 << 40])
def test_orders_out_of_range(order):
    model = Ngrams()
    with pytest.raises(LinearizeError, match=r"SL022.*1 to 5"):
        model.fill_grams(order, [((11,), 0.0, 0.0)])
    assert model.order == 0


def test_more_lengths_than_there_can_be():
    level = (np.array([5], dtype=np.uint64), np.zeros(1), np.zeros(1))
    with pytest.raises(LinearizeError, match=r"SL022.*1 to 5"):
        Ngrams().fill([level] * 6)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2**64 - 1).filter(lambda key: not BEGIN <= key <= UNKNOWN), max_size=8)))
def test_arrays_and_back(sentences):
    model, copy = model_of(sentences), model_of([[1, 2, 3]])
    arrays = model.to_arrays()
    assert {name: array.dtype for name, array in arrays.items()} == {n: a.dtype for n, a in empty_arrays().items()}
    copy.from_arrays(arrays)
    assert (copy.order, len(copy)) == (model.order, len(model))
    assert same(copy.to_arrays(), arrays)
    for sentence in [*sentences, [UNSEEN, 1]]:
        assert copy.score(sentence) == model.score(sentence)


def test_arrays_of_any_layout():
    model, copy = model_of(CORPORA["usual"]), Ngrams()
    arrays = model.to_arrays()

    def unaligned(array):
        values = np.frombuffer(b"x" + array.tobytes(), dtype=array.dtype, offset=1)
        values.flags.writeable = False
        return values

    for layout in (unaligned, lambda a: a.astype(a.dtype.newbyteorder(">")), lambda a: np.repeat(a, 2)[::2]):
        copy.from_arrays({name: layout(array) for name, array in arrays.items()})
        assert same(copy.to_arrays(), arrays)


def changed(name, change):
    """The arrays of a small model with a change to one of them."""
    arrays = model_of(CORPORA["usual"]).to_arrays()
    return {**arrays, name: change(arrays[name])}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("homes", lambda homes: homes[:0]),
        ("homes", lambda homes: np.repeat(homes, 2)),
        ("homes", lambda homes: homes * np.uint64(0)),
        ("homes", lambda homes: homes * np.uint64(2)),
        ("homes", lambda homes: homes + np.uint64(2**63)),
        ("books", lambda books: books[:0]),
        ("books", lambda books: books[1:]),
        ("books", lambda books: books[:N_CODES]),
        ("books", lambda books: np.tile(books, 2)),
        ("books", lambda books: np.where(np.arange(len(books)) == 700, np.nan, books)),
        ("books", lambda books: np.where(np.arange(len(books)) == 700, np.inf, books)),
        ("books", lambda books: np.where(np.arange(len(books)) == 700, 33, books)),
        ("checks", lambda checks: checks[:0]),
        ("checks", lambda checks: checks[:-1]),
        ("checks", lambda checks: np.maximum(checks, 1)),
        ("checks", lambda checks: np.concatenate([checks, [0]])),
        ("probabilities", lambda codes: codes[1:]),
        ("backoffs", lambda codes: np.concatenate([codes, [1]])),
    ],
)
def test_arrays_that_cannot_be_a_table(name, change):
    model = model_of([[1, 2, 3]])
    before = model.to_arrays()
    with pytest.raises(LinearizeError, match=r"SL022.*'ngrams'"):
        model.from_arrays(changed(name, change))
    assert same(model.to_arrays(), before)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_arrays_that_somebody_made(data):
    """They are refused, or scores are finite: no search goes on for ever, or beyond the table."""
    size = data.draw(st.integers(0, 40))
    numbers = st.integers(0, 65535) if data.draw(st.booleans()) else st.sampled_from([0, 1, 7])
    order = data.draw(st.integers(0, 6))
    arrays = {
        "homes": np.array(data.draw(st.lists(st.integers(0, 45), min_size=1, max_size=1)), dtype=np.uint64),
        "books": np.full(order * 2 * N_CODES, data.draw(st.floats(-32, 32)), dtype=np.float32),
        "checks": np.array(data.draw(st.lists(numbers, min_size=size, max_size=size)), dtype=np.uint16),
        "probabilities": np.full(size, data.draw(st.integers(0, 255)), dtype=np.uint8),
        "backoffs": np.full(size, data.draw(st.integers(0, 255)), dtype=np.uint8),
    }
    if size and data.draw(st.booleans()):
        arrays["checks"][-1] = 0
    model = Ngrams()
    try:
        model.from_arrays(arrays)
    except LinearizeError:
        assert model.order == 0
    assert math.isfinite(model.score(range(200)))


def test_the_same_ngrams_make_the_same_table():
    """Also in another sequence."""
    entries = slow.estimate(make_corpus(60, 9, seed=3), 3)
    expected = filled(3, entries).to_arrays()
    random.Random(0).shuffle(entries)
    assert same(filled(3, iter(entries)).to_arrays(), expected)


def test_the_same_sentences_make_the_same_table():
    """Also in another sequence."""
    sentences = make_corpus(600, 40, seed=3)
    tables = []
    for read in (sentences, sentences[::-1], sorted(sentences)):
        model, vocabulary, _ = model_from(read, 4)
        tables.append(Ngrams())
        fill_table(tables[-1], model, vocabulary.keys)
    assert same(tables[0].to_arrays(), tables[1].to_arrays())
    assert same(tables[0].to_arrays(), tables[2].to_arrays())


def test_tables_are_found_in_at_every_size():
    for n in [*range(1, 60), 200]:
        model = filled(1, [((100 + i,), -i / 64, 0.0) for i in range(n)])
        assert len(model) == n
        assert [model.score([100 + i], whole=False) for i in range(n)] == [-i / 64 for i in range(n)]


def test_hardly_any_ngram_is_taken_for_another():
    """A place has 16 bits of a hash: about one n-gram in ten thousand is not the one it seems to be."""
    n = 50_000
    model = filled(1, [((1000 + i,), -(i % 250) / 8, 0.0) for i in range(n)])
    assert len(model) == n
    wrong = sum(model.score([1000 + i], whole=False) != -(i % 250) / 8 for i in range(n))
    found = sum(model.score([1_000_000 + i], whole=False) > -32 for i in range(n))
    assert wrong < n / 2000
    assert found < n / 2000
