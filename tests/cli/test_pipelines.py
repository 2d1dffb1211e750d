"""spacy linearize lm and compact, and pipelines of all kinds."""

import json
import shutil
from pathlib import Path

import pytest
import spacy
from helpers.commands import engine_of, run
from spacy.language import Language
from spacy.tokens import Doc, DocBin

import spacy_linearize

pytestmark = pytest.mark.slow


class TestNames:
    """A linearizer is what its factory says, not its name."""

    @pytest.fixture
    def renamed(self, trained_path, tmp_path):
        nlp = spacy.load(trained_path)
        nlp.rename_pipe("linearizer", "mine")
        nlp.to_disk(tmp_path / "renamed")
        return tmp_path / "renamed"

    def test_another_name(self, renamed, trained_path, corpus_path, tmp_path):
        (tmp_path / "more.txt").write_text("Who opened the door ?\n")
        bag = "door the opened ? Who"
        for command in ("order", "score"):
            expected = run(command, "--model", trained_path, "--no-use-tags", bag)
            assert run(command, "--model", renamed, "--no-use-tags", bag) == expected
        assert run("order", "--model", renamed, "--beam", 1, bag)[0] == 0
        assert run("view", "--model", renamed, "-o", tmp_path / "x.html", bag)[0] == 0
        assert run("evaluate", renamed, corpus_path, "--limit", 2)[0] == 0
        for command, more in (("lm", [tmp_path / "more.txt"]), ("compact", [])):
            assert run(command, renamed, tmp_path / command, *more)[0] == 0
            nlp = spacy.load(tmp_path / command)
            assert nlp.pipe_names == ["mine"]
            assert nlp(Doc(nlp.vocab, words=bag.split())).text
        assert not (tmp_path / "compact" / "vocab").exists()

    def test_another_component_of_that_name(self, tmp_path):
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer", name="linearizer")
        nlp.to_disk(tmp_path / "model")
        assert "[SL052]" in run("order", "--model", tmp_path / "model", "dog")[2]

    def test_several(self, trained_path, tmp_path):
        nlp = spacy.load(trained_path)
        nlp.add_pipe("linearizer", name="second", source=spacy.load(trained_path))
        spacy_linearize.configure(nlp, "linearizer", max_words=1)  # would refuse
        nlp.to_disk(tmp_path / "model")
        code, out, err = run("order", "--model", tmp_path / "model", "door the opened ? Who")
        assert (code, out, err.count("\n")) == (0, "Who opened the door?\n", 1)
        assert "[SL188]" in err
        assert "(linearizer, second), of which 'second'" in err


@Language.component("test_nouns")
def tag_nouns(doc):
    """Tags before the linearizer. One word it cannot bear."""
    for token in doc:
        if token.text == "unbearable":
            raise TypeError("an odd word")
        token.tag_ = "NN"
    return doc


@Language.component("test_upper_lemmas")
def upper_lemmas(doc):
    for token in doc:
        token.lemma_ = token.text.upper()
    return doc


class TestAllComponents:
    """Those before the linearizer and those after it run, too."""

    @pytest.fixture
    def path(self, trained_path, tmp_path):
        nlp = spacy.load(trained_path)
        nlp.add_pipe("test_nouns", first=True)
        nlp.add_pipe("test_upper_lemmas")
        nlp.to_disk(tmp_path / "long")
        return tmp_path / "long"

    @pytest.mark.parametrize("threads", [1, 2])
    def test_order(self, path, tmp_path, threads):
        bags = "dog the\nunbearable dog\na dog\n"
        output = tmp_path / "out.spacy"
        command = ["order", "--model", path, "--threads", threads, "--n-best", 2, "-o", output]
        code, _, problem = run(*command, stdin=bags)
        assert (code, problem.count("\n")) == (1, 1)
        assert problem.startswith("✘ 2: [SL200] An error inside spacy_linearize or spaCy (TypeError: an odd word).")
        docs = list(DocBin(store_user_data=True).from_disk(output).get_docs(spacy.blank("en").vocab))
        assert len(docs) == 4
        for doc in docs:
            assert [token.tag_ for token in doc] == ["NN", "NN"]
            assert [token.lemma_ for token in doc] == [token.text.upper() for token in doc]
            assert doc._.linearization["given_tags"] == (True, True)
            assert "alternatives" not in doc._.linearization

    def test_score(self, path, trained_path):
        """The linearizer scores with the tags that it would order with."""
        scores = {}
        for model in (path, trained_path):
            for more in ([], ["--no-use-tags"]):
                code, out, _ = run("score", "--model", model, "--jsonl", *more, "dog", "the", "sleeps")
                assert code == 0
                scores[model, bool(more)] = json.loads(out)["score"]
        assert scores[path, False] != scores[trained_path, False] == scores[trained_path, True] == scores[path, True]
        code, out, problem = run("score", "--model", path, stdin="dog\nunbearable\ndog\n")
        assert (code, len(out.splitlines()), problem.startswith("✘ 2: [SL200]")) == (1, 3, True)

    def test_view(self, path, tmp_path):
        assert run("view", "--model", path, "-o", tmp_path / "x.html", "dog", "the")[0] == 0
        assert "Tags given</dt><dd>2 of 2" in (tmp_path / "x.html").read_text(encoding="utf8")

    def test_tokens_that_are_merged_afterwards(self, trained_path, tmp_path):
        """Their number is no longer that of the bag: such a bag cannot be shown, and has one order."""
        nlp = spacy.load(trained_path)
        nlp.add_pipe("entity_ruler").add_patterns([{"label": "DOG", "pattern": "the dog"}])
        nlp.add_pipe("merge_entities")
        nlp.to_disk(tmp_path / "merged")
        bags = "dog the\nsleeps dog\n"
        assert run("order", "--model", tmp_path / "merged", stdin=bags)[::2] == (0, "")
        code, _, problem = run("view", "--model", tmp_path / "merged", "-o", tmp_path / "pages", stdin=bags)
        assert (code, problem.split(":")[0]) == (1, "✘ 1")
        assert (tmp_path / "pages" / "2.html").exists()


