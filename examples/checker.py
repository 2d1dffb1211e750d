"""A checker of word order: flags sentences whose order is odd, and proposes a better one.

`score_order` compares the order of a sentence with the best one that is found for the same words. The gap for each word
is 0 where the two are the same, small where there are several good orders, and large where something is wrong.

    python examples/checker.py
    python examples/checker.py sentences.txt
    echo "He always is late." | python examples/checker.py -

The bundled model sees words and nothing else here, so that it is sure of short sentences only. Parse the text first,
and arcs say what belongs together: see paraphrase.py.
"""

import fileinput
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from spacy.language import Language

import spacy_linearize

MAX_GAP = 15.0  # for each word
SENTENCES = [
    "I have never seen such a mess.",
    "I never have such a mess seen.",
    "Yesterday went we to the beach.",
    "He always is late.",
    "She speaks English very well.",
    "She speaks very well English.",
    "The weather was nice on Sunday.",
]


@dataclass(frozen=True)
class Finding:
    """A sentence, the gap of its order for each word, and a better order if the gap is too large."""

    text: str
    gap: float
    better: str | None


def check(nlp: Language, sentences: Iterable[str], *, max_gap: float = MAX_GAP) -> Iterator[Finding]:
    """Check sentences one by one.

    max_gap (float): A larger gap for each word is odd.
    """
    component = nlp.get_pipe("linearizer")
    for text in sentences:
        result = component.score_order(nlp.make_doc(text))
        yield Finding(text, result.gap_per_word, result.best.text if result.gap_per_word > max_gap else None)


def main(sentences: Iterable[str] = SENTENCES) -> None:
    nlp = spacy_linearize.load()
    for finding in check(nlp, sentences):
        mark = "odd" if finding.better else "ok "
        print(f"{mark} {finding.gap:5.1f}  {finding.text}" + (f"  ->  {finding.better}" if finding.better else ""))


if __name__ == "__main__":
    with fileinput.input(encoding="utf8") as lines:
        main((line.strip() for line in lines) if sys.argv[1:] else SENTENCES)
