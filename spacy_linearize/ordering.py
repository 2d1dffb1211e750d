"""From Docs to the best orders of their bags: what is given is read, units are put together and taken apart again."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.strings import get_string_id
from spacy.tokens import Doc

from .bag import FREE, Use, Words, split
from .control import Pair, read_pairs
from .errors import error
from .names import KnownNames
from .units import NOUN_PHRASE, Merged, find_units, merge, merge_pairs

if TYPE_CHECKING:
    from .core.bag.bag import PackedBag
    from .core.engine import Engine
    from .core.records import Linearization

RECORD = ("._.", "linearization", None, None)  # in doc.user_data, see `build`
Found = list[tuple[Words, list["Linearization"]]]  # the bags of a Doc with their best orders


def check_doc(doc: Any) -> None:
    """Refuse what is no Doc."""
    if not isinstance(doc, Doc):
        raise error("SL192", value=doc)


@dataclass(frozen=True, kw_only=True)
class Part:
    """A bag of a Doc.

    words (Words): Its tokens.
    known (Words): The same without tags and labels that training never saw.
    merged (Optional[Merged]): What the search orders, if there are units.
    before (List[Tuple[int, int]]): Which of the words of the search stand before which.
    """

    words: Words
    known: Words
    merged: Merged | None
    before: list[Pair]

    @property
    def searched(self) -> Words:
        """What the search sees: units, if there are any."""
        return self.known if self.merged is None else self.merged.words

    def to_bag(self, engine: "Engine", more: Sequence[Pair] = ()) -> "PackedBag":
        """The bag that is searched.

        more (Sequence[Tuple[int, int]]): Further pairs of words of which the first stands before the second.
        """
        return self.searched.to_bag(engine, [*self.before, *more])


@dataclass(frozen=True, kw_only=True)
class Orderer:
    """Orders Docs with an engine, under the settings of a component.

    width_for (Callable[[bool], int]): The width of the beam, by whether arcs are missing.
    known (KnownNames): The tags and labels that training saw.
    """

    engine: "Engine"
    use: Use
    sentences: str
    units: str | None
    max_words: int | None
    tree: bool
    name: str
    width_for: Callable[[bool], int]
    known: KnownNames

    def order(self, docs: Iterable[Doc], n_best: int = 1) -> list[Found]:
        """The bags of each Doc with their best orders, best first."""
        parts = [self.parts(doc) for doc in docs]
        bags = [part.to_bag(self.engine) for own in parts for part in own]
        widths = [self.width_for(bag.is_open) for bag in bags]
        # With units, the tree is built over their tokens.
        tree = self.tree and (self.units is None or self.engine.builds_trees)
        found = iter(self.engine.order_all(bags, beam_widths=widths, n_best=n_best, tree=tree))
        return [[(part.words, self._finish(part, next(found))) for part in own] for own in parts]

    def parts(self, doc: Doc, *, as_given: bool = False) -> list[Part]:
        """The bags of a Doc.

        as_given (bool): Leave out what a linearizer has added to the Doc: only what was given to it is given.
        """
        check_doc(doc)
        words = list(split(doc, self.use, self.sentences, self.name))
        if as_given and (record := doc.user_data.get(RECORD)) and len(record["order"]) == len(doc):
            given = [np.array(record[f"given_{kind}"], dtype=bool) for kind in ("tags", "heads", "labels")]
            words = [part.only(*(mask[part.start : part.start + len(part)] for mask in given)) for part in words]
        longest = max(map(len, words), default=0)
        if self.max_words is not None and longest > self.max_words:
            raise error("SL005", n=longest, limit=self.max_words)
        pairs = read_pairs(doc, [(part.start, part.start + len(part)) for part in words])
        known = [self.known.without_unknown(part, self.name) for part in words]
        if self.units is None:
            return [Part(words=w, known=k, merged=None, before=p) for w, k, p in zip(words, known, pairs, strict=True)]
        spans = find_units(doc, self.units, self.name)
        # A model that was trained on base noun phrases as units knows them by a tag of their own.
        noun_phrase = get_string_id(NOUN_PHRASE)
        has_tag = self.units == "noun_chunks" and self.use.tags and self.known.has_tag(noun_phrase)
        parts = []
        for single, seen, before in zip(words, known, pairs, strict=True):
            merged = merge(seen, spans, self.engine.lexicon.knows, noun_phrase if has_tag else 0)
            own = replace(single, units=merged.unit_of)
            parts.append(Part(words=own, known=seen, merged=merged, before=merge_pairs(before, merged, own)))
        return parts

    def finish(self, part: Part, best: "Linearization") -> "Linearization":
        """What `order` would return for an order of a part that was found without regard to `tree`."""
        if part.merged is None and not (self.tree and self.engine.builds_trees):
            bag = part.to_bag(self.engine)
            best = self.engine.attach(bag, best.order, score=best.score, tags=best.tags, tree=self.tree)
        return self._finish(part, [best])[0]

    def _finish(self, part: Part, results: list["Linearization"]) -> list["Linearization"]:
        """Take units apart, and put back what the search did not see."""
        if part.merged is not None:
            results = [self._spread(part, part.merged, best) for best in results]
        for best in results:
            best.tags[part.words.tags != 0] = part.words.tags[part.words.tags != 0]
            best.labels[part.words.labels != 0] = part.words.labels[part.words.labels != 0]
        return results

    def _spread(self, part: Part, merged: Merged, best: "Linearization") -> "Linearization":
        """The order of the tokens, from an order of units, with a tree over all of them."""
        arcs = np.full(len(part.words), FREE, dtype=np.int32)
        if self.engine.builds_trees:
            heads = np.array(merged.heads, dtype=np.int32)
            arcs[heads] = np.where(best.heads >= 0, heads[np.maximum(best.heads, 0)], best.heads)
        bag = part.known.to_bag(self.engine)
        return self.engine.attach(bag, merged.spread(best.order), score=best.score, arcs=arcs, tree=self.tree)
