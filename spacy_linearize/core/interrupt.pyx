"""What stops a search: a signal, in the main thread, or the shutdown of the pool that its thread belongs to."""
from cpython.exc cimport PyErr_CheckSignals

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

_thread = threading.local()


cdef int heed() except -1 nogil:
    with gil:
        return check()


cpdef int check() except -1:
    """Raise KeyboardInterrupt if this thread has to stop."""
    PyErr_CheckSignals()
    stop = getattr(_thread, "stop", None)
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt
    return 0


def _belong_to(stop):
    _thread.stop = stop


@contextmanager
def worker_pool(n_threads: int):
    """A pool of threads that stops at once when its user is interrupted or raises an error. Only the main thread
    receives signals, so that the others have to be told.

    n_threads (int): How many.
    """
    stop = threading.Event()
    pool = ThreadPoolExecutor(n_threads, initializer=_belong_to, initargs=(stop,))
    try:
        yield pool
    except BaseException:
        stop.set()
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()
