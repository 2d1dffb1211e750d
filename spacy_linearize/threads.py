"""A stream of Docs through one or more threads, in its own sequence."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import TypeVar

from spacy.tokens import Doc
from spacy.util import minibatch

from .core.interrupt import worker_pool

# For one thread. If it took the GIL for each Doc, it would mostly wait for it; even alone it would go back and forth
# between the core and Python.
DOCS_AT_ONCE = 32

ResultT = TypeVar("ResultT")


def in_threads(
    work: Callable[[list[Doc]], Sequence[ResultT]], stream: Iterable[Doc], *, n_threads: int, batch_size: int
) -> Generator[tuple[Doc, ResultT], None, None]:
    """Every Doc with its result.

    work (Callable[[List[Doc]], List[ResultT]]): Finds the results of some Docs.
    batch_size (int): How many Docs to take from the stream before results come out.
    """
    size = min(DOCS_AT_ONCE, -(-batch_size // n_threads))
    if n_threads == 1:
        for docs in minibatch(stream, size=size):
            yield from zip(docs, work(docs), strict=True)
        return
    waiting: deque[tuple[list[Doc], Future[Sequence[ResultT]]]] = deque()

    def first() -> Iterator[tuple[Doc, ResultT]]:
        docs, results = waiting.popleft()
        return zip(docs, results.result(), strict=True)

    with worker_pool(n_threads) as pool:
        # New Docs are handed out before old ones are asked for, so that no thread waits for the slowest.
        for docs in minibatch(stream, size=size):
            waiting.append((docs, pool.submit(work, docs)))
            if len(waiting) * size > batch_size:
                yield from first()
        while waiting:
            yield from first()
