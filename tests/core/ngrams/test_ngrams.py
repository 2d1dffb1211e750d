"""The language model: its estimates against the formulas, its table, and what the search makes of it."""

import itertools
import math
import random
from collections import Counter
from functools import cache

import numpy as np
import pytest
from helpers import core
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_linearize.core.ngrams.kneser_ney import discounts_of, estimate
from spacy_linearize.core.ngrams.table import BEGIN_KEY as BEGIN
from spacy_linearize.core.ngrams.table import END_KEY as END
from spacy_linearize.core.ngrams.table import UNKNOWN_KEY as UNKNOWN
from spacy_linearize.core.ngrams.table import Ngrams
from spacy_linearize.errors import LinearizeError

UNSEEN = 77  # a word of no corpus


def make_corpus(n_sentences=30, n_words=5, seed=0):
    """Short sentences in which some words, and some neighbours, are more frequent than others."""
    rng = random.Random(seed)
    return [
        [min(rng.randint(1, n_words), rng.randint(1, n_words)) for _ in range(rng.randint(0, 6))]
        for _ in range(n_sentences)
    ]


CORPORA = {
    "usual": make_corpus(),
    "few words": make_corpus(n_words=2, seed=1),
    "many words": make_corpus(n_words=9, seed=2),
    "one sentence": [[1, 2, 1, 3]],
    "one word": [[1]],
    "no words": [[]],
    "no count of one": [[1, 2]] * 7,
}


def model_of(sentences, order=3, min_count=1):
    model = Ngrams()
    model.fill(order, estimate(sentences, order, min_count))
    return model


def conditional(model, history, word):
    return model.score([*history, word], whole=False) - model.score(history, whole=False)


class Formulas:
    """Interpolated modified Kneser-Ney smoothing, written as the equations have it. Slow and obvious on purpose."""

    def __init__(self, sentences, order, min_count):
        self.order, self.min_count = order, min_count
        padded = [(BEGIN, *sentence, END) for sentence in sentences]
        self.seen = Counter(
            s[i:j] for s in padded for i in range(len(s)) for j in range(i + 1, len(s) + 1) if j - i <= order
        )
        self.words = {w for s in padded for w in s[1:]}

    @cache  # noqa: B019
    def c(self, gram):
        if len(gram) == self.order or gram[0] == BEGIN:
            return self.seen[gram]
        return len({longer[0] for longer in self.seen if len(longer) == len(gram) + 1 and longer[1:] == gram})

    @cache  # noqa: B019
    def discounts(self, n):
        """D1, D2 and D3+ of the n-grams of a length."""
        counts = [self.c(gram) for gram in self.seen if len(gram) == n and gram != (BEGIN,)]
        n1, n2, n3, n4 = (counts.count(i) for i in (1, 2, 3, 4))
        if 0 in (n1, n2, n3):
            return 0.5, 1.0, 1.5
        y = n1 / (n1 + 2 * n2)
        estimates = 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3
        return tuple(np.clip(d, 0.05 * i, 0.95 * i) for i, d in enumerate(estimates, start=1))

    def taken(self, gram):
        """What a shorter history gets from an n-gram that was seen."""
        if len(gram) >= 3 and self.seen[gram] < self.min_count:
            return self.c(gram)
        return self.discounts(len(gram))[min(self.c(gram), 3) - 1]

    @cache  # noqa: B019
    def p(self, history, word):
        history = history[max(0, len(history) - self.order + 1) :]
        shorter = self.p(history[1:], word) if history else 1 / (len(self.words) + 1)
        followers = [(*history, w) for w in self.words if (*history, w) in self.seen]
        if not followers:
            return shorter
        total = sum(self.c(gram) for gram in followers)
        gram = (*history, word)
        own = self.c(gram) - self.taken(gram) if gram in followers else 0
        return own / total + sum(self.taken(g) for g in followers) / total * shorter


def histories(order, words):
    """Every history that the model looks back at, also with a word it does not know."""
    for n in range(order):
        yield from itertools.product([*words, UNSEEN], repeat=n)
        if n:
            yield from ((BEGIN, *rest) for rest in itertools.product([*words, UNSEEN], repeat=n - 1))


