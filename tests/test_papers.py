"""The report of benchmarks/papers.py, and best-first search through it."""

import argparse
import sys
from pathlib import Path

import pytest
import srsly

from spacy_linearize.files.convert import convert

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
from papers import Papers, report  # noqa: E402


@pytest.fixture
def papers(tmp_path):
    corpus = tmp_path / "mini.spacy"
    convert(ROOT / "tests" / "data" / "mini.mrg", corpus, base_nps=True)
    options = {"best_first_train": 0, "best_first_passes": 3, "limit": 0, "seconds": 5.0, "passes": 2}
    return Papers(argparse.Namespace(train=corpus, dev=corpus, output=tmp_path, **options))


def test_best_first_cell_and_report(papers, tmp_path):
    papers.do("best_first-1-1", lambda: papers.best_first(1.0, 1.0))
    found = srsly.read_json(tmp_path / "best_first-1-1.json")
    assert found["bleu"] > 50
    assert max(found["covered"].values()) == 1
    lines = report(tmp_path).splitlines()
    row = next(line for line in lines if line.startswith("| 1-1 |"))
    assert f"{found['bleu']:.1f} / {found['exact']:.1f}" in row
    assert row.count("–") == 3
    assert not any(line.startswith("Table 4") for line in lines)
    # The analyses are those of the cell with nothing given.
    srsly.write_json(tmp_path / "best_first-0-0.json", found)
    lines = report(tmp_path).splitlines()
    assert "| shorter than | best_first |" in lines


def test_what_is_done_is_not_done_again(papers, tmp_path):
    srsly.write_json(tmp_path / "default-1-1.json", {})
    papers.do("default-1-1", lambda: pytest.fail("done again"))


def test_the_curve_of_a_beam(papers, tmp_path):
    papers.do("beam-liu2015-2", lambda: papers.beam("liu2015", 2))
    curve = srsly.read_json(tmp_path / "beam-liu2015-2.json")["curve"]
    assert len(curve) == 2
    line = next(line for line in report(tmp_path).splitlines() if line.startswith("- beam-liu2015-2"))
    assert line.endswith(", ".join(f"{point['bleu']:.1f}" for point in curve))
