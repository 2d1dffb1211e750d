"""How many heads of the bracket converter equal those of Penn2Malt, and where the others are.

    python benchmarks/ptb_heads.py [FOLDER]

FOLDER holds brackets/*.mrg, and penn2malt/*.dp with the same sentences: a word, its tag and its head in each line (from
1, 0 for the root), an empty line after each sentence. Every word of a .dp file counts, also when its sentence is not
found in the brackets.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from spacy_linearize.files.brackets import dependencies, leaves, read_trees, unescape

DEFAULT = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "ptb_sample"


def read_dp(path: Path) -> Iterator[list[tuple[str, str, int]]]:
    """The sentences of a .dp file: word, tag and head (-1 for the root) of each token."""
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if line]
        if rows:
            yield [(unescape(word), tag, int(head) - 1) for word, tag, head in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT, help="default: ../shared/data/ptb_sample")
    folder = parser.parse_args().folder
    files = sorted((folder / "penn2malt").glob("*.dp"))
    if not files:
        parser.exit(1, f"No data: there is no penn2malt/*.dp in {folder}. Give the folder of the sample.\n")

    def report(path: Path, line: int, what: str) -> None:
        print(f"{path.name}, line {line}: {what}")

    n_sentences = n_words = n_equal = 0
    n_odd_tags = 0
    kinds: Counter[str] = Counter()
    for path in files:
        brackets = folder / "brackets" / f"{path.stem}.mrg"
        if not brackets.exists():
            parser.exit(1, f"No data: {brackets} is missing.\n")
        trees = read_trees(brackets, report=report)
        for tree, gold in zip_longest(trees, read_dp(path)):
            if gold is None:
                print(f"{path.name}: more trees than sentences")
                break
            n_sentences += 1
            n_words += len(gold)
            units = [] if tree is None else leaves(tree)
            if [unit.word for unit in units] != [word for word, _, _ in gold]:
                print(f"{path.name}: other words in '{' '.join(word for word, _, _ in gold)}'")
                kinds["(other words)"] += len(gold)
                continue
            n_odd_tags += sum(unit.tag != tag for unit, (_, tag, _) in zip(units, gold, strict=True))
            for arc, (_, _, head) in zip(dependencies(tree), gold, strict=True):
                if arc.head == head:
                    n_equal += 1
                else:
                    kinds[arc.parent or "(root)"] += 1

    print(f"{len(files)} files, {n_sentences} sentences, {n_words} words, {n_odd_tags} tags differ")
    print(f"heads equal: {n_equal} of {n_words} = {100 * n_equal / max(1, n_words):.2f}%")
    print("differences by parent constituent:" if kinds else "no differences")
    for parent, n in kinds.most_common(10):
        print(f"{n:7} {parent}")


if __name__ == "__main__":
    main()
