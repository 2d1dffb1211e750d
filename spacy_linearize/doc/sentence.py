"""A bag as the sentence of a Doc that it comes from: how its orders read, for second opinions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spacy.tokens import Doc

from ..core.records import Array, Bag, Order
from ..errors import error
from .write import CONTEXT, Writer, starts_of


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A `rerank.opinion.Source`.

    doc (Doc): The Doc.
    bag (Bag): What `Reader.read` made of the sentence. Orders are orders of this bag.
    number (int): Counts the sentences of the Doc.
    start (int): Where it starts in the Doc.
    context (str): What was said before the Doc.
    writer (Writer): Knows how words become text.
    """

    doc: Doc
    bag: Bag
    number: int
    start: int
    context: str
    writer: Writer

    def words(self, order: Order) -> tuple[str, ...]:
        return tuple(self.doc[self.start + k].text for k in self._tokens(order).tolist())

    def text(self, order: Order) -> str:
        tokens = self._tokens(order)
        bag = self.bag if self.bag.tokens is None else self.bag.tokens
        tags = order.tags if len(order.tags) == len(bag) else bag.column("tags")
        written = self.writer.write_sentence(self.doc, self.start, self.bag, tokens, tags[tokens])
        return written.text(self.words(order))

    def _tokens(self, order: Order) -> Array:
        """The tokens in order, counted from the start of the sentence. A search orders units, if there are any."""
        is_of_units = self.bag.tokens is not None and len(order.order) < len(self.bag.tokens)
        return order.spread(self.bag.members) if is_of_units else order.order


def sentences_of(doc: Doc, bags: Sequence[Bag], writer: Writer) -> Iterator[Sentence]:
    """The sentences of a Doc.

    bags (Sequence[Bag]): What `Reader.read` made of it.
    """
    context = doc.user_data.get(("._.", CONTEXT, None, None))
    if context is not None and not isinstance(context, str):
        raise error("SL233", name=CONTEXT, value=context)
    for number, (start, bag) in enumerate(zip(starts_of(bags), bags, strict=False)):  # a Doc without words has none
        yield Sentence(doc=doc, bag=bag, number=number, start=start, context=context or "", writer=writer)
