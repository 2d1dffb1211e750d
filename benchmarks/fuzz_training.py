"""Training with whatever may come: random sentences, given arcs that contradict gold, long and empty ones, threads.

    python benchmarks/fuzz_training.py --rounds 2000 --seed 1

Every round trains a small engine, and then orders with it. What contradicts itself must be refused with an error of
this package, and leave the engine as it was. All else must be learned, with finite weights. The tests of the core have
a short run of it, and so has the sanitizer build.
"""

import argparse
import random
import warnings

import numpy as np

from spacy_linearize.core.attach.attach import MAX_CHART
from spacy_linearize.core.engine import Engine
from spacy_linearize.core.ngrams.estimate import text_of
from spacy_linearize.core.records import Bag, SearchOptions
from spacy_linearize.core.search.learn import RULES
from spacy_linearize.core.settings import Settings
from spacy_linearize.errors import LinearizeError
from spacy_linearize.trees import FREE, ROOT

GROUPS = (("next",), ("unigram", "bigram", "next"), ("words", "tree", "family", "pairs"), ("words", "free"))
EXPECTED = {"SL001", "SL002", "SL004", "SL008", "SL009", "SL010", "SL011", "SL012", "SL014", "SL048"}


def random_settings(rng: random.Random) -> Settings:
    system = rng.choice(["order_first", "order_first", "joint"])
    kinds = rng.choice([("partial",), ("partial", "tree"), ("partial", "tree", "free")])
    return Settings(
        system=system,
        direction=rng.choice(["left_to_right", "right_to_left", "both"]),
        experts={kind: rng.choice(GROUPS) for kind in kinds},
        tags="search" if system == "joint" and rng.random() < 0.5 else "usual",
        labelled=rng.random() < 0.7,
        atomic_shift=rng.random() < 0.2,
        update=rng.choice(RULES),
        min_updates=rng.choice([1, 1, 2]),
        ngram_order=rng.choice([0, 2, 3]),
        markers=(1, 2),
        table_bits=rng.choice([4, 10]),
        attach_bits=rng.choice([4, 10]),
    )


def random_tree(rng: random.Random, n: int) -> list[int]:
    """A projective tree over n words in order."""
    heads = [ROOT] * n
    todo = [(0, n, ROOT)]
    while todo:
        low, high, head = todo.pop()
        if low < high:
            k = rng.randrange(low, high)
            heads[k] = head
            todo += [(low, k, k), (k + 1, high, k)]
    return heads


def random_length(rng: random.Random) -> int:
    return rng.choice([0, 1, 2, *(rng.randint(3, 12) for _ in range(8)), 70 if rng.random() < 0.2 else 5])


def random_sentence(rng: random.Random, n: int) -> Bag:
    heads = random_tree(rng, n)
    kind = rng.random()
    if kind < 0.1:  # any heads at all: crossing, cycles
        heads = [rng.choice([ROOT, FREE, *range(n)]) for _ in range(n)]
    elif kind < 0.3:  # incomplete, or none
        share = rng.choice([0, 0.5])
        heads = [head if rng.random() < share else FREE for head in heads]
    return Bag(
        forms=[rng.randint(1, 9) for _ in range(n)],
        tags=[rng.randint(0, 4) for _ in range(n)],
        heads=heads,
        labels=[rng.randint(0, 4) for _ in range(n)],
        puncts=[rng.choice([0, 0, 1, 2]) for _ in range(n)],
    )


def random_bag(rng: random.Random, sentence: Bag) -> Bag:
    """What is given of a sentence; now and then, what contradicts it."""
    n = len(sentence)
    gold_tags, gold_heads, gold_labels = (sentence.column(name).tolist() for name in ("tags", "heads", "labels"))
    heads = [h if rng.random() < 0.5 else FREE for h in gold_heads]
    if rng.random() < 0.3:
        heads = list(gold_heads)
    if n and rng.random() < 0.15:
        heads[rng.randrange(n)] = rng.choice([ROOT, FREE, *range(n)])
    if rng.random() < 0.1:
        heads = random_tree(rng, n)
    before = []
    if n > 1 and rng.random() < 0.15:
        before = [tuple(sorted(rng.sample(range(n), 2))) for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.3:
            before = [pair[::-1] for pair in before]
    return Bag(
        forms=sentence.forms,
        tags=[tag if rng.random() < 0.5 else 0 for tag in gold_tags],
        heads=heads,
        labels=[label if h != FREE and rng.random() < 0.8 else 0 for label, h in zip(gold_labels, heads, strict=True)],
        puncts=sentence.puncts,
        before=before,
    )


def pair_of(rng: random.Random, n: int) -> tuple[Bag, Bag]:
    sentence = random_sentence(rng, n)
    return random_bag(rng, sentence), sentence


def weights_of(engine: Engine) -> list[np.ndarray]:
    tables = [decoder.weights for _, decoder in engine.experts]
    tables += [engine.attacher.weights, engine.lifter.lifting.weights, engine.lifter.lowering.weights]
    return [table.to_array() for table in tables]


def check(is_well: bool, what: object) -> None:
    if not is_well:
        raise AssertionError(what)


def train_once(rng: random.Random, *, long: bool = False) -> int:
    """One engine, some updates. Returns how many pairs were learned from."""
    engine = Engine(random_settings(rng))
    sentences = [random_sentence(rng, random_length(rng)) for _ in range(5)]
    engine.learn_lexicon(sentences)
    engine.learn_ngrams([text_of(sentences)])
    n_learned = 0
    for _ in range(rng.randint(1, 4)):
        before = weights_of(engine)
        options = {
            "beam_width": rng.choice([1, 2, 8]),
            "projective": rng.choice([None, True, False]),
            "dropout": rng.choice([0.0, 0.3]),
            "seed": rng.getrandbits(63),
            "n_threads": rng.randint(1, 4),
        }
        try:
            pairs = [pair_of(rng, random_length(rng)) for _ in range(rng.randint(0, 6))]
            if long and not engine.builds_trees:
                pairs.append(pair_of(rng, MAX_CHART + rng.randint(1, 20)))
                options["beam_width"] = 1
            n_learned += engine.update(pairs, **options).examples
        except LinearizeError as problem:
            check(problem.code in EXPECTED, problem)
            if problem.code in ("SL010", "SL014", "SL048"):  # checked before anything is learned
                is_same = all((old == new).all() for old, new in zip(before, weights_of(engine), strict=True))
                check(is_same, problem)
        assert all(np.isfinite(table).all() for table in weights_of(engine))
    for sentence in sentences:
        try:
            bag = random_bag(rng, sentence)
            result = engine.order([bag], SearchOptions(beam_width=2))[0][0]
        except LinearizeError as problem:
            check(problem.code in EXPECTED, problem)
        else:
            assert sorted(result.order.tolist()) == list(range(len(sentence)))
    return n_learned


def run(rounds: int, seed: int, *, long_every: int = 50) -> int:
    """Returns how many pairs were learned from."""
    n_learned = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(rounds):
            try:
                n_learned += train_once(random.Random(f"{seed} {number}"), long=number % long_every == long_every - 1)
            except Exception as problem:
                raise AssertionError(f"round {number} of seed {seed}") from problem
    return n_learned


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    learned = run(given.rounds, given.seed)
    print(f"{given.rounds} rounds, {learned} sentences learned from, 0 violations")
