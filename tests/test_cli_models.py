"""The commands convert, evaluate, lm and compact."""

import json
import os
import shutil
from pathlib import Path

import pytest
import spacy
from commands import run
from spacy.tokens import Doc, DocBin

from spacy_linearize.evaluation import evaluate, span_scores, spans

DATA = Path(__file__).parent / "data"


class TestConvert:
    def test_conllu(self, tmp_path):
        code, _, err = run("convert", DATA / "mini_en.conllu", tmp_path / "new" / "out.spacy", "--tag", "upos")
        assert code == 0
        assert "113 sentences from 1 files (2 not projective, 0 skipped)" in err
        docs = list(DocBin().from_disk(tmp_path / "new" / "out.spacy").get_docs(spacy.blank("en").vocab))
        assert docs[0][0].tag_ == "DET"
        assert docs[0].user_data["sent_id"] == "mini-en-001"
        umask = os.umask(0)
        os.umask(umask)
        assert (tmp_path / "new" / "out.spacy").stat().st_mode & 0o777 == 0o666 & ~umask

    def test_folder_in_order_of_names(self, tmp_path):
        for name in ("b.conllu", "a.conllu"):
            text = f"1\t{name}\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
            (tmp_path / name).write_text(text + text.replace(name, name + "2"))
        (tmp_path / "c.other").write_text("1\tc\t_\t_\t_\t_\t0\troot\t_\t_\n")
        assert run("convert", tmp_path, tmp_path / "out.spacy")[0] == 0
        docs = DocBin().from_disk(tmp_path / "out.spacy").get_docs(spacy.blank("en").vocab)
        assert [doc[0].text for doc in docs] == ["a.conllu", "a.conllu2", "b.conllu", "b.conllu2"]
        assert run("convert", tmp_path / "c.other", tmp_path / "c.spacy", "--format", "conllu")[0] == 0
        assert "[SL053]" in run("convert", tmp_path / "c.other", tmp_path / "c.spacy")[2]
        (tmp_path / "d.conllu").write_text("no treebank\n")
        code, _, err = run("convert", tmp_path / "d.conllu", tmp_path / "d.spacy")
        assert code == 1
        assert "[SL053]" in err
        assert not (tmp_path / "d.spacy").exists()

    def test_brackets_and_splits(self, tmp_path):
        for name in ("wsj_0204.mrg", "wsj_2201.mrg", "wsj_2300.mrg"):
            (tmp_path / name).write_text((DATA / "mini.mrg").read_text(encoding="utf8"), encoding="utf8")
        for split, files in (("train", 1), ("dev", 1), ("test", 1), ("wsj_2*.mrg", 2), ("wsj_02*,wsj_23*", 2)):
            _, _, err = run("convert", tmp_path, tmp_path / "out.spacy", "--split", split, "--base-nps")
            assert f"{30 * files} sentences from {files} files" in err, split
        docs = list(DocBin().from_disk(tmp_path / "out.spacy").get_docs(spacy.blank("en").vocab))
        assert any(" " in token.text for doc in docs for token in doc)

    def test_capitals_of_a_suffix(self, tmp_path):
        path = Path(shutil.copy(DATA / "mini_en.conllu", tmp_path / "MINI.CONLLU"))
        assert run("convert", path, tmp_path / "out.spacy")[0] == 0

    def test_only_to_a_spacy_file(self, tmp_path):
        code, _, err = run("convert", DATA / "mini_en.conllu", tmp_path / "out.conllu")
        assert (code, err.count("\n"), list(tmp_path.iterdir())) == (1, 1, [])
        assert "[SL022] Setting 'output' is" in err

    def test_a_bad_sentence_is_reported_with_its_line(self, tmp_path):
        (tmp_path / "x.mrg").write_text("( (S (NN dog)) )\n( (S (NN cat)\n( (S (NN bird)) )\n")
        code, _, err = run("convert", tmp_path / "x.mrg", tmp_path / "out.spacy")
        assert code == 0
        assert "x.mrg:2:" in err
        assert "2 sentences from 1 files (0 not projective, 1 skipped)" in err


