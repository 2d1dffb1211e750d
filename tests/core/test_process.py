"""What only shows from outside: memory, other processes, and what the core imports."""

import hashlib
import os
import random
import subprocess
import sys

import pytest
from helpers import brute, slow

from spacy_linearize.core.engine import Engine
from spacy_linearize.core.settings import Settings

OUTPUT = """
import sys
sys.path[:0] = {paths!r}
from test_process import digest
print(digest())
"""


def random_bags(engine, count, n=10, seed=0):
    rng = random.Random(seed)
    for _ in range(count):
        yield engine.bag(
            forms=[rng.randint(1, 40) for _ in range(n)],
            tags=[rng.randint(0, 5) for _ in range(n)],
            heads=brute.random_forest(rng, n, rng.choice([0, 0.5, 1])),
        )


def digest():
    """A hash of the outputs for random bags."""
    parts = []
    for system in ("order_first", "joint"):
        engine = Engine(Settings(system=system, table_bits=14, attach_bits=10))
        slow.random_weights(engine.decoder.weights)
        slow.random_weights(engine.attacher.weights)
        for bag in random_bags(engine, 50):
            result = engine.order(bag, beam_width=4)[0]
            parts.append((result.order.tolist(), result.heads.tolist(), result.score))
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@pytest.mark.parametrize("seed", ["1", "12345"])
def test_other_processes_give_the_same_results(seed, tmp_path):
    paths = [path for path in sys.path if path]
    result = subprocess.run(
        [sys.executable, "-c", OUTPUT.format(paths=paths)],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    assert result.stdout.strip() == digest()


def test_the_core_does_not_import_spacy(tmp_path):
    code = "import sys, spacy_linearize.core.engine; sys.exit('spacy' in sys.modules or 'thinc' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def resident_kilobytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_memory_stays_flat_over_10000_decodes(system):
    engine = Engine(Settings(system=system, groups=("unigram", "next"), table_bits=12, attach_bits=10))
    slow.random_weights(engine.decoder.weights)
    bags = list(random_bags(engine, 50, n=8))
    for bag in bags * 20:
        engine.order(bag, beam_width=4)
    before = resident_kilobytes()
    for _ in range(200):
        for bag in bags:
            engine.order(bag, beam_width=4)
    assert resident_kilobytes() - before < 1024
