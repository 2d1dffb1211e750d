"""spacy linearize evaluate"""

import json
import shutil
from pathlib import Path

import pytest
import spacy
from helpers.commands import run
from spacy.tokens import DocBin

from spacy_linearize.training.evaluate import evaluate

pytestmark = pytest.mark.slow

DATA = Path(__file__).parent.parent / "data"


class TestEvaluate:
    def test_one_setting(self, trained_path, corpus_path, tmp_path):
        code, out, _ = run("evaluate", trained_path, corpus_path, "--json", tmp_path / "x.json")
        assert code == 0
        (row,) = json.loads((tmp_path / "x.json").read_text())["runs"]
        assert row["sentences"] == 113
        assert row["bleu"] > 90
        assert row["uas"] is None
        assert f"| 100% | 100% | 8 | {row['bleu']:.2f} | {row['exact']:.2f} | – | – | – |" in out

    def test_every_sentence_and_what_figures_depend_on(self, trained_path, corpus_path, tmp_path):
        paths = ["--json", tmp_path / "x.json", "--sentences", tmp_path / "x.jsonl"]
        code, _, _ = run("evaluate", trained_path, corpus_path, "--limit", "5", "--heads", "0", "--seed", "3", *paths)
        assert code == 0
        rows = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
        assert len(rows) == 5
        assert set(rows[0]) == {
            *("given", "hypothesis", "reference", "bleu", "words", "given_tags", "given_heads", "score"),
        }
        assert rows[0]["given"] == {"tags": 1, "heads": 0}
        figures = json.loads((tmp_path / "x.json").read_text())
        assert figures["seed"] == 3
        assert figures["options"]["beam_width"] == 8
        assert figures["settings"]["system"] == "order_first"
        assert "W0.w" in " ".join(figures["templates"]["partial"])
        assert {"python", "spacy", "spacy-linearize", "sacrebleu", "numpy"} == set(figures["versions"])

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
        names = {"span_lengths.png", "beams.png", "spans.png"}
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
