"""Models that earlier versions wrote still load, and order as they did.

To add one, when the format gets a new version:

    python tests/test_old_models.py
"""

import json
import random
from pathlib import Path

import pytest
import spacy
from docs import read_docs, rows, shuffled
from spacy.training import Example

from spacy_linearize.core.store import FORMAT_VERSION
from spacy_linearize.corpus import give

FOLDER = Path(__file__).parent / "data" / "old_models"
SHARES = [(0.0, 0.0), (1.0, 0.5), (1.0, 1.0)]


def outputs(nlp):
    """What a pipeline makes of some bags."""
    rng = random.Random(0)
    bags = [shuffled(give(doc, *shares, rng=rng), rng) for doc in read_docs(nlp.vocab)[:20] for shares in SHARES]
    return [[list(row) for row in rows(nlp(bag))] for bag in bags]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.bin")), ids=lambda path: path.stem)
def test_orders_as_it_did(path):
    nlp = spacy.blank("en")
    nlp.add_pipe("linearizer").from_bytes(path.read_bytes())
    assert outputs(nlp) == json.loads(path.with_suffix(".json").read_text(encoding="utf8"))


def test_there_is_one_for_this_version():
    assert (FOLDER / f"format_{FORMAT_VERSION}.bin").exists()


def write():
    """Train a small model and keep it with its outputs."""
    nlp = spacy.blank("en")
    model = {"table_bits": 14, "attach_bits": 12, "copies": 2}
    component = nlp.add_pipe("linearizer", config={"model": model})
    rng = random.Random(0)
    golds = read_docs(nlp.vocab)
    for epoch in range(5):
        examples = [Example(give(gold, *rng.choice(SHARES), rng=rng), gold) for gold in golds]
        if epoch == 0:
            nlp.initialize(lambda examples=examples: examples)
        nlp.update(examples, drop=0.0)
    component.shim.engine.compact(0.3)
    path = FOLDER / f"format_{FORMAT_VERSION}.bin"
    path.write_bytes(component.to_bytes(exclude=["vocab"]))
    path.with_suffix(".json").write_text(json.dumps(outputs(nlp), ensure_ascii=False), encoding="utf8")


if __name__ == "__main__":
    write()
