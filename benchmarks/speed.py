"""How fast the bundled pipeline is: Docs a second beside spaCy's parser, the core, what is around it, growth, memory.

    python benchmarks/speed.py [TREEBANK.conllu] [--model PIPELINE] [--limit N] [--repeat 3] [--json FILE] [--plot FILE]

Sentences are those of the treebank (default: ../shared/data/ud_english_ewt/dev.conllu if it is there, else the
project's mini treebank, and the output says which). Each figure is the fastest of several rounds, on one core and in
one process, so that ratios within a run mean something on a noisy machine. Nanoseconds are those of one direction, over
the legal actions along its derivations times the width of the beam.
"""

import argparse
import json
import math
import os
import platform
import random
import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.tokens import Doc

import spacy_linearize
from spacy_linearize.core.engine import Engine
from spacy_linearize.core.records import Bag, SearchOptions
from spacy_linearize.core.search.directions import decode
from spacy_linearize.core.search.stepper import Stepper
from spacy_linearize.files.conllu import read_conllu
from spacy_linearize.linearizer import Linearizer
from spacy_linearize.training.corpus import give

ROOT = Path(__file__).parent.parent
EWT = ROOT.parent / "shared" / "data" / "ud_english_ewt" / "dev.conllu"
MINI = ROOT / "tests" / "data" / "mini_en.conllu"
SETTINGS = {"full tree": (1.0, 1.0), "half of the arcs": (1.0, 0.5), "free": (0.0, 0.0)}
BEAMS = (1, 2, 4, 8, 16, 32, 64)
LENGTHS = (10, 20, 40, 80, 160, 320, 1000)


