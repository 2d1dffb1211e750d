"""How the parts of an engine learn from pairs of a bag and its gold sentence: each search, and `attach`.

A search may learn as several copies (bagging), each from its own share of the examples and of the features. The search
itself then has their mean.
"""

import random
from collections.abc import Sequence

import numpy as np

from .attach.attach import Attacher
from .bag.bag import FREE, PackedBag
from .records import Progress, Sentence
from .search.beam import Decoder
from .search.learn import update

SHARE_OF_COPY = 0.8  # of the examples that a copy learns from
BLIND_SHARE_OF_COPY = 0.3  # of the features that it never looks at
Pair = tuple[PackedBag, Sentence]  # the bag has its words in gold order


class Learner:
    """A search in training.

    decoder (Decoder): The search.
    copies (List[Decoder]): What learns for it: some copies of it, or just itself.
    rule (str): When to update, see `core.learn`.
    """

    def __init__(self, decoder: Decoder, copies: list[Decoder], rule: str) -> None:
        self.decoder = decoder
        self.copies = copies
        self.rule = rule
        self._is_mean_stale = False

    def update(
        self, number: int, pairs: Sequence[Pair], *, beam_width: int, dropout: float, rng: random.Random
    ) -> Progress:
        """Let the copy with a number learn from its share of the pairs and of the features. The copies may learn at the
        same time, in threads of their own."""
        progress = Progress()
        blind = 0.0
        if len(self.copies) > 1:
            self._is_mean_stale = True
            pairs = rng.sample(pairs, round(SHARE_OF_COPY * len(pairs)))
            blind = BLIND_SHARE_OF_COPY
        for bag, sentence in pairs:
            lost, actions = update(
                self.copies[number],
                bag,
                np.arange(len(sentence), dtype=np.int32),
                sentence.heads,
                sentence.tags,
                sentence.labels,
                width=beam_width,
                rule=self.rule,
                dropout=dropout,
                seed=rng.getrandbits(63),
                blind=blind,
                blind_seed=number,
            )
            progress += Progress(violations=lost, actions=actions)
        return progress

    def take_mean(self) -> None:
        """Let the search use the mean over its copies, if they have learned since the last time."""
        if self._is_mean_stale:
            tables = [copy.weights.to_array() for copy in self.copies]
            self.decoder.weights.from_array(np.asarray(np.mean(tables, axis=0, dtype=np.float64)))
            self._is_mean_stale = False


def update_attacher(attacher: Attacher, pairs: Sequence[Pair]) -> Progress:
    """Let `attach` learn from the pairs whose gold tree is complete."""
    progress = Progress()
    for bag, sentence in pairs:
        if FREE in sentence.heads:
            continue
        order = np.arange(len(sentence), dtype=np.int32)
        arcs, labels = attacher.update(
            order, bag.column(0), bag.column(1), bag.heads, bag.column(2), sentence.heads, sentence.labels
        )
        progress += Progress(wrong_arcs=arcs, wrong_labels=labels)
    return progress
