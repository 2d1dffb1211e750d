"""Work on a stream of items in one or more processes. The results keep the sequence of the items."""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, parent_process
from typing import Any, TypeVar

from .errors import error

AHEAD = 2  # items that wait for each process, so that none of them waits for the slowest

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
_worker: Callable[[Any], Any] | None = None  # of this process, if it is one of a pool


def in_processes(
    make_worker: Callable[..., Callable[[ItemT], ResultT]],
    arguments: tuple[Any, ...],
    items: Iterable[ItemT],
    *,
    n_process: int,
) -> Generator[ResultT, None, None]:
    """The result of every item, in the sequence of the items, for any number of processes.

    make_worker (Callable): Makes the function that does the work, once in each process. Like its arguments, the items
        and the results, it must be something that can be pickled.
    n_process (int): How many processes. With 1, all work is done in this process.
    """
    if n_process == 1:
        worker = make_worker(*arguments)
        for item in items:
            yield worker(item)
        return
    waiting: deque[Future[ResultT]] = deque()
    pool = ProcessPoolExecutor(n_process, initializer=_start, initargs=(make_worker, arguments))
    try:
        for item in items:
            waiting.append(pool.submit(_work, item))
            if len(waiting) > AHEAD * n_process:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as broken:
        raise error("SL216", n=n_process) from broken
    finally:
        pool.shutdown(cancel_futures=True)


def _start(make_worker: Callable[..., Callable[[Any], Any]], arguments: tuple[Any, ...]) -> None:
    global _worker
    # Ctrl-C goes to all processes of a terminal. The first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = make_worker(*arguments)


def _end_with_parent() -> None:
    """A process that is killed cannot end its workers: they have to notice it by themselves."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _work(item: Any) -> Any:
    if _worker is None:
        raise RuntimeError("_start has not run")
    return _worker(item)