def fastest(job: Callable[[], Any], repeat: int) -> float:
    """Seconds of the fastest of several rounds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def core_rows(component: Linearizer, docs: dict[str, list[Doc]], repeat: int) -> list[dict[str, Any]]:
    """Milliseconds a sentence of the searches alone, from a ready bag to the order."""
    engine, experts = component.engine, component.engine.experts
    rows = []
    for setting, given in docs.items():
        bags = [bag for doc in given for bag in component.reader.read(doc)]
        packed = [engine.pack(bag) for bag in bags]
        n_legal = sum(count_legal(engine, bag) for bag in bags)
        for beam in BEAMS:

            def one(beam: int = beam, packed: list[Any] = packed) -> None:
                for bag in packed:
                    weight = experts.ngram_weight_for(bag)
                    decode([experts.decoders_for(bag)[:1]], [bag], widths=[beam], weights=[weight], n_best=[1])

            def both(beam: int = beam, bags: list[Bag] = bags) -> None:
                for bag in bags:
                    engine.order([bag], SearchOptions(beam_width=beam, tree=False))

            ms = [1000 * fastest(job, repeat) / len(bags) for job in (one, both)]
            ns = 1e6 * ms[0] * len(bags) / (beam * n_legal)
            rows.append({"given": setting, "beam": beam, "one direction": ms[0], "both": ms[1], "ns": round(ns)})
    return rows


def count_legal(engine: Engine, bag: Bag) -> int:
    """Legal actions along the derivation of the best order."""
    best = engine.order([bag], SearchOptions(beam_width=1, tree=engine.builds_trees))[0][0]
    packed = engine.pack(bag)
    state, total = Stepper(engine.experts.decoders_for(packed)[0], packed), 0
    while not state.is_final:
        total += len(state.legal)
        state = state.step(state.gold(best.order, best.heads, best.tags, best.labels))
    return total


def wrapping(component: Linearizer, docs: dict[str, list[Doc]], repeat: int) -> list[dict[str, Any]]:
    """Microseconds a Doc of all that is around the search: reading it, packing its bags, and writing ready orders."""
    rows = []
    for setting, given in docs.items():
        reader, writer, engine = component.reader, component.writer, component.engine
        bags = [reader.read(doc) for doc in given]
        orders = [found[0] for found in component.order_bags(given, bags, 1)]
        jobs: dict[str, Callable[[], Any]] = {
            "read": lambda given=given, reader=reader: [reader.read(doc) for doc in given],
            "pack": lambda bags=bags, engine=engine: [engine.pack(bag) for own in bags for bag in own],
            "write": lambda given=given, bags=bags, orders=orders, writer=writer: [
                writer.write(doc, own, order) for doc, own, order in zip(given, bags, orders, strict=True)
            ],
        }
        row = {name: 1e6 * fastest(job, repeat) / len(given) for name, job in jobs.items()}
        rows.append({"given": setting, **row, "all of it": sum(row.values())})
    return rows


def long_tree(golds: list[Doc], n: int, rng: random.Random) -> Doc:
    """A tree of n words from whole sentences: the root of each hangs on that of one before it."""
    words: list[str] = []
    tags: list[str] = []
    heads: list[int] = []
    deps: list[str] = []
    roots: list[int] = []
    shortest = min(map(len, golds))
    while len(words) < n:
        start = len(words)
        if start + shortest > n:  # no sentence fits: a full stop does
            words.append(".")
            tags.append(".")
            heads.append(roots[0] if roots else 0)
            deps.append("punct" if roots else "ROOT")
            roots = roots or [0]
            continue
        gold = rng.choice(golds)
        if start + len(gold) > n:
            continue
        for token in gold:
            is_root = token.head.i == token.i
            words.append(token.text)
            tags.append(token.tag_)
            heads.append(rng.choice(roots) if is_root and roots else start + token.head.i)
            deps.append("parataxis" if is_root and roots else token.dep_)
        roots += [start + token.i for token in gold if token.head.i == token.i]
    return Doc(golds[0].vocab, words=words, tags=tags, heads=heads, deps=deps)


def growth(component: Linearizer, golds: list[Doc], repeat: int) -> list[dict[str, Any]]:
    """Milliseconds of one free bag and of one tree by the number of words, at beam 8, and of the tree as bundled."""
    rng = random.Random(0)
    engine = component.engine
    texts = [token.text for gold in golds for token in gold]
    rows = []
    for n in LENGTHS:
        free, tree = Doc(golds[0].vocab, words=[rng.choice(texts) for _ in range(n)]), long_tree(golds, n, rng)
        row: dict[str, Any] = {"words": n}
        for name, doc, beam in (
            ("free", free, 8),
            ("tree", tree, 8),
            ("tree, default beam", tree, component.tree_beam_width),
        ):
            bags = component.reader.read(doc)
            is_timed = name != "free" or n <= LENGTHS[-2]
            job = partial(engine.order, bags, SearchOptions(beam_width=beam or component.beam_width, tree=False))
            row[name] = 1000 * fastest(job, repeat) if is_timed else None
        rows.append(row)
    return rows


def exponent(rows: list[dict[str, Any]], name: str) -> float:
    """The slope of log time over log length."""
    points = [(row["words"], row[name]) for row in rows if row[name] is not None]
    x, y = np.log([p[0] for p in points]), np.log([p[1] for p in points])
    return float(np.polyfit(x, y, 1)[0])


def peak_memory(job: Callable[[], Any]) -> float:
    """What a job adds to the resident size at most, in MB. Linux only: there the peak can be forgotten."""
    status = Path("/proc/self/status")
    if not status.exists():
        return math.nan

    def read(key: str) -> int:
        return int(re.findall(rf"{key}:\s*(\d+) kB", status.read_text())[0])

    Path("/proc/self/clear_refs").write_text("5")
    before = read("VmRSS")
    job()
    return (read("VmHWM") - before) / 1024


def search_all(component: Linearizer, docs: dict[str, list[Doc]], golds: list[Doc]) -> None:
    """Everything once, from ready Docs: all sentences as bundled, the longest bags, and a wide beam."""
    wide = SearchOptions(beam_width=BEAMS[-1])
    for given in docs.values():
        for doc in given:
            component(doc)
            component.engine.order(component.reader.read(doc), wide)
    growth(component, golds, 1)


def describe() -> str:
    """The machine, in a few words."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def docs_a_second(nlp: Any, docs: list[Doc], repeat: int) -> float:
    """Docs through nlp.pipe. A pipeline may write to its input, so every round gets copies."""
    rounds = [[doc.copy() for doc in docs] for _ in range(repeat)]
    return len(docs) / fastest(lambda: list(nlp.pipe(rounds.pop())), repeat)


