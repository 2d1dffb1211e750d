"""What only shows from outside: memory, other processes, and what the core imports."""

import os
import subprocess
import sys

import pytest
from helpers.core import digest, make, order, random_bags, randomize

pytestmark = pytest.mark.slow

OUTPUT = """
import sys
sys.path[:0] = {paths!r}
from helpers.core import digest
print(digest())
"""


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
    engine = make(system=system, direction="both", groups=("unigram", "next"), table_bits=12)
    bags = list(random_bags(50, n=8))
    randomize(engine)
    for bag in bags * 20:
        order(engine, bag, beam_width=4)
    before = resident_kilobytes()
    for _ in range(200):
        for bag in bags:
            order(engine, bag, beam_width=4)
    assert resident_kilobytes() - before < 1024
