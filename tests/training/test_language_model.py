"""Language models from files: text, .spacy, ARPA; and in `[initialize]`."""

import pytest
import spacy
from helpers.commands import ARPA, engine_of
from helpers.docs import read_docs, write_corpus
from spacy.training import Example

from spacy_linearize.doc.text import read_sentences
from spacy_linearize.model import engine_of as engine_of_model
from spacy_linearize.training.language_model import import_arpa


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "more.txt"
    path.write_text("The dog sleeps.\n\nThe dog eats, and the cat sleeps.\n", encoding="utf8")
    return path


def test_reads_text_and_spacy_files(tmp_path, text):
    nlp = spacy.blank("en")
    strings = nlp.vocab.strings
    assert [[strings[key] for key in keys] for keys in read_sentences(nlp, text)] == [
        ["The", "dog", "sleeps", "."],
        ["The", "dog", "eats", ",", "and", "the", "cat", "sleeps", "."],
    ]
    write_corpus(tmp_path / "mini.spacy")
    assert [len(keys) for keys in read_sentences(nlp, tmp_path / "mini.spacy")] == [len(doc) for doc in read_docs()]


def test_initialize_takes_more_text(text):
    models = []
    for more in (None, text):
        nlp = spacy.blank("en")
        component = nlp.add_pipe("linearizer", config={"model": {"table_bits": 12, "attach_bits": 10}})
        docs = read_docs(nlp.vocab)[:30]
        nlp.config["initialize"]["components"]["linearizer"] = {"text": str(more)} if more else {}
        nlp.initialize(lambda docs=docs: [Example(doc, doc) for doc in docs])
        models.append(len(engine_of_model(component.model).experts.ngrams[0]))
    assert models[1] > models[0]


def test_arpa_for_one_direction_only(tmp_path, trained_path):
    path = tmp_path / "model.arpa"
    path.write_text(ARPA, encoding="utf8")
    engine = engine_of(trained_path)
    import_arpa(engine, path)
    assert engine.settings.ngram_order == 2
