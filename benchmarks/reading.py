"""How fast text and treebanks are read.

    python benchmarks/reading.py text PATH... [--n-process 2]     sentences for the language model, from raw text
    python benchmarks/reading.py corpus PATH [--limit 4000]       examples for training, from .spacy files

Seconds on the wall depend on what else runs; those of all processors together hardly do.
"""

import argparse
import itertools
import resource
import time

import spacy

from spacy_linearize.doc.gold import gold_pairs
from spacy_linearize.doc.text import read_sentences
from spacy_linearize.options import Options
from spacy_linearize.training.corpus import Corpus


def read_text(paths: list[str], n_process: int) -> None:
    """Print the speed of tokenising, and the peak of memory."""
    start, n_words, n_sentences, n_forms = time.time(), 0, 0, 0
    for keys, lengths, forms in read_sentences(spacy.blank("en"), paths, n_process=n_process):
        n_words, n_sentences, n_forms = n_words + len(keys), n_sentences + len(lengths), n_forms + len(forms)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(usage.ru_utime + usage.ru_stime for usage in used)
    print(f"{n_words:,} words in {n_sentences:,} sentences, {n_forms:,} different words")
    print(f"{time.time() - start:.1f} s, {seconds:.1f} s of processors, ", end="")
    print(f"{n_words / seconds:,.0f} words a second and core")
    print(f"memory: {used[0].ru_maxrss // 1024} MB, at most {used[1].ru_maxrss // 1024} MB in each further process")


def read_corpus(path: str, limit: int) -> None:
    """Print what one sentence costs, as an Example and as a pair of bags."""
    nlp, options = spacy.blank("en"), Options()
    corpus = Corpus(path, settings=[[0, 0], [0.5, 0.5], [1, 1], [1, 0], [0, 1]], limit=limit)
    for _ in corpus(nlp):  # the vocabulary knows all words from now on
        pass
    times = [time.process_time()]
    examples = list(itertools.islice(corpus(nlp), limit))
    times.append(time.process_time())
    n_pairs = sum(1 for eg in examples for _ in gold_pairs(eg, options))
    times.append(time.process_time())
    n_words = sum(len(eg.reference) for eg in examples) / len(examples)
    print(f"{len(examples)} examples of {n_words:.1f} words, {n_pairs} pairs")
    print(f"{1e6 * (times[1] - times[0]) / len(examples):.0f} us an Example, ", end="")
    print(f"{1e6 * (times[2] - times[1]) / n_pairs:.0f} us a pair")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    text = commands.add_parser("text")
    text.add_argument("paths", nargs="+")
    text.add_argument("--n-process", type=int, default=2)
    treebank = commands.add_parser("corpus")
    treebank.add_argument("path")
    treebank.add_argument("--limit", type=int, default=4000)
    arguments = parser.parse_args()
    if arguments.command == "text":
        read_text(arguments.paths, arguments.n_process)
    else:
        read_corpus(arguments.path, arguments.limit)
