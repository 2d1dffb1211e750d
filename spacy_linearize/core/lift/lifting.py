"""Bags whose words hang below other heads than the given ones: how they are made, and how the given arcs come back."""

from dataclasses import replace

import numpy as np

from ...trees import FREE, is_projective, lift
from ..hashing import hash_text, mix_values
from ..records import Array, Bag, Lifts

LIFTED = hash_text("lifted")


def lifts_of(bag: Bag, heads: Array) -> Lifts:
    """The words of a bag that hang below other heads than the given ones, each with its new head."""
    return tuple((word, int(heads[word])) for word in np.flatnonzero(heads != bag.column("heads")).tolist())


def apply_lifts(bag: Bag, lifts: Lifts) -> Bag:
    """A bag with some words below other heads. The label of a lifted word says so, and what its head is: as in spaCy's
    pseudo-projective parsing ("acl||obj"), but as a key. That of a lowered one stays.

    lifts (Lifts): Each word with its new head, or FREE.
    """
    heads, labels = bag.column("heads"), bag.column("labels")
    new_heads, new_labels = heads.copy(), labels.copy()
    for word, head in lifts:
        new_heads[word] = head
        if head == FREE:
            new_labels[word] = 0
        elif head in _path(heads, int(heads[word])):
            new_labels[word] = decorate(int(labels[word]), int(labels[heads[word]]))
    tokens = bag.tokens
    if tokens is not None:
        own_heads, own_labels = tokens.column("heads").copy(), tokens.column("labels").copy()
        for word, head in lifts:
            own_heads[bag.tops[word]] = bag.tops[head]
            own_labels[bag.tops[word]] = new_labels[word]
        tokens = replace(tokens, heads=own_heads, labels=own_labels)
    return replace(bag, heads=new_heads, labels=new_labels, tokens=tokens)


def decorate(label: int, head_label: int) -> int:
    """The key of the label of a lifted word, whose given head has the other label."""
    return mix_values([LIFTED, label, head_label])


def lift_gold(heads: Array, puncts: Array) -> Array | None:
    """The heads that a gold sentence should be ordered with: its own, if no arcs cross. None if some cannot be
    lifted that do.

    heads, puncts (ndarray): By position in the gold order.
    """
    if is_projective(heads.tolist()):
        return heads
    lifted = lift(heads.tolist(), np.flatnonzero(puncts).tolist())
    return None if lifted is None else np.array(lifted, dtype=np.int32)


def lift_given(given: Array, gold: Array, lifted: Array) -> Array:
    """The heads that a bag should be ordered with, from those of its gold sentence. Where the given arcs do not lead to
    the new head of a word, its arc is left out: FREE.

    given, gold, lifted (ndarray): Heads by position in the gold order.
    """
    heads = np.where(given == FREE, given, lifted)
    for word in np.flatnonzero((heads != given) & (gold != lifted)).tolist():
        new, old = int(heads[word]), int(given[word])
        if new not in _path(given, old) and old not in _path(given, new):
            heads[word] = FREE
    return heads


def _path(heads: Array, word: int) -> list[int]:
    """A word and all those above it."""
    path = []
    while word >= 0:
        path.append(word)
        word = int(heads[word])
    return path
