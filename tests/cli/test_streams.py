"""Standard streams that are files, closed or full; and one odd bag among others."""

import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import fuzz_streams
import pytest
import spacy
from helpers.commands import run
from spacy.tokens import Doc, DocBin

from spacy_linearize.atomic import open_alone
from spacy_linearize.errors import LinearizeError
from spacy_linearize.files.bags import Writer
from spacy_linearize.linearizer import Linearizer

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "PYTHONUTF8": "1"}
BAGS = "door the opened ? Who\nsleeps The . dog\n\ndog\n"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="a shell of Unix")]


@pytest.fixture
def shell(trained_path, tmp_path):
    """Run a command line: exit code, standard output, standard error."""

    def run_shell(line):
        python = f"'{sys.executable}' -m spacy_linearize"
        line = line.replace("order", f"{python} order --model '{trained_path}'", 1)
        line = line.replace("score", f"{python} score --model '{trained_path}'", 1)
        line = line.replace("view", f"{python} view --model '{trained_path}'", 1)
        line = line.replace("evaluate", f"{python} evaluate '{trained_path}'", 1)
        result = subprocess.run(["sh", "-c", line], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, timeout=120)
        return result.returncode, result.stdout.decode(), result.stderr.decode()

    return run_shell


class TestWhatIsReadIsNotWritten:
    @pytest.mark.parametrize(
        "line",
        [
            "order -o f.txt < f.txt",
            "order -o link.txt < f.txt",
            "order -i f.txt >> f.txt",
            "order < f.txt >> f.txt",
            "order -i /dev/stdin -o f.txt < f.txt",
            "order -i f.txt -o /dev/stdout >> f.txt",
            "score < f.txt >> f.txt",
            "score -i link.txt >> f.txt",
            "view --input-format text -i linearization.html",
            "view --input-format text -o pages < pages/1.html",
            "evaluate corpus.spacy >> corpus.spacy",
            "evaluate corpus.spacy --plot plots --log plots/spans.svg",
        ],
    )
    def test_through_streams(self, shell, tmp_path, corpus_path, line):
        shutil.copy(corpus_path, tmp_path / "corpus.spacy")
        for name in ("pages", "plots"):
            (tmp_path / name).mkdir()
        for name in ("f.txt", "pages/1.html"):
            (tmp_path / name).write_text(BAGS)
        (tmp_path / "linearization.html").write_text("dog the\n")
        (tmp_path / "plots" / "spans.svg").write_text("{}\n")
        (tmp_path / "link.txt").symlink_to("f.txt")
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        code, out, problem = shell(line)
        assert (code, out, problem.count("\n")) == (1, "", 1)
        assert "[SL181]" in problem
        assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def test_devices_may_be_both(self, shell):
        assert shell("order < /dev/null > /dev/null 2> /dev/null") == (0, "", "")
        assert shell("order -i /dev/null -o /dev/null < /dev/null") == (0, "", "")

    def test_nor_a_file_of_the_model(self, trained_path, corpus_path, tmp_path):
        shutil.copytree(trained_path, tmp_path / "model")
        meta = tmp_path / "model" / "meta.json"
        before = meta.read_bytes()
        assert "[SL181]" in run("evaluate", tmp_path / "model", corpus_path, "--json", meta)[2]
        assert "[SL181]" in run("compact", trained_path, tmp_path / "model", "--meta", meta)[2]
        assert "[SL181]" in run("lm", trained_path, tmp_path / "model", meta)[2]
        assert meta.read_bytes() == before

    def test_a_treebank_in_its_own_folder(self, tmp_path):
        row = "1\tdog\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
        (tmp_path / "a.bank").write_text(row)
        (tmp_path / "out.spacy").write_text("old")
        code, _, problem = run("convert", tmp_path, tmp_path / "out.spacy", "--format", "conllu")
        assert (code, (tmp_path / "out.spacy").read_text()) == (1, "old")
        assert "[SL181]" in problem


