"""The house: who may import whom, and the stations that one Doc passes."""

import ast
import re
import sys
from pathlib import Path

import pytest
from helpers.rerankers import Fake
from spacy.tokens import Doc

import spacy_linearize

PACKAGE = Path(spacy_linearize.__file__).parent
SOURCES = Path(__file__).parents[1] / "spacy_linearize"
PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
# Each room may import from itself, and from those of a lower floor.
FLOORS = {
    "trees": 0,
    "errors": 0,
    "bundled": 1,
    "atomic": 1,
    "lines": 1,
    "processes": 1,
    "core": 1,
    "options": 2,
    "registered": 3,
    "doc": 3,
    "threads": 3,
    "rerank": 4,
    "model": 4,
    "linearizer": 5,
    "files": 6,
    "insight": 6,
    "training": 7,
    "view": 7,
    "serve": 8,
    "cli": 9,
    "__main__": 10,
}
# Methods of the component for what stands above it, and what spaCy's registry calls.
LAZY_UPWARDS = {
    ("linearizer", "insight"),
    *(("registered", room) for room in ("linearizer", "model", "rerank", "training")),
}
PUBLIC = {*spacy_linearize.__all__, "__version__"}


def room_of(path):
    return path.relative_to(SOURCES).parts[0].split(".")[0]


def imports(path):
    """The rooms that a file imports from, and whether it does so inside of a function."""
    parts = path.relative_to(SOURCES.parent).with_suffix("").parts
    for number, line in enumerate(path.read_text(encoding="utf8").splitlines(), start=1):
        found = re.match(r"(\s*)from (\.+)([\w.]*) c?import (\w+)", line)
        if not found:
            assert not re.match(r"\s*(from|import) spacy_linearize", line), f"{path}:{number} is not relative"
            continue
        base = parts[: len(parts) - len(found[2])]
        target = [*base[1:], *filter(None, found[3].split(".")), found[4]]
        yield target[0], bool(found[1]), number


FILES = sorted(path for ending in ("*.py", "*.pyx", "*.pxd") for path in SOURCES.rglob(ending))


@pytest.mark.skipif(not SOURCES.exists(), reason="needs the sources")
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCES)))
def test_imports_point_one_way(path):
    room = room_of(path)
    if room == "__init__":  # the public names, imported when they are asked for
        return
    for target, is_lazy, number in imports(path):
        if target == room or target in PUBLIC:
            continue
        if is_lazy and (room, target) in LAZY_UPWARDS:
            continue
        assert target in FLOORS, f"line {number}: what is {target}?"
        assert FLOORS[target] < FLOORS[room], f"line {number} imports {target}"


@pytest.mark.skipif(not SOURCES.exists(), reason="needs the sources")
def test_the_core_knows_no_spacy():
    for path in FILES:
        if room_of(path) == "core":
            assert not re.search(r"^\s*(from|import) (spacy|thinc)\b", path.read_text(encoding="utf8"), re.M), path


@pytest.mark.skipif(not SOURCES.exists(), reason="needs the sources")
def test_lazy_imports_are_few():
    """In registered.py, in the public names, in commands, and in two methods of the component."""
    found = set()
    for path in FILES:
        if path.suffix == ".py" and room_of(path) not in ("cli", "registered", "__init__"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    inner = [n for n in ast.walk(node) if isinstance(n, (ast.Import, ast.ImportFrom))]
                    found |= {(path.relative_to(SOURCES).as_posix(), node.name) for _ in inner}
    assert found == {("linearizer.py", "score_order"), ("linearizer.py", "explain"), *OPTIONAL}


OPTIONAL = {
    ("training/plots.py", "draw"),
    ("atomic.py", "_lock"),
    ("rerank/causal_lm.py", "__init__"),
    ("rerank/ngram_lm.py", "_load"),
}  # an extra, and what a system has or has not


def stations():
    """The functions of the page's walk, in their sequence, as (file, function)."""
    text = PAGE.read_text(encoding="utf8")
    block = text[text.index("    nlp(doc)") : text.index("These are the stations")]
    for line in block.splitlines()[1:]:
        if found := re.match(r"\s+([\w., ]+?)  +(\w[\w/.]*)", line):
            yield found[2], found[1].split(",")[0].split(".")[-1]


@pytest.mark.skipif(not PAGE.exists(), reason="needs the pages")
def test_one_doc_passes_the_stations_of_the_page():
    nlp = spacy_linearize.load(config={"components": {"linearizer": {"units": "together"}}})
    nlp.get_pipe("linearizer").reranker = Fake()
    doc = Doc(nlp.vocab, words=["door", "the", "opened", "?", "Who"])
    doc.spans["together"] = []
    nlp(doc)
    called = []

    def trace(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and PACKAGE in path.parents:
            called.append((path.relative_to(PACKAGE).as_posix(), frame.f_code.co_name))

    sys.setprofile(trace)
    try:
        nlp(doc)
    finally:
        sys.setprofile(None)
    plain = [(file, name) for file, name in stations() if file.endswith(".py") and not name[0].isupper()]
    assert len(plain) > 8
    at = 0
    for station in plain:
        if station == ("model.py", "predict"):  # thinc's; it calls the forward
            station = ("model.py", "forward")
        assert station in called[at:], f"{station} does not come after {called[:at][-1:]}"
        at = called.index(station, at) + 1