def table(rows: list[dict[str, Any]]) -> str:
    lines = ["| " + " | ".join(rows[0]) + " |", "|---" * len(rows[0]) + "|"]
    for row in rows:
        cells = (f"{value:.2f}" if isinstance(value, float) else str(value) for value in row.values())
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def plot(rows: list[dict[str, Any]], lengths: list[dict[str, Any]], path: Path) -> None:
    """Sentences a second by beam, and milliseconds by length."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for setting in SETTINGS:
        own = [row for row in rows if row["given"] == setting]
        left.plot([row["beam"] for row in own], [1000 / row["both"] for row in own], marker="o", label=setting)
    left.set(xscale="log", yscale="log", xlabel="beam", ylabel="sentences a second, core, both directions")
    left.set_xticks(BEAMS, [str(beam) for beam in BEAMS])
    for name in ("free", "tree"):
        own = [row for row in lengths if row[name] is not None]
        right.plot([row["words"] for row in own], [row[name] for row in own], marker="o", label=name)
    right.set(xscale="log", yscale="log", xlabel="words", ylabel="ms, core, both directions, beam 8")
    left.legend()
    right.legend()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", type=Path, nargs="?", default=EWT if EWT.exists() else MINI)
    parser.add_argument("--model", default=None)
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--plot", type=Path, default=None)
    options = parser.parse_args()
    nlp = spacy.load(options.model) if options.model else spacy_linearize.load()
    component = nlp.get_pipe("linearizer")
    golds = list(read_conllu(options.treebank, nlp.vocab, report=print))[: options.limit]
    docs = {name: [give(gold, *shares, rng=random.Random(0)) for gold in golds] for name, shares in SETTINGS.items()}
    length = sum(len(gold) for gold in golds) / len(golds)
    print(f"{options.treebank.name}: {len(golds)} sentences of {length:.1f} words; {describe()}\n")

    memory = peak_memory(lambda: search_all(component, docs, golds))

    print("Doc to Doc, `nlp.pipe`, as bundled; the parser is `spacy.blank('en')` with an untrained `parser`:\n")
    parser_nlp = spacy.blank("en")
    parser_nlp.add_pipe("parser").add_label("nsubj")
    parser_nlp.initialize()
    parsed = docs_a_second(parser_nlp, docs["free"], options.repeat)
    rows = []
    for setting, given in docs.items():
        speed = docs_a_second(nlp, given, options.repeat)
        component.n_threads = 2
        doubled = docs_a_second(nlp, given, options.repeat)
        component.n_threads = 1
        rows.append({"given": setting, "to the parser": speed / parsed, "2 threads": doubled / speed, "Docs/s": speed})
    print(table(rows))

    print("The core, ms a sentence (without trees for free words), and ns a candidate:\n")
    core = core_rows(component, docs, options.repeat)
    print(table(core))

    print("Around the core, microseconds a Doc: reading, packing, and writing ready orders:\n")
    around = wrapping(component, docs, options.repeat)
    print(table(around))

    print("Growth, beam 8, both directions, ms:\n")
    lengths = growth(component, golds, options.repeat)
    print(table(lengths))
    print(f"Exponents: free {exponent(lengths, 'free'):.2f}, tree {exponent(lengths, 'tree'):.2f} (2 is quadratic).")
    print(f"All of these searches take at most {memory:.0f} MB beside the model and the Docs.")
    if options.json:
        options.json.write_text(
            json.dumps({"docs": rows, "core": core, "around": around, "growth": lengths}, indent=1), encoding="utf8"
        )
    if options.plot:
        plot(core, lengths, options.plot)


if __name__ == "__main__":
    main()