class TestClosedStreams:
    @pytest.mark.parametrize("line", ["order <&-", "score <&-", "view <&-"])
    def test_input(self, shell, line):
        code, out, problem = shell(line)
        assert (code, out, problem.count("\n")) == (1, "", 1)
        assert "[SL189] Standard input is closed" in problem

    @pytest.mark.parametrize("line", ["order dog >&-", "score dog >&-"])
    def test_output(self, shell, line):
        code, _, problem = shell(line)
        assert (code, problem.count("\n")) == (1, 1)
        assert "[SL189] Standard output is closed" in problem

    def test_what_is_not_needed_may_be_closed(self, shell, tmp_path):
        assert shell("order dog the -o x.txt <&- >&- 2>&-") == (0, "", "")
        assert len((tmp_path / "x.txt").read_text().split()) == 2
        # What goes to standard error does not go to standard output instead.
        assert shell("order --n-best 0 dog 2>&-") == (1, "", "")
        assert shell("order dog 2>&- <&-")[:2] == (0, "dog\n")

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
    @pytest.mark.parametrize("line", ["order dog", "order -i bad.txt", "score --jsonl dog", "score --jsonl -i bad.txt"])
    def test_a_full_disk(self, shell, tmp_path, line):
        """One line, and Python does not complain once more at its end."""
        (tmp_path / "bad.txt").write_bytes(b"dog\n\xff\n")
        code, _, problem = shell(f"{line} > /dev/full")
        assert code == 1
        assert problem.count("\n") == 1 or ("✘ 2:" in problem and problem.count("\n") == 2)
        assert problem.endswith("No space left on device\n")
        assert shell(f"{line} 2> /dev/full")[:2] == shell(line)[:2]

    @pytest.mark.parametrize("command", ["order", "score", "view"])
    def test_words_that_are_not_utf8(self, shell, command):
        code, out, problem = shell(f"{command} dog \"$(printf 'a\\377')\"")
        assert (code, out, problem.count("\n")) == (1, "", 1)
        assert "[SL201] 'a\\udcff' is not UTF-8 text" in problem

    def test_names_that_are_not_utf8(self, shell, tmp_path, corpus_path):
        """Those of files may be any bytes."""
        shutil.copy(corpus_path, os.fsencode(tmp_path) + b"/\xff.spacy")
        name = "\"$(printf '\\377.spacy')\""
        assert shell(f"order -i {name} -o {name}.txt")[::2] == (0, "")
        code, _, problem = shell(f"evaluate {name} --limit 2 --json {name}.json")
        assert (code, problem) == (0, "")
        assert b"udcff.spacy" in Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.spacy.json")).read_bytes()


class TestOneOddBag:
    def test_costs_only_itself(self, trained_path, tmp_path, monkeypatch):
        """Whatever goes wrong with it."""

        def odd(method, first):
            def wrapper(self, given):
                if any(doc.text.startswith("sleeps") for doc in first(given)):
                    raise TypeError("an odd\nthing. And more of it")
                return method(self, given)

            return wrapper

        monkeypatch.setattr(Linearizer, "_order", odd(Linearizer._order, list))
        monkeypatch.setattr(Linearizer, "score_order", odd(Linearizer.score_order, lambda doc: [doc]))
        problem = (
            "✘ 2: [SL200] An error inside spacy_linearize or spaCy (TypeError: an odd thing). Leave the bag out, "
            "and report it as a bug.\n"
        )
        out = (1, "Who opened the door?\n\n\ndog\n", problem)
        assert run("order", "--model", trained_path, stdin=BAGS) == out
        assert run("order", "--model", trained_path, "--threads", 2, stdin=BAGS) == out
        code, out, err = run("score", "--model", trained_path, stdin=BAGS)
        assert (code, [line.split("\t")[0] for line in out.splitlines()], err) == (
            1,
            ["number", "1", "3", "4"],
            problem,
        )
        (tmp_path / "in.txt").write_text(BAGS)
        code, _, err = run("view", "--model", trained_path, "-i", tmp_path / "in.txt", "-o", tmp_path / "pages")
        assert (code, err.startswith(problem)) == (1, True)
        assert {file.name for file in (tmp_path / "pages").iterdir()} == {"1.html", "4.html", "index.html"}

    @pytest.mark.parametrize("kind", ["text", "jsonl", "conllu", "spacy"])
    def test_that_cannot_be_written(self, trained_path, tmp_path, monkeypatch, kind):
        """Of several orders of a bag all are written, or none."""
        write = Writer.write

        def spoiled(self, number, docs):
            if number == 2:
                docs[-1].user_data["odd"] = object()  # which a .spacy file cannot hold
                docs = [*docs, None] if kind != "spacy" else docs
            write(self, number, docs)

        monkeypatch.setattr(Writer, "write", spoiled)
        path = tmp_path / "out"
        command = ["order", "--model", trained_path, "-o", path, "-f", kind, "-n", 2]
        code, _, problem = run(*command, stdin="the dog\ndog the\na dog\n")
        assert (code, problem.count("\n")) == (1, 1)
        assert problem.startswith("✘ 2: [SL200]")
        if kind == "spacy":
            found = [doc.text.strip() for doc in DocBin().from_disk(path).get_docs(spacy.blank("en").vocab)]
            assert [sorted(text.split()) for text in found] == [["dog", "the"]] * 2 + [["a", "dog"]] * 2
        else:
            n_lines = {"text": 6, "jsonl": 5, "conllu": 4 * 6}[kind]
            assert path.read_text().count("\n") == n_lines

    @pytest.mark.parametrize("command", ["order", "score"])
    def test_lone_surrogates(self, trained_path, tmp_path, command):
        """Half a character as a word, a tag or a label: some programs write such bytes."""
        half = b"\xed\xa0\x80"
        row = b"1\tdog\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
        spoiled = [row.replace(b"dog", half), row.replace(b"\t_\t_\t_\t0", b"\t_\t" + half + b"\t_\t0")]
        spoiled.append(row.replace(b"root", half))
        (tmp_path / "in.conllu").write_bytes(row + b"".join(spoiled) + row)
        code, out, problem = run(command, "--model", trained_path, "-i", tmp_path / "in.conllu", "--beam", 1)
        assert (code, out.count("dog")) == (1, 2)
        assert problem.count("[SL202] The sentence cannot be read: this line is not UTF-8.") == 3
        doc = Doc(spacy.blank("en").vocab, words=["dog"], tags=["TAGX"])
        data = zlib.decompress(DocBin(docs=[doc]).to_bytes()).replace(b"TAGX", b"X" + half)
        (tmp_path / "in.spacy").write_bytes(zlib.compress(data))
        code, _, problem = run(command, "--model", trained_path, "-i", tmp_path / "in.spacy")
        assert (code, problem.count("\n")) == (1, 1)
        assert "[SL180]" in problem

    def test_words_with_line_ends(self, trained_path, tmp_path):
        """A row stays a row, and a report a line."""
        doc = Doc(spacy.blank("en").vocab, words=["a\tb", "\n", "dog"])
        bad = doc.copy()
        bad.user_data["._.", "linearize_before", None, None] = [[0, 1], [1, 0]]
        DocBin(docs=[doc, bad], store_user_data=True).to_disk(tmp_path / "in.spacy")
        code, out, problem = run("score", "--model", trained_path, "-i", tmp_path / "in.spacy")
        assert (code, problem.count("\n")) == (1, 1)
        assert [line.count("\t") for line in out.splitlines()] == [4, 4]


