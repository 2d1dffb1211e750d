"""BLEU by step and epoch: from the log of a training to a figure."""

import pytest
import srsly

from spacy_linearize.training import plots
from spacy_linearize.training.evaluate import epochs, steps


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    rows = [(0, 10.0), (0, 12.5), (1, None), (1, 20.0)]
    scores = [{} if score is None else {"bleu": score} for _, score in rows]
    srsly.write_jsonl(path, [{"epoch": rows[k][0], "step": 10 * k, "scores": scores[k]} for k in range(len(rows))])
    return path


def test_each_score_and_the_last_one_of_each_epoch(log):
    assert [(row["step"], row["bleu"]) for row in steps(log)] == [(0, 10.0), (10, 12.5), (30, 20.0)]
    assert epochs(steps(log)) == [{"epoch": 0, "bleu": 12.5}, {"epoch": 1, "bleu": 20.0}]


def test_its_figure(log, tmp_path):
    pytest.importorskip("matplotlib")
    rows = steps(log)
    paths = plots.draw({"steps": rows, "epochs": epochs(rows)}, tmp_path / "figures", "svg")
    for name, path in zip(("step", "epoch"), paths, strict=True):
        assert f"BLEU by {name}" in path.read_text(encoding="utf8")


def test_no_matplotlib(monkeypatch):
    monkeypatch.setattr(plots.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"SL050.*pip install matplotlib"):
        plots.require_matplotlib()
