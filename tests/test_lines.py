"""Lines of text from files of every kind."""

import bz2
import gzip
import io
import lzma
import sys
import tracemalloc
import warnings
from types import SimpleNamespace

import pytest

from spacy_linearize import lines
from spacy_linearize.errors import LinearizeError
from spacy_linearize.lines import count_bytes, find_files, read_lines

PACK = {"a.txt": bytes, "b.txt.gz": gzip.compress, "c.xz": lzma.compress, "d.txt.bz2": bz2.compress}


def write_all(folder, text):
    for name, pack in PACK.items():
        (folder / name).write_bytes(pack(text))


def test_every_kind_of_file(tmp_path):
    write_all(tmp_path, "\ufeffEin Bär.\r\n\n  \n two \x0c words ".encode())
    for name in PACK:
        assert list(read_lines(tmp_path / name)) == ["Ein Bär.", "two \x0c words"]
    assert len(list(read_lines([tmp_path / name for name in PACK]))) == 8


def test_folders_are_read_by_name(tmp_path):
    (tmp_path / "sub" / ".hidden").mkdir(parents=True)
    for name in ("b.txt", "a.txt", "sub/c.txt", "sub/.d.txt", "sub/.hidden/e.txt", "README.md", "docs.spacy"):
        (tmp_path / name).write_text(name)
    assert list(read_lines(tmp_path)) == ["a.txt", "b.txt", "sub/c.txt"]
    assert list(read_lines([tmp_path / "README.md"])) == ["README.md"]  # named, so it is meant
    assert [path.name for path in find_files(tmp_path, [".spacy"])] == ["docs.spacy"]


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"one\ntwo\n")))
    told = []
    assert list(read_lines("-", progress=told.append)) == ["one", "two"]
    assert told == []
    assert count_bytes(find_files("-")) is None
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(LinearizeError, match=r"SL189.*Standard input is closed"):
        list(read_lines("-"))


def test_bad_bytes_cost_their_line(tmp_path):
    path = tmp_path / "some.txt"
    path.write_bytes(b"one\n\xff\ntwo\ncaf\xe9\nthree")
    with pytest.warns(UserWarning, match="SL213") as found:
        assert list(read_lines(path)) == ["one", "two", "three"]
    assert [str(w.message) for w in found] == [
        f"[SL213] Line {line} of {path} is not UTF-8 text: it is left out." for line in (2, 4)
    ]


def test_warnings_are_few(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xff\n" * 7)
    (tmp_path / "b.txt").write_bytes(b"\xff\n" * 30 + b"good")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        assert list(read_lines(tmp_path)) == ["good"]
    texts = [str(w.message) for w in found]
    assert len(texts) == lines.MAX_WARNINGS + 1
    assert texts[9].startswith(f"[SL213] Line 3 of {tmp_path / 'b.txt'}")
    assert texts[10].startswith("[SL214] 27 more lines")


@pytest.mark.parametrize("name", [name for name in PACK if name != "a.txt"])
def test_damaged_files(tmp_path, name):
    text = b"".join(b"line %d\n" % (i * i * 7919) for i in range(60_000))
    path = tmp_path / name
    packed = bytearray(PACK[name](text))
    for damaged in (packed[: len(packed) // 2], b"no packed text at all", _spoiled(packed)):
        path.write_bytes(damaged)
        found = []
        with pytest.raises(LinearizeError, match=rf"SL215.*{name} is damaged at line \d+ \(\w+"), warnings_ignored():
            found.extend(read_lines(path))
        assert len(found) < 60_000
    path.write_bytes(packed)
    assert sum(1 for _ in read_lines(path)) == 60_000


def _spoiled(packed):
    spoiled = bytearray(packed)
    spoiled[len(packed) // 2 : len(packed) // 2 + 50] = bytes(50)
    return spoiled


class warnings_ignored(warnings.catch_warnings):
    """What a damaged archive gives before the damage is found may be bad bytes."""

    def __enter__(self):
        super().__enter__()
        warnings.simplefilter("ignore")


def test_what_is_not_there(tmp_path):
    with pytest.raises(LinearizeError, match=r"SL210.*nothing\.txt"):
        read_lines([tmp_path / "nothing.txt"])  # at once, not when the first line is asked for
    with pytest.raises(LinearizeError, match=r"SL211.*\.txt, \.gz, \.xz, \.bz2"):
        read_lines(tmp_path)
    (tmp_path / "docs.spacy").write_bytes(b"")
    with pytest.raises(LinearizeError, match=r"SL212.*docs\.spacy holds Docs"):
        read_lines(tmp_path / "docs.spacy")


def test_very_long_lines_come_in_parts(tmp_path):
    words = [f"wörd{i}" for i in range(40_000)]
    solid = "é" * 100_001
    (tmp_path / "a.txt").write_text(" ".join(words) + "\nshort\n" + solid + "\n", encoding="utf8")
    found = list(read_lines(tmp_path / "a.txt"))
    assert max(len(line.encode()) for line in found) <= lines.MAX_BYTES
    at = found.index("short")
    assert " ".join(found[:at]).split(" ") == words
    assert "".join(found[at + 1 :]) == solid
    with (tmp_path / "a.txt").open("ab") as file:
        file.write(b"\xff\n")
    with pytest.warns(UserWarning, match="Line 4 of"):
        list(read_lines(tmp_path / "a.txt"))


def test_progress_counts_all_bytes_on_the_disk(tmp_path):
    write_all(tmp_path, b"a line of text\n" * 5000)
    told = []
    assert sum(1 for _ in read_lines(tmp_path, progress=told.append)) == 20_000
    assert sum(told) == count_bytes(find_files(tmp_path))
    assert len(told) > 4


def test_memory_is_flat(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"one more line of text\n" * 300_000 + b"x" * 9_000_000))
    tracemalloc.start()
    assert sum(1 for _ in read_lines(tmp_path)) > 300_000
    assert tracemalloc.get_traced_memory()[1] < 3_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("name", ["lm.txt", "lm.ARPA", "lm.gz"])
def test_a_language_model_is_no_text(tmp_path, name):
    pack = gzip.compress if name.endswith(".gz") else bytes
    (tmp_path / name).write_bytes(pack(b"\n\\data\\\nngram 1=2\n"))
    with pytest.raises(LinearizeError, match="SL224"):
        list(read_lines(tmp_path / name))
    (tmp_path / name).write_bytes(pack(b"about the line\n\\data\\\n"))
    assert list(read_lines(tmp_path / name)) == ["about the line", "\\data\\"]
