"""A checker of word order: flags sentences whose order is odd, and proposes a better one.

`score_order` compares the order of a sentence with the best one that is found for the same words. It says how likely a
reader prefers the sentence as it is, which words stand in the wrong place, and where they belong.

    python examples/checker.py
    python examples/checker.py sentences.txt --parser en_core_web_sm
    echo "He always is late." | python examples/checker.py -

Words alone will do; a parser helps with long sentences. Without arguments, the sentences are those of checked.conllu,
which en_core_web_sm has parsed.
"""

import argparse
import fileinput
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc

import spacy_linearize
from spacy_linearize.files.conllu import read_conllu

PARSED = Path(__file__).parent / "checked.conllu"
LEAST = 0.6  # the probability of a sentence that is not odd


@dataclass(frozen=True)
class Finding:
    """A sentence, the probability that a reader prefers it as it is, and where that is small, what would be better."""

    text: str
    probability: float
    moves: list[str]
    better: str | None


def check(nlp: Language, sentences: Iterable[Doc], *, least: float = LEAST) -> Iterator[Finding]:
    """Check sentences one by one.

    least (float): A sentence with a smaller probability is odd.
    """
    component = nlp.get_pipe("linearizer")
    for doc in sentences:
        result = component.score_order(doc)
        is_odd = result.probability < least
        # A parser may find an odd tree, in which nothing is out of place: then words alone say what would be better.
        better = result if result.moves else result.of_words
        moves = [str(move) for move in better.moves] if is_odd else []
        yield Finding(doc.text, result.probability, moves, better.best.text if is_odd else None)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="sentences, one a line; - for standard input")
    parser.add_argument("--parser", help="a pipeline that parses them")
    options = parser.parse_args(arguments)
    nlp = spacy_linearize.load("en_core_web")
    if options.files:
        read = spacy.load(options.parser) if options.parser else nlp.make_doc
        with fileinput.input(options.files, encoding="utf8") as lines:
            docs: Iterable[Doc] = [read(line.strip()) for line in lines if line.strip()]
    else:
        docs = read_conllu(PARSED, nlp.vocab)
    for finding in check(nlp, docs):
        mark = "odd" if finding.better else "ok "
        print(f"{mark} {finding.probability:.2f}  {finding.text}", end="")
        print(f"  ({'; '.join(finding.moves)})  ->  {finding.better}" if finding.better else "")


if __name__ == "__main__":
    main()
