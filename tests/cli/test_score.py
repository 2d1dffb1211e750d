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
        assert header == ["number", "gap per word", "sentence", "better"]
        assert lines[0] == ["1", "0.00", "Who opened the door ?", ""]
        assert (lines[1][0], lines[1][3]) == ("2", "Who opened the door ?")
        assert float(lines[1][1]) > 0
        assert [line[1:] for line in lines[2:]] == [["0.00", "", ""], ["0.00", "dog", ""]]

    def test_json_lines(self, trained_path):
        _, out, _ = run("score", "--model", trained_path, "--jsonl", "the", "opened", "door", "Who", "?")
        row = json.loads(out)
        assert row["better"] == "Who opened the door ?"
        assert row["best_order"] == [3, 1, 0, 2, 4]
        assert row["gap"] == pytest.approx(row["best_score"] - row["score"])
        assert row["gap_per_word"] == pytest.approx(row["gap"] / 5)

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
