"""Glosses to text: the words are known, and the order of some of them.

A gloss has an English word for each word of a sentence in another language, in the order of that language. Some of its
order is that of English, and can be asked for:

    doc._.linearize_before = [(0, 3)]       token 0 stands somewhere before token 3
    doc._.linearize_fixed = [[1, 2, 5]]     these stand in this sequence; others may come between them

    python examples/glosses.py
"""

from dataclasses import dataclass

from spacy.language import Language
from spacy.tokens import Doc

import spacy_linearize


@dataclass(frozen=True)
class Gloss:
    """The words of a sentence, in foreign order.

    fixed (Tuple[str, ...]): Words whose sequence is known, each entry on its own.
    before (Tuple[Tuple[str, str], ...]): Pairs of words of which the first stands before the second.
    """

    words: str
    fixed: tuple[str, ...] = ()
    before: tuple[tuple[str, str], ...] = ()


# The verb stands last.
GLOSSES = [
    Gloss("she the door with a key opened ."),
    Gloss("she the door with a key opened .", before=(("door", "key"),)),
    Gloss("the old man a letter to his son wrote ."),
    Gloss("the old man a letter to his son wrote .", fixed=("the old man letter", "to his son")),
]


def to_doc(nlp: Language, gloss: Gloss) -> Doc:
    """The bag of a gloss, with what is known about its order. A word is named by its first occurrence."""
    words = gloss.words.split()
    doc = Doc(nlp.vocab, words=words)
    doc._.linearize_fixed = [[words.index(word) for word in entry.split()] for entry in gloss.fixed]
    doc._.linearize_before = [(words.index(first), words.index(second)) for first, second in gloss.before]
    return doc


def main() -> None:
    nlp = spacy_linearize.load()
    for gloss in GLOSSES:
        known = [*gloss.fixed, *(f"{first} before {second}" for first, second in gloss.before)]
        print(f"{gloss.words}   [{'; '.join(known) or 'nothing known'}]\n  -> {nlp(to_doc(nlp, gloss)).text}")


if __name__ == "__main__":
    main()
