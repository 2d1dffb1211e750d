"""Processes that are killed, full disks, and files that are there as a whole or not at all."""

import io
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
import spacy
from helpers import core, damage
from helpers.processes import ENVIRONMENT, run_python
from spacy.tokens import Doc, DocBin

from spacy_linearize import atomic
from spacy_linearize.atomic import save_pipeline
from spacy_linearize.errors import LinearizeError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def nlp():
    return damage.make_pipeline()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_killed_while_saving(tmp_path):
    """20 times at random: the file is one of the two models, whole."""
    path, sources = tmp_path / "model", [tmp_path / "compact", tmp_path / "plain"]
    contents = [damage.make_model(source.name) for source in sources]
    for source, content in zip(sources, contents, strict=True):
        source.write_bytes(content)
    rng = random.Random(0)
    n_amid = 0
    for _ in range(20):
        command = [sys.executable, "-c", damage.SAVER, *map(str, (path, *sources))]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT, cwd=tmp_path) as process:
            assert process.stdout.readline() == b"ready\n"
            while not path.exists():
                time.sleep(0.001)
            time.sleep(rng.uniform(0, 0.03))
            process.kill()
        assert path.read_bytes() in contents
        core.from_bytes(path.read_bytes())
        left = set(tmp_path.iterdir()) - {path, *sources}
        n_amid += len(left)
        for file in left:
            file.unlink()
    assert n_amid  # some were killed between the first byte and the last