@pytest.mark.parametrize("min_count", [1, 2, 3])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("corpus", CORPORA)
def test_probabilities_are_those_of_the_formulas(corpus, order, min_count):
    sentences = CORPORA[corpus]
    model, formulas = model_of(sentences, order, min_count), Formulas(sentences, order, min_count)
    assert model.order == order
    words = sorted(formulas.words - {END})
    for history in histories(order, words):
        total = 0.0
        for word in [*words, END, UNKNOWN]:
            got = conditional(model, history, word)
            # One probability and a backoff for each word of the history, each rounded.
            assert got == pytest.approx(math.log(formulas.p(history, word)), abs=order / 1024)
            total += math.exp(got)
        assert total == pytest.approx(1, abs=1e-2)


def test_rare_long_ngrams_can_be_dropped():
    sentences = CORPORA["usual"]
    entries, kept = ({gram for gram, _, _ in estimate(sentences, 4, n)} for n in (1, 2))
    seen = Formulas(sentences, 4, 1).seen
    assert kept == {gram for gram in entries if len(gram) < 3 or seen[gram] >= 2}
    assert len(kept) < len(entries)


def test_discounts_stay_between_nothing_and_all():
    assert discounts_of(Counter()) == [0, 0.5, 1, 1.5]
    assert discounts_of(Counter({(1,): 1, (2,): 2, (3,): 4})) == [0, 0.5, 1, 1.5]
    for counts in ([1, 2, 3], [1, 2, 3, *[4] * 50], [*[1] * 50, 2, 3, 4], [1, *[2] * 50, 3, 4], [1, 2, *[3] * 50, 4]):
        discounts = discounts_of(Counter({(i,): c for i, c in enumerate(counts)}))
        assert all(0 < d < i for i, d in enumerate(discounts[1:], start=1))


@pytest.mark.parametrize(("order", "min_count"), [(0, 1), (5, 1), (3, 0)])
def test_estimate_refuses(order, min_count):
    with pytest.raises(LinearizeError, match="SL022"):
        estimate([[1]], order, min_count)


def test_nothing_to_learn_from():
    model = model_of([])
    assert (model.order, len(model), model.to_array().size) == (0, 0, 0)
    assert model.score([1, 2]) == model.score([]) == model.score([1], whole=False) == 0
    other = model_of([[1, 2]])
    other.from_array(0, model.to_array())
    assert (other.order, len(other), other.score([1])) == (0, 0, 0)
    other = model_of([[1, 2]])
    other.fill(3, [])
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
    model = Ngrams()
    model.fill(3, entries)
    assert len(model) == len(entries)
    assert model.score([]) == -0.5 - 1
    assert model.score([11, 12]) == -0.75 - 0.0625 - 2 - 0.125 - 1
    assert model.score([12, UNSEEN]) == -0.5 - 3 - 0.125 - 6 - 1
    assert model.score([11, 12], whole=False) == -2 - 1.5
    assert model.score(np.array([11, 12], dtype=np.uint64)) == model.score([11, 12])


def test_ngrams_with_the_unknown_word():
    """A model may know what stands beside words it does not know."""
    model = Ngrams()
    model.fill(
        2, [((UNKNOWN,), -6.0, -0.5), ((11,), -2.0, -0.25), ((11, UNKNOWN), -1.0, 0.0), ((UNKNOWN, 11), -1.5, 0.0)]
    )
    assert conditional(model, [11], UNSEEN) == conditional(model, [11], UNKNOWN) == -1
    assert conditional(model, [UNSEEN], 11) == conditional(model, [UNKNOWN], 11) == -1.5
    assert conditional(model, [UNSEEN], UNSEEN) == -6.5


def test_no_unknown_word_in_the_model():
    model = Ngrams()
    model.fill(2, [((11,), -2.0, -0.25)])
    assert conditional(model, [], UNSEEN) == -32
    assert conditional(model, [11], UNSEEN) == -32.25


