"""BLEU by epoch: from the log of a training to a figure."""

import pytest
import srsly

from spacy_linearize.training import plots
from spacy_linearize.training.evaluate import epochs


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    rows = [(0, 10.0), (0, 12.5), (1, None), (1, 20.0)]
    srsly.write_jsonl(path, [{"epoch": e, "scores": {} if s is None else {"linearize_bleu": s}} for e, s in rows])
    return path


def test_the_last_score_of_each_epoch(log):
    assert epochs(log) == [{"epoch": 0, "bleu": 12.5}, {"epoch": 1, "bleu": 20.0}]


def test_its_figure(log, tmp_path):
    pytest.importorskip("matplotlib")
    (path,) = plots.draw({"epochs": epochs(log)}, tmp_path / "figures", "svg")
    assert "BLEU by epoch" in path.read_text(encoding="utf8")


def test_no_matplotlib(monkeypatch):
    monkeypatch.setattr(plots.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"SL050.*pip install matplotlib"):
        plots.require_matplotlib()
