"""Behind a generator: it decides what to say and which words belong together, the linearizer puts them in order.

A small data-to-text generator makes a labelled tree of each record. Its trees have no order: the words of a Doc stand
in whatever sequence the generator came to them, and every arc is a constraint that the output keeps.

    python examples/behind_a_generator.py
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

import spacy_linearize

# What is not known is left empty.
RECORDS = [
    {"to": "Leeds", "time": "10:15", "platform": "4", "late": ""},
    {"to": "York", "time": "10:40", "platform": "2", "late": "twenty"},
    {"to": "Hull", "time": "11:05", "platform": "", "late": "five"},
]


@dataclass
class Node:
    """A word, its label, and what depends on it, in no order."""

    word: str
    label: str
    children: list["Node"] = field(default_factory=list)


def to_tree(record: dict[str, str]) -> Node:
    """What to say about a train."""
    train = Node("train", "nsubj", [Node(record["to"], "nmod", [Node("to", "case")]), Node("The", "det")])
    root = Node("leaves", "ROOT", [Node(".", "punct"), Node(record["time"], "obl", [Node("at", "case")]), train])
    if record["platform"]:
        number = Node(record["platform"], "nmod:unmarked")
        root.children.append(Node("platform", "obl", [number, Node("from", "case")]))
    if record["late"]:
        minutes = Node("minutes", "obl:unmarked", [Node(record["late"], "nummod")])
        late = Node("late", "conj", [Node("and", "cc"), minutes, Node("is", "cop")])
        root.children.append(late)
    return root


def to_doc(vocab: Vocab, root: Node) -> Doc:
    """A tree as a Doc, with its words in no sensible order."""
    found: list[tuple[Node, int]] = []
    waiting = [(root, 0)]
    while waiting:
        node, head = waiting.pop()
        found.append((node, head))
        waiting.extend((child, len(found) - 1) for child in node.children)
    return Doc(
        vocab,
        words=[node.word for node, _ in found],
        heads=[head for _, head in found],
        deps=[node.label for node, _ in found],
    )


def generate(nlp: Language, records: Iterable[dict[str, str]]) -> Iterator[Doc]:
    """One sentence for each record."""
    yield from nlp.pipe(to_doc(nlp.vocab, to_tree(record)) for record in records)


def main() -> None:
    nlp = spacy_linearize.load()
    for record in RECORDS:
        bag = to_doc(nlp.vocab, to_tree(record))
        print(f"{' '.join(token.text for token in bag)}\n  -> {nlp(bag).text}")


if __name__ == "__main__":
    main()
