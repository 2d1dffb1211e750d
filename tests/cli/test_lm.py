"""spacy linearize lm"""

import pytest
import spacy
from helpers.commands import ARPA, engine_of, run

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
    assert engine.experts.ngrams.score(seen) > engine.experts.ngrams.score(unseen)


def test_command_imports_arpa(trained_path, tmp_path):
    path = tmp_path / "model.arpa"
    path.write_text(ARPA, encoding="utf8")
    assert run("lm", trained_path, tmp_path / "new", path)[0] == 0
    assert engine_of(tmp_path / "new").experts.ngrams.order == 2


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
    path.write_bytes("Ein Bär.\nA dog.\n".encode("latin1"))
    code, _, problem = run("lm", trained_path, tmp_path / "new", path)
    assert code == 0
    assert problem.startswith(f"⚠ [SL213] Line 1 of {path} is not UTF-8 text: it is left out.\n✔ ")


def test_options_that_would_be_ignored(trained_path, tmp_path, text):
    path = tmp_path / "model.arpa"
    path.write_text(ARPA, encoding="utf8")
    for options, message in (
        ([path, "--order", 3], "'order' is 3, but must be left out: an .arpa file is finished"),
        ([path, "--like", text], "must be left out: an .arpa file is finished"),
        ([path, text], "'files' is '2 files', but must be one .arpa file, or none"),
    ):
        code, _, problem = run("lm", trained_path, tmp_path / "new", *options)
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


def test_sources_sizes_and_arpa(trained_path, corpus_path, tmp_path, text):
    """Text of its own kind, classes and a size; what is written as ARPA gives the same model when it is read."""
    names = "".join(f"The dog sees {letter}{letter.lower()}{letter.lower()}na.\n" for letter in "BCDFGHJKLMNPQRSTVWXZ")
    (tmp_path / "names.txt").write_text(names, encoding="utf8")
    options = ["--like", corpus_path, "--order", 4, "--size", "20kB", "--min-word", 2, "--memory", "100MB"]
    arpa = tmp_path / "lm.arpa"
    code, _, said = run("lm", trained_path, tmp_path / "new", text, tmp_path / "names.txt", *options, "--arpa", arpa)
    assert code == 0
    for path in (corpus_path, text, tmp_path / "names.txt"):
        assert str(path) in said
    ngrams = engine_of(tmp_path / "new").experts.ngrams
    assert 4 * len(ngrams) < 20_000
    assert "<class:" in arpa.read_text(encoding="utf8")
    assert run("lm", trained_path, tmp_path / "back", arpa)[0] == 0
    again = engine_of(tmp_path / "back").experts.ngrams
    assert len(again) == len(ngrams)
    keys = [spacy.strings.get_string_id(word) for word in ("The", "dog", "sleeps", ".")]
    assert again.score(keys) == pytest.approx(ngrams.score(keys), abs=0.05)


@pytest.mark.parametrize(("option", "value"), [("--size", "big"), ("--memory", "0"), ("--min-word", 0), ("-n", 0)])
def test_options_that_cannot_be(trained_path, tmp_path, text, option, value):
    code, _, problem = run("lm", trained_path, tmp_path / "new", text, option, value)
    assert (code, problem.count("\n")) == (1, 1)
    assert "SL0" in problem
    assert not (tmp_path / "new").exists()
