"""The weights of the language model are found by trying."""

import pytest
import spacy
from helpers.commands import run
from helpers.docs import read_docs
from helpers.rerankers import CONFIG
from spacy.tokens import DocBin

import spacy_linearize
from spacy_linearize.errors import LinearizeError
from spacy_linearize.model import engine_of
from spacy_linearize.training.evaluate import evaluate
from spacy_linearize.training.tune import SETTINGS, tune, tune_reranker

pytestmark = pytest.mark.slow


@pytest.fixture
def dev(tmp_path):
    nlp = spacy.blank("en")
    DocBin(docs=read_docs(nlp.vocab)[:12], store_user_data=True).to_disk(tmp_path / "dev.spacy")
    return tmp_path / "dev.spacy"


def test_the_best_weight_of_each_kind_is_stored(trained_path, dev):
    nlp = spacy.load(trained_path)
    trials = []
    best = tune(nlp, "linearizer", dev, weights=[16, 0, 2], report=trials.append)
    assert [(trial.kind, trial.weight) for trial in trials] == [
        (kind, weight) for kind in ("partial", "tree", "free") for weight in (0, 2, 16)
    ]
    for kind, weight in best.items():
        own = [trial for trial in trials if trial.kind == kind]
        assert weight == next(trial.weight for trial in own if trial.bleu == max(other.bleu for other in own))
    assert engine_of(nlp.get_pipe("linearizer").model).settings.ngram_weights == best
    assert nlp.config["components"]["linearizer"]["model"]["ngram_weights"] == best
    found = [evaluate(nlp, dev, tags=tags, heads=heads).scores["bleu"] for tags, heads in SETTINGS["free"]]
    assert sum(found) / 2 == pytest.approx(max(trial.bleu for trial in trials if trial.kind == "free"))


def test_a_weight_that_is_none_changes_nothing(trained_path, dev):
    nlp = spacy.load(trained_path)
    before = engine_of(nlp.get_pipe("linearizer").model).settings.ngram_weights
    with pytest.raises(LinearizeError, match="SL022"):
        tune(nlp, "linearizer", dev, weights=[1, -1])
    assert engine_of(nlp.get_pipe("linearizer").model).settings.ngram_weights == before


def test_command(trained_path, dev, tmp_path):
    code, _, said = run("tune", trained_path, dev, tmp_path / "tuned", "--weights", "0,4", "--limit", 4)
    assert code == 0
    assert said.count("\n") == 8
    weights = engine_of(spacy.load(tmp_path / "tuned").get_pipe("linearizer").model).settings.ngram_weights
    assert set(weights.values()) <= {0.0, 4.0}
    code, _, said = run("tune", trained_path, dev, tmp_path / "other", "--weights", "4,much")
    assert (code, "SL022" in said, (tmp_path / "other").exists()) == (1, True, False)


def test_the_weight_of_a_second_opinion(trained_path, dev, tmp_path):
    nlp = spacy.load(trained_path)
    with pytest.raises(LinearizeError, match=r"SL022.*'reranker' is None"):
        tune_reranker(nlp, "linearizer", dev)
    spacy_linearize.configure(nlp, reranker=dict(CONFIG))
    reranker = nlp.get_pipe("linearizer").reranker
    trials = []
    best = tune_reranker(nlp, "linearizer", dev, weights=[1000, 0], report=trials.append)
    assert nlp.get_pipe("linearizer").reranker is reranker
    assert reranker.options.weights == best
    assert nlp.config["components"]["linearizer"]["reranker"]["weights"] == best
    for kind, weight in best.items():
        own = [trial for trial in trials if trial.kind == kind]
        assert weight == next(trial.weight for trial in own if trial.bleu == max(other.bleu for other in own))
    asked = reranker.questions
    assert len(asked) == len(set(asked))
