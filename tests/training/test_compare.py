"""Two evaluations side by side."""

import json
from dataclasses import replace

import pytest
import spacy
from helpers.commands import run
from spacy.tokens import Doc

from spacy_linearize.training.compare import compare
from spacy_linearize.training.evaluate import evaluate, sentence_bleu

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runs(trained_path, corpus_path):
    """With the whole trees, and with nothing."""
    nlp = spacy.load(trained_path)
    return [evaluate(nlp, corpus_path, tags=share, heads=share, limit=60) for share in (1.0, 0.0)]


def backwards(doc):
    return Doc(doc.vocab, words=[token.text for token in reversed(doc)])


def test_a_clear_difference(runs):
    worse = replace(runs[0], pairs=[(backwards(gold), gold) for _, gold in runs[0].pairs])
    found = compare(runs[0], worse, n_samples=300)
    assert found.bleu[0] == pytest.approx(runs[0].scores["bleu"])
    assert found.bleu[0] > found.bleu[1]
    assert found.p_value < 0.01
    n_equal = sum(one == other for one, other in zip(runs[0].hypotheses, worse.hypotheses, strict=True))
    assert len(found.differing) == 60 - n_equal
    gaps = [abs(row["bleu_a"] - row["bleu_b"]) for row in found.differing]
    assert gaps == sorted(gaps, reverse=True)
    assert set(found.lengths) == {"A", "B"}


def test_no_difference(runs):
    found = compare(runs[0], runs[0], n_samples=300)
    assert found.p_value == 1
    assert found.differing == []


def test_each_sentence_of_a_run(runs):
    rows = list(runs[0].sentences())
    assert len(rows) == 60
    for row, (output, gold) in zip(rows, runs[0].pairs, strict=True):
        assert row["reference"] == " ".join(token.text for token in gold)
        assert (row["bleu"] == pytest.approx(100)) == (row["hypothesis"] == row["reference"])
        assert row["given_tags"] == row["given_heads"] == list(range(row["words"])) == list(range(len(output)))
    assert [row["given_heads"] for row in runs[1].sentences() if row["given_heads"]] == []
    assert sentence_bleu("a b", "b a") < 100


def test_the_command(trained_path, corpus_path, tmp_path):
    pytest.importorskip("matplotlib")
    code, out, err = run(
        *("compare", trained_path, "en_ud", corpus_path, "--limit", 20, "--heads", 0, "--samples", 200),
        *("--json", tmp_path / "x.json", "--plot", tmp_path / "plots"),
    )
    assert code == 0, err
    figures = json.loads((tmp_path / "x.json").read_text())
    assert f"p = {figures['p_value']:.4f}" in out
    assert f"| B: en_ud | {figures['bleu'][1]:.2f} |" in out
    drawn = (tmp_path / "plots" / "lengths.svg").read_text(encoding="utf8")
    assert "BLEU by length" in drawn
    assert "A: " in drawn
    assert "B: en_ud" in drawn


def test_a_second_opinion_in_the_second_pipeline(trained_path, corpus_path, tmp_path):
    """One that cannot be loaded leaves both as they are."""
    name = str(tmp_path / "nothing.gguf")
    arguments = ("--limit", 5, "--heads", 0, "--samples", 100, "--reranker", name)
    code, out, err = run("compare", trained_path, trained_path, corpus_path, *arguments)
    assert code == 0, err
    assert f"| B: {trained_path}, {name} |" in out
    assert "p = 1.0000. 0 of 5 sentences differ." in out
    assert "[SL234]" in err
