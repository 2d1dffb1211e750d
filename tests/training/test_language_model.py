"""Language models from files: text, .spacy, ARPA; and in `[initialize]`."""

import pytest
import spacy
from helpers.commands import ARPA
from helpers.docs import read_docs
from spacy.training import Example

from spacy_linearize.core.ngrams.estimate import Estimation
from spacy_linearize.errors import LinearizeError
from spacy_linearize.model import engine_of as engine_of_model
from spacy_linearize.training.language_model import Sources, import_arpa, parse_size, replace_language_model


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "more.txt"
    path.write_text("The dog sleeps.\n\nThe dog eats, and the cat sleeps.\n", encoding="utf8")
    return path


def initialized(**settings):
    nlp = spacy.blank("en")
    component = nlp.add_pipe("linearizer", config={"model": {"table_bits": 12, "attach_bits": 10}})
    docs = read_docs(nlp.vocab)[:30]
    nlp.config["initialize"]["components"]["linearizer"] = settings
    nlp.initialize(lambda: [Example(doc, doc) for doc in docs])
    return engine_of_model(component.model)


def test_initialize_takes_more_text(text):
    bare, more = (initialized(**settings).experts.ngrams for settings in ({}, {"text": str(text)}))
    assert len(bare) < len(more)


def test_initialize_takes_settings_of_the_language_model(text):
    size = 1000
    whole, pruned = initialized(text=[str(text)]), initialized(text=[str(text)], language_model={"size": size})
    classes = initialized(language_model={"min_word": 2})
    n_whole, n_pruned, n_classes = (len(engine.experts.ngrams) for engine in (whole, pruned, classes))
    assert n_pruned < n_whole
    assert n_classes < n_whole
    with pytest.raises(LinearizeError, match=r"SL022.*'orders'.*one of min_counts"):
        initialized(language_model={"orders": 3})


def test_arpa_replaces_the_model(tmp_path, trained_path):
    path = tmp_path / "model.arpa"
    path.write_text(ARPA, encoding="utf8")
    nlp = spacy.load(trained_path)
    import_arpa(nlp, "linearizer", path)
    engine = engine_of_model(nlp.get_pipe("linearizer").model)
    assert engine.settings.ngram_order == 2
    assert engine.experts.ngrams.order == 2
    assert nlp.config["components"]["linearizer"]["model"]["ngram_order"] == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [("8MB", 8_000_000), ("8mb", 8_000_000), ("1.5 GB", 1_500_000_000), ("300k", 300_000), ("17", 17), (" 2 B ", 2)],
)
def test_sizes(text, expected):
    assert parse_size(text) == expected


@pytest.mark.parametrize("text", ["", "MB", "8 TB", "-1MB", "0", "0.0MB", "1e6", "8MBs", "many"])
def test_sizes_that_cannot_be(text):
    with pytest.raises(LinearizeError, match=r"SL022.*'memory'.*such as 8MB"):
        parse_size(text, "memory")


def test_every_source_has_a_weight(tmp_path, trained_path, text):
    (tmp_path / "other.txt").write_text("Cats sleep.\n" * 5, encoding="utf8")
    nlp = spacy.load(trained_path)
    sources = Sources(files=[text, tmp_path / "other.txt"], like=text)
    weights = replace_language_model(nlp, "linearizer", sources, Estimation(order=4))
    assert len(weights) == 3
    assert sum(weights) == pytest.approx(1)
    assert replace_language_model(nlp, "linearizer", Sources(files=sources.files), Estimation(order=2)) == [1.0]
    (tmp_path / "empty.txt").write_text("\n", encoding="utf8")
    for key, wrong in (
        ("like", Sources(files=[text], like=tmp_path / "empty.txt")),
        ("files", Sources(files=[text, tmp_path / "empty.txt"], like=text)),
        ("files", Sources(files=[tmp_path / "empty.txt"])),
    ):
        with pytest.raises(LinearizeError, match=rf"SL022.*'{key}'.*empty\.txt"):
            replace_language_model(nlp, "linearizer", wrong, Estimation())
