"""What a newcomer types first: short everyday sentences, from nothing but the bag of their words.

    python benchmarks/everyday.py [--model PIPELINE] [--show] [--weight W]

Two shares: of the sentences in tests/data/everyday.txt, how many come back in an accepted order; and of the bags of two
names and a transitive verb, in how many the verb stands in the middle. Without --model it is the bundled en_ud; with
--show all failures are listed. --weight is that of the n-gram model for free words, instead of the pipeline's own. The
sentences are kept out of training.
"""

import argparse
from collections.abc import Iterable
from itertools import permutations
from pathlib import Path
from typing import Any

import spacy
from _core import load_pipeline
from spacy.tokens import Doc

SENTENCES = Path(__file__).parent.parent / "tests" / "data" / "everyday.txt"
NAMES = ("John", "Mary", "Anna", "Peter", "Tom", "Lisa", "David", "Emma")
VERBS = ("loves", "knows", "met", "helped", "saw", "called")


def read_sentences(path: Path = SENTENCES) -> list[list[str]]:
    """The accepted orders of each bag, as texts: a line each, separated by tabs."""
    return [line.split("\t") for line in path.read_text(encoding="utf8").splitlines()]


def ordered(nlp: Any, bags: Iterable[list[str]]) -> list[list[str]]:
    """The words of each bag in the order that the pipeline finds. The words go in sorted."""
    docs = (Doc(nlp.vocab, words=sorted(bag)) for bag in bags)
    return [[token.text for token in doc] for doc in nlp.pipe(docs)]


def share(n_right: int, n: int) -> str:
    return f"{n_right} of {n} ({100 * n_right / n:.1f}%)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=None)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--weight", type=float)
    options = parser.parse_args()
    nlp = load_pipeline(options.model)
    if options.weight is not None:
        nlp.get_pipe("linearizer").engine.change_ngrams(weights={"free": options.weight})
    tokenizer = spacy.blank("en").tokenizer
    accepted = [[[token.text for token in tokenizer(text)] for text in texts] for texts in read_sentences()]
    found = ordered(nlp, (orders[0] for orders in accepted))
    wrong = [(words, orders) for words, orders in zip(found, accepted, strict=True) if words not in orders]
    print("accepted:", share(len(accepted) - len(wrong), len(accepted)))
    if options.show:
        for words, orders in wrong:
            print(f"    {' '.join(words)}  |  {' '.join(orders[0])}")
    for verb in VERBS:
        bags = [[first, verb, second, "."] for first, second in permutations(NAMES, 2)]
        found = ordered(nlp, bags)
        odd = [words for words in found if words[1] != verb]
        print(f"two names and {verb}:", share(len(bags) - len(odd), len(bags)))
        if options.show:
            for words in odd:
                print("    " + " ".join(words))


if __name__ == "__main__":
    main()
