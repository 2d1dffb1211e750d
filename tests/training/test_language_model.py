"""Language models from files: `spacy linearize lm`, `[initialize]`, ARPA."""

import pytest
import spacy
from docs import read_docs, write_corpus
from spacy.training import Example
from spacy_linearize.doc.text import read_sentences
from typer.testing import CliRunner

from spacy_linearize.cli import app
from spacy_linearize.model import engine_of as engine_of_model
from spacy_linearize.training.language_model import import_arpa

ARPA = r"""\data\
ngram 1=4
ngram 2=1

\1-grams:
-99 <s> -0.3
-1.0 </s>
-1.0 the -0.3
-1.0 <unk>

\2-grams:
-0.2 <s> the

\end\
"""


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def engine_of(path):
    return engine_of_model(spacy.load(path).get_pipe("linearizer").model)


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


def test_command_replaces_the_model(trained_path, tmp_path, text):
    result = run("lm", trained_path, tmp_path / "new", text, "--order", 2, "--weight", 3)
    assert result.exit_code == 0, result.output
    engine = engine_of(tmp_path / "new")
    assert (engine.settings.ngram_order, engine.settings.ngram_weight) == (2, 3.0)
    config = spacy.load(tmp_path / "new").config["components"]["linearizer"]["model"]
    assert (config["ngram_order"], config["ngram_weight"]) == (2, 3.0)
    seen, unseen = ([spacy.strings.get_string_id(word) for word in words] for words in (["The", "dog"], ["dog", "The"]))
    for decoder in engine.decoders:
        scores = [decoder.ngrams.score(keys[::-1] if decoder.mirrored else keys) for keys in (seen, unseen)]
        assert scores[0] > scores[1]


def test_command_imports_arpa(trained_path, tmp_path):
    path = tmp_path / "model.arpa"
    path.write_text(ARPA, encoding="utf8")
    assert run("lm", trained_path, tmp_path / "new", path).exit_code == 0
    engine = engine_of(tmp_path / "new")
    assert [decoder.ngrams.order for decoder in engine.decoders] == [2, 0][: len(engine.decoders)]
    both = run("lm", trained_path, tmp_path / "both", path, "--backward", path)
    assert both.exit_code == 0
    assert all(decoder.ngrams.order == 2 for decoder in engine_of(tmp_path / "both").decoders)


def test_bad_files_are_one_line(trained_path, tmp_path, text):
    path = tmp_path / "model.arpa"
    path.write_text("nothing", encoding="utf8")
    for files in ([path], [path, text]):
        result = run("lm", trained_path, tmp_path / "new", *files)
        assert result.exit_code == 1
        assert "SL0" in result.output
        assert not (tmp_path / "new").exists()


def test_text_that_is_not_utf8(trained_path, tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes("Ein Bär.\n".encode("latin1"))
    result = run("lm", trained_path, tmp_path / "new", path)
    assert result.exit_code == 1
    assert (
        result.stderr
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
        result = run("lm", model, tmp_path / "new", *options)
        assert result.exit_code == 1
        assert message in result.stderr
        assert not (tmp_path / "new").exists()


def test_initialize_takes_more_text(text):
    models = []
    for more in (None, text):
        nlp = spacy.blank("en")
        component = nlp.add_pipe("linearizer", config={"model": {"table_bits": 12, "attach_bits": 10}})
        docs = read_docs(nlp.vocab)[:30]
        nlp.config["initialize"]["components"]["linearizer"] = {"text": str(more)} if more else {}
        nlp.initialize(lambda docs=docs: [Example(doc, doc) for doc in docs])
        models.append(len(component.shim.engine.decoder.ngrams))
    assert models[1] > models[0]


def test_nothing_to_learn_from(trained_path, tmp_path):
    (tmp_path / "empty.txt").write_text("\n\n", encoding="utf8")
    result = run("lm", trained_path, tmp_path / "new", tmp_path / "empty.txt")
    assert result.exit_code == 1
    assert "SL022" in result.output
    assert not (tmp_path / "new").exists()


def test_compact_refuses(trained_path, tmp_path):
    spacy.blank("en").to_disk(tmp_path / "blank")
    assert "SL052" in run("compact", tmp_path / "blank", tmp_path / "small").output
    assert "SL022" in run("compact", trained_path, tmp_path / "small", "--prune", "nan").output
    assert not (tmp_path / "small").exists()


def test_compact_command(trained_path, tmp_path):
    result = run("compact", trained_path, tmp_path / "small", "--prune", 0.1)
    assert result.exit_code == 0, result.output
    assert all(decoder.weights.scale > 0 for decoder in engine_of(tmp_path / "small").decoders)
    assert spacy.load(tmp_path / "small").config["components"]["linearizer"]["n_threads"] == 1


def test_arpa_for_one_direction_only(tmp_path, trained_path):
    path = tmp_path / "model.arpa"
    path.write_text(ARPA, encoding="utf8")
    engine = engine_of(trained_path)
    import_arpa(engine, path)
    assert engine.settings.ngram_order == 2