class TestEvaluate:
    def test_one_setting(self, trained_path, corpus_path, tmp_path):
        code, out, _ = run("evaluate", trained_path, corpus_path, "--json", tmp_path / "x.json")
        assert code == 0
        (row,) = json.loads((tmp_path / "x.json").read_text())["runs"]
        assert row["sentences"] == 113
        assert row["bleu"] > 90
        assert row["uas"] is None
        assert f"| 100% | 100% | 8 | {row['bleu']:.2f} | {row['exact']:.2f} | – | – | – |" in out

    def test_grid(self, trained_path, corpus_path):
        code, out, _ = run("evaluate", trained_path, corpus_path, "--grid", "--limit", "20")
        rows = [line for line in out.splitlines() if "%" in line]
        assert code == 0
        assert [row.split(" | ")[:2] for row in rows] == [
            [f"| {t}%", f"{h}%"] for t in (0, 50, 100) for h in (0, 50, 100)
        ]

    def test_analyses_and_plots(self, trained_path, corpus_path, tmp_path):
        command = ["--tags", "0", "--heads", "0", "--analyse", "--beams", "1,4", "--limit", "20"]
        paths = ["--json", tmp_path / "x.json", "--plot", tmp_path / "plots", "--png"]
        assert run("evaluate", trained_path, corpus_path, *command, *paths)[0] == 0
        figures = json.loads((tmp_path / "x.json").read_text())
        assert [row["beam_width"] for row in figures["beams"]] == [1, 4]
        assert [row["shorter_than"] for row in figures["spans"]] == [5, 10, 15, 30]
        names = {"brevity.png", "span_lengths.png", "beams.png", "spans.png"}
        assert {path.name for path in (tmp_path / "plots").iterdir()} == names
        assert all(path.read_bytes().startswith(b"\x89PNG") for path in (tmp_path / "plots").iterdir())

    def test_mistakes(self, trained_path, corpus_path):
        assert "[SL054]" in run("evaluate", trained_path, DATA / "mini_en.conllu")[2]
        code, out, err = run("evaluate", trained_path, corpus_path, "--beams", "a,b")
        assert (code, out) == (1, "")
        assert "[SL022] Setting 'beams' is 'a,b'" in err
        for wrong in (0, 10**12):
            code, out, err = run("evaluate", trained_path, corpus_path, "--beams", f"4,{wrong}")
            assert (code, out) == (1, "")
            assert f"[SL022] Setting 'beams' is {wrong}" in err

    def test_no_table_without_figures(self, trained_path, corpus_path, tmp_path):
        code, out, err = run("evaluate", trained_path, corpus_path, "--tags", "50")
        assert (code, out) == (1, "")
        assert "[SL022] Setting 'tags, heads' is [50.0, 1.0]" in err
        path = tmp_path / "empty.spacy"
        for content, expected in ((b"", "SL180"), (DocBin().to_bytes(), "SL185")):
            path.write_bytes(content)
            code, out, err = run("evaluate", trained_path, path)
            assert (code, out, err.count("\n")) == (1, "", 1)
            assert f"[{expected}]" in err

    def test_a_pipeline_that_orders_sentences(self, trained_path, corpus_path, tmp_path):
        """A sentence of the corpus is one bag, whatever the pipeline does with longer texts."""
        nlp = spacy.load(trained_path, config={"components": {"linearizer": {"sentences": "sents"}}})
        nlp.to_disk(tmp_path / "sents")
        options = ["--limit", "20", "--tags", "0", "--heads", "0", "--json"]
        for path in (trained_path, tmp_path / "sents"):
            assert run("evaluate", path, corpus_path, *options, tmp_path / f"{path.name}.json")[0] == 0
        rows = [json.loads((tmp_path / f"{name}.json").read_text())["runs"][0] for name in ("model", "sents")]
        assert rows[0] == {**rows[1], "ms": rows[0]["ms"]}
        component = nlp.get_pipe("linearizer")
        component.units = "names"  # of which the corpus has none
        evaluate(nlp, corpus_path, limit=2)
        assert (component.sentences, component.units) == ("sents", "names")

    def test_not_over_the_corpus(self, trained_path, corpus_path, tmp_path):
        path = Path(shutil.copy(corpus_path, tmp_path / "dev.spacy"))
        log = tmp_path / "log.jsonl"
        log.write_text("{}\n")
        for target in (path, log):
            code, out, problem = run("evaluate", trained_path, path, "--log", log, "--json", target)
            assert (code, out, problem.count("\n")) == (1, "", 1)
            assert "SL181" in problem
        assert (path.read_bytes(), log.read_text()) == (corpus_path.read_bytes(), "{}\n")

    @pytest.mark.parametrize("kind", ["tags", "heads", "deps"])
    def test_what_is_ignored_is_not_given(self, trained_path, corpus_path, tmp_path, kind):
        """The table says so, and the figures are those of a run without it."""
        config = {"components": {"linearizer": {f"use_{kind}": False}}}
        spacy.load(trained_path, config=config).to_disk(tmp_path / "model")
        figures = []
        without = ["--no-labelled"] if kind == "deps" else [f"--{kind}", "0"]
        for model, more in ((tmp_path / "model", []), (trained_path, without)):
            path = tmp_path / "x.json"
            code, out, err = run("evaluate", model, corpus_path, "--limit", "30", "--json", path, *more)
            assert code == 0
            shares = "| 0% | 100% |" if kind == "tags" else "| 100% | 0% |" if kind == "heads" else "| 100% | 100% |"
            assert shares in out
            assert (f"use_{kind} = false" in err) == (model != trained_path)
            figures.append(json.loads(path.read_text())["runs"][0])
        assert figures[0] == {**figures[1], "ms": figures[0]["ms"]}
        code, out, _ = run("evaluate", tmp_path / "model", corpus_path, "--limit", "5", "--grid")
        assert len([line for line in out.splitlines() if "%" in line]) == (9 if kind == "deps" else 3)

    def test_which_cell_of_the_grid_is_analysed(self, trained_path, corpus_path, tmp_path):
        path = tmp_path / "x.json"
        options = ["--grid", "--analyse", "--limit", "60", "--beam", "1", "--json", path]
        analysed = {}
        for tags, heads, n_rows in ((1, 1, 9), (0, 0, 9), (0.5, 0.25, 10)):
            shares = ["--tags", tags, "--heads", heads]
            code, out, _ = run("evaluate", trained_path, corpus_path, *options, *shares)
            assert code == 0
            assert f"With {tags:.0%} of the tags and {heads:.0%} of the arcs given:" in out
            assert len([line for line in out.splitlines() if line.startswith("|") and "%" in line]) == n_rows
            grid = json.loads(path.read_text())
            assert grid["analysed"] == {"tags": tags, "heads": heads}
            assert run("evaluate", trained_path, corpus_path, *options[1:], *shares)[0] == 0
            assert json.loads(path.read_text())["spans"] == grid["spans"]
            analysed[tags, heads] = grid["spans"]
        assert analysed[1, 1] != analysed[0, 0]

    def test_spans_by_hand(self):
        vocab = spacy.blank("en").vocab
        deps = ["x", "x", "ROOT", "x", "x"]
        gold = Doc(vocab, words=["the", "dog", "saw", "a", "cat"], heads=[1, 2, 2, 4, 2], deps=deps)
        other = Doc(vocab, words=["a", "cat", "saw", "dog", "the"], heads=[1, 2, 2, 2, 3], deps=deps)
        assert spans(gold) == [("the", "dog"), ("the", "dog", "saw", "a", "cat"), ("a", "cat")]
        rows = span_scores([(other, gold)])
        assert rows[0] == {"shorter_than": 5, "precision": 50.0, "recall": 50.0, "f": 50.0}  # of two, "a cat" is right
        assert rows[1]["precision"] == pytest.approx(100 / 3)  # and the whole sentence is wrong


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
        nlp.get_pipe("linearizer").max_words = 1  # would refuse
        nlp.to_disk(tmp_path / "model")
        code, out, err = run("order", "--model", tmp_path / "model", "door the opened ? Who")
        assert (code, out, err.count("\n")) == (0, "Who opened the door?\n", 1)
        assert "[SL188]" in err
        assert "(linearizer, second), of which 'second'" in err


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
        nlp.get_pipe("linearizer").n_threads = 2
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

    @pytest.mark.parametrize("order", [0, 5, 9])
    def test_order_of_the_language_model(self, trained_path, tmp_path, order):
        (tmp_path / "more.txt").write_text("Who opened the door ?\n")
        problem = run("lm", trained_path, tmp_path / "new", tmp_path / "more.txt", "--order", order)[2]
        assert problem == f"✘ [SL022] Setting 'order' is {order}, but must be from 1 to 4.\n"
