"""The tables and figures of the two papers, rerun: best-first search, liu2015, puduppully2016 and default side by side.

    python benchmarks/papers.py TRAIN.spacy DEV.spacy OUTPUT [--passes 4] [--limit 0] [--seconds 5] [--report]

Every cell is trained and tested on its own, as in the papers, but for default.cfg: one model for all. A cell that is
done is a JSON file in OUTPUT, and is not done again: a run that was stopped goes on where it was. At the end comes the
report: Table 3 (BLEU and ms by what is given), Table 4 and Figure 9 (spans), Figure 7 (beams), Figure 8 (how much of a
bag was ordered).
Arcs are unlabelled. All systems are tested on the same sentences.
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import spacy
import srsly
from best_first.learn import Learner
from best_first.search import order
from spacy.cli.train import train
from spacy.tokens import Doc
from spacy.training import Example

from spacy_linearize.core.records import Bag
from spacy_linearize.doc.gold import gold_pairs
from spacy_linearize.options import Options
from spacy_linearize.training.corpus import Corpus
from spacy_linearize.training.evaluate import GRID, Pairs, analyse, epochs, evaluate, steps
from spacy_linearize.training.scorer import linearizer_score
from spacy_linearize.trees import FREE, ROOT

CONFIGS = Path(__file__).parent.parent / "configs"
SYSTEMS = ("best_first", "liu2015", "puduppully2016", "default")
BATCH = 512  # sentences a step, as in the configs
SIZES = (5, 8, 11, 14, 17, 20, 25, 30)  # Figure 8: bags of up to so many words


def by_size(pairs: Pairs, covered: list[float]) -> dict[str, float]:
    """The share of the words that the search itself put into one piece, by the size of the bag (Figure 8)."""
    shares = defaultdict(list)
    for (_, gold), share in zip(pairs, covered, strict=True):
        shares[next((str(size) for size in SIZES if len(gold) <= size), "more")].append(share)
    return {size: mean(found) for size, found in shares.items()}


def figures(pairs: Pairs, ms: float, covered: list[float]) -> dict[str, Any]:
    scores = linearizer_score([Example(output, gold) for output, gold in pairs])
    percent = {name: 100 * scores[name] for name in ("bleu", "exact")}
    return {**percent, "ms": ms, "sentences": len(pairs), "covered": by_size(pairs, covered), **analyse(pairs)}


class Papers:
    """One run over all cells.

    options: As on the command line.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.nlp = spacy.blank("en")

    def steps(self, passes: int) -> int:
        n = sum(1 for _ in Corpus(self.options.train)(self.nlp))
        return max(1, round(passes * n / BATCH))

    def train(self, config: str, name: str, passes: int, **overrides: Any) -> Path:
        """Train a config, unless that has been done, and return the folder of the pipeline."""
        folder: Path = self.options.output / "training" / name
        if not (folder / "model-last").exists():
            steps = self.steps(passes)
            changes = {
                "paths.train": str(self.options.train),
                "paths.dev": str(self.options.dev),
                "training.max_steps": steps,
                "training.eval_frequency": max(1, steps // passes) if name.startswith("beam") else steps,
                "corpora.dev.limit": self.options.limit,
                "corpora.train.labelled": False,
                "corpora.dev.labelled": False,
                "training.logger.output_file": str(folder.parent / f"{name}.jsonl"),
            }
            train(CONFIGS / f"{config}.cfg", folder, overrides={**changes, **overrides})
        return folder / "model-last"

    def transition_based(self, system: str, tags: float, heads: float) -> dict[str, Any]:
        if system == "default":
            path = self.train(system, system, self.options.default_passes)
        else:
            given = {"corpora.train.settings": [[tags, heads]], "corpora.dev.tags": tags, "corpora.dev.heads": heads}
            path = self.train(system, f"{system}-{tags:g}-{heads:g}", self.options.passes, **given)
        nlp = spacy.load(path)
        run = evaluate(nlp, self.options.dev, tags=tags, heads=heads, labelled=False, limit=self.options.limit)
        return figures(run.pairs, run.ms, [1.0] * len(run.pairs))

    def examples(self, path: Path, tags: float, heads: float, limit: int) -> Iterator[tuple[Bag, Bag, Doc]]:
        corpus = Corpus(path, tags=tags, heads=heads, labelled=False, gold_preproc=True, limit=limit)
        for eg in corpus(self.nlp):
            for bag, gold in gold_pairs(eg, Options()):
                yield bag, gold, eg.reference

    def best_first(self, tags: float, heads: float) -> dict[str, Any]:
        examples = list(self.examples(self.options.train, tags, heads, 0))
        learner = Learner(gold for _, gold, _ in examples)  # all of them teach tags
        rng = random.Random(0)
        examples = rng.sample(examples, min(len(examples), self.options.best_first_train or len(examples)))
        for _ in range(self.options.best_first_passes):
            rng.shuffle(examples)
            for bag, gold, _ in examples:
                learner.update(bag, gold)
        pairs, covered, seconds = [], [], []
        weights = learner.mean
        for bag, _, reference in self.examples(self.options.dev, tags, heads, self.options.limit):
            found = order(learner.problem(bag), weights, seconds=self.options.seconds)
            place = {word: i for i, word in enumerate(found.words)}
            arcs = [None if head == FREE else i if head == ROOT else place[head] for i, head in enumerate(found.heads)]
            words = [reference[word].text for word in found.words]
            labels = ["" if arc is None else "dep" for arc in arcs]
            pairs.append((Doc(self.nlp.vocab, words=words, heads=arcs, deps=labels), reference))
            covered.append(found.covered)
            seconds.append(found.seconds)
        return figures(pairs, 1000 * mean(seconds), covered)

    def beam(self, system: str, width: int) -> dict[str, Any]:
        """BLEU after each pass with a beam of this width, nothing given (Figure 7)."""
        name = f"beam-{system}-{width}"
        free = {"corpora.train.settings": [[0, 0]], "corpora.dev.tags": 0, "corpora.dev.heads": 0}
        path = self.train(system, name, self.options.passes, **{"components.linearizer.beam_width": width}, **free)
        return {"curve": epochs(steps(path.parent.parent / f"{name}.jsonl"))}

    def do(self, name: str, work: Callable[[], dict[str, Any]]) -> None:
        path = self.options.output / f"{name}.json"
        if not path.exists():
            print(name, flush=True)
            srsly.write_json(path, work())

    def run(self) -> None:
        self.options.output.mkdir(parents=True, exist_ok=True)
        # From the most that is given to the least: the first cells are the fastest.
        for tags, heads in sorted(GRID, key=lambda cell: (-cell[1], -cell[0])):
            for system in SYSTEMS:
                work = self.best_first if system == "best_first" else self._transition_based(system)
                self.do(f"{system}-{tags:g}-{heads:g}", lambda work=work, cell=(tags, heads): work(*cell))  # type: ignore[misc]
        for width in self.options.beams:
            self.do(f"beam-liu2015-{width}", lambda width=width: self.beam("liu2015", width))  # type: ignore[misc]

    def _transition_based(self, system: str) -> Callable[[float, float], dict[str, Any]]:
        return lambda tags, heads: self.transition_based(system, tags, heads)


def report(folder: Path) -> str:
    """All that is done, as Markdown."""
    done = {path.stem: srsly.read_json(path) for path in folder.glob("*.json")}
    cells = [f"{tags:g}-{heads:g}" for heads in (0.0, 0.5, 1.0) for tags in (0.0, 0.5, 1.0)]
    lines = [
        "Table 3: BLEU / exact / ms",
        "",
        f"| tags-arcs | {' | '.join(SYSTEMS)} |",
        "|---|" + "---|" * len(SYSTEMS),
    ]
    for cell in cells:
        found = [done.get(f"{system}-{cell}") for system in SYSTEMS]
        shown = [f"{one['bleu']:.1f} / {one['exact']:.1f} / {one['ms']:.1f}" if one else "–" for one in found]
        lines.append(f"| {cell} | {' | '.join(shown)} |")
    free = {system: done[f"{system}-0-0"] for system in SYSTEMS if f"{system}-0-0" in done}
    if free:
        lines += ["", "Table 4: precision / recall / F of spans, nothing given", ""]
        lines += [f"| shorter than | {' | '.join(free)} |", "|---|" + "---|" * len(free)]
        for i, row in enumerate(next(iter(free.values()))["spans"]):
            rows = [one["spans"][i] for one in free.values()]
            shown = [f"{one['precision']:.1f} / {one['recall']:.1f} / {one['f']:.1f}" for one in rows]
            lines.append(f"| {row['shorter_than']} | {' | '.join(shown)} |")
        lines += ["", "Figure 8: share of the words in one piece before gluing, by size of the bag", ""]
        lines += [f"| up to | {' | '.join(free)} |", "|---|" + "---|" * len(free)]
        for size in [*map(str, SIZES), "more"]:
            found = [one["covered"].get(size) for one in free.values()]
            lines.append(f"| {size} | {' | '.join('–' if share is None else f'{share:.2f}' for share in found)} |")
        lines += ["", "Figure 9: share of spans by length, percent", ""]
        lines += [f"| length | gold | {' | '.join(free)} |", "|---|---|" + "---|" * len(free)]
        lengths = [one["span_lengths"] for one in free.values()]
        for length in map(str, range(2, 16)):
            shares = [lengths[0]["gold"].get(length, 0), *(one["output"].get(length, 0) for one in lengths)]
            lines.append(f"| {length} | {' | '.join(f'{100 * share:.1f}' for share in shares)} |")
    curves = {name: one["curve"] for name, one in done.items() if name.startswith("beam-")}
    if curves:
        lines += ["", "Figure 7: BLEU after each pass, nothing given", ""]
        for name, curve in sorted(curves.items(), key=lambda item: int(item[0].rpartition("-")[2])):
            lines.append(f"- {name}: " + ", ".join(f"{point['bleu']:.1f}" for point in curve))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--passes", type=int, default=4, help="of the papers' configs")
    parser.add_argument("--default-passes", type=int, default=15, help="of default.cfg, one model for all cells")
    parser.add_argument("--best-first-passes", type=int, default=2)
    parser.add_argument("--best-first-train", type=int, default=0, help="learn from so many sentences; 0 for all")
    parser.add_argument("--limit", type=int, default=0, help="test on the first dev sentences; 0 for all")
    parser.add_argument("--seconds", type=float, default=5.0, help="time limit of best-first search for a sentence")
    parser.add_argument("--beams", type=lambda text: [int(width) for width in text.split(",")], default=[1, 4, 16, 64])
    parser.add_argument("--report", action="store_true", help="only print what is done")
    options = parser.parse_args()
    if not options.report:
        Papers(options).run()
    print(report(options.output))


if __name__ == "__main__":
    main()
