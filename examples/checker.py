"""A checker of word order: flags sentences whose order is odd, and proposes a better one.

`score_order` compares the order of a sentence with the best one that is found for the same words. The gap for each word
is 0 where the two are the same, small where there are several good orders, and large where something is wrong.

    python examples/checker.py
    python examples/checker.py sentences.txt --parser en_core_web_sm
    echo "He always is late." | python examples/checker.py -

A parser says which words belong together, even where their order is odd. Without one, the linearizer sees words and
nothing else, and is sure of short sentences only. Without arguments, the sentences are those of checked.conllu, which
en_core_web_sm has parsed.
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
MAX_GAP = 15.0  # for each word


@dataclass(frozen=True)
class Finding:
    """A sentence, the gap of its order for each word, and a better order if the gap is too large."""

    text: str
    gap: float
    better: str | None


def check(nlp: Language, sentences: Iterable[Doc], *, max_gap: float = MAX_GAP) -> Iterator[Finding]:
    """Check sentences one by one.

    max_gap (float): A larger gap for each word is odd.
    """
    component = nlp.get_pipe("linearizer")
    for doc in sentences:
        result = component.score_order(doc)
        yield Finding(doc.text, result.gap_per_word, result.best.text if result.gap_per_word > max_gap else None)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="sentences, one a line; - for standard input")
    parser.add_argument("--parser", help="a pipeline that parses them")
    options = parser.parse_args(arguments)
    nlp = spacy_linearize.load("en_core_web")
    if options.files:
        read = spacy.load(options.parser) if options.parser else nlp.make_doc
        with fileinput.input(options.files, encoding="utf8") as lines:
            docs: Iterable[Doc] = [read(line.strip()) for line in lines]
    else:
        docs = read_conllu(PARSED, nlp.vocab)
    for finding in check(nlp, docs):
        mark = "odd" if finding.better else "ok "
        print(f"{mark} {finding.gap:5.1f}  {finding.text}" + (f"  ->  {finding.better}" if finding.better else ""))


if __name__ == "__main__":
    main()