def test_a_write_that_fails(tmp_path, monkeypatch):
    """The old content stays, and nothing else is left."""
    path = tmp_path / "model"
    atomic.save(path, b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(atomic.os, name, fail)
            with pytest.raises(OSError, match="No space left"):
                atomic.save(path, b"new")
        assert [file.name for file in tmp_path.iterdir()] == ["model"]
        assert path.read_bytes() == b"old"
    atomic.save(path, b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_and_devices(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for content in (b"a", b"b"):
        atomic.save(tmp_path / "link", content)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "file").read_bytes() == content
    atomic.save("/dev/null", b"x")
    assert Path("/dev/null").is_char_device()


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_a_file_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    atomic.save(path, b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", mode)
    umask = os.umask(0o027)
    try:
        atomic.save(tmp_path / "another", b"new")
    finally:
        os.umask(umask)
    assert (tmp_path / "another").stat().st_mode & 0o777 == 0o640


def test_a_private_file_is_private_at_any_time(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o600)
    modes = []
    with monkeypatch.context() as patch:
        patch.setattr(atomic.os, "fsync", lambda _: modes.extend(f.stat().st_mode for f in tmp_path.iterdir()))
        atomic.save(path, b"new")
    assert len(modes) == 2
    assert sys.platform == "win32" or {mode & 0o077 for mode in modes} == {0}


def test_names_as_long_as_they_can_be(tmp_path):
    path = tmp_path / ("x" * 255)
    for content in (b"old", b"new"):
        atomic.save(path, content)
        assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_in_the_place_of_the_temporary_file(tmp_path, monkeypatch):
    """Who knows the name beforehand could have any file written over."""
    (tmp_path / "victim").write_bytes(b"mine")
    names = iter(["one", "two"])
    monkeypatch.setattr(atomic.secrets, "token_hex", lambda _: next(names))
    (tmp_path / ".one.tmp").symlink_to(tmp_path / "victim")
    atomic.save(tmp_path / "file", b"new")
    assert (tmp_path / "victim").read_bytes() == b"mine"
    assert (tmp_path / "file").read_bytes() == b"new"
    assert not (tmp_path / "file").is_symlink()


def test_a_line_that_goes_out_in_pieces():
    """A full disk may take a part of a line: it is taken back."""

    class Disk(io.BytesIO):
        free = 25

        def write(self, data):
            if not self.free:
                raise OSError(28, "No space left on device")
            data = bytes(data)[: min(self.free, 4)]
            self.free -= len(data)
            return super().write(data)

    disk = Disk()
    atomic.write_all(disk, b"0123456789\n")
    atomic.write_all(disk, b"0123456789\n")
    with pytest.raises(OSError, match="No space left"):
        atomic.write_all(disk, b"0123456789\n")
    assert disk.getvalue() == b"0123456789\n" * 2


@pytest.mark.parametrize("is_there", [False, True])
def test_a_pipeline_appears_as_a_whole(nlp, tmp_path, is_there, monkeypatch):
    path = tmp_path / "new" / "pipeline"
    if is_there:
        path.parent.mkdir()
        spacy.blank("de").to_disk(path)
        (path / "notes.txt").write_text("mine")
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    with monkeypatch.context() as patch:
        patch.setattr(nlp.get_pipe("linearizer").model, "to_bytes", lambda: 1 / 0, raising=False)
        with pytest.raises(ZeroDivisionError):
            save_pipeline(nlp, path)
    assert path.exists() == is_there
    assert before == {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    save_pipeline(nlp, path)
    assert list(path.parent.iterdir()) == [path]
    assert (path / "notes.txt").exists() == is_there
    doc = Doc(nlp.vocab, words=["door", "the", "opened", "?", "Who"])
    assert spacy.load(path)(doc).text == nlp(doc).text


def test_nothing_is_left_of_another_pipeline(nlp, tmp_path):
    """What the new one lacks would be loaded with it. What spaCy did not write stays."""
    path = tmp_path / ("x" * 250)
    other = spacy.blank("en")
    other.vocab.strings.add("of the other one")
    other.add_pipe("sentencizer")
    other.to_disk(path)
    (path / "README.md").write_text("mine")
    (path / "meta.json").chmod(0o600)
    assert (path / "sentencizer.json").exists()
    save_pipeline(nlp, path, exclude=["vocab"])
    assert sorted(file.name for file in path.iterdir()) == sorted(
        ["README.md", "config.cfg", "linearizer", "meta.json", "tokenizer"]
    )
    assert sys.platform == "win32" or (path / "meta.json").stat().st_mode & 0o777 == 0o600
    assert "of the other one" not in spacy.load(path).vocab.strings
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipeline_that_cannot_be_moved_in(nlp, tmp_path, monkeypatch):
    """Then the old one is back in its place."""
    path = tmp_path / "pipeline"
    spacy.blank("de").to_disk(path)
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    replace = os.replace

    def fail(source, target):
        if Path(target) == path / "tokenizer" and Path(source).parent.name == "new":
            raise OSError(28, "No space left on device")
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(atomic.os, "replace", fail)
        with pytest.raises(OSError, match="No space left"):
            save_pipeline(nlp, path)
    assert before == {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_no_pipeline(nlp, tmp_path):
    path = tmp_path / "home"
    (path / "vocab").mkdir(parents=True)
    (path / "vocab" / "mine.txt").write_text("mine")
    with pytest.raises(LinearizeError, match="SL187"):
        save_pipeline(nlp, path)
    assert [file.name for file in path.rglob("*.*")] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    save_pipeline(nlp, tmp_path / "empty")
    assert spacy.load(tmp_path / "empty").pipe_names == ["linearizer"]


# Runs commands with a limit on the size of files, as if the disk were full then.
FULL_DISK = """
import json, resource, sys
from typer.testing import CliRunner
from spacy_linearize.cli import app
results = []
for limit, *command in json.loads(sys.argv[1]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    result = CliRunner().invoke(app, command)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    results.append([result.exit_code, result.stderr])
print(json.dumps(results))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
def test_a_full_disk(nlp, tmp_path):
    """One line says so, and what was there before stays as it was. Lines that stream end with a whole one."""
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    out.mkdir()
    nlp.to_disk(data / "model")
    (data / "bags.txt").write_text("door the opened ? Who\n" * 20)
    docs = [Doc(nlp.vocab, words=["Who", "opened"], heads=[1, 1], deps=["nsubj", "ROOT"])]
    DocBin(docs=docs).to_disk(data / "gold.spacy")
    commands = [
        [100, "order", "--model", data / "model", "--input", data / "bags.txt", "--output", out / "bags.txt"],
        [100, "order", "--model", data / "model", "--input", data / "bags.txt", "--output", out / "bags.spacy"],
        [100, "convert", damage.DATA / "mini_en.conllu", out / "mini.spacy"],
        [10, "evaluate", data / "model", data / "gold.spacy", "--json", out / "figures.json"],
        [10_000, "compact", data / "model", out / "compact"],
        [10_000, "lm", data / "model", out / "lm", data / "bags.txt"],
    ]
    for name in ("bags.spacy", "mini.spacy", "figures.json"):
        (out / name).write_text("old")
    results = json.loads(run_python(FULL_DISK, json.dumps(commands, default=str)))
    for command, (code, message) in zip(commands, results, strict=True):
        assert code == 1, command
        assert "File too large" in message
        assert message.count("\n") == 1
    assert sorted(file.name for file in out.iterdir()) == ["bags.spacy", "bags.txt", "figures.json", "mini.spacy"]
    for name in ("bags.spacy", "mini.spacy", "figures.json"):
        assert (out / name).read_text() == "old"
    lines = (out / "bags.txt").read_text().splitlines(keepends=True)
    assert len(lines) > 1
    assert all(line == lines[0] and line.endswith("\n") for line in lines)
