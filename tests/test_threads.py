"""Docs through threads: in their own sequence, and not too many at once."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from helpers.docs import read_docs, rows

from spacy_linearize.threads import DOCS_AT_ONCE, in_threads
from spacy_linearize.training.corpus import give


class Stream:
    """Numbers instead of Docs; counts how many were taken."""

    def __init__(self, n):
        self.n = n
        self.taken = 0

    def __iter__(self):
        for i in range(self.n):
            self.taken += 1
            yield i


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("batch_size", [1, 3, 100, 1000])
@pytest.mark.parametrize("n", [0, 1, 333])
def test_every_one_in_sequence(n, batch_size, n_threads):
    def work(docs):
        return [-i for i in docs]

    stream = Stream(n)
    given = 0
    for number, result in in_threads(work, stream, n_threads=n_threads, batch_size=batch_size):
        assert (number, result) == (given, -given)
        given += 1
        assert stream.taken - given <= batch_size + DOCS_AT_ONCE
    assert given == n


def test_no_thread_waits_for_a_slow_one():
    """The first Docs are ready only after later ones, beyond the batch, have been ordered."""
    later = threading.Event()

    def work(docs):
        if docs[0] == 0:
            assert later.wait(timeout=60)
        elif docs[-1] > 64:
            later.set()
        return docs

    assert len(list(in_threads(work, Stream(200), n_threads=2, batch_size=64))) == 200


def test_an_error_ends_it():
    def work(docs):
        raise ValueError(docs[0])

    stream = Stream(10_000)
    with pytest.raises(ValueError, match=r"^0$"):
        list(in_threads(work, stream, n_threads=2, batch_size=64))
    assert stream.taken < 1000


def test_threads_find_what_one_finds(nlp, component):
    rng = random.Random(2)
    bags = [give(doc, 0.5, 0.5, rng=rng) for doc in read_docs(nlp.vocab)[:25]]
    expected = [rows(nlp(doc)) for doc in bags]
    with ThreadPoolExecutor(8) as pool:
        assert [rows(doc) for doc in pool.map(nlp, bags * 4)] == expected * 4
    component.n_threads = 8
    assert [rows(doc) for doc in component.pipe(bags)] == expected
