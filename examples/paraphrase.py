"""Paraphrase by re-ordering: a parser says what belongs together, the linearizer finds other orders of the same tree.

Every arc of the parse stays, so that who does what to whom stays too; what moves are adverbs, adverbials and clauses.
The gap in score to the best order tells how natural another one is.

    python examples/paraphrase.py
    python examples/paraphrase.py "She slowly opened the letter." --parser en_core_web_sm

Without arguments, the sentences are those of parsed.conllu, which en_core_web_sm has parsed.
"""

import argparse
from collections.abc import Iterable
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc

import spacy_linearize
from spacy_linearize.files.conllu import read_conllu

PARSED = Path(__file__).parent / "parsed.conllu"
MAX_GAP = 30.0  # for each word


def without_capital(doc: Doc) -> Doc:
    """The same sentence without its first capital, which would hold the first word in its place."""
    first = doc[0].text if doc[0].pos_ == "PROPN" or doc[0].text == "I" else doc[0].text.lower()
    return Doc(
        doc.vocab,
        words=[first, *(token.text for token in doc[1:])],
        tags=[token.tag_ for token in doc],
        heads=[token.head.i for token in doc],
        deps=[token.dep_ for token in doc],
    )


def paraphrases(nlp: Language, parsed: Doc, *, n: int = 8, max_gap: float = MAX_GAP) -> list[tuple[float, str]]:
    """Other orders of a parsed sentence, the most natural first, each with its gap for each word to the best order.

    n (int): How many orders to look at.
    max_gap (float): Leave out orders with a larger gap.
    """
    bag = without_capital(parsed)
    own = list(range(len(bag)))
    found = []
    for doc in nlp.get_pipe("linearizer").alternatives(bag, n):
        gap = doc._.linearization["gap"] / len(doc)
        if gap <= max_gap and list(doc._.linearization["order"]) != own:
            found.append((gap, doc.text[0].upper() + doc.text[1:]))
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", nargs="*")
    parser.add_argument("--parser", default="en_core_web_sm", help="a pipeline that parses the sentences")
    options = parser.parse_args(arguments)
    nlp = spacy_linearize.load("en_core_web")
    if options.sentences:
        docs: Iterable[Doc] = spacy.load(options.parser).pipe(options.sentences)
    else:
        docs = read_conllu(PARSED, nlp.vocab)
    for parsed in docs:
        print(parsed.text)
        for gap, text in paraphrases(nlp, parsed):
            print(f"  {gap:5.1f}  {text}")


if __name__ == "__main__":
    main()
