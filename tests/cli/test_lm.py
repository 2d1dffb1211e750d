"""spacy linearize lm"""

import pytest
import spacy
from helpers.commands import ARPA, engine_of, run
from helpers.docs import read_docs
from spacy.training import Example

from spacy_linearize.doc.text import read_sentences

pytestmark = pytest.mark.slow


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "more.txt"
    path.write_text("The dog sleeps.\n\nThe dog eats, and the cat sleeps.\n", encoding="utf8")
    return path


def test_command_replaces_the_model(trained_path, tmp_path, text):
    assert run("lm", trained_path, tmp_path / "new", text, "--order", 2, "--weight", 3)[0] == 0
    engine = engine_of(tmp_path / "new")
    weights = {"partial": 3.0, "tree": 8.0, "free": 3.0}
    assert (engine.settings.ngram_order, engine.settings.ngram_weights) == (2, weights)
    config = spacy.load(tmp_path / "new").config["components"]["linearizer"]["model"]
    assert (config["ngram_order"], config["ngram_weights"]) == (2, weights)
    seen, unseen = ([spacy.strings.get_string_id(word) for word in words] for words in (["The", "dog"], ["dog", "The"]))
    for mirrored, ngrams in zip(engine.settings.directions, engine.experts.ngrams, strict=True):
        scores = [ngrams.score(keys[::-1] if mirrored else keys) for keys in (seen, unseen)]
        assert scores[0] > scores[1]


def test_command_imports_arpa(trained_path, tmp_path):
    path = tmp_path / "model.arpa"
    path.write_text(ARPA, encoding="utf8")
    assert run("lm", trained_path, tmp_path / "new", path)[0] == 0
    engine = engine_of(tmp_path / "new")
    assert [ngrams.order for ngrams in engine.experts.ngrams] == [2, 0]
    assert run("lm", trained_path, tmp_path / "both", path, "--backward", path)[0] == 0
    assert [ngrams.order for ngrams in engine_of(tmp_path / "both").experts.ngrams] == [2, 2]


def test_bad_files_are_one_line(trained_path, tmp_path, text):
    path = tmp_path / "model.arpa"
    path.write_text("nothing", encoding="utf8")
    for files in ([path], [path, text]):
        code, _, problem = run("lm", trained_path, tmp_path / "new", *files)
        assert (code, problem.count("\n")) == (1, 1)
        assert "SL0" in problem
        assert not (tmp_path / "new").exists()


def test_text_that_is_not_utf8(trained_path, tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes("Ein Bär.\n".encode("latin1"))
    code, _, problem = run("lm", trained_path, tmp_path / "new", path)
    assert code == 1
    assert (
        problem
        == f"✘ [SL182] {path} is not UTF-8 text. Save it as UTF-8; .spacy and .arpa files need these suffixes.\n"
    )
    path.write_text("A dog.\n", encoding="utf-8-sig")
    nlp = spacy.blank("en")
    assert [[nlp.vocab.strings[key] for key in keys] for keys in read_sentences(nlp, path)] == [["A", "dog", "."]]


def test_options_that_would_be_ignored(trained_path, tmp_path, text):
    path = tmp_path / "model.arpa"
    path.write_text(ARPA, encoding="utf8")
    nlp = spacy.blank("en")
    nlp.add_pipe("linearizer", config={"model": {"direction": "left_to_right", "table_bits": 8, "attach_bits": 8}})
    nlp.initialize(lambda: [Example(doc, doc) for doc in read_docs(nlp.vocab)[:3]])
    nlp.to_disk(tmp_path / "one_way")
    for model, options, message in (
        (trained_path, [path, "--order", 3], "'order' is 3, but must be left out: an .arpa file has its own"),
        (trained_path, [text, "--backward", path], "left out unless the file is an .arpa file"),
        (tmp_path / "one_way", [path, "--backward", path], "does not search from right to left"),
    ):
        code, _, problem = run("lm", model, tmp_path / "new", *options)
        assert code == 1
        assert message in problem
        assert not (tmp_path / "new").exists()


def test_nothing_to_learn_from(trained_path, tmp_path):
    (tmp_path / "empty.txt").write_text("\n\n", encoding="utf8")
    code, _, problem = run("lm", trained_path, tmp_path / "new", tmp_path / "empty.txt")
    assert code == 1
    assert "SL022" in problem
    assert not (tmp_path / "new").exists()


def test_weights_by_kind_of_bag(trained_path, tmp_path, text):
    weights = ["--weight", 3, "--free-weight", 2, "--tree-weight", 1]
    assert run("lm", trained_path, tmp_path / "new", text, *weights)[0] == 0
    assert engine_of(tmp_path / "new").settings.ngram_weights == {"partial": 3.0, "free": 2.0, "tree": 1.0}
