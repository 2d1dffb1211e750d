"""A config to start from."""

from importlib.util import find_spec

import pytest
import spacy
from helpers.commands import run
from helpers.docs import MINI
from spacy.cli.train import train
from spacy.util import load_config

from spacy_linearize.errors import LinearizeError
from spacy_linearize.training.starting import starting_config

pytestmark = pytest.mark.slow
CONFIG = MINI.parent.parent.parent / "configs" / "default.cfg"


def test_it_is_the_default_config():
    """But for what follows from a corpus, and what spaCy fills in."""
    default, found = load_config(CONFIG, interpolate=False), starting_config("en")
    assert found["components"]["linearizer"]["model"].pop("experts") is None  # the same, by default
    default["components"]["linearizer"]["model"].pop("experts")
    for section in ("components", "training", "initialize", "nlp"):
        for key in default[section]:
            if (section, key) != ("nlp", "tokenizer"):
                assert found[section][key] == default[section][key] or section == "initialize", (section, key)
    for name in ("train", "dev"):
        assert {key: found["corpora"][name][key] for key in default["corpora"][name]} == default["corpora"][name]


def test_it_trains(corpus_path, tmp_path):
    path = tmp_path / "config.cfg"
    code, _, err = run("init-config", path, "--train", corpus_path, "--dev", corpus_path)
    assert code == 0, err
    config = load_config(path)
    assert config["training"]["max_steps"] == 100
    assert config["components"]["linearizer"]["model"]["markers"] == ["case", "mark"]
    small = {"components.linearizer.model.table_bits": 16, "components.linearizer.model.attach_bits": 14}
    train(path, tmp_path / "out", overrides={**small, "training.max_steps": 10, "training.eval_frequency": 5})
    meta = spacy.load(tmp_path / "out" / "model-best").meta["performance"]
    assert set(meta) == {"bleu", "exact", "uas", "las", "tags", "linearizer_loss"}
    assert meta["bleu"] > 0.3


def test_a_language_that_is_none(tmp_path):
    code, _, err = run("init-config", tmp_path / "x.cfg", "--lang", "klingon")
    assert code == 1
    assert "SL253" in err


@pytest.mark.parametrize("lang", ["ja", "ko"])
def test_a_language_whose_tokenizer_is_missing(tmp_path, lang):
    """Training does not need it."""
    path = tmp_path / "config.cfg"
    code, _, err = run("init-config", path, "--lang", lang)
    assert code == 0, err
    has_tokenizer = find_spec({"ja": "sudachipy", "ko": "natto"}[lang]) is not None
    assert (load_config(path)["nlp"]["tokenizer"]["@tokenizers"] == "spacy.Tokenizer.v1") != has_tokenizer


def test_without_labels(corpus_path, tmp_path):
    """What is not measured is not shown."""
    path = tmp_path / "config.cfg"
    assert run("init-config", path, "--no-labelled", "--train", corpus_path, "--dev", corpus_path)[0] == 0
    small = {"components.linearizer.model.table_bits": 16, "components.linearizer.model.attach_bits": 14}
    small |= {"training.max_steps": 2, "training.eval_frequency": 1}
    train(path, tmp_path / "out", overrides=small)
    assert "las" not in spacy.load(tmp_path / "out" / "model-best").meta["performance"]
    with pytest.raises(LinearizeError, match="SL254"):
        train(path, tmp_path / "other", overrides={**small, "training.score_weights.las": 0.0})
