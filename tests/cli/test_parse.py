"""spacy linearize parse"""

import os
import signal
import subprocess
import sys

import pytest
import spacy
import srsly
from helpers.commands import run
from helpers.docs import read_docs
from helpers.processes import ENVIRONMENT
from spacy.tokens import DocBin

pytestmark = pytest.mark.slow


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(doc.text for doc in read_docs()), encoding="utf8")
    return path


def texts(folder):
    vocab = spacy.blank("en").vocab
    return [doc.text for path in sorted(folder.glob("*.spacy")) for doc in DocBin().from_disk(path).get_docs(vocab)]


def test_writes_a_corpus_that_a_linearizer_learns_from(parser_path, text, tmp_path):
    (tmp_path / "more.txt").write_text("Tom sleeps in the garden.\n", encoding="utf8")
    options = ["--shard-size", 30, "--json", tmp_path / "counts.json", "--batch-size", 10]
    code, out, problem = run("parse", parser_path, text, tmp_path / "more.txt", tmp_path / "corpus", *options)
    assert (code, out) == (0, "")
    counts = srsly.read_json(tmp_path / "counts.json")
    assert counts["kept"] == len(texts(tmp_path / "corpus")) > 60
    assert f"✔ {counts['kept']} of {counts['sentences']} sentences ({counts['too_short']} too short, " in problem
    assert problem.endswith(f"{counts['words']:,} words, to {tmp_path / 'corpus'}\n")
    from spacy_linearize.training.corpus import Corpus

    nlp = spacy.blank("en")
    nlp.add_pipe("linearizer", config={"model": {"table_bits": 14, "attach_bits": 12}})
    corpus = Corpus(tmp_path / "corpus")
    nlp.initialize(lambda: corpus(nlp))
    losses = [nlp.update(list(corpus(nlp)), drop=0.0)["linearizer"] for _ in range(4)]
    assert losses[-1] < losses[0]
    # The same command again finds all done; another one is refused.
    assert run("parse", parser_path, text, tmp_path / "more.txt", tmp_path / "corpus", *options)[0] == 0
    code, _, problem = run("parse", parser_path, text, tmp_path / "corpus", *options)
    assert (code, problem.count("\n")) == (1, 1)
    assert "SL220" in problem


def test_standard_input_and_options(parser_path, tmp_path):
    command = [sys.executable, "-m", "spacy", "linearize", "parse", str(parser_path), "-", str(tmp_path / "corpus")]
    done = subprocess.run(
        [*command, "--keep-tokens", "--no-projective", "--limit", "2", "--disable", "tagger", "--max-words", "5"],
        input="The dog sleeps .\nThe dog sleeps .\none two three four five six\nWho is it ?\nnot wanted any more\n",
        text=True,
        capture_output=True,
        cwd=tmp_path,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0, done.stderr
    assert texts(tmp_path / "corpus") == ["The dog sleeps . ", "Who is it ? "]
    assert "2 of 4 sentences (0 too short, 1 too long" in done.stderr
    assert "1 there before" in done.stderr


def test_bad_input_is_one_line(parser_path, text, tmp_path, trained_path):
    (tmp_path / "cut.txt.gz").write_bytes(b"\x1f\x8b no")
    for arguments, code in (
        ([parser_path, tmp_path / "none.txt", tmp_path / "new"], "SL210"),
        ([parser_path, tmp_path / "cut.txt.gz", tmp_path / "new"], "SL215"),
        ([trained_path, text, tmp_path / "new2"], "SL217"),
        ([parser_path, text, tmp_path], "SL218"),
        ([parser_path, text, tmp_path / "new", "--min-words", 0], "SL022"),
        (["no_such_model", text, tmp_path / "new"], "E050"),
    ):
        exit_code, _, problem = run("parse", *arguments)
        assert (exit_code, problem.count("\n")) == (1, 1), problem
        assert code in problem
    (tmp_path / "bad.txt").write_bytes(b"The dog sleeps.\n\xff\n")
    code, _, problem = run("parse", parser_path, tmp_path / "bad.txt", tmp_path / "good")
    assert code == 0
    assert problem.startswith(f"⚠ [SL213] Line 2 of {tmp_path / 'bad.txt'}")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_a_run_that_is_stopped_says_so(parser_path, text, tmp_path):
    text.write_text(text.read_text(encoding="utf8") * 200, encoding="utf8")
    command = [sys.executable, "-m", "spacy", "linearize", "parse", str(parser_path), str(text), str(tmp_path / "c")]
    process = subprocess.Popen(
        [*command, "-n", "2", "--shard-size", "5", "--batch-size", "5"],
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=ENVIRONMENT,
        start_new_session=True,
    )
    while process.poll() is None and not (tmp_path / "c" / "000002.spacy").exists():
        pass
    os.killpg(process.pid, signal.SIGINT)
    _, problems = process.communicate(timeout=60)
    assert problems == "Stopped.\n"
    assert process.returncode == 130
