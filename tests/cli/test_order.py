"""spacy linearize order"""

import gc
import io
import json
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest
import spacy
from helpers.commands import run
from helpers.docs import read_docs
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_linearize.cli._stream import Input

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture(scope="module")
def order(trained_path):
    def run_order(*arguments, stdin=None):
        return run("order", "--model", trained_path, *arguments, stdin=stdin)

    return run_order


BAGS = "door the opened ? Who\nsleeps The . dog\n\ndog\n"


SENTENCES = "Who opened the door?\nThe dog sleeps.\n\ndog\n"


OWN_HEAD = "✘ 1 (line 1): [SL202] The sentence cannot be read: 'dog' is its own head. Correct it, or leave it out.\n"


class TestOrder:
    def test_words(self, order):
        assert order("door", "the", "opened", "?", "Who") == (0, "Who opened the door?\n", "")

    def test_words_in_quotes_are_read_like_a_line(self, order, trained_path):
        assert order("door the opened ? Who") == (0, "Who opened the door?\n", "")
        assert run("score", "--model", trained_path, "the opened door Who ?")[1].endswith("\tWho opened the door ?\n")
        assert order("New York", "dog")[1].count("New York") == 1

    def test_the_keyboard_is_told_of(self, monkeypatch, capsys):
        """Without words, and without a file, a terminal would just wait."""
        nlp = spacy.blank("en")
        nlp.add_pipe("linearizer")
        monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True, buffer=io.BytesIO(b"dog the\n")))
        assert [bag.doc.text for bag in Input(None, None).read(nlp)] == ["dog the "]
        assert "Ctrl-D" in capsys.readouterr().err

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

    def test_json_lines_out(self, order):
        code, out, _ = order("-f", "jsonl", "-n", "3", stdin=BAGS)
        assert order("-f", "jsonl", "--n-best", "3", stdin=BAGS) == order("-f", "jsonl", "--nbest", "3", stdin=BAGS)
        records = [json.loads(line) for line in out.splitlines()]
        assert code == 0
        assert [record["id"] for record in records] == [1] * 3 + [2] * 3 + [3] + [4]
        first = records[:3]
        assert first[0]["words"] == ["Who", "opened", "the", "door", "?"]
        assert first[0]["text"] == "Who opened the door?"
        assert first[0]["order"] == [4, 2, 1, 0, 3]
        assert first[0]["heads"] == [1, 1, 3, 1, 1]
        assert [one["rank"] for one in first] == [1, 2, 3]
        assert len({tuple(one["words"]) for one in first}) == 3
        assert [one["score"] for one in first] == sorted((one["score"] for one in first), reverse=True)

    def test_json_lines_in(self, order, tmp_path):
        bags = [
            {"id": "a", "words": ["door", "the", "opened", "?", "Who"], "heads": [2, 0, 2, 2, 2]},
            {"words": ["dog", "The"], "precedences": [[0, 1]]},
            {"id": 7, "words": ["dog"], "heads": [3]},
            {"words": ["sleeps", ".", "The", "dog"], "units": [[2, 4]]},
        ]
        lines = [json.dumps(bag) for bag in bags] + ["", "no JSON"]
        (tmp_path / "bags.jsonl").write_text("\ufeff" + "\n".join(lines) + "\n", encoding="utf8")
        code, out, err = order("-i", tmp_path / "bags.jsonl", "-f", "jsonl")
        answers = [json.loads(line) for line in out.splitlines()]
        assert [answer["id"] for answer in answers] == ["a", 2, 7, 4, 6]
        assert [answer.get("text") for answer in answers] == [
            "Who opened the door?", "dog The", None, "The dog sleeps.", None
        ]  # fmt: skip
        assert [answer["error"][:7] for answer in answers if "error" in answer] == ["[SL221]", "[SL222]"]
        assert (code, err.count("\n")) == (1, 2)
        assert err.startswith(f"✘ 3: {answers[2]['error']}\n")
        # What was written can be read again, and text keeps its lines.
        again = order("-i", "-", "--input-format", "jsonl", stdin="".join(out.splitlines(True)[:2]))
        assert again == (0, "Who opened the door?\ndog The\n", "")

    def test_several_orders_as_text(self, order):
        code, out, _ = order("-n", "2", stdin=BAGS)
        blocks = [[line.split("\t") for line in block.splitlines()] for block in out.split("\n\n")]
        assert (code, len(blocks)) == (0, 4)
        assert [line[0] for line in blocks[0]] == ["1", "2"]
        assert blocks[0][0][2] == "Who opened the door?"
        assert float(blocks[0][0][1]) > float(blocks[0][1][1])
        assert blocks[2:] == [[["1", "0.0", ""]], [["1", blocks[3][0][1], "dog"]]]

    def test_one_order_as_text_stays_a_line(self, order):
        assert order("-n", "1", stdin=BAGS)[1] == SENTENCES

    @pytest.mark.parametrize("kind", ["text", "conllu", "jsonl", "spacy"])
    def test_standard_streams_of_any_format(self, order, tmp_path, kind):
        path = tmp_path / f"bags.{'txt' if kind == 'text' else kind}"
        path.write_text("door the opened ? Who\n")
        if kind != "text":
            assert order("-o", path, "door the opened ? Who")[0] == 0
        code, out, err = order("-i", "-", "--input-format", kind, "-o", "-", stdin=path.read_bytes())
        assert (code, out, err) == (0, "Who opened the door?\n", "")
        assert not Path("-").exists()

    def test_docs_to_standard_output(self, trained_path, tmp_path):
        command = [sys.executable, "-m", "spacy_linearize", "order", "-m", trained_path, "-f", "spacy", "dog The"]
        data = subprocess.run(command, capture_output=True, check=True, timeout=120, cwd=tmp_path).stdout
        (doc,) = DocBin().from_bytes(data).get_docs(Vocab())
        assert doc.text == "The dog"

    def test_ignoring_what_is_given(self, order):
        """Then the words of a treebank are ordered as if they stood alone."""

        def orders(*arguments, **settings):
            code, out, _ = order("-f", "jsonl", *arguments, **settings)
            assert code == 0
            return [(answer["words"], answer["score"]) for answer in map(json.loads, out.splitlines())]

        golds = [[token.text for token in doc] for doc in read_docs()]
        alone = orders(stdin="".join(" ".join(words) + "\n" for words in golds))
        ignored = orders("-i", DATA / "mini_en.conllu", "--no-use-tags", "--no-use-heads")
        with_tags = orders("-i", DATA / "mini_en.conllu", "--no-use-heads")
        with_trees = orders("-i", DATA / "mini_en.conllu")
        assert ignored == alone
        assert alone != with_tags != with_trees != alone

    def test_a_bad_bag_is_reported_and_skipped(self, order, trained_path, tmp_path):
        """It keeps its number, and in text its line."""
        good = (DATA / "mini_en.conllu").read_text(encoding="utf8").split("\n\n")[0] + "\n\n"
        path = tmp_path / "in.conllu"
        path.write_text(good + "1\tbroken\n\n" + good + "1\tbroken\n", encoding="utf8")
        problem = "[SL202] The sentence cannot be read: 2 columns instead of 10, separated by tabs. Correct it, or "
        problem += "leave it out.\n"
        problems = f"✘ 2 (line 11): {problem}✘ 4 (line 23): {problem}"
        sentence = "The dog sleeps in the garden.\n"
        assert order("-i", path) == (1, f"{sentence}\n{sentence}\n", problems)
        code, out, err = order("-i", path, "-f", "jsonl")
        answers = [json.loads(line) for line in out.splitlines()]
        assert (code, [answer.get("text", "") + "\n" for answer in answers], err) == (
            1,
            [sentence, "\n", sentence, "\n"],
            problems,
        )
        assert [answer["id"] for answer in answers[1::2]] == [2, 4]
        assert f"{answers[1]['error']}\n" == problem
        assert order("-i", path, "-f", "conllu")[1].count("# text") == 2
        order("-i", path, "-o", tmp_path / "out.spacy")
        assert len(DocBin().from_disk(tmp_path / "out.spacy")) == 2
        code, out, err = run("score", "--model", trained_path, "-i", path)
        assert (code, [line.split("\t")[0] for line in out.splitlines()], err) == (1, ["number", "1", "3"], problems)
        code, _, err = run("view", "--model", trained_path, "-i", path, "-o", tmp_path / "pages")
        assert (code, err.startswith(problems)) == (1, True)
        assert {file.name for file in (tmp_path / "pages").iterdir()} == {"1.html", "3.html", "index.html"}

    def test_heads_that_are_ignored_may_be_bad(self, order, trained_path, tmp_path):
        path = tmp_path / "in.conllu"
        path.write_text("".join(f"{i}\t{word}\t_\t_\t_\t_\t{i}\tx\t_\t_\n" for i, word in enumerate(["dog", "The"], 1)))
        assert order("-i", path) == (1, "\n", OWN_HEAD)
        assert order("-i", path, "--no-use-heads") == (0, "The dog\n", "")
        assert run("score", "--model", trained_path, "-i", path, "--no-use-heads")[0] == 0

    def test_a_line_that_is_not_utf8(self, order, trained_path, tmp_path):
        path = tmp_path / "in.txt"
        path.write_bytes(b"dog\n\xff\xfe\ndog\n")
        problem = (
            f"✘ 2: [SL182] {path} is not UTF-8 text. Save it as UTF-8; .spacy and .arpa files need these suffixes.\n"
        )
        assert order("-i", path) == (1, "dog\n\ndog\n", problem)
        assert run("score", "--model", trained_path, "-i", path)[2] == problem
        assert "2: [SL182] Standard input is not" in order(stdin=path.read_bytes())[2]

    @pytest.mark.parametrize("name", ["keep.txt", "keep.jsonl", "keep.conllu", "keep.spacy"])
    def test_what_cannot_be_read_costs_no_output(self, order, tmp_path, name):
        (tmp_path / "bad.spacy").write_text("no DocBin")
        (tmp_path / "folder").mkdir()
        (tmp_path / "empty.txt").write_text("")
        keep = tmp_path / name
        keep.write_text("old")
        for source in ("bad.spacy", "folder", "nothing.txt", "nothing.conllu"):
            assert order("-i", tmp_path / source, "-o", keep)[0] == 1
            assert keep.read_text() == "old"
        for wrong in ("0", "-1"):
            code, _, problem = order("-i", tmp_path / "empty.txt", "-o", keep, "--threads", wrong)
            assert (code, keep.read_text()) == (1, "old")
            assert f"[SL022] Setting 'threads' is {wrong}" in problem
        # That there are no bags is no error.
        assert order("-i", tmp_path / "empty.txt", "-o", keep) == (0, "", "")
        assert len(DocBin().from_disk(keep)) == 0 if name == "keep.spacy" else keep.read_bytes() == b""

    def test_the_folder_of_the_output(self, order, tmp_path):
        for name in ("out.spacy", "out.txt"):
            assert order("-o", tmp_path / "folder" / "new" / name, "dog")[0] == 0
            assert (tmp_path / "folder" / "new" / name).exists()
            (tmp_path / "file").write_text("old")
            for wrong, named in ((tmp_path / "file" / name, "file'"), (tmp_path / "folder", "folder'")):
                code, _, problem = order("-f", "spacy", "-o", wrong, "dog")
                assert (code, problem.count("\n")) == (1, 1)
                assert problem.endswith(f"{named}\n")

    def test_a_file_as_a_word(self, order, trained_path, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("small.txt").write_text(BAGS)
        for command in ("order", "score", "view"):
            code, out, problem = run(command, "--model", trained_path, "small.txt")
            assert (code, out, problem.count("\n")) == (1, "", 1)
            assert "[SL184] The only word, 'small.txt', is the name of a file. Read the file with '--input" in problem
        assert order("small.txt", "dog")[0] == 0
        assert order("dog " * 300)[0] == 0  # longer than names of files are

    def test_what_the_suffix_of_the_output_tells(self, order, tmp_path):
        code, _, problem = order("-o", tmp_path / "out.csv", "dog")
        assert (code, list(tmp_path.iterdir())) == (1, [])
        assert "must be a file that ends in .txt, .conllu, .jsonl, .spacy, or come with --format" in problem
        for name, more in (("out", []), ("out.TXT", []), ("out.csv", ["--format", "text"])):
            assert order("-o", tmp_path / name, *more, "dog")[0] == 0
            assert (tmp_path / name).read_text() == "dog\n"
        assert order("-o", tmp_path / "out.JSONL", "dog")[0] == 0
        assert json.loads((tmp_path / "out.JSONL").read_text())["id"] == 1

    def test_what_the_suffix_of_the_input_tells(self, order, trained_path, tmp_path):
        path = tmp_path / "bags.conll"
        path.write_text(BAGS)
        for code, out, problem in (order("-i", path), run("score", "--model", trained_path, "-i", path)):
            assert (code, out, problem.count("\n")) == (1, "", 1)
            assert "[SL022] Setting 'input' is" in problem
            assert "or come with --input-format" in problem
        assert order("-i", path, "--input-format", "text") == (0, SENTENCES, "")
        assert order("-i", path.rename(tmp_path / "bags")) == (0, SENTENCES, "")

    @pytest.mark.parametrize("threads", [1, 2])
    def test_more_docs_than_are_kept_in_memory(self, order, trained_path, tmp_path, monkeypatch, threads):
        """Each with words of its own, which are forgotten after some Docs."""
        monkeypatch.setattr("spacy_linearize.cli._stream.BATCH", 4)
        words = [[f"word{i}", f"dog{i}", "the", "."] for i in range(20)]
        DocBin(docs=[Doc(Vocab(), words=some) for some in words]).to_disk(tmp_path / "bags.spacy")
        code, out, problem = order("-i", tmp_path / "bags.spacy", "--threads", threads, "--format", "jsonl")
        assert (code, problem) == (0, "")
        found = [json.loads(line)["words"] for line in out.splitlines()]
        assert [sorted(some) for some in found] == [sorted(some) for some in words]
        code, out, problem = run("score", "--model", trained_path, "-i", tmp_path / "bags.spacy")
        assert (code, problem, len(out.splitlines())) == (0, "", 21)

    def test_an_empty_bag_in_conllu(self, order, tmp_path):
        """It has no block, and what is written can be read again."""
        assert order("-o", tmp_path / "out.conllu", stdin="dog the\n\nopened Who\n")[0] == 0
        code, out, problem = order("-i", tmp_path / "out.conllu")
        assert (code, len(out.splitlines()), problem) == (0, 2, "")

    def test_the_bundled_pipeline_has_a_name(self, corpus_path, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert run("order", "--model", "en_ud", "door the opened ? Who")[1] == "Who opened the door?\n"
        assert run("evaluate", "en_ud", corpus_path, "--limit", "2")[0] == 0
        spacy.blank("en").to_disk("en_ud")
        assert "[SL052]" in run("order", "--model", "en_ud", "dog")[2]  # the folder comes first

    def test_inputs_that_cannot_be_meant(self, order):
        assert "[SL022] Setting 'input' is None" in order("--input-format", "conllu", "dog")[2]
        assert "[SL022] Setting 'input' is" in order("-i", DATA / "mini_en.conllu", "dog")[2]
        assert order("--input-format", "csv", stdin="{}")[0] == 2
        for wrong in ("0", str(10**12)):
            assert (
                f"[SL022] Setting 'nbest' is {wrong}, but must be from 1 to 1,000,000" in order("-n", wrong, "dog")[2]
            )

    def test_the_input_is_not_written_over(self, order, tmp_path):
        path = tmp_path / "bags.txt"
        path.write_text(BAGS)
        (tmp_path / "link.txt").symlink_to(path)
        for target in (path, tmp_path / "link.txt"):
            code, _, problem = order("-i", path, "-o", target)
            assert (code, problem.count("\n")) == (1, 1)
            assert "SL181" in problem
        for command in (["convert", "--format", "conllu", path, path], ["view", "-i", path, "-o", path]):
            code, _, problem = run(*command)
            assert (code, path.read_text()) == (1, BAGS)
            assert "SL181" in problem

    def test_a_byte_order_mark(self, order, tmp_path):
        (tmp_path / "bags.txt").write_text(BAGS, encoding="utf-8-sig")
        assert order("-i", tmp_path / "bags.txt") == (0, SENTENCES, "")

    @pytest.mark.parametrize("how", ["empty", "cut", "text", "packed text", "flipped"])
    def test_a_damaged_spacy_file(self, order, trained_path, tmp_path, how):
        data = DocBin(docs=read_docs()[:5]).to_bytes()
        broken = {
            "empty": b"",
            "cut": data[: len(data) // 2],
            "text": b"door the opened ? Who\n",
            "packed text": zlib.compress(b"door"),
            "flipped": data[:100] + bytes([data[100] ^ 255]) + data[101:],
        }[how]
        path = tmp_path / "x.spacy"
        path.write_bytes(broken)
        for code, _, problem in (
            order("-i", path),
            run("evaluate", trained_path, path),
            run("lm", trained_path, tmp_path / "new", path),
        ):
            assert (code, problem.count("\n")) == (1, 1)
            assert f"[SL180] {path} cannot be read" in problem
            assert "spaCy v2" not in problem  # its advice does not help here
        assert gc.isenabled()

    def test_beam(self, order):
        assert order("--beam", "1", "dog")[:2] == (0, "dog\n")
        for wrong in ("0", str(10**12)):
            problem = f"✘ [SL022] Setting 'beam' is {wrong}, but must be from 1 to 1,000,000.\n"
            assert order("--beam", wrong, "dog") == (1, "", problem)

    def test_mistakes_are_one_line(self, tmp_path, trained_path):
        code, _, err = run("order", "--model", tmp_path / "nothing", "dog")
        assert (code, err.count("\n")) == (1, 1)
        code, _, err = run("order", "--model", trained_path, "--input", tmp_path / "nothing.txt")
        assert (code, err.count("\n")) == (1, 1)
        spacy.blank("en").to_disk(tmp_path / "blank")
        assert "[SL052]" in run("order", "--model", tmp_path / "blank", "dog")[2]

    def test_units_without_a_parser(self, trained_path, tmp_path):
        """What spaCy says of it is left out, and so is its advice."""
        nlp = spacy.load(trained_path, config={"components": {"linearizer": {"units": "noun_chunks"}}})
        nlp.to_disk(tmp_path / "chunks")
        assert run("order", "--model", tmp_path / "chunks", "dog", "the")[2] == (
            "✘ 1: [SL062] 'linearizer' has units = 'noun_chunks', but the Doc has none. Parse it first, in a language "
            "with noun chunks, or use a span group.\n"
        )

    @pytest.mark.slow
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
