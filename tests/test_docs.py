"""README.md, CONTRIBUTING.md and docs/: their code runs, their tables name every key, group and error, their links lead
somewhere; and the files for a public repository can be read.

The blocks of a page run one after the other, in one namespace and one folder, which holds a small treebank
(train.conllu, dev.conllu, train.spacy, dev.spacy) and some files of tests/data. These are the rules:

- ```python runs, unless it is marked `python notest`.
- ```bash runs if every line of it starts with `spacy linearize`, unless it is marked `bash notest`.
- ```text right after one of these is what it prints. This writes all of them anew:

    python tests/test_docs.py
"""

import contextlib
import importlib.util
import inspect
import io
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import srsly
from helpers.docs import MINI, write_corpus
from spacy.language import Language
from typer.testing import CliRunner

import spacy_linearize
from spacy_linearize.cli import app
from spacy_linearize.core import store
from spacy_linearize.core.features.templates import ATOMS, GROUPS
from spacy_linearize.doc.precedence import EXTENSIONS
from spacy_linearize.doc.write import CONTEXT, EXTENSION
from spacy_linearize.errors import MESSAGES
from spacy_linearize.linearizer import Linearizer
from spacy_linearize.registered import build_transition_linearizer, create_linearizer_corpus
from spacy_linearize.training.scorer import SCORES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PACKAGE = ROOT.resolve() / "spacy_linearize"  # may be installed elsewhere, without its sources here
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted(DOCS.glob("*.md"))]
LINKED = [*PAGES, ROOT / "PROJECT.md", ROOT / "examples" / "README.md", *sorted((ROOT / "benchmarks").glob("*.md"))]
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of code.

    follows (bool): Whether there is nothing but empty lines between the block before and this one.
    """

    info: str
    code: str
    line: int
    follows: bool


def read_blocks(text):
    end, found = 0, []
    for match in FENCE.finditer(text):
        follows = bool(found) and not text[end : match.start()].strip()
        found.append(Block(match[1].strip(), match[2], text.count("\n", 0, match.start()) + 1, follows))
        end = match.end()
    return found


def run_python(block, path, namespace):
    # Empty lines before it, so that a traceback names the line of the page.
    code = compile("\n" * block.line + block.code, str(path), "exec")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, namespace)
    return out.getvalue()


def run_bash(block):
    out = ""
    for command in block.code.replace("\\\n", " ").splitlines():
        result = CliRunner().invoke(app, shlex.split(command)[2:])
        assert result.exit_code == 0, (command, result.output)
        out += result.stdout
    return out


def is_ours(block):
    lines = block.code.replace("\\\n", " ").splitlines()
    return block.info == "bash" and all(line.startswith("spacy linearize ") for line in lines)


def fill(folder):
    """What a page finds in its folder."""
    for name in ("train", "dev"):
        shutil.copy(MINI, folder / f"{name}.conllu")
        write_corpus(folder / f"{name}.spacy")
    (folder / "tests" / "data").mkdir(parents=True)
    for name in ("unordered", "mini_fr", "mini_ja"):
        shutil.copy(MINI.with_name(f"{name}.conllu"), folder / "tests" / "data")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in which a page runs."""
    fill(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_page(path):
    """Run the blocks of a page, one after the other. Yields each block of output with what was printed."""
    namespace, printed = {"__name__": "__page__"}, None
    for block in read_blocks(path.read_text(encoding="utf8")):
        if block.info == "text" and block.follows and printed is not None:
            yield block, printed
        printed = None
        if block.info == "python":
            printed = run_python(block, path, namespace)
        elif is_ours(block):
            printed = run_bash(block)


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_code_runs(path, folder):
    for block, printed in run_page(path):
        assert block.code == printed, f"{path.name}, line {block.line}"


def test_the_rules_for_blocks():
    page = "```python\nprint(1)\n```\n\n```text\n1\n```\nand\n```text\n2\n```\n```python notest\n1 / 0\n```\n"
    found = [(block.info, block.line, block.follows) for block in read_blocks(page)]
    assert found == [("python", 1, False), ("text", 5, True), ("text", 9, False), ("python notest", 12, True)]
    with pytest.raises(ZeroDivisionError):
        run_python(Block("python", "1 / 0\n", 1, False), "page", {})
    assert run_python(Block("python", "print(x)\n", 1, False), "page", {"x": 3}) == "3\n"
    assert is_ours(Block("bash", "spacy linearize order \\\n  a b\n", 1, False))
    assert not is_ours(Block("bash", "spacy linearize order a\nspacy train a\n", 1, False))


def test_few_blocks_are_left_out():
    texts = "".join(path.read_text(encoding="utf8") for path in PAGES)
    assert len(re.findall(r"^```python notest$", texts, re.MULTILINE)) <= 2
    assert len(re.findall(r"^```python$", texts, re.MULTILINE)) >= 25


# Links


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", LINKED, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    text = FENCE.sub("", path.read_text(encoding="utf8"))
    for link in re.findall(r"\]\(([^)]+)\)", text):
        if link.startswith(("http", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if target.is_relative_to(PACKAGE):
            target = Path(spacy_linearize.__file__).parent / target.relative_to(PACKAGE)
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf8")), link


def test_index_names_every_page():
    index = (DOCS / "index.md").read_text(encoding="utf8")
    for path in DOCS.glob("*.md"):
        assert path.name == "index.md" or f"({path.name})" in index


def draw_picture():
    """The picture of the README, drawn anew."""
    return runpy.run_path(str(DOCS / "picture.py"))["draw"](spacy_linearize.load())


def test_the_picture_shows_what_the_pipeline_does():
    assert (DOCS / "picture.svg").read_text(encoding="utf8") == draw_picture()
    assert "(docs/picture.svg)" in (ROOT / "README.md").read_text(encoding="utf8")


# Tables


def tables(page, heading):
    """The rows of the tables below a heading, as lists of cells."""
    text = (DOCS / page).read_text(encoding="utf8")
    part = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in part.replace("\\|", "¦").splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows if not set(row[0]) <= set("- ") and row[0].strip() != "key"]


def keys_and_defaults(heading):
    """Key and default of each row; defaults as JSON, or None where the table has no value for one."""
    found = {}
    for keys, default, *_ in tables("configuration.md", heading):
        for key in re.findall(r"`([^`]+)`", keys):
            assert key not in found
            found[key] = json.loads(default.strip("`")) if default.startswith("`") else None
    return found


def defaults_of(function, *left_out):
    parameters = inspect.signature(function).parameters
    empty = inspect.Parameter.empty
    return {
        name: None if parameter.default is empty else parameter.default
        for name, parameter in parameters.items()
        if name not in left_out
    }


def test_configuration_has_every_key_of_the_component():
    config = dict(Language.get_factory_meta("linearizer").default_config)
    config["model"] = config["model"]["@architectures"]
    config["scorer"] = config["scorer"]["@scorers"]
    assert keys_and_defaults("The component") == config


def test_configuration_has_every_key_of_the_architecture():
    assert keys_and_defaults("The model") == defaults_of(build_transition_linearizer)


def test_configuration_has_every_key_of_the_reader():
    assert keys_and_defaults("The corpus reader") == defaults_of(create_linearizer_corpus)


def test_configuration_has_every_key_of_initialize():
    expected = defaults_of(Linearizer.initialize, "self", "get_examples", "nlp")
    assert keys_and_defaults("Initialization") == expected


def test_configuration_has_every_score():
    assert [row[0] for row in tables("configuration.md", "The scorer")] == [f"`{name}`" for name in SCORES]


def test_configuration_has_everything_a_doc_can_say_and_get():
    names = [row[0] for row in tables("configuration.md", "On a Doc")]
    assert names == [f"`doc._.{name}`" for name in (*EXTENSIONS, CONTEXT, EXTENSION)]


def test_templates_has_every_group():
    rows = {row[0].strip("`"): int(row[1]) for row in tables("templates.md", "Groups") if row[0].startswith("`")}
    assert rows == {name: len(templates) for name, templates in GROUPS.items()}


def test_templates_names_only_atoms_that_there_are():
    text = FENCE.sub("", (DOCS / "templates.md").read_text(encoding="utf8"))
    named = re.findall(r"`([A-Z]\w*\.[a-z]+)`", text)
    assert len(named) >= 3
    assert set(named) <= set(ATOMS)


def test_troubleshooting_has_every_code_once():
    text = (DOCS / "troubleshooting.md").read_text(encoding="utf8")
    found = re.findall(r"^\| (SL\d{3}) \|", text, re.MULTILINE)
    assert sorted(found) == sorted(MESSAGES)
    for line in text.splitlines():
        if line.startswith("| SL"):
            assert all(len(cell.strip()) > 4 for cell in line.strip("|").split("|")), line


def test_model_format_is_that_of_the_code():
    text = (DOCS / "model_format.md").read_text(encoding="utf8")
    assert f"Format version: {store.FORMAT_VERSION}." in text
    for dtype in store.DTYPES:
        assert f"`{dtype}`" in text


# Files for a public repository


def test_citation():
    citation = srsly.read_yaml(ROOT / "CITATION.cff")
    assert citation["version"] == spacy_linearize.__version__
    assert citation["title"] == "spacy_linearize"
    assert (ROOT / "LICENSE").read_text(encoding="utf8").startswith(f"{citation['license']} License")
    titles = {reference["title"]: reference["year"] for reference in citation["references"]}
    assert titles == {
        "Transition-Based Syntactic Linearization": 2015,
        "Transition-Based Syntactic Linearization with Lookahead Features": 2016,
    }
    for entry in (citation, *citation["references"]):
        assert entry["authors"]
        assert all(author.keys() <= {"family-names", "given-names", "name"} for author in entry["authors"])


def workflow(name):
    content = srsly.read_yaml(ROOT / ".github" / "workflows" / name)
    assert {"name", "on", "permissions", "jobs"} <= set(content)
    for job in content["jobs"].values():
        assert job["runs-on"]
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step), step
            assert "@" in step.get("uses", "@")
    return content


def supported_pythons():
    return re.findall(r"Programming Language :: Python :: (3\.\d+)", (ROOT / "setup.cfg").read_text(encoding="utf8"))


def test_workflow_of_tests():
    matrix = workflow("tests.yml")["jobs"]["tests"]["strategy"]["matrix"]
    assert matrix["python"] == supported_pythons()
    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}