class TestNewPipelines:
    """lm and compact."""

    def test_not_over_the_old_one(self, trained_path, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        shutil.copytree(trained_path, "model")
        Path("link").symlink_to("model")
        Path("more.txt").write_text("Who opened the door ?\n")
        before = {file: file.read_bytes() for file in Path("model").rglob("*") if file.is_file()}
        for target in ("model", "link"):
            for command in (["compact", "model", target], ["lm", "model", target, "more.txt"]):
                code, _, problem = run(*command)
                assert (code, problem.count("\n")) == (1, 1)
                assert f"[SL181] {target} is both read and written" in problem
        assert before == {file: file.read_bytes() for file in Path("model").rglob("*") if file.is_file()}
        assert run("compact", "model", "small")[0] == 0

    def test_over_another_pipeline(self, trained_path, tmp_path):
        """Nothing of it is loaded with the new one."""
        (tmp_path / "more.txt").write_text("Who opened the door ?\n")
        for command, more in (("compact", []), ("lm", [tmp_path / "more.txt"])):
            path = tmp_path / command
            other = spacy.blank("en")
            other.add_pipe("sentencizer")
            other.vocab.strings.add("of the other one")
            other.to_disk(path)
            (path / "README.md").write_text("mine")
            assert run(command, trained_path, path, *more)[0] == 0
            assert "of the other one" not in spacy.load(path).vocab.strings
            assert (path / "vocab").exists() == (command == "lm")
            assert not (path / "sentencizer.json").exists()
            assert (path / "README.md").read_text() == "mine"

    def test_not_into_a_folder_of_something_else(self, trained_path, tmp_path):
        (tmp_path / "more.txt").write_text("Who opened the door ?\n")
        for command, more in (("compact", []), ("lm", [tmp_path / "more.txt"])):
            for place in (tmp_path, tmp_path / "more.txt"):
                code, _, problem = run(command, trained_path, place, *more)
                assert (code, problem.count("\n")) == (1, 1)
                assert ("[SL187]" in problem) == place.is_dir()
        assert [file.name for file in tmp_path.iterdir()] == ["more.txt"]

    def test_meta(self, trained_path, tmp_path):
        (tmp_path / "meta.json").write_text("[1]")
        code, _, problem = run("compact", trained_path, tmp_path / "small", "--meta", tmp_path / "meta.json")
        assert (code, (tmp_path / "small").exists()) == (1, False)
        assert "[SL022] Setting 'meta' is" in problem
        (tmp_path / "meta.json").write_text('{"author": "me"}')
        assert run("compact", trained_path, tmp_path / "small", "--meta", tmp_path / "meta.json")[0] == 0
        assert spacy.load(tmp_path / "small").meta["author"] == "me"

    def test_threads_of_training_are_no_matter_of_users(self, trained_path, tmp_path):
        nlp = spacy.load(trained_path)
        spacy_linearize.configure(nlp, n_threads=2)
        nlp.to_disk(tmp_path / "model")
        assert spacy.load(tmp_path / "model").get_pipe("linearizer").n_threads == 2
        assert run("compact", tmp_path / "model", tmp_path / "small")[0] == 0
        assert spacy.load(tmp_path / "small").get_pipe("linearizer").n_threads == 1
        # Nor does it stand in the way of those that they ask for, if it was in the config.
        config = {"components": {"linearizer": {"n_threads": 2}}}
        spacy.load(trained_path, config=config).to_disk(tmp_path / "threaded")
        assert run("compact", tmp_path / "threaded", tmp_path / "small")[0] == 0
        for given, expected in (({}, 1), (config, 2)):
            assert spacy.load(tmp_path / "small", config=given).get_pipe("linearizer").n_threads == expected

    @pytest.mark.parametrize("order", [0, 6, 9])
    def test_order_of_the_language_model(self, trained_path, tmp_path, order):
        (tmp_path / "more.txt").write_text("Who opened the door ?\n")
        problem = run("lm", trained_path, tmp_path / "new", tmp_path / "more.txt", "--order", order)[2]
        assert problem == f"✘ [SL022] Setting 'order' is {order}, but must be 1 to 5.\n"


def test_compact_refuses(trained_path, tmp_path):
    spacy.blank("en").to_disk(tmp_path / "blank")
    assert "SL052" in run("compact", tmp_path / "blank", tmp_path / "small")[2]
    assert "SL022" in run("compact", trained_path, tmp_path / "small", "--prune", "nan")[2]
    assert not (tmp_path / "small").exists()


def test_compact_command(trained_path, tmp_path):
    assert run("compact", trained_path, tmp_path / "small", "--prune", 0.1)[0] == 0
    assert all(decoder.weights.scale > 0 for _, decoder in engine_of(tmp_path / "small").experts)
    assert spacy.load(tmp_path / "small").config["components"]["linearizer"]["n_threads"] == 1