def test_small_keys_are_words_like_any_other():
    """spaCy has small numbers for its own symbols, and 0 for an empty text."""
    model = model_of([[0, 0, 0], [0, 1, 2, 3], [3, 2, 1, 0]])
    assert model.score([0, 0, 0]) > model.score([0, 0, 2])
    assert model.score([0, 1, 2, 3]) > model.score([1, 0, 3, 2])


@given(st.floats(-31.9, 31.9), st.floats(-31.9, 31.9))
def test_logarithms_are_rounded(probability, backoff):
    model = Ngrams()
    model.fill(2, [((11,), probability, backoff)])
    assert model.score([11], whole=False) == pytest.approx(probability, abs=1 / 2048)
    assert conditional(model, [11], 11) == pytest.approx(backoff + probability, abs=1 / 1024 + 1e-9)
    assert model.score([11], whole=False) == round(probability * 1024) / 1024 or probability * 2048 % 1 == 0


def test_logarithms_out_of_range_are_cut():
    model = Ngrams()
    model.fill(1, [((11,), -1e300, 0.0), ((12,), 1e300, 0.0)])
    assert model.score([11], whole=False) == -32
    assert model.score([12], whole=False) == 32767 / 1024


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ([((11,), math.nan, 0.0)], "not a finite number"),
        ([((11,), 0.0, math.nan)], "not a finite number"),
        ([((11,), -math.inf, 0.0)], "not a finite number"),
        ([((11,), 0.0, math.inf)], "not a finite number"),
        ([((), 0.0, 0.0)], "0 words"),
        ([((11, 12, 13), 0.0, 0.0)], "3 words"),
        ([((11, 12), 0.0, 0.0), ((12, 11), 0.0, 0.0), ((11, 12), -1.0, 0.0)], r"\(11, 12\).* twice"),
    ],
)
def test_fill_refuses_and_leaves_the_model_alone(entries, problem):
    model = model_of([[1, 2, 3]])
    before = model.to_array()
    with pytest.raises(LinearizeError, match=f"SL057.*{problem}"):
        model.fill(2, [((14,), 0.0, 0.0), *entries])
    assert model.order == 3
    assert (model.to_array() == before).all()


@pytest.mark.parametrize("order", [-1, 0, 5, 1 << 40])
def test_orders_out_of_range(order):
    model = Ngrams()
    with pytest.raises(LinearizeError, match=r"SL022.*1 to 4"):
        model.fill(order, [((11,), 0.0, 0.0)])
    with pytest.raises(LinearizeError, match=r"SL022.*1 to 4"):
        model.from_array(order, np.zeros(16, dtype=np.uint64))
    assert model.order == 0


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2**64 - 1).filter(lambda key: not BEGIN <= key <= UNKNOWN), max_size=8)))
def test_array_and_back(sentences):
    model, copy = model_of(sentences), model_of([[1, 2, 3]])
    values = model.to_array()
    assert values.dtype == np.uint64
    copy.from_array(model.order, values)
    assert (copy.order, len(copy)) == (model.order, len(model))
    assert (copy.to_array() == values).all()
    for sentence in [*sentences, [UNSEEN, 1]]:
        assert copy.score(sentence) == model.score(sentence)


def test_arrays_of_any_layout():
    model, copy = model_of(CORPORA["usual"]), Ngrams()
    values = model.to_array()
    unaligned = np.frombuffer(b"x" + values.astype("<u8").tobytes(), dtype="<u8", offset=1)
    unaligned.flags.writeable = False
    for layout in (unaligned, values.astype(">u8"), np.repeat(values, 2)[::2]):
        copy.from_array(3, layout)
        assert (copy.to_array() == values).all()


@pytest.mark.parametrize("size", [0, 3, 12, 17])
def test_tables_have_a_power_of_two_of_places(size):
    with pytest.raises(LinearizeError, match=f"SL022.*{size} places"):
        Ngrams().from_array(3, np.zeros(size, dtype=np.uint64))


