"""One model for each treebank, and one table of what they reach.

    python benchmarks/languages.py TREEBANKS [--treebank NAME] [--passes N] [--output TABLE.md]

TREEBANKS is a folder with one folder for each treebank, which holds its parts in CoNLL-U, as Universal Dependencies
names them: `...train.conllu` and `...dev.conllu`. Each treebank is converted, a model is trained with
configs/default.cfg, and it orders the dev part: everything given, labelled arcs alone, all tags and half of the arcs,
all tags, nothing. What was measured is kept in the working folder, one JSON file for each treebank, and not measured
again: the command can be stopped, and run again.

"The same, projective" is everything given to the same model when it may lift nothing. The ceiling is what orders
without crossing arcs can reach: here with the dependents of each word in the sequence that they have in the sentence.
"""

import argparse
import json
import subprocess
import sys
import time
from fnmatch import fnmatch
from math import ceil
from pathlib import Path

import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_linearize.options import configure
from spacy_linearize.training.evaluate import evaluate
from spacy_linearize.training.scorer import linearizer_score
from spacy_linearize.trees import ROOT as NO_HEAD
from spacy_linearize.trees import is_projective

ROOT = Path(__file__).parents[1]
BATCH = 512  # sentences a step, as in the config
CELLS = {"whole": (1.0, 1.0), "arcs": (0.0, 1.0), "half": (1.0, 0.5), "tags": (1.0, 0.0), "words": (0.0, 0.0)}
COLUMNS = (
    *("treebank", "sentences", "crossing", "projective ceiling", "everything given", "the same, projective"),
    *("labelled arcs", "tags, half of the arcs", "tags", "words", "ms", "passes", "training, min"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("--treebank", default="*", help="The name of one folder, or a pattern")
    parser.add_argument("--tag", default="xpos", help="The column of tags, as for `spacy linearize convert`")
    parser.add_argument("--passes", type=int, default=8, help="Over the training part")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--work", type=Path, default=Path("training") / "languages")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "languages.md")
    options = parser.parse_args()
    if not options.treebanks.is_dir():
        sys.exit(f"There is no folder {options.treebanks}. Put one folder for each treebank there.")
    for folder in sorted(options.treebanks.iterdir()):
        if fnmatch(folder.name, options.treebank) and part_of(folder, "train") and part_of(folder, "dev"):
            measured = options.work / f"{folder.name}.json"
            if not measured.exists():
                row = measure(folder, options.work / folder.name, options.tag, options.passes, options.threads)
                measured.write_text(json.dumps({**row, "passes": options.passes}, indent=2) + "\n", encoding="utf8")
            write_table(options.work, options.output)


def part_of(folder: Path, name: str) -> Path | None:
    """The file of a part of a treebank."""
    return next(iter(sorted(folder.glob(f"*{name}.conllu"))), None)


def measure(folder: Path, work: Path, tag: str, passes: int, threads: int) -> dict[str, object]:
    """Train and evaluate on one treebank."""
    work.mkdir(parents=True, exist_ok=True)
    if tag == "xpos" and has_xpos(part_of(folder, "train")) != has_xpos(part_of(folder, "dev")):
        tag = "upos"  # or the dev part would have other tags than the model has learned
    for part in ("train", "dev"):
        call("linearize", "convert", part_of(folder, part), work / f"{part}.spacy", "--tag", tag)
    docs = read(work / "train.spacy")
    steps = ceil(passes * len(docs) / BATCH)
    start = time.perf_counter()
    call(
        *("train", ROOT / "configs" / "default.cfg", "--output", work, "--nlp.lang", "xx"),
        *("--paths.train", work / "train.spacy", "--paths.dev", work / "dev.spacy"),
        *("--training.max_steps", steps, "--training.eval_frequency", steps),
        *("--components.linearizer.n_threads", threads),
    )
    minutes = (time.perf_counter() - start) / 60
    nlp = spacy.load(work / "model-last")
    runs = {name: evaluate(nlp, work / "dev.spacy", tags=tags, heads=heads) for name, (tags, heads) in CELLS.items()}
    configure(nlp, projective=True)
    runs["projective"] = evaluate(nlp, work / "dev.spacy")
    return {
        "sentences": len(docs),
        "crossing": 100 * sum(not is_projective(heads_of(doc)) for doc in docs) / len(docs),
        "ceiling": ceiling(read(work / "dev.spacy")),
        **{name: [run.scores["bleu"], run.scores["exact"]] for name, run in runs.items()},
        "ms": runs["whole"].ms,
        "minutes": minutes,
    }


def has_xpos(path: Path | None) -> bool:
    """Whether most words of a CoNLL-U file have a tag of their treebank."""
    lines = path.read_text(encoding="utf8").splitlines() if path else []
    tags = [line.split("\t")[4] for line in lines if line[:1].isdigit()]
    return 2 * sum(tag != "_" for tag in tags) > len(tags)


def call(*arguments: object) -> None:
    """Run a command of spaCy."""
    subprocess.run([sys.executable, "-m", "spacy", *map(str, arguments)], check=True)


def read(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(Vocab()))


def heads_of(doc: Doc) -> list[int]:
    return [NO_HEAD if token.head.i == token.i else token.head.i for token in doc]


def ceiling(docs: list[Doc]) -> list[float]:
    """BLEU and exact match of orders without crossing arcs, with the dependents of each word in their own sequence."""
    examples = []
    for doc in docs:
        ordered, todo = [], [(token, False) for token in reversed(list(doc)) if token.head.i == token.i]
        while todo:
            token, is_open = todo.pop()
            if is_open:
                ordered.append(token.text)
                continue
            parts = (
                [(child, False) for child in token.lefts] + [(token, True)] + [(child, False) for child in token.rights]
            )
            todo += reversed(parts)
        gold = Doc(doc.vocab, words=[token.text for token in doc])
        examples.append(Example(Doc(doc.vocab, words=ordered), gold))
    scores = linearizer_score(examples)
    return [100 * scores["bleu"], 100 * scores["exact"]]


def write_table(work: Path, output: Path) -> None:
    """The table of all treebanks that were measured."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    for path in sorted(work.glob("*.json")):
        row = json.loads(path.read_text(encoding="utf8"))
        cells = [path.stem, f"{row['sentences']:,}", f"{row['crossing']:.1f}%"]
        for name in ("ceiling", "whole", "projective", "arcs", "half", "tags", "words"):
            cells.append(" / ".join(f"{value:.1f}" for value in row[name]))
        lines.append(
            "| " + " | ".join([*cells, f"{row['ms']:.2f}", str(row["passes"]), f"{row['minutes']:.1f}"]) + " |"
        )
    text = output.read_text(encoding="utf8") if output.exists() else "# Languages\n"
    before = text.split("\n| treebank |")[0].rstrip("\n")
    output.write_text("\n".join([before, "", *lines, ""]), encoding="utf8")


if __name__ == "__main__":
    main()
