"""How fast the bundled pipeline is: milliseconds of the core, and Docs a second, beside spaCy's own parser.

    python benchmarks/speed.py [TREEBANK.conllu] [--model PIPELINE] [--limit 1000] [--repeat 3] [--json FILE]
        [--plot FILE]

Sentences are those of the treebank (default: ../shared/data/ud_english_ewt/dev.conllu if it is there, else the
project's mini treebank, and the output says which). Each figure is the fastest of several rounds, on one core and in
one process, so that ratios within a run mean something on a noisy machine.
"""

import argparse
import json
import platform
import random
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc

import spacy_linearize
from spacy_linearize.bag import Use, read_words
from spacy_linearize.corpus import give
from spacy_linearize.treebanks.conllu import read_conllu

ROOT = Path(__file__).parent.parent
EWT = ROOT.parent / "shared" / "data" / "ud_english_ewt" / "dev.conllu"
MINI = ROOT / "tests" / "data" / "mini_en.conllu"
SETTINGS = {"full tree": (1.0, 1.0), "half of the arcs": (1.0, 0.5), "free": (0.0, 0.0)}
BEAMS = (1, 2, 4, 8, 16, 32, 64)
LENGTHS = (10, 20, 40, 80, 160, 320)


def fastest(job: Callable[[], Any], repeat: int) -> float:
    """Seconds of the fastest of several rounds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def core_rows(engine: Any, docs: dict[str, list[Doc]], repeat: int) -> list[dict[str, Any]]:
    """Milliseconds a sentence of the searches alone, from a ready bag to the order."""
    rows = []
    for setting, given in docs.items():
        bags = [read_words(doc, Use()).to_bag(engine) for doc in given]
        settings = engine.settings
        weight = settings.tree_ngram_weight if setting == "full tree" else settings.ngram_weight
        for beam in BEAMS:

            def one(beam: int = beam, bags: list = bags, weight: float = weight) -> None:
                for bag in bags:
                    engine.decoders_for(bag)[0].decode(bag, width=beam, ngram_weight=weight)

            def both(beam: int = beam, bags: list = bags) -> None:
                for bag in bags:
                    engine.order(bag, beam_width=beam, tree=False)

            ms = [1000 * fastest(job, repeat) / len(bags) for job in (one, both)]
            rows.append({"given": setting, "beam": beam, "one direction": ms[0], "as bundled": ms[1]})
    return rows


def growth(engine: Any, words: list[str], vocab: Any, repeat: int) -> list[dict[str, Any]]:
    """Milliseconds of one free bag by its number of words, at beam 8."""
    rng = random.Random(0)
    rows = []
    for n in LENGTHS:
        bag = read_words(Doc(vocab, words=[rng.choice(words) for _ in range(n)]), Use()).to_bag(engine)
        ms = 1000 * fastest(lambda bag=bag: engine.order(bag, beam_width=8, tree=False), repeat)
        rows.append({"words": n, "ms": ms})
    return rows


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


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Sentences a second by beam, one line for each setting."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    for setting in SETTINGS:
        own = [row for row in rows if row["given"] == setting]
        axes.plot([row["beam"] for row in own], [1000 / row["as bundled"] for row in own], marker="o", label=setting)
    axes.set(xscale="log", yscale="log", xlabel="beam", ylabel="sentences a second, core, both directions")
    axes.set_xticks(BEAMS, [str(beam) for beam in BEAMS])
    axes.legend()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", type=Path, nargs="?", default=EWT if EWT.exists() else MINI)
    parser.add_argument("--model", default=None)
    parser.add_argument("--limit", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--plot", type=Path, default=None)
    options = parser.parse_args()
    nlp = spacy.load(options.model) if options.model else spacy_linearize.load()
    component = nlp.get_pipe("linearizer")
    golds = list(read_conllu(options.treebank, nlp.vocab, report=print))[: options.limit]
    docs = {name: [give(gold, *shares, rng=random.Random(0)) for gold in golds] for name, shares in SETTINGS.items()}
    length = sum(len(gold) for gold in golds) / len(golds)
    print(f"{options.treebank.name}: {len(golds)} sentences of {length:.1f} words; {platform.machine()}, one core\n")

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

    print("The core, ms a sentence (without trees for free words):\n")
    core = core_rows(component.shim.engine, docs, options.repeat)
    print(table(core))

    print("Growth, free words, beam 8, as bundled:\n")
    words = [token.text for gold in golds for token in gold]
    lengths = growth(component.shim.engine, words, nlp.vocab, options.repeat)
    print(table(lengths))
    print(f"Largest resident size: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    if options.json:
        options.json.write_text(json.dumps({"docs": rows, "core": core, "growth": lengths}, indent=1), encoding="utf8")
    if options.plot:
        plot(core, options.plot)


if __name__ == "__main__":
    main()