@pytest.mark.parametrize("size", [1, 2, 16])
def test_tables_have_a_free_place(size):
    model = Ngrams()
    values = np.full(size, (5 << 32) + 1, dtype=np.uint64)
    with pytest.raises(LinearizeError, match=r"SL022.*free"):
        model.from_array(3, values)
    values[size // 2] = 1
    model.from_array(3, values)
    assert len(model) == size - 1
    assert model.score([1, 2, 3]) < 0


def test_tables_are_flat_and_empty_only_without_an_order():
    with pytest.raises(LinearizeError, match=r"SL022.*2 dimensions"):
        Ngrams().from_array(3, np.zeros((4, 4), dtype=np.uint64))
    with pytest.raises(LinearizeError, match="SL022"):
        Ngrams().from_array(0, np.zeros(16, dtype=np.uint64))


def test_the_same_sentences_make_the_same_table():
    """Also in another sequence."""
    sentences = make_corpus(60, 9, seed=3)
    expected = model_of(sentences).to_array()
    assert (model_of(sentences).to_array() == expected).all()
    assert (model_of(sentences[::-1]).to_array() == expected).all()
    entries = estimate(sentences)
    random.Random(0).shuffle(entries)
    model = Ngrams()
    model.fill(3, iter(entries))
    assert (model.to_array() == expected).all()


def test_tables_are_found_in_at_every_size():
    for n in [*range(1, 60), 1000]:
        model = Ngrams()
        model.fill(1, [((100 + i,), -i / 64, 0.0) for i in range(n)])
        assert len(model) == n
        assert [model.score([100 + i], whole=False) for i in range(n)] == [-i / 64 for i in range(n)]


def decoder_with_model(system, mirrored, order):
    direction = "right_to_left" if mirrored else "left_to_right"
    engine = core.make(system=system, direction=direction, table_bits=8, attach_bits=8)
    sentences = make_corpus(40, 6, seed=4)
    decoder = core.decoder(engine)
    decoder.ngrams.fill(order, estimate([s[::-1] for s in sentences] if mirrored else sentences, order))
    return engine, decoder


@pytest.mark.parametrize(
    ("system", "forms"),
    [
        ("order_first", [1, 2, 3, 4, 5]),
        ("order_first", [2, 1, 3, 1, UNSEEN]),
        ("order_first", [1]),
        ("joint", [1, 2, 3, 4]),
        ("joint", [1, 3, 1, UNSEEN]),
    ],
)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("mirrored", [False, True])
def test_search_finds_the_best_order(mirrored, order, system, forms):
    """With no other weights and a beam for everything, the language model alone decides."""
    weight = 0.7
    engine, decoder = decoder_with_model(system, mirrored, order)
    model, bag = decoder.ngrams, core.pack(engine, forms=forms)

    def expected(words):
        read = words[::-1] if mirrored else words
        return weight * (model.score(read) - sum(model.score([word], whole=False) for word in words))

    brute = {words: expected(words) for words in itertools.permutations(forms)}
    found = {}
    for result in core.search([decoder], bag, width=1000, n_best=1000, ngram_weight=weight):
        words = tuple(forms[k] for k in result.order)
        assert result.score == pytest.approx(brute[words])
        again = decoder.score(bag, result.order, result.heads, result.tags, result.labels, ngram_weight=weight)
        assert again == pytest.approx(result.score)
        found.setdefault(words, result.score)
    assert found.keys() == brute.keys()
    assert brute[next(iter(found))] == pytest.approx(max(brute.values()))


def test_search_without_a_model_or_a_weight():
    engine, decoder = decoder_with_model("order_first", False, 3)
    bag = core.pack(engine, forms=[1, 2, 3])

    def score(bag, ngram_weight):
        return core.search([decoder], bag, width=8, ngram_weight=ngram_weight)[0].score

    assert score(bag, 0.0) == 0
    assert score(bag, 1.0) != 0
    decoder.ngrams.fill(3, [])
    assert score(bag, 1.0) == 0
    assert score(core.pack(engine, forms=[]), 1.0) == 0
