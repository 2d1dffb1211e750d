"""The commands order, score, convert and evaluate."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import spacy
from docs import read_docs
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner

from spacy_linearize.cli import app
from spacy_linearize.evaluation import span_scores, spans
from spacy_linearize.files import to_conllu

DATA = Path(__file__).parent / "data"


def run(*arguments, stdin=None):
    """Run a command in this process: exit code, standard output, standard error."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture(scope="module")
def order(trained_path):
    def run_order(*arguments, stdin=None):
        return run("order", "--model", trained_path, *arguments, stdin=stdin)

    return run_order


BAGS = "door the opened ? Who\nsleeps The . dog\n\ndog\n"
SENTENCES = "Who opened the door?\nThe dog sleeps.\n\ndog\n"


class TestOrder:
    def test_words(self, order):
        assert order("door", "the", "opened", "?", "Who") == (0, "Who opened the door?\n", "")

    def test_standard_input(self, order):
        assert order(stdin=BAGS) == (0, SENTENCES, "")

    @pytest.mark.parametrize("threads", [1, 3])
    def test_text_file(self, order, tmp_path, threads):
        (tmp_path / "bags.txt").write_text(BAGS * 50)
        code, out, _ = order("-i", tmp_path / "bags.txt", "-o", tmp_path / "out.txt", "--threads", threads)
        assert (code, out) == (0, "")
        assert (tmp_path / "out.txt").read_text() == SENTENCES * 50

    def test_trees_in_and_trees_out(self, order, tmp_path):
        """A CoNLL-U file comes back with every arc and label, whatever the order."""
        code, _, _ = order("-i", DATA / "mini_en.conllu", "-o", tmp_path / "out.conllu")
        assert code == 0
        assert run("convert", tmp_path / "out.conllu", tmp_path / "out.spacy")[0] == 0
        nlp = spacy.blank("en")
        outputs = list(DocBin().from_disk(tmp_path / "out.spacy").get_docs(nlp.vocab))
        golds = read_docs(nlp.vocab)
        for output, gold in zip(outputs, golds, strict=True):
            arcs = sorted((t.text, t.tag_, t.dep_, t.head.text) for t in gold)
            assert sorted((t.text, t.tag_, t.dep_, t.head.text) for t in output) == arcs
        same = sum([t.text for t in o] == [t.text for t in g] for o, g in zip(outputs, golds, strict=True))
        assert same > 0.8 * len(golds)

    def test_spacy_files(self, order, tmp_path):
        nlp = spacy.blank("en")
        DocBin(docs=[Doc(nlp.vocab, words=line.split()) for line in BAGS.splitlines()]).to_disk(tmp_path / "in.spacy")
        assert order("-i", tmp_path / "in.spacy", "-o", tmp_path / "out.spacy")[0] == 0
        docs = list(DocBin().from_disk(tmp_path / "out.spacy").get_docs(nlp.vocab))
        assert "".join(doc.text + "\n" for doc in docs) == SENTENCES

    def test_jsonl_and_nbest(self, order):
        code, out, _ = order("-f", "jsonl", "-n", "3", stdin=BAGS)
        records = [json.loads(line) for line in out.splitlines()]
        assert code == 0
        assert [record["number"] for record in records] == [1, 2, 3, 4]
        first = records[0]["orders"]
        assert first[0]["words"] == ["Who", "opened", "the", "door", "?"]
        assert first[0]["order"] == [4, 2, 1, 0, 3]
        assert first[0]["heads"] == [1, 1, 3, 1, 1]
        assert len(first) == 3
        assert len({tuple(alternative["words"]) for alternative in first}) == 3
        assert [a["score"] for a in first] == sorted((a["score"] for a in first), reverse=True)

    def test_ignoring_what_is_given(self, order):
        code, out, _ = order("-i", DATA / "mini_en.conllu", "--no-use-tags", "--no-use-heads", "-f", "jsonl")
        assert code == 0
        assert len(out.splitlines()) == len(read_docs())

    def test_a_bad_bag_is_reported_and_skipped(self, order, tmp_path):
        good = (DATA / "mini_en.conllu").read_text(encoding="utf8").split("\n\n")[0] + "\n\n"
        (tmp_path / "in.conllu").write_text(good + "1\tbroken\n\n" + good, encoding="utf8")
        code, out, err = order("-i", tmp_path / "in.conllu")
        assert code == 1
        assert out == "The dog sleeps in the garden.\n" * 2
        assert err == "✘ 11: 2 columns instead of 10, separated by tabs\n"

    def test_a_line_that_is_not_utf8(self, order, tmp_path):
        (tmp_path / "in.txt").write_bytes(b"dog\n\xff\xfe\ndog\n")
        assert order("-i", tmp_path / "in.txt") == (1, "dog\ndog\n", "✘ 2: it is not UTF-8\n")

    def test_inputs_that_cannot_be_meant(self, order):
        assert "[SL022] Setting 'input' is None" in order("--input-format", "conllu", stdin="1\tdog")[2]
        assert "[SL022] Setting 'input' is" in order("-i", DATA / "mini_en.conllu", "dog")[2]
        assert "[SL022] Setting 'nbest' is 0" in order("--nbest", "0", "dog")[2]

    def test_beam(self, order):
        assert order("--beam", "1", "dog")[:2] == (0, "dog\n")
        assert order("--beam", "0", "dog") == (1, "", "✘ [SL022] Setting 'beam' is 0, but must be 1 or more.\n")

    def test_mistakes_are_one_line(self, tmp_path, trained_path):
        code, _, err = run("order", "--model", tmp_path / "nothing", "dog")
        assert (code, err.count("\n")) == (1, 1)
        code, _, err = run("order", "--model", trained_path, "--input", tmp_path / "nothing.txt")
        assert (code, err.count("\n")) == (1, 1)
        spacy.blank("en").to_disk(tmp_path / "blank")
        assert "[SL052]" in run("order", "--model", tmp_path / "blank", "dog")[2]
        assert "[SL022]" in run("order", "--model", trained_path, "--format", "spacy", "dog")[2]

    @pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
    @pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
    def test_killed_in_the_middle(self, trained_path, tmp_path, kill):
        """Whole lines are left behind."""
        if signal.getsignal(kill) == signal.SIG_IGN:
            pytest.skip("signals of this kind are ignored here, as in a shell's background jobs")
        (tmp_path / "bags.txt").write_text("door the opened ? Who\n" * 200_000)
        command = [sys.executable, "-m", "spacy", "linearize", "order", "--model", trained_path]
        command += ["-i", tmp_path / "bags.txt", "-o", tmp_path / "out.txt"]
        process = subprocess.Popen([str(c) for c in command], cwd=tmp_path, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60
        out = tmp_path / "out.txt"
        try:
            while not (out.exists() and out.stat().st_size > 5000) and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(kill)
            process.communicate(timeout=30)
        finally:
            process.kill()
        assert process.returncode != 0
        lines = out.read_text()
        assert lines == "Who opened the door?\n" * (len(lines) // len("Who opened the door?\n"))
        assert 0 < len(lines) < 200_000 * 21


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
        with pytest.warns(UserWarning, match="SL058"):
            code, out, err = run("score", "--model", trained_path, "-i", path)
        assert code == 1
        assert len(out.splitlines()) == 1
        assert "1: [SL049]" in err
        code, out, _ = run("score", "--model", trained_path, "-i", path, "--no-use-heads")
        assert code == 0
        assert len(out.splitlines()) == 2


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

    def test_spans_by_hand(self):
        vocab = spacy.blank("en").vocab
        deps = ["x", "x", "ROOT", "x", "x"]
        gold = Doc(vocab, words=["the", "dog", "saw", "a", "cat"], heads=[1, 2, 2, 4, 2], deps=deps)
        other = Doc(vocab, words=["a", "cat", "saw", "dog", "the"], heads=[1, 2, 2, 2, 3], deps=deps)
        assert spans(gold) == [("the", "dog"), ("the", "dog", "saw", "a", "cat"), ("a", "cat")]
        rows = span_scores([(other, gold)])
        assert rows[0] == {"shorter_than": 5, "precision": 50.0, "recall": 50.0, "f": 50.0}  # of two, "a cat" is right
        assert rows[1]["precision"] == pytest.approx(100 / 3)  # and the whole sentence is wrong


def test_conllu_round_trip_keeps_everything():
    doc = read_docs(spacy.blank("en").vocab)[0]
    assert to_conllu(doc).splitlines()[1] == "1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_"


def test_module_is_the_same_command(tmp_path):
    def options(*module):
        command = [sys.executable, "-m", *module, "convert", "--help"]
        env = {**os.environ, "PYTHONUTF8": "1"}
        out = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True).stdout
        assert "Convert a treebank to a .spacy file" in out
        return out.split("Arguments:", 1)[1]

    assert options("spacy_linearize") == options("spacy", "linearize")
