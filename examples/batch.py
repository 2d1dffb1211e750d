"""A batch job: order a large file of bags, one a line, with all cores.

    python examples/batch.py bags.txt sentences.txt
    python examples/batch.py bags.txt sentences.txt --processes 4

Lines stream through the pipeline in chunks. New words of a chunk are forgotten after it (`nlp.memory_zone`). Threads
share one model, processes have a copy each. Output lines stand in the sequence of the input. If a process is killed, by
a system that is out of memory for instance, the job ends with an error; `nlp.pipe(..., n_process=2)` would wait for it
for ever.
`spacy linearize order --input bags.txt --output sentences.txt --threads 4` does the same for text, CoNLL-U and .spacy.
"""

import argparse
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

import spacy_linearize

CHUNK = 5000  # lines for which new words are kept


@cache
def pipeline(n_threads: int) -> Language:
    """The pipeline of this process."""
    return spacy_linearize.load(config={"components": {"linearizer": {"n_threads": n_threads}}})


def order_chunk(lines: list[str], n_threads: int) -> list[str]:
    """Order bags, each a line of words set apart by spaces."""
    nlp = pipeline(n_threads)
    with nlp.memory_zone():
        return [doc.text for doc in nlp.pipe(Doc(nlp.vocab, words=line.split()) for line in lines)]


def order_lines(lines: Iterable[str], *, n_threads: int = 1, n_process: int = 1, chunk: int = CHUNK) -> Iterator[str]:
    """Order a stream of bags."""
    lines = iter(lines)
    chunks = iter(lambda: list(islice(lines, chunk)), [])
    if n_process == 1:
        for some in chunks:
            yield from order_chunk(some, n_threads)
        return
    waiting: deque[Future[list[str]]] = deque()
    with ProcessPoolExecutor(n_process) as pool:
        for some in chunks:
            waiting.append(pool.submit(order_chunk, some, n_threads))
            if len(waiting) > 2 * n_process:  # so that a long file is not in memory as a whole
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", type=Path, help="a text file, one bag a line")
    parser.add_argument("output", type=Path, help="one sentence a line")
    parser.add_argument("--threads", type=int, help="of each process; default: one, or one a core without --processes")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--chunk", type=int, default=CHUNK, help="lines for which new words are kept")
    options = parser.parse_args(arguments)
    if min(options.processes, options.chunk, options.threads or 1) < 1:
        parser.error("--processes, --chunk and --threads are whole numbers from 1 on")
    if options.output.exists() and options.output.samefile(options.input):
        parser.error("input and output are the same file")
    threads = options.threads or (os.cpu_count() or 1 if options.processes == 1 else 1)
    n_lines = 0
    with options.input.open(encoding="utf8") as lines, options.output.open("w", encoding="utf8") as sentences:
        try:
            for text in order_lines(lines, n_threads=threads, n_process=options.processes, chunk=options.chunk):
                print(text, file=sentences)
                n_lines += 1
        except BrokenProcessPool:
            sys.exit(f"A worker process was killed: {options.output} ends after {n_lines} lines.")
    print(f"{n_lines} lines to {options.output}")


if __name__ == "__main__":
    main()