class TestOneWriterAtATime:
    @pytest.mark.parametrize("kind", ["text", "jsonl", "conllu"])
    def test_another_process_is_refused(self, trained_path, tmp_path, kind):
        path = tmp_path / "out"
        with open_alone(path) as file:
            file.write(b"of the other one\n")
            code, _, problem = run("order", "--model", trained_path, "-f", kind, "-o", path, stdin=BAGS)
            assert (code, problem.count("\n")) == (1, 1)
            assert "[SL186]" in problem
            assert path.read_bytes() == b"of the other one\n"
        assert run("order", "--model", trained_path, "-f", kind, "-o", path, stdin=BAGS)[0] == 0

    @pytest.mark.slow
    def test_no_holes(self, tmp_path):
        """Two processes that write as long as they can leave whole lines of one."""
        program = (
            "import sys, time; from pathlib import Path; from spacy_linearize.atomic import open_alone, write_all\n"
            "file = open_alone(Path(sys.argv[1]))\n"
            "for _ in range(300): write_all(file, sys.argv[2].encode() * 50 + b'\\n'); time.sleep(0.005)"
        )
        command = [sys.executable, "-c", program, str(tmp_path / "out")]
        settings = {"env": ENVIRONMENT, "cwd": tmp_path, "stderr": subprocess.DEVNULL}
        processes = [subprocess.Popen([*command, name], **settings) for name in "ab"]
        codes = sorted(process.wait(60) for process in processes)
        lines = (tmp_path / "out").read_bytes().split(b"\n")
        assert codes in ([0, 1], [0, 0])  # on a busy machine, one after the other
        assert lines in ([b"a" * 50] * 300 + [b""], [b"b" * 50] * 300 + [b""])

    def test_devices_have_no_owner(self):
        with open_alone(Path("/dev/null")), open_alone(Path("/dev/null")):
            pass

    def test_a_file_that_is_ours(self, tmp_path):
        """What was there is gone, and the lock with the file."""
        (tmp_path / "out").write_bytes(b"old and long\n")
        for _ in range(2):
            with open_alone(tmp_path / "out") as file:
                file.write(b"new\n")
                with pytest.raises(LinearizeError, match="SL186"):
                    open_alone(tmp_path / "out")
            assert (tmp_path / "out").read_bytes() == b"new\n"


def test_fuzz():
    """A short run of benchmarks/fuzz_streams.py."""
    counts, violations = fuzz_streams.campaign(100, seed=3)
    assert not violations, violations[0]
    assert {"all good", "some bags failed", "refused", "usage"} <= counts.keys()


def test_the_fuzz_would_notice(monkeypatch):
    """Lines that are lost, and tracebacks."""
    for name, broken in (("skip", lambda self: None), ("_put", lambda self, text: 1 / 0 if text == "" else None)):
        with monkeypatch.context() as patch:
            patch.setattr(Writer, name, broken)
            assert fuzz_streams.campaign(40, seed=3)[1]
