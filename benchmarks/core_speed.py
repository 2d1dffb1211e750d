"""How fast the core is: sentences and scored candidates a second, by beam width and by length, on synthetic bags.

    python benchmarks/core_speed.py                 a minute
    python benchmarks/core_speed.py --json FILE     the same figures for machines

Bags are random words with random tags; full trees are random projective ones. Weights are random too: the cost of a
search does not depend on what it finds. Times are the best of several runs, on one core; compare within one run.
"""

import argparse
import json
import math
import random
import time
from pathlib import Path

import numpy as np

from spacy_linearize.core.bag.bag import FREE, ROOT
from spacy_linearize.core.engine import Engine
from spacy_linearize.core.search.stepper import Stepper
from spacy_linearize.core.settings import Settings

BEAMS = (1, 2, 4, 8, 16, 32, 64)
LENGTHS = (5, 10, 20, 40, 80, 160, 300)
SHARES = {"free": 0.0, "half": 0.5, "full": 1.0}


def random_tree(rng: random.Random, n: int) -> list[int]:
    """Heads of a random projective tree, with short arcs more likely than long ones."""
    heads = [ROOT] * n

    def split(low: int, high: int, head: int) -> None:
        while low < high:
            size = min(high - low, 1 + int(rng.expovariate(0.35)))
            k = rng.randrange(low, low + size)
            heads[k] = head
            todo.append((low, k, k))
            todo.append((k + 1, low + size, k))
            low += size

    root = rng.randrange(n)
    todo: list[tuple[int, int, int]] = [(0, root, root), (root + 1, n, root)]
    while todo:
        split(*todo.pop())
    return heads


def make_bags(engine: Engine, n: int, share: float, count: int, seed: int = 0) -> list:
    rng = random.Random(seed)
    bags = []
    for _ in range(count):
        heads = [h if rng.random() < share else FREE for h in random_tree(rng, n)]
        bags.append(
            engine.bag(
                forms=[1 + int(rng.paretovariate(0.6)) for _ in range(n)],
                tags=[rng.randint(1, 40) for _ in range(n)],
                heads=heads,
                labels=[rng.randint(1, 40) if h != FREE else 0 for h in heads],
            )
        )
    return bags


def count_candidates(engine: Engine, bag: object, rng: random.Random) -> int:
    """Legal actions along one random derivation: an estimate for each state of the beam."""
    state, total = Stepper(engine.decoder, bag), 0
    while not state.is_final:
        total += len(state.legal)
        state = state.step(rng.randrange(len(state.legal)))
    return total


def measure(engine: Engine, bags: list, width: int, repeats: int = 3) -> dict[str, float]:
    best = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        for bag in bags:
            engine.order(bag, beam_width=width, tree=False)
        best = min(best, time.perf_counter() - start)
    rng = random.Random(1)
    candidates = sum(count_candidates(engine, bag, rng) for bag in bags) * width
    return {
        "ms a sentence": 1000 * best / len(bags),
        "sentences a second": len(bags) / best,
        "million candidates a second": candidates / best / 1e6,
    }


def exponent(points: list[tuple[int, float]]) -> float:
    """The slope of log time over log length, over the longer half."""
    points = points[len(points) // 2 :]
    x, y = np.log([p[0] for p in points]), np.log([p[1] for p in points])
    return float(np.polyfit(x, y, 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    parser.add_argument("--system", default="order_first", choices=["order_first", "joint"])
    arguments = parser.parse_args()
    engine = Engine(Settings(system=arguments.system, table_bits=20, labelled=False))
    rng = np.random.default_rng(0)
    engine.decoder.weights.from_array(rng.normal(size=len(engine.decoder.weights)).astype(np.float32))
    figures: dict[str, list] = {"beam": [], "length": [], "growth": []}
    print(f"system {arguments.system}, {len(engine.features)} templates, table of 2^20 weights\n")
    print("| given | words | beam | ms a sentence | sentences/s | million candidates/s |\n|---|---|---|---|---|---|")

    def row(kind: str, given: str, n: int, width: int, count: int) -> float:
        result = measure(engine, make_bags(engine, n, SHARES[given], count), width)
        figures[kind].append({"given": given, "words": n, "beam": width, **result})
        values = " | ".join(f"{value:.2f}" for value in result.values())
        print(f"| {given} | {n} | {width} | {values} |", flush=True)
        return result["ms a sentence"]

    for given in SHARES:
        for width in BEAMS:
            row("beam", given, 13, width, 60)
    for given in SHARES:
        points = [(n, row("length", given, n, 8, max(2, 600 // n))) for n in LENGTHS]
        figures["growth"].append({"given": given, "exponent": exponent(points)})
    print("\nGrowth of time with length at beam 8, fitted over the longer half (2 is quadratic):")
    for growth in figures["growth"]:
        print(f"  {growth['given']}: {growth['exponent']:.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
