"""An order as plain data: what a page shows of each word."""

from collections.abc import Sequence
from dataclasses import dataclass

from spacy.tokens import Doc

FIRST_HUE, HUES = 264, 290  # of the first word of the best order, in degrees, and how far it is to that of the last


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word of an order.

    text (str): The word.
    space (str): What follows it in the text.
    place, source (int): Where it stands in the sentence, and in the bag.
    tag, label (str): Its tag and the label of its arc; empty if there is none.
    head (Optional[int]): The place of its head; its own for a root. None if it has no head.
    given_tag, given_head, given_label (bool): Whether these were given. The label of a given root is known with it.
    hue (int): Its colour, in degrees.
    lifted_to (Optional[int]): The place of the word that it was ordered below, if it was lifted. None if not.
    """

    text: str
    space: str
    place: int
    source: int
    tag: str
    label: str
    head: int | None
    given_tag: bool
    given_head: bool
    given_label: bool
    hue: int
    lifted_to: int | None = None

    @property
    def is_root(self) -> bool:
        return self.head == self.place


def hues_of(best: Doc) -> list[int]:
    """The hue of each word of a bag, by its place in the best order. In other orders a word keeps its colour."""
    hues = [0] * len(best)
    for place, source in enumerate(order_of(best)):
        hues[source] = round(FIRST_HUE + HUES * place / max(len(best) - 1, 1)) % 360
    return hues


def read_words(doc: Doc, hues: Sequence[int]) -> list[Word]:
    """The words of an order.

    doc (Doc): As a linearizer returns it.
    hues (Sequence[int]): See `hues_of`.
    """
    record = doc._.linearization
    lifted_to = dict(record["lifted"])
    words = []
    for token, source in zip(doc, record["order"], strict=True):
        head = token.head.i if token.has_head() else None
        given_head = bool(record["given_heads"][token.i])
        word = Word(
            text=token.text,
            space=token.whitespace_,
            place=token.i,
            source=source,
            tag=token.tag_,
            label=token.dep_,
            head=head,
            given_tag=bool(record["given_tags"][token.i]),
            given_head=given_head,
            given_label=given_head and (head == token.i or bool(record["given_labels"][token.i])),
            hue=hues[source],
            lifted_to=lifted_to.get(token.i),
        )
        words.append(word)
    return words


def order_of(doc: Doc) -> tuple[int, ...]:
    """The positions in the bag, in the order of the sentence."""
    return tuple(doc._.linearization["order"])


def is_rtl(doc: Doc) -> bool:
    return bool(doc.vocab.writing_system.get("direction") == "rtl")
