"""Language models from text: how fast they are made, how much memory that takes, and how large they are.

    python benchmarks/lm.py TEXT... [--lmplz PROGRAM]

Text is tokenised first, once, with the tokenizer of a blank pipeline. Then, for each order, in this
process and on one core: user time of counting, of smoothing and of pruning, the peak of resident memory so far, and the
size of the table before and after pruning. Words are tokens, with punctuation. With KenLM's program `lmplz` (built
from the sources of its PyPI package) the same words go through that, too: user time, with as much memory.
"""

import argparse
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import spacy

from spacy_linearize.core.ngrams.backoff import Backoff
from spacy_linearize.core.ngrams.counts import Text, count
from spacy_linearize.core.ngrams.estimate import BYTES_OF_NGRAM, Estimation, Vocabulary, fill_table
from spacy_linearize.core.ngrams.kneser_ney import smooth
from spacy_linearize.core.ngrams.prune import prune
from spacy_linearize.core.ngrams.table import Ngrams
from spacy_linearize.doc.text import read_text
from spacy_linearize.training.language_model import parse_size

Result = TypeVar("Result")


def timed(function: Callable[[], Result]) -> tuple[Result, float]:
    """What a function gives, and the seconds of user time it took. Reading and writing files is system time."""
    start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    result = function()
    return result, resource.getrusage(resource.RUSAGE_SELF).ru_utime - start


def peak() -> float:
    """The largest resident memory of this process so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def table_size(model: Backoff, vocabulary: Vocabulary) -> float:
    """The megabytes of a table, before a file compresses it."""
    table = Ngrams()
    fill_table(table, model, vocabulary.keys)
    return sum(array.nbytes for array in table.to_arrays().values()) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="TEXT", help="text, packed text, .spacy files, folders")
    parser.add_argument("--lang", default="en", help="whose tokenizer reads the text")
    parser.add_argument("--orders", default="3,4,5", help="lengths of n-grams, set apart by commas")
    parser.add_argument("--min-count", type=int, default=1, help="of n-grams of three words and more")
    parser.add_argument("--min-word", type=int, default=2, help="words that are rarer go into classes")
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--size", default="8MB", help="what models are pruned to")
    parser.add_argument("--n-process", "-n", type=int, default=1, help="processes that tokenise")
    parser.add_argument("--lmplz", type=Path, help="KenLM's program of that name")
    options = parser.parse_args()
    memory, size = parse_size(options.memory, "memory"), parse_size(options.size)
    start = time.perf_counter()
    text = read_text(spacy.blank(options.lang), options.files, n_process=options.n_process)
    seconds = time.perf_counter() - start
    print(f"{text.n_words} words in {text.n_sentences} sentences, {len(text.words())} different ones.")
    print(f"Tokenised in {seconds:.0f} s with {options.n_process} process(es), peak {peak():.2f} GB.")
    vocabulary, seconds = timed(lambda: Vocabulary.choose([text], options.min_word))
    print(f"Vocabulary of {len(vocabulary.keys)} words and classes in {seconds:.1f} s.\n")
    columns = ["order", "count, s", "smooth, s", "words a second", "n-grams", "MB", "counts from", "prune, s"]
    columns += ["n-grams left", "MB left", "peak, GB", *(["lmplz, words a second"] if options.lmplz else [])]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for order in map(int, options.orders.split(",")):
        how = Estimation(order=order, min_counts=(1, 1, options.min_count), size=size, memory=memory)
        row = measure(text, vocabulary, how)
        row.append(f"{peak():.2f}")
        if options.lmplz:
            row.append(f"{text.n_words / time_lmplz(options.lmplz, text, order, options.memory):,.0f}")
        print(f"| {order} | {' | '.join(row)} |", flush=True)


def time_lmplz(program: Path, text: Text, order: int, memory: str) -> float:
    """The seconds of user time that KenLM takes for the same words, which are written as numbers."""
    command = [program, "-o", str(order), "-S", memory.removesuffix("B"), "--discount_fallback"]
    with tempfile.TemporaryDirectory() as folder, open(Path(folder) / "words", "w+") as file:
        for numbers in text.read():
            file.write(" ".join("\n" if n == 0 else str(n) for n in numbers.tolist()))
            file.write(" ")
        file.seek(0)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(
            [*command, "-T", folder], stdin=file, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True
        )
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def measure(text: Text, vocabulary: Vocabulary, how: Estimation) -> list[str]:
    """One model, as the cells of a row."""
    order, n_words, n_kept = how.order, len(vocabulary.keys), int((how.size or 0) / BYTES_OF_NGRAM)
    numbers = vocabulary.numbers[0]
    run, counting = timed(lambda: count(text, numbers, order, memory=how.memory // 2))
    (model, least), smoothing = timed(lambda: smooth(run, order, n_words, min_counts=how.min_counts, memory=how.memory))
    whole = table_size(model, vocabulary)
    smaller, pruning = timed(lambda: prune(model, n_kept))
    return [
        f"{counting:.1f}",
        f"{smoothing:.1f}",
        f"{text.n_words / (counting + smoothing):,.0f}",
        f"{sum(model.sizes):,}",
        f"{whole:.1f}",
        " ".join(map(str, least)),
        f"{pruning:.1f}",
        f"{sum(smaller.sizes):,}",
        f"{table_size(smaller, vocabulary):.1f}",
    ]


if __name__ == "__main__":
    main()
