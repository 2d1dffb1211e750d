"""What an Example teaches: gold sentences, each with the bag of its words and their given annotation."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.attrs import ORTH, SENT_START
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples

from ..core.ngrams.counts import Text
from ..core.ngrams.estimate import add_sentence
from ..core.records import Array, Bag, Order
from ..errors import error
from ..options import Options
from ..trees import FREE, ROOT, is_projective_forest
from .known import Names, add_names, no_names
from .read import read_bags
from .reorder import read_table, reorder
from .surface import WrittenText, read_written
from .tags import TAG_ALONE, read_tags

MAX_WRITTEN = 20_000  # Docs that teach how words become text
COLUMNS = ("forms", "tags", "labels", "lowers", "suffixes", "shapes", "puncts")


class Gold:
    """All that a new model learns from examples before its first update. They are read once, as a stream: it yields the
    gold sentences one by one, and collects the rest on the way.

    examples (Iterable[Example]): The examples. There must be some words among them.
    tags_from (str): What tags are made of, see `tags`.

    names (Dict[str, Set[str]]): The tags and labels.
    text (Text): Their words, for the language model.
    written (List[WrittenText]): How they are written, as far as this is known: all of them, or a random sample.
    """

    def __init__(self, examples: Iterable[Example], tags_from: str = TAG_ALONE) -> None:
        self.examples = examples
        self.everything = everything(tags_from)
        self.names: Names = no_names()
        self.written: list[WrittenText] = []
        self.text = Text()

    def __iter__(self) -> Iterator[Bag]:
        rng = random.Random(0)
        for number, eg in enumerate(self.examples):
            if number < MAX_WRITTEN:
                self.written.append(read_written(eg.reference, eg.predicted))
            elif (k := rng.randrange(number + 1)) < MAX_WRITTEN:  # reservoir sampling
                self.written[k] = read_written(eg.reference, eg.predicted)
            add_names(self.names, eg.reference, self.everything.tags_from)
            for sentence in read_bags(eg.reference, gold_spans(eg.reference), self.everything):
                add_sentence(self.text, sentence)
                yield sentence
        if not self.text.n_sentences:
            raise error("SL045")


def checked_examples(get_examples: Callable[[], Iterable[Example]], method: str) -> Iterator[Example]:
    """Examples, checked as by spaCy's `validate_get_examples`, but on the way: that one reads all of them first.

    method (str): What asks for them, for messages.
    """
    examples = get_examples() if callable(get_examples) else None
    if not isinstance(examples, Iterator):
        validate_get_examples(get_examples, method)
    for eg in examples or ():
        validate_examples((eg,), method)
        yield eg


@cache
def everything(tags_from: str) -> Options:
    """Options by which all tags, heads and labels count. They are checked once, not for each example."""
    return Options(tags_from=tags_from)


def gold_spans(doc: Doc) -> list[tuple[int, int]]:
    """Where the sentences of a gold Doc begin and end. It may hold several, if their boundaries are known."""
    if not len(doc):
        return []
    is_start = doc.to_array(SENT_START) == 1
    is_start[0] = False
    if not is_start.any():
        return [(0, len(doc))]
    return list(pairwise([0, *np.flatnonzero(is_start).tolist(), len(doc)]))


def gold_pairs(eg: Example, options: Options, *, needs_tree: bool = False) -> Iterator[tuple[Bag, Bag]]:
    """What is given and what is gold, sentence by sentence, with the words in the same sequence.

    options (Options): What of the predicted Doc is given.
    needs_tree (bool): Whether gold trees must be whole. A sentence whose given arcs do not make one is left out.
    """
    spans = gold_spans(eg.reference)
    predicted = _in_sequence_of(eg.reference, eg.predicted, options.tags_from)
    whole = next(read_bags(predicted, [(0, len(predicted))], options))
    sentences = read_bags(eg.reference, spans, everything(options.tags_from))
    for gold, (start, end) in zip(sentences, spans, strict=True):
        given = whole if len(spans) == 1 else _part(whole, start, end)
        given_heads, gold_heads = given.column("heads"), gold.column("heads")
        # An arc that some component before this one got wrong cannot lead to the gold tree.
        wrong = (given_heads != gold_heads) & (gold_heads != FREE)
        # Where there is no gold arc, a given one stands for it, unless the gold order contradicts it.
        added = (given_heads != FREE) & (gold_heads == FREE)
        kept = _possible(gold_heads, given_heads, added) if added.any() else added
        if needs_tree and (added & ~kept).any():
            continue
        wrong |= added & ~kept
        if not (wrong.any() or kept.any()):
            yield given, gold
            continue
        given_labels, gold_labels = given.column("labels").copy(), gold.column("labels")
        given_heads = np.where(wrong, np.int32(FREE), given_heads)
        given_labels[wrong] = 0
        if kept.any():
            heads, labels = np.where(kept, given_heads, gold_heads), np.where(kept, given_labels, gold_labels)
            gold = replace(gold, heads=heads, labels=labels)
        yield replace(given, heads=given_heads, labels=given_labels), gold


def _part(bag: Bag, start: int, end: int) -> Bag:
    """Some of the words of a bag, side by side. Heads outside of the part are free."""
    heads = bag.column("heads")[start:end].copy()
    inside = (heads >= start) & (heads < end)
    heads[(heads >= 0) & ~inside] = FREE
    heads[inside] -= start
    columns: dict[str, Any] = {name: bag.column(name)[start:end] for name in COLUMNS}
    return Bag(heads=heads, **columns)


def _possible(gold: Array, given: Array, added: Array) -> Array:
    """Which of the given arcs can be added to the gold ones, short ones first, so that these still make a projective
    forest with one root at most.

    gold, given (ndarray): Heads, by position in the gold order.
    added (ndarray): Which of the given ones to add.
    """
    kept: Array = added.copy()
    roots = kept & (given == ROOT)
    if roots.sum() + (gold == ROOT).sum() > 1:  # a parser saw several sentences where there is one
        kept[roots] = False
    if is_projective_forest(np.where(kept, given, gold).tolist()):
        return kept
    heads = gold.tolist()
    positions = np.flatnonzero(kept).tolist()
    for k in sorted(positions, key=lambda k: abs(k - given[k]) if given[k] >= 0 else len(heads)):
        heads[k] = int(given[k])
        if not is_projective_forest(heads):
            heads[k] = FREE
            kept[k] = False
    return kept


def _in_sequence_of(reference: Doc, predicted: Doc, tags_from: str) -> Doc:
    """The predicted Doc with its words in the sequence of the reference, if the match is unambiguous: a word that
    occurs twice must have no given annotation that could belong to either occurrence."""
    wanted, have = (doc.to_array(ORTH).tolist() for doc in (reference, predicted))
    if wanted == have:
        return predicted
    places: dict[int, list[int]] = {}
    for i, orth in enumerate(have):
        places.setdefault(orth, []).append(i)
    if Counter(wanted) != Counter(have):
        odd = next(iter((Counter(wanted) - Counter(have)) + (Counter(have) - Counter(wanted))))
        raise error("SL013", word=reference.vocab.strings[odd])
    has_head = [token.has_head() for token in predicted]
    has_tag = read_tags(predicted, tags_from) != 0
    heads_of_others = {token.head.i for token in predicted if has_head[token.i]}
    for orth, found in places.items():
        if len(found) > 1 and any(has_tag[i] or has_head[i] or i in heads_of_others for i in found):
            raise error("SL013", word=reference.vocab.strings[orth])
    order = np.array([places[orth].pop(0) for orth in wanted], dtype=np.int32)
    tags, labels = predicted.to_array("TAG"), predicted.to_array("DEP")
    heads = np.array([token.head.i if has_head[token.i] else FREE for token in predicted], dtype=np.int32)
    as_reference = Order(order=order, tags=tags, heads=heads, labels=labels, score=0.0)
    return reorder(predicted, read_table(predicted), as_reference, [True] * len(order))[0]
