"""Time and peak memory for bags that nobody would call a sentence. Each runs in a process of its own.

    python benchmarks/hostile.py [NAME ...]

Uses the bundled pipeline with its own settings; the peak is that of the whole process, with the pipeline. What is
refused is refused with the error that is shown.
"""

import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable

from spacy.language import Language
from spacy.tokens import Doc

import spacy_linearize
from spacy_linearize.errors import LinearizeError

Maker = Callable[[Language], Doc]


def words(n: int, seed: int = 0) -> list[str]:
    """Words that the pipeline knows, and some that it does not."""
    rng = random.Random(seed)
    known = ("the", "a", "dog", "house", "saw", "sees", "in", "of", "and", "big", ",", ".", "he", "she", "was")
    return [rng.choice(known) if rng.random() < 0.7 else f"word{rng.randrange(n)}" for _ in range(n)]


def free(n: int) -> Maker:
    return lambda nlp: Doc(nlp.vocab, words=words(n))


def equal(n: int, word: str) -> Maker:
    return lambda nlp: Doc(nlp.vocab, words=[word] * n)


def long_token(n: int) -> Maker:
    return lambda nlp: Doc(nlp.vocab, words=["x" * n, "saw", "he", "."])


def with_heads(heads: list[int]) -> Maker:
    def make(nlp: Language) -> Doc:
        deps = ["ROOT" if h == k else "dep" for k, h in enumerate(heads)]
        return Doc(nlp.vocab, words=words(len(heads)), heads=heads, deps=deps)

    return make


def chain(n: int) -> Maker:
    return with_heads([max(0, k - 1) for k in range(n)])


def star(n: int) -> Maker:
    return with_heads([0] * n)


def tree(n: int) -> Maker:
    rng = random.Random(1)
    return with_heads([0, *(rng.randrange(k) for k in range(1, n))])


def tied(n: int, n_pairs: int, share: float = 0.0) -> Maker:
    """Precedences that the words' own order keeps, and a share of the arcs of a chain."""

    def make(nlp: Language) -> Doc:
        rng = random.Random(2)
        is_given = [k > 0 and rng.random() < share for k in range(n)]
        heads = [k - 1 if given else None for k, given in enumerate(is_given)]
        doc = Doc(nlp.vocab, words=words(n), heads=heads, deps=["dep" if given else "" for given in is_given])
        doc._.linearize_before = [sorted(rng.sample(range(n), 2)) for _ in range(n_pairs)]
        return doc

    return make


CASES: dict[str, Maker] = {
    "50,000 words, free": free(50_000),
    "5,000 words, free": free(5_000),
    "1,000 words, free": free(1_000),
    "a token of 10,000 characters": long_token(10_000),
    "a chain of 5,000 heads": chain(5_000),
    "a head with 5,000 dependents": star(5_000),
    "1,000 equal words": equal(1_000, "dog"),
    "1,000 question marks": equal(1_000, "?"),
    "a whole tree of 1,000 words": tree(1_000),
    "a whole tree of 5,000 words": tree(5_000),
    "1,000 words, free, 5,000 precedences": tied(1_000, 5_000),
    "1,000 words, some arcs, 5,000 precedences": tied(1_000, 5_000, 0.3),
}


def run(name: str) -> None:
    """One of these, in this process."""
    nlp = spacy_linearize.load()
    nlp(Doc(nlp.vocab, words=["a", "dog"]))
    doc = CASES[name](nlp)
    start = time.perf_counter()
    try:
        result = f"{len(nlp(doc))} words"
    except LinearizeError as problem:
        result = f"refused: {problem}"
    seconds = time.perf_counter() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    print(f"| {name} | {seconds:.2f} | {megabytes:.0f} | {result} |", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["--run"]:
        run(sys.argv[2])
        return
    print("| bag | seconds | peak memory, MB | result |\n|---|---|---|---|", flush=True)
    for name in sys.argv[1:] or CASES:
        subprocess.run([sys.executable, __file__, "--run", name], check=True)


if __name__ == "__main__":
    main()
