"""Docs of many files as one stream in constant memory: one file of each source is open at a time.

What stays in memory is that file, a buffer of Docs to shuffle, and what the vocabulary keeps of each new word.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..doc.spacy_files import docs_of, read_docbin

ItemT = TypeVar("ItemT")


class Stream:
    """The Docs of .spacy files, one file after the other.

    files (Sequence[Path]): The files.
    share (float): The share of Docs to sample: from 0 to 1.
    rng (Random): The random number generator.

    left (float): About how many Docs are still to come. Files that were not read yet are assumed to be like the
        current one.
    """

    def __init__(self, files: Sequence[Path], *, share: float, rng: random.Random) -> None:
        self.files = files
        self.share = share
        self.rng = rng
        self.left = 0.0

    def read(self, vocab: Vocab) -> Iterator[Doc]:
        """The Docs."""
        sizes = [file.stat().st_size for file in self.files]
        for number, (file, size) in enumerate(zip(self.files, sizes, strict=True), start=1):
            docs = read_docbin(file)
            n_docs = len(docs)
            n_later = sum(sizes[number:]) * n_docs / size
            for k, doc in enumerate(docs_of(docs, file, vocab)):
                self.left = self.share * (n_docs - k + n_later)
                if self.share >= 1 or self.rng.random() < self.share:
                    yield doc


def interleave(items: Sequence[Iterator[ItemT]], streams: Sequence[Stream], rng: random.Random) -> Iterator[ItemT]:
    """What is read from several streams, mixed so that these end at about the same time: the next item comes from each
    stream with a probability proportional to what it has left.

    items (Sequence[Iterator[ItemT]]): For each stream, what is made of its Docs as they are read.
    """
    pairs = zip(streams, items, strict=True)
    waiting = [(stream, own, item) for stream, own in pairs for item in islice(own, 1)]
    while waiting:
        k = rng.choices(range(len(waiting)), [stream.left for stream, _, _ in waiting])[0] if len(waiting) > 1 else 0
        stream, own, item = waiting[k]
        yield item
        for item in islice(own, 1):
            waiting[k] = (stream, own, item)
            break
        else:
            del waiting[k]


def shuffled(items: Iterable[ItemT], rng: random.Random, size: int) -> Iterator[ItemT]:
    """Items in random sequence, as far as a buffer allows. All sequences are equally likely if it holds all of them.

    size (int): How many items the buffer holds.
    """
    items = iter(items)
    buffer = list(islice(items, size))
    if len(buffer) == size:
        for item in items:
            k = rng.randrange(size)
            yield buffer[k]
            buffer[k] = item
    rng.shuffle(buffer)
    yield from buffer