def test_workflow_of_lowest_and_newest_versions():
    entries = workflow("tests.yml")["jobs"]["versions"]["strategy"]["matrix"]["include"]
    pythons = supported_pythons()
    assert {entry["versions"]: entry["python"] for entry in entries} == {"lowest": pythons[0], "newest": pythons[-1]}


def test_workflow_of_wheels():
    content = workflow("wheels.yml")
    jobs = content["jobs"]
    assert {name.split("-")[0] for name in jobs["wheels"]["strategy"]["matrix"]["os"]} == {"ubuntu", "macos", "windows"}
    assert any("cibuildwheel" in step.get("uses", "") for step in jobs["wheels"]["steps"])
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf8").split("[tool.cibuildwheel]")[1].split("[tool.")[0]
    assert re.findall(r'"(cp\d+-\*)"', settings) == [f"cp{v.replace('.', '')}-*" for v in supported_pythons()]
    assert 'test-command = "pytest ' in settings
    # Nothing is published but from a tag, after everything was built, without a stored secret.
    publish = jobs["publish"]
    assert publish["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert set(publish["needs"]) == {"wheels", "sdist"}
    assert publish["permissions"] == {"id-token": "write"}
    assert "secrets." not in (ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf8")
    assert content["permissions"] == {"contents": "read"}


def write():
    """Write the output below the code of each page anew, and the picture."""
    (DOCS / "picture.svg").write_text(draw_picture(), encoding="utf8")
    for path in PAGES:
        lines = path.read_text(encoding="utf8").split("\n")
        with tempfile.TemporaryDirectory() as name:
            fill(Path(name))
            os.chdir(name)
            found = list(run_page(path))
            os.chdir(ROOT)
        for block, printed in reversed(found):
            lines[block.line : block.line + block.code.count("\n")] = printed.splitlines()
        path.write_text("\n".join(lines), encoding="utf8")


if __name__ == "__main__":
    write()


def test_the_api_page_is_that_of_the_docstrings():
    """If not: python docs/api.py"""
    spec = importlib.util.spec_from_file_location("api_page", DOCS / "api.py")
    api = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(api)
    assert api.page() == (DOCS / "api.md").read_text(encoding="utf8")
    for name in spacy_linearize.__all__:
        assert f"## `spacy_linearize.{name}" in api.page()


@pytest.mark.slow
def test_the_code_of_the_readme_type_checks(tmp_path):
    page = read_blocks((ROOT / "README.md").read_text(encoding="utf8"))
    code = "\n".join(block.code for block in page if block.info == "python")
    (tmp_path / "readme.py").write_text(code, encoding="utf8")
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--follow-imports",
        "silent",
        "--cache-dir",
        str(tmp_path / "cache"),
        "readme.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", LINKED, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_that_pages_name_are_there(path):
    for name in re.findall(
        r"`((?:tests|benchmarks|configs|examples|spacy_linearize)/[\w/.]+\.\w+)`", path.read_text(encoding="utf8")
    ):
        assert (ROOT / name).exists(), name
