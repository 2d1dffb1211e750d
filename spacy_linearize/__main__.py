"""python -m spacy_linearize demo TREEBANK WORD ...: train on a small CoNLL-U file on the spot and order some words."""

import argparse
import sys
from pathlib import Path

EPOCHS = 8
SETTINGS = ((0.0, 0.0), (1.0, 0.5), (1.0, 1.0))  # shares of tags and of arcs that are given


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m spacy_linearize", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="train on a small treebank on the spot and order some words")
    demo.add_argument("treebank", type=Path, help="a CoNLL-U file of at most a few hundred sentences")
    demo.add_argument("words", nargs="+", help="the words to order, in any sequence")
    arguments = parser.parse_args()
    if not arguments.treebank.exists():
        print(f"There is no file {arguments.treebank}.", file=sys.stderr)
        return 1
    return order(arguments.treebank, arguments.words)


def order(treebank: Path, words: list[str]) -> int:
    import random

    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example
    from spacy.training.converters import conllu_to_docs

    from .corpus import give

    nlp = spacy.blank("en")
    nlp.add_pipe("linearizer", config={"model": {"table_bits": 18, "attach_bits": 16}})
    golds = list(conllu_to_docs(treebank.read_text(encoding="utf8"), n_sents=1, no_print=True))
    rng = random.Random(0)
    for epoch in range(EPOCHS):
        examples = []
        for gold in golds:
            tags, heads = rng.choice(SETTINGS)
            examples.append(Example(give(gold, tags, heads, rng=rng), gold))
        if epoch == 0:
            nlp.initialize(lambda examples=examples: examples)
        nlp.update(examples, drop=0.0)
    doc = nlp(Doc(nlp.vocab, words=words))
    print(doc.text)
    for token in doc:
        print(f"  {token.text:<16}{token.tag_:<8}{token.dep_:<12}{token.head.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
