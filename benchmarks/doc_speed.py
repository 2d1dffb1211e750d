"""How much of a call, Doc to Doc, is the core, and how much is wrapping: reading the Doc and building the new one.

    python benchmarks/doc_speed.py [TREEBANK.conllu]

The core is the making of the bag and the search, timed inside of the call. Trains briefly on the treebank (default: the
project's mini treebank) and times Docs of 12 to 14 tokens. Each figure is the median over many calls, all in one run.
"""

import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import spacy
from spacy.training import Example
from spacy.training.converters import conllu_to_docs

from spacy_linearize.corpus import give

MINI = Path(__file__).parent.parent / "tests" / "data" / "mini_en.conllu"
CALLS = 1500


def timed(function: Callable[..., Any], times: list[float]) -> Callable[..., Any]:
    """The same function, which also notes how long it took."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        result = function(*args, **kwargs)
        times.append(time.perf_counter() - start)
        return result

    return wrapper


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else MINI
    nlp = spacy.blank("en")
    component = nlp.add_pipe("linearizer")
    golds = list(conllu_to_docs(path.read_text(encoding="utf8"), n_sents=1, no_print=True))[:2000]
    rng = random.Random(0)
    examples = [Example(give(gold, rng.random(), rng.random(), rng=rng), gold) for gold in golds]
    nlp.initialize(lambda: examples)
    nlp.update(examples, drop=0.0)
    engine = component.shim.engine
    core_time: list[float] = []
    engine.bag = timed(engine.bag, core_time)
    engine.order = timed(engine.order, core_time)
    golds = [gold for gold in golds if 12 <= len(gold) <= 14]
    print(f"{path.name}: {len(golds)} Docs of 12 to 14 tokens\n")
    print("| given | beam | call, us | core, us | wrapping, us | share |\n|---|---|---|---|---|---|")
    for given, share in (("full", 1.0), ("half", 0.5), ("free", 0.0)):
        docs = [give(gold, share, share, rng=rng) for gold in golds]
        for width in (1, 8, 16):
            component.beam_width = width
            calls, cores = [], []
            for i in range(CALLS):
                core_time.clear()
                start = time.perf_counter()
                component(docs[i % len(docs)])
                calls.append(time.perf_counter() - start)
                cores.append(sum(core_time))
            call, core = 1e6 * statistics.median(calls), 1e6 * statistics.median(cores)
            print(f"| {given} | {width} | {call:.0f} | {core:.0f} | {call - core:.0f} | {(call - core) / call:.0%} |")


if __name__ == "__main__":
    main()
