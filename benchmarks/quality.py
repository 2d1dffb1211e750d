"""The grid of the papers in more detail: sentences with words that were never seen, and trees beside spaCy's parser.

    python benchmarks/quality.py TRAIN.spacy DEV.spacy [--model PIPELINE] [--parser PIPELINE] [--limit N]

For each share of tags and arcs: BLEU / exact match of all sentences, and of those with at least one word that is not
in the training data; the share of right tags among those that were not given; UAS / LAS of the arcs that were not
given, in the tree that the linearizer returns and, with --parser, in the tree that another pipeline's parser finds for
the same output. Without --model it is the bundled en_ud. A .spacy file, or a folder of them, is what `spacy linearize
convert` makes of a treebank, or `spacy linearize parse` of a text.
"""

import argparse
from pathlib import Path
from typing import Any

import spacy
from _core import load_pipeline
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.training.corpus import walk_corpus

from spacy_linearize.training.evaluate import GRID, evaluate
from spacy_linearize.training.scorer import linearizer_score


def scores(pairs: list[tuple[Doc, Doc]], *names: str) -> str:
    found = linearizer_score([Example(output, gold) for output, gold in pairs])
    values = (found[name] for name in names)
    return " / ".join("–" if value is None else f"{100 * value:.1f}" for value in values)


def parsed(parser: Any, output: Doc) -> Doc:
    """The same words in the same order, with the parser's tree."""
    doc = Doc(output.vocab, words=[token.text for token in output])
    doc.user_data.update(output.user_data)
    for _, component in parser.pipeline:
        doc = component(doc)
    return doc


def main() -> None:
    argument_parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    argument_parser.add_argument("train", type=Path)
    argument_parser.add_argument("dev", type=Path)
    argument_parser.add_argument("--model", default=None)
    argument_parser.add_argument("--parser", default=None)
    argument_parser.add_argument("--limit", type=int, default=0)
    options = argument_parser.parse_args()
    nlp = load_pipeline(options.model)
    parser = spacy.load(options.parser, vocab=nlp.vocab) if options.parser else None
    files = walk_corpus(options.train, ".spacy")
    seen = {token.orth for file in files for doc in DocBin().from_disk(file).get_docs(nlp.vocab) for token in doc}
    columns = ["tags", "arcs", "all", "with unseen words", "tags found", "UAS / LAS"]
    columns += ["of the parser"] if parser else []
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for tags, heads in GRID:
        pairs = evaluate(nlp, options.dev, tags=tags, heads=heads, limit=options.limit).pairs
        unseen = [pair for pair in pairs if any(token.orth not in seen for token in pair[1])]
        row = [f"{tags:.0%}", f"{heads:.0%}", scores(pairs, "bleu", "exact"), scores(unseen, "bleu", "exact")]
        row += [scores(pairs, "tags"), scores(pairs, "uas", "las")]
        if parser:
            row.append(scores([(parsed(parser, output), gold) for output, gold in pairs], "uas", "las"))
        print("| " + " | ".join(row) + " |", flush=True)
    print(f"\n{len(unseen)} of {len(pairs)} sentences have unseen words.")


if __name__ == "__main__":
    main()
