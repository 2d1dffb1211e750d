"""spacy linearize score"""

import json

import pytest
from helpers.commands import run


class TestScore:
    def test_table(self, trained_path):
        code, out, err = run(
            "score", "--model", trained_path, stdin="Who opened the door ?\nthe opened door Who ?\n\ndog\n"
        )
        assert (code, err) == (0, "")
        header, *lines = [line.split("\t") for line in out.splitlines()]
        assert header == ["number", "probability", "gap per word", "sentence", "better"]
        assert lines[0] == ["1", "-", "0.00", "Who opened the door ?", ""]  # not calibrated
        assert (lines[1][:2], lines[1][4]) == (["2", "-"], "Who opened the door ?")
        assert float(lines[1][2]) > 0
        assert [line[1:] for line in lines[2:]] == [["-", "0.00", "", ""], ["-", "0.00", "dog", ""]]

    def test_the_table_shows_the_probability(self):
        _, out, _ = run("score", stdin="He is always late.\nHe always is late.\n")
        _, right, moved = [line.split("\t") for line in out.splitlines()]
        assert 0 < float(moved[1]) < 0.5 < float(right[1]) < 1

    def test_json_lines(self, trained_path):
        _, out, _ = run("score", "--model", trained_path, "--jsonl", "the", "opened", "door", "Who", "?")
        row = json.loads(out)
        assert row["better"] == "Who opened the door ?"
        assert row["best_order"] == [3, 1, 0, 2, 4]
        assert row["gap"] == pytest.approx(row["best_score"] - row["score"])
        assert row["gap_per_word"] == pytest.approx(row["gap"] / 5)
        assert row["probability"] is None  # not calibrated
        _, out, _ = run("score", "--jsonl", "He always is late.")
        row = json.loads(out)
        assert 0 < row["probability"] < 0.6
        assert row["moves"] == [{"start": 2, "end": 3, "before": 1, "text": "'is' before 'always'"}]

    def test_ordinary_sentences(self, trained_path, tmp_path):
        """The tokenizer splits them. Words that are given one by one stay as they are."""
        (tmp_path / "in.txt").write_text("Who opened the door?\nthe  opened door Who?\n")
        for source in (["-i", tmp_path / "in.txt"], ["-i", "-"]):
            stdin = None if source[1] != "-" else (tmp_path / "in.txt").read_text()
            code, out, err = run("score", "--model", trained_path, *source, stdin=stdin)
            assert (code, err) == (0, "")
            lines = [line.split("\t") for line in out.splitlines()[1:]]
            assert lines[0][2:] == ["0.00", "Who opened the door ?", ""]
            assert lines[1][3:] == ["the opened door Who ?", "Who opened the door ?"]
        assert "\tthe opened door Who ?\t" in run("score", "--model", trained_path, "the opened door Who?")[1]
        assert "\tthe dog?\t" in run("score", "--model", trained_path, "the", "dog?")[1]

    def test_what_cannot_be_scored_is_reported(self, trained_path, tmp_path):
        """Crossing arcs, unless arcs are not given."""
        rows = ["1\tdog\t_\t_\t_\t_\t3\tx\t_\t_", "2\tthe\t_\t_\t_\t_\t4\tx\t_\t_"]
        rows += ["3\tsees\t_\t_\t_\t_\t0\troot\t_\t_", "4\tit\t_\t_\t_\t_\t3\tx\t_\t_"]
        path = tmp_path / "crossing.conllu"
        path.write_text("\n".join(rows) + "\n")
        code, out, err = run("score", "--model", trained_path, "-i", path)
        assert code == 1
        assert len(out.splitlines()) == 1
        warning, problem = err.splitlines()
        assert warning.startswith("⚠ [SL058] 'linearizer' was not trained with the labels 'x'")
        assert problem.startswith("✘ 1 (line 1): [SL049]")
        code, out, _ = run("score", "--model", trained_path, "-i", path, "--no-use-heads")
        assert code == 0
        assert len(out.splitlines()) == 2
