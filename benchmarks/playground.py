"""How fast the playground answers: the time from a request to the last byte of its answer, by the number of words.

    python benchmarks/playground.py [--model PIPELINE] [--rounds 15]

Starts a server of its own, with the bundled pipeline by default, and asks it over HTTP from this process. Words are
drawn from tests/data/everyday.txt, one of them is pinned, nothing else is known of them.
"""

import argparse
import json
import random
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import spacy_linearize
from spacy_linearize.serve.playground import Playground
from spacy_linearize.serve.server import Server

TEXT = Path(__file__).parent.parent / "tests" / "data" / "everyday.txt"
LENGTHS = (8, 15, 25, 40, 60)
AT_ONCE = 100


def ask(address: str, content: Any) -> float:
    """Milliseconds of one request."""
    request = Request(address, json.dumps(content).encode("utf8"), {"Content-Type": "application/json"})
    start = time.perf_counter()
    with urlopen(request) as answer:
        answer.read()
    return 1000 * (time.perf_counter() - start)


def measure(address: str, rounds: int) -> None:
    """Print the table."""
    rng = random.Random(0)
    words = TEXT.read_text(encoding="utf8").split()
    print("| words | page, ms | slowest | why, ms |\n|---|---|---|---|")
    for n in LENGTHS:
        bags = [{"words": rng.sample(words, n), "first": 0} for _ in range(rounds)]
        pages = [ask(f"{address}/page", bag) for bag in bags]
        whys = [ask(f"{address}/why", {"bag": bag, "word": n // 2}) for bag in bags]
        print(f"| {n} | {statistics.median(pages):.0f} | {max(pages):.0f} | {statistics.median(whys):.0f} |")
    bags = [{"words": rng.sample(words, 10)} for _ in range(AT_ONCE)]
    start = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        slowest = max(pool.map(lambda bag: ask(f"{address}/order", bag), bags))
    print(
        f"\n{AT_ONCE} bags of 10 words at once: {1000 * (time.perf_counter() - start):.0f} ms, slowest {slowest:.0f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="en_ud")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    nlp = spacy_linearize.load(arguments.model)
    with Server(Playground(nlp, "linearizer", model=arguments.model, n_best=5), 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        measure(server.address, arguments.rounds)
        server.shutdown()


if __name__ == "__main__":
    main()
