"""Counting n-grams: against counting by hand, in memory and by way of files."""

import os
import random
from collections import Counter

import numpy as np
import pytest
from helpers.texts import make_corpus, text_from
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_linearize.core.ngrams.counts import Text, count, split
from spacy_linearize.errors import LinearizeError

PADDING, BEGIN, END, FIRST = 0, 1, 2, 4
WORD_BITS, MAX_COUNT = 21, (1 << 21) - 1


def counted(text, order, **settings):
    """What `count` finds, by n-gram; its words from left to right. Also checks the sequence."""
    numbers = FIRST + np.arange(len(text.words()))
    run = count(text, numbers, order, **settings)
    rows = np.concatenate([*run.chunks(1000), np.zeros((0, 2), dtype=np.uint64)])
    assert len(rows) == run.n
    found, last = Counter(), None
    for first, second in rows.tolist():
        reversed_words = [first >> shift & MAX_COUNT for shift in (42, 21, 0)]
        reversed_words += [second >> shift & MAX_COUNT for shift in (42, 21)]
        assert not any(reversed_words[order:])
        number = second & MAX_COUNT
        assert number > 0
        assert last is None or last < reversed_words or (last == reversed_words and found[tuple(last[:order][::-1])])
        last = reversed_words
        found[tuple(reversed_words[:order][::-1])] += number
    return found


def expected(text, sentences, order):
    """The same, by hand."""
    keys = text.words()[:, 0].tolist()
    found = Counter()
    for sentence in sentences:
        if not sentence:
            continue
        words = [FIRST + keys.index(key) for key in sentence]
        padded = [*[PADDING] * order, BEGIN, *words, END]
        found.update(tuple(padded[i + 1 - order : i + 1]) for i in range(order + 1, len(padded)))
    return found


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_counts_are_those_by_hand(order):
    sentences = make_corpus(200, 7)
    text = text_from(sentences)
    assert counted(text, order) == expected(text, sentences, order)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=8)), st.integers(1, 5))
def test_counts_of_anything(sentences, order):
    text = text_from(sentences)
    assert counted(text, order) == expected(text, sentences, order)


@pytest.mark.parametrize("order", [1, 3, 5])
def test_blocks_that_are_merged(tmp_path, order):
    """With little memory the same comes out, by way of files that nobody sees."""
    rng = random.Random(0)
    sentences = [[rng.randrange(50) for _ in range(rng.randrange(30))] for _ in range(2000)]
    sentences.append([rng.randrange(50) for _ in range(10_000)])  # more than a block has room for
    text = text_from(sentences, str(tmp_path))
    n_open = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
    found = counted(text, order, memory=1)
    assert found == counted(text, order) == expected(text, sentences, order)
    assert not list(tmp_path.iterdir())
    if n_open:
        assert len(os.listdir("/proc/self/fd")) <= n_open + 1  # the text's own


def test_texts_larger_than_what_is_kept_in_memory(tmp_path):
    """The spool: sentences come back as they were added."""
    text = Text(str(tmp_path))
    keys = np.arange(700_000, dtype=np.uint64) % 1000 + 5
    for _ in range(4):
        text.add(keys, np.full(7000, 100))
    assert (text.n_words, text.n_sentences) == (2_800_000, 28_000)
    chunks = list(text.read())
    assert len(chunks) > 1
    assert all(chunk[-1] == 0 for chunk in chunks)
    read = np.concatenate(chunks)
    assert (text.words()[read[read > 0] - 1, 0] == np.tile(keys, 4)).all()
    assert (np.diff(np.flatnonzero(read == 0)) == 101).all()
    assert (text.words()[:, 3] == 2800).all()
    assert all((a == b).all() for a, b in zip(chunks, text.read(), strict=True))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("memory", [1 << 22, 1 << 30])
def test_more_often_than_a_gram_can_say(memory):
    """Then it stands there several times."""
    text = Text()
    n = 3 * MAX_COUNT // 2
    for _ in range(2):
        text.add(np.full(n, 9, dtype=np.uint64), np.array([n]))
    numbers = np.array([FIRST])
    rows = np.concatenate(list(count(text, numbers, 1, memory=memory).chunks()))
    words, counts = rows[:, 0] >> np.uint64(2 * WORD_BITS), rows[:, 1] & np.uint64(MAX_COUNT)
    assert sorted(set(words.tolist())) == [END, FIRST]
    assert counts[words == FIRST].sum() == 2 * n
    assert counts[words == END].tolist() == [2]
    assert counts.max() <= MAX_COUNT


def test_nothing_to_count():
    for text in (Text(), text_from([]), text_from([[], []])):
        assert (text.n_words, text.n_sentences, len(text.words())) == (0, 0, 0)
        assert counted(text, 3) == Counter()
        assert list(text.read()) == []
        assert [part.n_sentences for part in split(text, 10)] == [0, 0]


def test_empty_sentences_count_for_nothing():
    text = text_from([[], [7], [], [], [8, 7], []])
    assert text.n_sentences == 2
    assert [chunk.tolist() for chunk in text.read()] == [[1, 0, 2, 1, 0]]


@pytest.mark.parametrize("lengths", [[2], [4], [2, 2], [], [5, -2], [-1, 4]])
def test_lengths_that_do_not_fit(lengths):
    text = Text()
    with pytest.raises(LinearizeError, match=r"SL006.*keys"):
        text.add(np.array([1, 2, 3], dtype=np.uint64), np.array(lengths, dtype=np.int64))
    assert (text.n_words, text.n_sentences) == (0, 0)


@pytest.mark.parametrize("order", [-1, 0, 6])
def test_orders_that_cannot_be_counted(order):
    with pytest.raises(LinearizeError, match=r"SL022.*'order'.*1 to 5"):
        count(text_from([[1]]), np.array([FIRST]), order)


def test_words_have_forms():
    text = text_from([[11, 12, 11]])
    text.add_forms(np.array([[12, 5, 6], [11, 7, 8], [13, 1, 2]], dtype=np.uint64))
    assert text.words().tolist() == [[11, 7, 8, 2], [12, 5, 6, 1], [13, 1, 2, 0]]


@pytest.mark.parametrize("every", [1, 2, 10])
def test_split(every):
    sentences = make_corpus(107, 9, seed=5)
    text = text_from([[], *sentences])
    text.add_forms(np.array([[key, key + 100, key + 200] for key in range(1, 10)], dtype=np.uint64))
    most, others = split(text, every)

    def content(part):
        keys = part.words()[:, 0].tolist()
        numbers = [number for chunk in part.read() for number in chunk.tolist()]
        return [[keys[int(n) - 1] for n in one.split()] for one in " ".join(map(str, numbers)).split("0")[:-1]]

    assert content(others) == sentences[::every]
    assert content(most) == [sentence for i, sentence in enumerate(sentences) if i % every]
    for part in (most, others):
        assert {tuple(row) for row in part.words()[:, :3].tolist()} == {(k, k + 100, k + 200) for k in range(1, 10)}
