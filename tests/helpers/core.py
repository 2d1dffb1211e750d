"""Small engines for tests, and what tests do with them: pack, order, hide, train, store."""

import hashlib
import random

import numpy as np

from spacy_linearize.core import store
from spacy_linearize.core.engine import Engine
from spacy_linearize.core.features.templates import DEFAULT_GROUPS, JOINT_GROUPS
from spacy_linearize.core.ngrams.estimate import text_of
from spacy_linearize.core.records import Bag, Progress, SearchOptions
from spacy_linearize.core.search.directions import decode
from spacy_linearize.core.settings import Settings
from spacy_linearize.trees import FREE

from . import brute, slow

BATCH = 64


def settings(*, groups=None, **changes):
    """Settings of a small model: one expert, one direction, no language model, unless asked for.

    groups: The template groups of the one expert.
    """
    if groups is None:
        groups = JOINT_GROUPS if changes.get("system") == "joint" else DEFAULT_GROUPS
    return Settings(**{"direction": "left_to_right", "experts": {"partial": groups}, "ngram_order": 0, **changes})


def make(**changes):
    """An engine with these `settings`, and small tables unless asked for others."""
    return Engine(settings(**{"table_bits": 14, "attach_bits": 10, **changes}))


def decoder(engine, kind="partial"):
    """The first decoder of an expert."""
    return engine.experts[kind][0]


def decoders(engine):
    """All decoders of all experts."""
    return [decoder for _, decoder in engine.experts]


def randomize(engine, seed=0):
    """Random weights in all tables. Returns the engine."""
    for i, one in enumerate(decoders(engine)):
        slow.random_weights(one.weights, seed + i)
    slow.random_weights(engine.attacher.weights, seed - 1 if seed else 99)
    slow.random_weights(engine.tagger.weights, seed + 99)
    engine.tagger.is_trained = True
    return engine


def randomize_lifter(engine, seed=0):
    """Random weights for the lifter, too: about every other question is answered with yes. Returns the engine."""
    lifter = engine.lifter
    for i, judge in enumerate((lifter.lifting, lifter.lowering)):
        slow.random_weights(judge.weights, seed + i)
        judge.is_trained = True
    return engine


def pack(engine, **columns):
    """A bag as the search reads it."""
    return engine.pack(Bag(**columns))


def order(engine, bag=None, *, beam_width=16, n_best=1, tree=True, **columns):
    """The best orders of one bag, or of one with these columns."""
    options = SearchOptions(beam_width=beam_width, n_best=n_best, tree=tree)
    return engine.order([Bag(**columns) if bag is None else bag], options)[0]


def search(decoders, packed, *, width, n_best=1, ngram_weight=0.0):
    """The best orders of one packed bag as some decoders find them: no arcs are added, units are words."""
    return decode([decoders], [packed], widths=[width], weights=[ngram_weight], n_best=[n_best])[0]


def hide(sentence, tags=0.0, heads=0.0, rng=None):
    """The bag of a sentence, with a random share of its tags and of its labelled arcs given."""
    rng = rng or random.Random(0)
    keep_tag = [rng.random() < tags for _ in range(len(sentence))]
    keep_head = [rng.random() < heads for _ in range(len(sentence))]
    return Bag(
        forms=sentence.forms,
        tags=np.where(keep_tag, sentence.column("tags"), np.uint64(0)),
        heads=np.where(keep_head, sentence.column("heads"), FREE),
        labels=np.where(keep_head, sentence.column("labels"), np.uint64(0)),
        lowers=sentence.lowers,
        suffixes=sentence.suffixes,
        shapes=sentence.shapes,
        puncts=sentence.puncts,
        texts=sentence.texts,
    )


def train(engine, sentences, *, epochs=5, beam_width=16, dropout=0.0, seed=0, tags=1.0, heads=1.0, n_threads=1):
    """Learn from sentences, in a new random sequence each epoch. Returns the progress of each."""
    sentences = list(sentences)
    engine.learn_lexicon(sentences)
    engine.learn_ngrams([text_of(sentences)])
    rng = random.Random(seed)
    history = []
    for _ in range(epochs):
        rng.shuffle(sentences)
        progress = Progress()
        for start in range(0, len(sentences), BATCH):
            pairs = [(hide(sentence, tags, heads, rng), sentence) for sentence in sentences[start : start + BATCH]]
            progress += engine.update(
                pairs, beam_width=beam_width, dropout=dropout, seed=rng.getrandbits(63), n_threads=n_threads
            )
        history.append(progress)
    return history


def exact(engine, sentences, tags=1.0, heads=1.0, beam_width=16):
    """The share of sentences that come back in their own order."""
    right = 0
    for sentence in sentences:
        found = order(engine, hide(sentence, tags, heads), beam_width=beam_width)[0]
        right += [sentence.texts[k] for k in found.order] == list(sentence.texts)
    return right / len(sentences)


def plain(orders):
    """Orders as values that can be compared."""
    return [(o.order.tolist(), o.tags.tolist(), o.heads.tolist(), o.labels.tolist(), o.score) for o in orders]


def to_bytes(engine):
    """The model file of an engine."""
    return store.pack(*engine.to_arrays())


def from_bytes(data, source="The data"):
    """The engine of a model file."""
    return Engine.from_arrays(*store.unpack(data, source), source)


def copy(engine):
    """The same model, by way of its file."""
    return from_bytes(to_bytes(engine))


def random_bags(count, n=10, seed=0):
    """Bags of random words with some tags and arcs."""
    rng = random.Random(seed)
    for _ in range(count):
        yield Bag(
            forms=[rng.randint(1, 40) for _ in range(n)],
            tags=[rng.randint(0, 5) for _ in range(n)],
            heads=brute.random_forest(rng, n, rng.choice([0, 0.5, 1])),
        )


def digest():
    """A hash of what engines with random weights make of random bags."""
    parts = []
    for system in ("order_first", "joint"):
        engine = randomize(make(system=system, direction="both"))
        parts += [plain(order(engine, bag, beam_width=4, n_best=2)) for bag in random_bags(50)]
    return hashlib.sha256(repr(parts).encode()).hexdigest()
