"""A batch job: order a large file of bags, one a line, with all cores.

    python examples/batch.py bags.txt sentences.txt
    python examples/batch.py bags.txt sentences.txt --processes 4 --threads 1

Lines stream through the pipeline in chunks. New words of a chunk are forgotten after it (`nlp.memory_zone`). Threads
share one model, processes have a copy each. Output lines stand in the sequence of the input.
`spacy linearize order --input bags.txt --output sentences.txt --threads 4` does the same for text, CoNLL-U and .spacy.
"""

import argparse
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

import spacy_linearize

CHUNK = 20_000  # lines for which new words are kept


def order_lines(nlp: Language, lines: Iterable[str], *, n_process: int = 1, chunk: int = CHUNK) -> Iterator[str]:
    """Order bags, each a line of words set apart by spaces."""
    lines = iter(lines)
    while some := list(islice(lines, chunk)):
        with nlp.memory_zone():
            bags = (Doc(nlp.vocab, words=line.split()) for line in some)
            for doc in nlp.pipe(bags, n_process=n_process):
                yield doc.text


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", type=Path, help="a text file, one bag a line")
    parser.add_argument("output", type=Path, help="one sentence a line")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="default: as many as there are cores")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--chunk", type=int, default=CHUNK, help="lines for which new words are kept")
    options = parser.parse_args(arguments)
    nlp = spacy_linearize.load(config={"components": {"linearizer": {"n_threads": options.threads}}})
    n_lines = 0
    with options.input.open(encoding="utf8") as lines, options.output.open("w", encoding="utf8") as sentences:
        for text in order_lines(nlp, lines, n_process=options.processes, chunk=options.chunk):
            print(text, file=sentences)
            n_lines += 1
    print(f"{n_lines} lines to {options.output}")


if __name__ == "__main__":
    main()
