"""What an Example teaches: gold sentences, and beside each what is given about its words."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger

from .bag import FREE, ROOT, Array, Use, Words, read_sentences, read_words
from .errors import error
from .names import Names, add_names, no_names
from .projective import is_projective
from .reorder import reorder

if TYPE_CHECKING:
    from .core.records import Sentence


@dataclass(frozen=True, kw_only=True)
class Gold:
    """All that a new model learns from examples before its first update.

    sentences (List[Sentence]): The gold sentences.
    spaced (List[Doc]): The Docs with their spaces, as far as these are known.
    names (Dict[str, Set[str]]): The tags and labels.
    """

    sentences: list["Sentence"]
    spaced: list[Doc]
    names: Names


def read_gold(examples: Iterable[Example]) -> Gold:
    """Read all examples. There must be some words among them."""
    sentences, spaced, names = [], [], no_names()
    n_broken = 0
    for eg in examples:
        spaced.append(eg.predicted if eg.reference.has_unknown_spaces else eg.reference)
        add_names(names, eg.reference)
        for words in gold_sentences(eg.reference):
            sentences.append(words.to_sentence())
            n_broken += not is_projective(words.heads.tolist())
    if not sentences:
        raise error("SL045")
    if n_broken:
        logger.info("%d of %d sentences are not projective: skipped in training.", n_broken, len(sentences))
    return Gold(sentences=sentences, spaced=spaced, names=names)


def gold_sentences(doc: Doc) -> Iterator[Words]:
    """A gold Doc may hold several sentences, if their boundaries are known."""
    if not len(doc):
        return
    if doc.has_annotation("SENT_START"):
        yield from read_sentences(doc, Use())
    else:
        yield read_words(doc, Use())


def training_pairs(eg: Example, use: Use, *, needs_tree: bool = False) -> Iterator[tuple[Words, Words]]:
    """What is given and what is gold, sentence by sentence, with the words in the same sequence.

    needs_tree (bool): Whether gold trees must be whole. A sentence whose given arcs do not make one is left out.
    """
    predicted = _in_sequence_of(eg.reference, eg.predicted)
    whole = read_words(predicted, use)
    for gold in gold_sentences(eg.reference):
        given = whole.part(gold.start, gold.start + len(gold))
        # An arc that some component before this one got wrong cannot lead to the gold tree.
        wrong = (given.heads != gold.heads) & (gold.heads != FREE)
        given.heads[wrong] = FREE
        given.labels[wrong] = 0
        # Where there is no gold arc, a given one stands for it, unless the gold order contradicts it.
        added = (given.heads != FREE) & (gold.heads == FREE)
        if added.any():
            kept = _possible(gold.heads, given.heads, added)
            if needs_tree and (added & ~kept).any():
                continue
            given.heads[added & ~kept] = FREE
            given.labels[added & ~kept] = 0
            heads, labels = np.where(kept, given.heads, gold.heads), np.where(kept, given.labels, gold.labels)
            gold = replace(gold, heads=heads, labels=labels)
        yield given, gold


def _possible(gold: Array, given: Array, added: Array) -> Array:
    """Which of the given arcs can be added to the gold ones, short ones first, so that these still make a projective
    forest with one root at most.

    gold, given (ndarray): Heads, by position in the gold order.
    added (ndarray): Which of the given ones to add.
    """
    kept: Array = added.copy()
    roots = kept & (given == ROOT)
    if roots.sum() + (gold == ROOT).sum() > 1:  # more than one sentence to a parser, and just one here
        kept[roots] = False
    if _is_forest(np.where(kept, given, gold).tolist()):
        return kept
    heads = gold.tolist()
    positions = np.flatnonzero(kept).tolist()
    for k in sorted(positions, key=lambda k: abs(k - given[k]) if given[k] >= 0 else len(heads)):
        heads[k] = int(given[k])
        if not _is_forest(heads):
            heads[k] = FREE
            kept[k] = False
    return kept


def _is_forest(heads: list[int]) -> bool:
    """Whether arcs are projective and make no cycle."""
    walk = [-1] * len(heads)  # for each word, from which one it was met on the way upwards
    for start in range(len(heads)):
        word = start
        while word >= 0 and walk[word] < 0:
            walk[word] = start
            word = heads[word]
        if word >= 0 and walk[word] == start:
            return False
    return is_projective(heads)


def _in_sequence_of(reference: Doc, predicted: Doc) -> Doc:
    """The predicted Doc with its words in the sequence of the reference, if their match is beyond doubt: a word that
    comes up twice must have nothing given that could belong to either."""
    wanted, have = [token.orth for token in reference], [token.orth for token in predicted]
    if wanted == have:
        return predicted
    places: dict[int, list[int]] = {}
    for i, orth in enumerate(have):
        places.setdefault(orth, []).append(i)
    if Counter(wanted) != Counter(have):
        odd = next(iter((Counter(wanted) - Counter(have)) + (Counter(have) - Counter(wanted))))
        raise error("SL013", word=reference.vocab.strings[odd])
    has_head = [token.has_head() for token in predicted]
    heads_of_others = {token.head.i for token in predicted if has_head[token.i]}
    for orth, found in places.items():
        if len(found) > 1 and any(predicted[i].tag or has_head[i] or i in heads_of_others for i in found):
            raise error("SL013", word=reference.vocab.strings[orth])
    order = np.array([places[orth].pop(0) for orth in wanted], dtype=np.int32)
    tags, labels = predicted.to_array("TAG"), predicted.to_array("DEP")
    heads = np.array([token.head.i if has_head[token.i] else FREE for token in predicted], dtype=np.int32)
    return reorder(predicted, order, [True] * len(order), tags, heads, labels)[0]
