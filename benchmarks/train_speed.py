"""How fast training is: sentences a second of each part of the loop, from the corpus to the weights.

    python benchmarks/train_speed.py TRAIN.spacy [--config configs/default.cfg] [--limit 4000] [--threads 1 2]
        [--passes 1]

The model first learns from `--limit` sentences, so that its beams and updates are those of training under way. Then
each part is timed on the same number: reading the corpus, gold pairs, packing, the core (`Engine.update`), the
component (`Linearizer.update`), and all of it with the loop's batches. CPU seconds are those of all threads. A .spacy
file is what `spacy linearize convert` makes of a treebank.
"""

import argparse
import hashlib
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import load_config, minibatch, registry

from spacy_linearize.core.engine import Engine
from spacy_linearize.core.records import Bag
from spacy_linearize.doc.gold import gold_pairs
from spacy_linearize.linearizer import Linearizer

ROOT = Path(__file__).parent.parent
BATCH = 512  # as in the config


def timed(name: str, n_sentences: int, job: Callable[[], Any]) -> Any:
    """What a job returns. Prints a row about it."""
    start, start_cpu = time.perf_counter(), time.process_time()
    result = job()
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    print(
        f"| {name} | {seconds:.2f} | {cpu:.2f} | {n_sentences / seconds:,.0f} | {n_sentences / cpu:,.0f} |", flush=True
    )
    return result


def update_engine(engine: Engine, pairs: list[tuple[Bag, Bag]], widths: tuple[int, int], n_threads: int) -> None:
    """As `Linearizer.update` does it. The second of the widths is that of whole trees."""
    for number, batch in enumerate(minibatch(pairs, size=BATCH)):
        engine.update(batch, beam_width=widths[0], tree_beam_width=widths[1], seed=number, n_threads=n_threads)


def update_component(component: Linearizer, examples: list[Example], n_threads: int) -> None:
    component.n_threads = n_threads
    for batch in minibatch(examples, size=BATCH):
        component.update(batch)


def run_loop(nlp: Language, corpus: Callable[[Language], Iterable[Example]], n_threads: int) -> None:
    """What `spacy train` does between two evaluations: read, and update."""
    nlp.get_pipe("linearizer").n_threads = n_threads
    for batch in minibatch(corpus(nlp), size=BATCH):
        nlp.update(batch)


def checksum(engine: Engine) -> str:
    """A few digits of a hash of all weights: are two runs the same?"""
    digest = hashlib.sha256()
    for _, weights in engine._tables():
        digest.update(weights.to_array().tobytes())
    return digest.hexdigest()[:12]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("--config", type=Path, default=ROOT / "configs" / "default.cfg")
    parser.add_argument("--limit", type=int, default=4000)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--passes", type=int, default=1, help="time the core so many times")
    parser.add_argument("--width", type=int, default=0, help="of the beam, instead of update_beam_width")
    options = parser.parse_args()
    overrides = {"paths.train": str(options.train), "paths.dev": str(options.train)}
    config = load_config(options.config, overrides=overrides)
    nlp = init_nlp(config)
    component = nlp.get_pipe("linearizer")
    assert isinstance(component, Linearizer)
    engine, settings = component.engine, component.options
    width = options.width or settings.update_beam_width or settings.beam_width
    component.update_beam_width = width
    widths = (width, min(width, settings.tree_beam_width or width))
    corpus = registry.resolve(config.interpolate()["corpora"], schema=None)["train"]
    corpus.limit = 2 * options.limit
    print(f"beam {widths[0]}, whole trees {widths[1]}, {options.limit} sentences, spaCy {spacy.__version__}\n")
    print("| part | seconds | CPU seconds | sentences/s | sentences/CPU s |\n|---|---|---|---|---|")
    examples = timed("corpus", 2 * options.limit, lambda: list(corpus(nlp)))
    pairs = timed("gold pairs", len(examples), lambda: [pair for eg in examples for pair in gold_pairs(eg, settings)])
    warm, pairs, examples = pairs[: options.limit], pairs[options.limit :], examples[options.limit :]
    timed("first pass", len(warm), lambda: update_engine(engine, warm, widths, 2))
    timed("pack", len(pairs), lambda: [engine.pack(bag) for bag, _ in pairs])
    for n in options.threads * options.passes:
        timed(f"core, {n} threads", len(pairs), lambda n=n: update_engine(engine, pairs, widths, n))  # type: ignore[misc]
    print(f"checksum {checksum(engine)}")
    for n in options.threads:
        timed(f"component, {n} threads", len(examples), lambda n=n: update_component(component, examples, n))  # type: ignore[misc]
    corpus.limit = options.limit
    for n in options.threads:
        timed(f"corpus and component, {n} threads", options.limit, lambda n=n: run_loop(nlp, corpus, n))  # type: ignore[misc]
    print(f"checksum {checksum(engine)}")


if __name__ == "__main__":
    main()
