"""Damaged files, processes that are killed, and full disks. benchmarks/faults.py does the same in larger numbers."""

import gc
import io
import json
import os
import pickle
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import damage
import pytest
import spacy
from spacy.tokens import Doc, DocBin

import spacy_linearize
from spacy_linearize import atomic
from spacy_linearize.atomic import save_pipeline
from spacy_linearize.core import store
from spacy_linearize.core.engine import Engine
from spacy_linearize.errors import LinearizeError
from spacy_linearize.spacing import Spacing

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def run_python(program, *arguments, **settings):
    """Run a program in a process of its own: what it prints."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    # Not in the folder of the sources: there Python would find the package before it is compiled.
    settings = {"cwd": damage.DATA, **settings}
    result = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, **settings)
    assert result.returncode == 0, result.stderr[-2000:]
    return result.stdout


@pytest.fixture(scope="module")
def component_bytes():
    return damage.make_component()


@pytest.fixture(scope="module")
def nlp(component_bytes):
    nlp = spacy.blank("en")
    nlp.add_pipe("linearizer").from_bytes(component_bytes)
    return nlp


@pytest.fixture(scope="module")
def model(nlp):
    return nlp.get_pipe("linearizer").model.to_bytes()


class TestModels:
    @pytest.mark.parametrize("kind", damage.MODELS)
    def test_every_truncation_and_flipped_bytes(self, kind):
        sentences = damage.gold()
        model = damage.make_model(kind)
        assert damage.decodes(model, sentences)
        for length in range(len(model)):
            assert not damage.decodes(model[:length], sentences)
        for i in range(500):
            assert not damage.decodes(damage.flipped(model, damage.rng_for(kind, i)), sentences)
        found = {
            damage.decodes(damage.flipped_and_sealed(model, damage.rng_for(kind, i)), sentences) for i in range(300)
        }
        assert found == {True, False}

    def test_every_byte_of_the_prefix(self):
        model = damage.make_model("plain")
        for i in range(store.PREFIX.size):
            for value in range(256):
                if value != model[i]:
                    with pytest.raises(LinearizeError, match=r"SL03[012]"):
                        Engine.from_bytes(model[:i] + bytes([value]) + model[i + 1 :])


class TestPipelines:
    def test_damaged_in_many_places(self, nlp, model):
        """What is around the engine too: msgpack, and the table of spaces."""
        assert damage.pipeline_decodes(nlp, model)
        lengths = [*range(300), *range(300, len(model), 2000), *range(len(model) - 200, len(model))]
        for length in lengths:
            assert not damage.pipeline_decodes(nlp, model[:length])
        for i in range(200):
            rng = damage.rng_for(i)
            place = rng.choice(((0, 200), (len(model) - 2000, len(model)), (0, len(model))))
            damage.pipeline_decodes(nlp, damage.flipped(model, rng, *place))
        assert damage.pipeline_decodes(nlp, model)

    def test_spaces_have_a_checksum(self, nlp, model):
        place = model.rindex(b"weights"), model.rindex(b"checksum")
        for i in range(50):
            assert not damage.pipeline_decodes(nlp, damage.flipped(model, random.Random(i), *place))

    @pytest.mark.parametrize("how", ["cut", "empty", "text", "middle", "pickle", "newer"])
    def test_from_disk_and_from_bytes(self, nlp, model, tmp_path, how):
        engine = model.index(store.SIGNATURE)
        broken = {
            "cut": model[: len(model) // 2],
            "empty": b"",
            "text": b"version https://git-lfs.github.com/spec/v1\n",
            "middle": model[:5000] + bytes([model[5000] ^ 1]) + model[5001:],
            "pickle": pickle.dumps({"nodes": []}),
            "newer": model[: engine + 8] + b"\x07" + model[engine + 9 :],
        }[how]
        message = (
            r"\[SL031\].* has model format 7" if how == "newer" else r"\[SL032\] The model of the linearizer is dam"
        )
        nlp.to_disk(tmp_path / "x")
        (tmp_path / "x" / "linearizer" / "model").write_bytes(broken)
        with pytest.raises(LinearizeError, match=message):
            spacy.load(tmp_path / "x")
        whole = nlp.get_pipe("linearizer").to_bytes(exclude=["vocab"])
        content = spacy.util.srsly.msgpack_loads(whole)
        data = spacy.util.srsly.msgpack_dumps({**content, "model": broken})
        fresh = spacy.blank("en")
        with pytest.raises(LinearizeError, match=message):
            fresh.add_pipe("linearizer").from_bytes(data)
        assert gc.isenabled()

    def test_bytes_of_a_component(self, nlp, component_bytes):
        """What is around the model too: msgpack, tags and labels, and the vocabulary."""
        component = spacy.blank("en").add_pipe("linearizer").from_bytes(component_bytes)
        data = component.to_bytes()
        at = data.index(b"model")  # what is before it is small, and so are its own first bytes and the last ones
        assert at < len(data) / 2
        near = (0, 200), (at - 100, at + 200), (len(data) - 100, len(data))
        found = set()
        for i in range(150):
            rng = damage.rng_for("component", i)
            place = rng.choice((*near, (0, at), (at, len(data))))
            found.add(damage.component_decodes(nlp, damage.flipped(data, rng, *place)))
        assert found == {True, False}
        for length in (*range(0, 400, 7), *range(at - 20, at + 60), *range(at, len(data), 5000), len(data) - 1):
            assert not damage.component_decodes(nlp, data[:length])
        assert gc.isenabled()

    def test_parts_of_a_component(self, nlp, tmp_path):
        component = nlp.get_pipe("linearizer")
        text, cfg = nlp(Doc(nlp.vocab, words=["the", "Who"])).text, component.label_data
        content = spacy.util.srsly.msgpack_loads(component.to_bytes(exclude=["vocab"]))
        for change, message in (
            ({"cfg": b"{"}, "cannot be read"),
            ({"cfg": 1}, "cannot be read"),
            ({"cfg": b"[]"}, "no list of tags"),
            ({"cfg": b'{"tags": []}'}, "no list of labels"),
            ({"cfg": b'{"tags": [1], "labels": []}'}, "no list of tags"),
            ({"cfg": b'{"tags": [], "labels": "x"}'}, "no list of labels"),
            ({"model": 1}, "cannot be read"),
            ({"vocab": b"x"}, "cannot be read"),
        ):
            with pytest.raises(LinearizeError, match=rf"\[SL032\].*{message}"):
                component.from_bytes(spacy.util.srsly.msgpack_dumps({**content, **change}))
        for part in ("cfg", "model"):
            less = spacy.util.srsly.msgpack_dumps({key: value for key, value in content.items() if key != part})
            with pytest.raises(LinearizeError, match=rf"\[SL032\].*no part '{part}'"):
                component.from_bytes(less)
            component.from_bytes(less, exclude=[part])
        component.to_disk(tmp_path / "c")
        (tmp_path / "c" / "cfg").write_text("{")
        with pytest.raises(LinearizeError, match=r"\[SL032\].*cannot be read"):
            component.from_disk(tmp_path / "c")
        (tmp_path / "c" / "cfg").unlink()
        with pytest.raises(FileNotFoundError, match="cfg"):
            component.from_disk(tmp_path / "c")
        component.from_disk(tmp_path / "c", exclude=["cfg"])
        (tmp_path / "c" / "model").unlink()
        with pytest.raises(OSError, match="model"):
            component.from_disk(tmp_path / "c", exclude=["cfg"])
        assert component.label_data == cfg
        assert nlp(Doc(nlp.vocab, words=["the", "Who"])).text == text

    def test_a_failed_load_changes_nothing(self, nlp, model):
        component = nlp.get_pipe("linearizer")
        shim, engine, spacing = component.shim, component.shim.engine, component.shim.spacing
        for content in (
            {"engine": None},
            {"engine": "x", "spacing": {}},
            [],
            {"engine": engine.to_bytes(), "spacing": 1},
        ):
            with pytest.raises(LinearizeError, match="SL032"):
                shim.from_bytes(spacy.util.srsly.msgpack_dumps(content))
            assert shim.engine is engine
            assert shim.spacing is spacing

    @pytest.mark.parametrize("weight", ["x", None, float("nan"), float("inf"), [1.0]])
    def test_spaces_that_are_no_numbers(self, weight):
        content = Spacing().to_dict()
        Spacing().from_dict(content)
        with pytest.raises(ValueError, match="not numbers"):
            Spacing().from_dict({**content, "keys": [[0]] * 10, "weights": [[weight]] * 10})
        with pytest.raises(ValueError, match="3 tables"):
            Spacing().from_dict({"keys": [[]] * 3, "weights": [[]] * 3})

    @pytest.mark.parametrize("last", [[], [1], [0, 1]])
    def test_spaces_of_plain_words_without_their_default(self, last):
        """They were accepted, and then failed at the first two plain words side by side."""
        keys = [[1]] * 9 + [last]
        with pytest.raises(ValueError, match="without their default"):
            Spacing().from_dict({"keys": keys, "weights": [[1.0] * len(table) for table in keys]})


# Loads a model twice: all that has to be imported is, when the hook begins to look.
AUDIT = """
import sys
import spacy
nlp = spacy.blank("en")
component = nlp.add_pipe("linearizer")
data = open(sys.argv[1], "rb").read()
component.from_bytes(data)
seen = []
sys.addaudithook(lambda event, _: seen.append(event))
component.from_bytes(data)
import pickle
n = len(seen)
pickle.loads(pickle.dumps(spacy.blank))
print(sorted(set(seen[:n])), "pickle.find_class" in seen[n:])
"""


def test_nothing_is_unpickled_or_executed(component_bytes, tmp_path):
    path = tmp_path / "component"
    path.write_bytes(component_bytes)
    events, would_be_seen = run_python(AUDIT, path).rsplit(maxsplit=1)
    assert would_be_seen == "True"
    assert not re.search(r"pickle|marshal|exec|compile|code\.|ctypes|subprocess|os\.system|socket", events)


class TestTreebanks:
    @pytest.mark.parametrize("kind", ["conllu", "mrg"])
    def test_damaged_in_one_place(self, kind, tmp_path):
        """Whatever is not touched is read, and nothing is ever raised."""
        bank = damage.Treebank(kind, tmp_path)
        n_reports = 0
        for i in range(80):
            n_docs, n_problems = bank.check(*bank.damage(damage.rng_for(kind, i)))
            assert n_docs + n_problems >= len(bank.good) - 2
            n_reports += n_problems > 0
        assert n_reports > 30
        for i in range(20):
            bank.check(damage.rng_for(kind, "cut", i).randrange(len(bank.data)), len(bank.data), b"")

    @pytest.mark.parametrize("kind", ["conllu", "mrg"])
    def test_garbage(self, kind, tmp_path):
        bank = damage.Treebank(kind, tmp_path)
        n_read = n_reported = 0
        for i in range(300):
            docs, problems = bank.read(damage.garbage(damage.rng_for(kind, i)))
            n_read += len(docs)
            n_reported += len(problems)
        assert n_read
        assert n_reported

    @pytest.mark.parametrize("kind", ["conllu", "mrg"])
    @pytest.mark.parametrize(
        "new", [b"\x00", b"\xff", b"\xed\xa0\x80", b"x" * 1_000_000, b"\t" * 100_000, b"(" * 100_000]
    )
    def test_between_good_sentences(self, kind, new, tmp_path):
        bank = damage.Treebank(kind, tmp_path)
        first, last = bank.blocks[7]
        # In the middle of a line, and instead of a sentence.
        middle, last = (first + last) // 2, first + len(bank.data[first:last].rstrip())
        for start, end in ((middle, middle), (first, last)):
            n_docs, n_problems = bank.check(start, end, new)
            assert n_docs in (len(bank.good) - 1, len(bank.good))
            # A line of nothing but tabs is an empty one.
            assert n_docs + n_problems == len(bank.good) - (start == first and not new.strip())

    def test_brackets_of_100000_levels(self, tmp_path):
        bank = damage.Treebank("mrg", tmp_path)
        depth = 100_000
        deep = b"(S " * depth + b"(NN rain)" + b")" * depth + b"\n"
        docs, problems = bank.read(bank.data + deep + bank.data)
        assert docs == [*bank.good, (("rain", "NN", "ROOT", 0),), *bank.good]
        assert not problems
        docs, problems = bank.read(bank.data + b"(S " * depth + b"\n" + bank.data)
        assert docs == bank.good * 2
        assert problems == [(bank.data.count(b"\n") + 1, f"closing brackets are missing: {depth}")]

    @pytest.mark.parametrize("is_cycle", [False, True])
    def test_a_long_chain_of_heads(self, tmp_path, is_cycle):
        """Looked through in one pass: 20,000 words that each hang on the next take no time."""
        bank = damage.Treebank("conllu", tmp_path)
        n = 20_000
        rows = [
            f"{i}\tw\tw\tX\tY\t_\t{i + 1 if i < n else n // 2 if is_cycle else 0}\td\t_\t_\n" for i in range(1, n + 1)
        ]
        docs, problems = bank.read("".join(rows).encode())
        if is_cycle:
            assert docs == []
            assert problems == [(n // 2, "the heads form a cycle at 'w'")]
        else:
            assert [len(doc) for doc in docs] == [n]
            assert not problems


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
        Engine.load(path)
        left = set(tmp_path.iterdir()) - {path, *sources}
        n_amid += len(left)
        for file in left:
            file.unlink()
    assert n_amid  # some were killed between the first byte and the last


class TestWriters:
    def test_a_write_that_fails(self, tmp_path, monkeypatch):
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
    def test_links_and_devices(self, tmp_path):
        (tmp_path / "link").symlink_to(tmp_path / "file")
        for content in (b"a", b"b"):
            atomic.save(tmp_path / "link", content)
            assert (tmp_path / "link").is_symlink()
            assert (tmp_path / "file").read_bytes() == content
        atomic.save("/dev/null", b"x")
        assert Path("/dev/null").is_char_device()

    @pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
    def test_a_file_keeps_its_mode(self, tmp_path, mode):
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

    def test_a_private_file_is_private_at_any_time(self, tmp_path, monkeypatch):
        path = tmp_path / "file"
        path.write_bytes(b"old")
        path.chmod(0o600)
        modes = []
        with monkeypatch.context() as patch:
            patch.setattr(atomic.os, "fsync", lambda _: modes.extend(f.stat().st_mode for f in tmp_path.iterdir()))
            atomic.save(path, b"new")
        assert len(modes) == 2
        assert sys.platform == "win32" or {mode & 0o077 for mode in modes} == {0}

    def test_names_as_long_as_they_can_be(self, tmp_path):
        path = tmp_path / ("x" * 255)
        for content in (b"old", b"new"):
            atomic.save(path, content)
            assert path.read_bytes() == content
        assert list(tmp_path.iterdir()) == [path]

    @pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
    def test_a_link_in_the_place_of_the_temporary_file(self, tmp_path, monkeypatch):
        """Who knows the name beforehand could have any file written over."""
        (tmp_path / "victim").write_bytes(b"mine")
        names = iter(["one", "two"])
        monkeypatch.setattr(atomic.secrets, "token_hex", lambda _: next(names))
        (tmp_path / ".one.tmp").symlink_to(tmp_path / "victim")
        atomic.save(tmp_path / "file", b"new")
        assert (tmp_path / "victim").read_bytes() == b"mine"
        assert (tmp_path / "file").read_bytes() == b"new"
        assert not (tmp_path / "file").is_symlink()

    def test_a_line_that_goes_out_in_pieces(self):
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
    def test_a_pipeline_appears_as_a_whole(self, nlp, tmp_path, is_there, monkeypatch):
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

    def test_nothing_is_left_of_another_pipeline(self, nlp, tmp_path):
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

    def test_a_pipeline_that_cannot_be_moved_in(self, nlp, tmp_path, monkeypatch):
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

    def test_a_folder_that_is_no_pipeline(self, nlp, tmp_path):
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


def test_import_gives_no_warning(tmp_path):
    program = "import spacy_linearize, spacy_linearize.core.engine; print(spacy_linearize.__version__)"
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, env=ENVIRONMENT, cwd=tmp_path
    )
    assert (result.returncode, result.stdout.strip(), result.stderr) == (0, spacy_linearize.__version__, "")
