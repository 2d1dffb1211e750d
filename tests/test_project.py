"""The project: every config is valid, and the workflow leads from a treebank to an installable package."""

import json
import lzma
import os
import random
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from helpers.docs import shuffled
from helpers.parser import TOK2VEC, train_parser
from spacy.cli import app as spacy_app
from spacy.schemas import ConfigSchemaTraining
from spacy.tokens import DocBin
from spacy.util import load_config, load_model_from_config, registry
from typer.testing import CliRunner
from weasel.util import load_project_config

from spacy_linearize.core.settings import DEFAULT_EXPERTS
from spacy_linearize.files.conllu import read_conllu
from spacy_linearize.registered import DEFAULT_MODEL

ROOT = Path(__file__).parent.parent
CONFIGS = sorted(path for path in (ROOT / "configs").glob("*.cfg") if path.stem != "parser")
PATHS = {"paths.train": "train.spacy", "paths.dev": "dev.spacy"}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_configs_are_filled_and_valid(path):
    more = {"paths.silver": "silver"} if path.stem == "silver" else {}
    config = load_config(path, overrides={**PATHS, **more}, interpolate=True)
    nlp = load_model_from_config(config, validate=True, auto_fill=False)
    assert nlp.pipe_names == ["linearizer"]
    registry.resolve(config["training"], schema=ConfigSchemaTraining)
    corpora = registry.resolve(config["corpora"])
    assert set(corpora) == {"train", "dev"}
    assert corpora["train"].resample
    assert not corpora["dev"].resample


def test_defaults_agree():
    """The configs name what the component has by default, and the groups one by one."""
    for name, kinds in (("default", {kind: kind for kind in DEFAULT_EXPERTS}), ("full_tree", {"partial": "tree"})):
        model = load_config(ROOT / "configs" / f"{name}.cfg")["components"]["linearizer"]["model"]
        # For a treebank of the usual size. What is tried out on a few sentences needs every weight.
        experts = {kind: list(DEFAULT_EXPERTS[group]) for kind, group in kinds.items()}
        assert model == {**DEFAULT_MODEL, "table_bits": None, "min_updates": 4, "experts": experts}


def test_silver_differs_from_default_by_its_sources():
    default, silver = (load_config(ROOT / "configs" / f"{name}.cfg") for name in ("default", "silver"))
    own = {"table_bits": silver["components"]["linearizer"]["model"]["table_bits"]}
    model = {**default["components"]["linearizer"]["model"], **own}
    own = {"beam_width": 12, "tree_beam_width": 3, "model": model}  # as the bundled pipelines, which are made with it
    assert silver["components"]["linearizer"] == {**default["components"]["linearizer"], **own}
    assert silver["corpora"]["train"]["settings"] == default["corpora"]["train"]["settings"]
    assert set(silver["corpora"]["train"]["sources"]) == {"gold", "silver"}


def test_the_config_of_the_parser_is_filled_and_valid():
    """All but the pipeline that it takes a layer from, which is not there in a test."""
    config = load_config(ROOT / "configs" / "parser.cfg", overrides=PATHS, interpolate=True)
    assert config["nlp"]["pipeline"] == ["tok2vec", "tagger", "parser"]
    registry.resolve(config["training"], schema=ConfigSchemaTraining)
    assert set(registry.resolve(config["corpora"])) == {"train", "dev"}
    for name in ("tagger", "parser"):
        registry.resolve({"model": config["components"][name]["model"]})


def test_configs_of_the_papers():
    liu = load_config(ROOT / "configs" / "liu2015.cfg")["components"]["linearizer"]
    assert (liu["beam_width"], liu["model"]["system"], liu["model"]["update"]) == (64, "joint", "early")
    assert liu["model"]["experts"]["partial"] == ["unigram", "bigram", "trigram", "linearization"]
    assert liu["model"]["atomic_shift"] is True
    puduppully = load_config(ROOT / "configs" / "puduppully2016.cfg")["components"]["linearizer"]
    assert {"lookahead", "lookahead_of_S0"} < set(puduppully["model"]["experts"]["partial"])
    assert puduppully["model"]["atomic_shift"] is False


def spacy_project(*command, cwd):
    done = subprocess.run(
        [sys.executable, "-m", "spacy", "project", *command],
        cwd=cwd,
        env={**os.environ, "PYTHONUTF8": "1", "ANSI_COLORS_DISABLED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf8",
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "project.yml", folder)
    shutil.copytree(ROOT / "configs", folder / "configs")
    (folder / "assets" / "wsj").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "data" / "mini.mrg", folder / "assets" / "wsj" / "wsj_0001.mrg")
    # A small table, and few steps: a minute instead of an hour.
    config = folder / "configs" / "full_tree.cfg"
    config.write_text(config.read_text().replace("_bits = 22", "_bits = 16").replace("_bits = 20", "_bits = 14"))
    return folder


SMALL = ["--vars.corpus", "ptb", "--vars.config", "full_tree", "--vars.max_steps", "12", "--vars.eval_frequency", "6"]
GLOBS = ["--vars.ptb_train", "wsj_*.mrg", "--vars.ptb_dev", "wsj_*.mrg"]


@pytest.mark.slow
def test_from_brackets_to_a_package_and_nothing_twice(project):
    for command in ("ptb", "analyse", "package"):
        spacy_project("run", command, ".", *SMALL, *GLOBS, cwd=project)
    full = json.loads((project / "metrics" / "ptb-full_tree-full.json").read_text())
    assert full["runs"][0]["sentences"] == 30
    assert full["runs"][0]["bleu"] > 60
    grid = json.loads((project / "metrics" / "ptb-full_tree-grid.json").read_text())
    assert [tuple(run["given"].values()) for run in grid["runs"]] == [
        (t, h) for t in (0.0, 0.5, 1.0) for h in (0.0, 0.5, 1.0)
    ]
    analysis = json.loads((project / "metrics" / "ptb-full_tree-analysis.json").read_text())
    assert [row["shorter_than"] for row in analysis["spans"]] == [5, 10, 15, 30]
    assert [row["beam_width"] for row in analysis["beams"]] == [1, 2, 4, 8, 16, 32, 64]
    assert analysis["epochs"]
    plots = {path.name for path in (project / "metrics" / "ptb-full_tree-plots").iterdir()}
    assert plots == {"span_lengths.svg", "beams.svg", "steps.svg", "epochs.svg", "spans.svg"}
    assert len(list((project / "packages").rglob("*.whl"))) == 1
    again = spacy_project("run", "ptb", ".", *SMALL, *GLOBS, cwd=project)
    for command in ("convert-ptb", "train", "evaluate", "grid"):
        assert f"Skipping '{command}': nothing changed" in again


def test_the_page_of_the_project_is_up_to_date(tmp_path):
    """`spacy project document` changes nothing."""
    for name in ("project.yml", "PROJECT.md"):
        shutil.copy(ROOT / name, tmp_path)
    spacy_project("document", ".", "--output", "PROJECT.md", cwd=tmp_path)
    assert (tmp_path / "PROJECT.md").read_text(encoding="utf8") == (ROOT / "PROJECT.md").read_text(encoding="utf8")


@pytest.mark.slow
def test_one_model_for_each_treebank(project):
    """One row of the table; what was measured is not measured again. A folder without a training part is left out."""
    (project / "benchmarks").mkdir()
    shutil.copy(ROOT / "benchmarks" / "languages.py", project / "benchmarks")
    for name, parts in (("Dutch-Mini", ("train", "dev")), ("German-Mini", ("dev",))):
        folder = project / "assets" / "treebanks" / name
        folder.mkdir(parents=True)
        for part in parts:
            shutil.copy(ROOT / "tests" / "data" / "mini_nl.conllu", folder / f"nl_mini-ud-{part}.conllu")
    spacy_project("run", "languages", ".", "--vars.passes", "20", cwd=project)
    measured = project / "training" / "languages" / "Dutch-Mini.json"
    row = json.loads(measured.read_text())
    assert row["whole"][1] > row["projective"][1]
    assert row["ceiling"][1] == pytest.approx(100 * 9 / 24)
    *_, table = (project / "benchmarks" / "languages.md").read_text(encoding="utf8").strip().split("\n\n")
    assert len(table.splitlines()) == 3
    assert table.splitlines()[-1].startswith("| Dutch-Mini | 24 | 62.5% |")
    before = measured.stat().st_mtime_ns
    spacy_project("run", "languages", ".", "--force", "--vars.passes", "20", cwd=project)
    assert measured.stat().st_mtime_ns == before


def make_small(config, **values):
    """Write other values into a config."""
    changed = load_config(config, overrides=values)
    changed.to_disk(config)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*SL058")  # tags and labels of dev alone
def test_the_bundled_pipelines_are_made_by_one_workflow(tmp_path, monkeypatch):
    """`spacy project run bundle`: from a treebank, text and a parser to two pipelines in their places. The commands run
    in this process: starting Python for each of them would take most of the time."""
    monkeypatch.chdir(tmp_path)
    for name in ("project.yml", "configs"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    make_small(
        "configs/silver.cfg",
        **{"components.linearizer.model.table_bits": 14, "components.linearizer.model.min_updates": 1},
    )
    make_small("configs/parser.cfg", **{"training.max_steps": 4, "training.eval_frequency": 4})
    train_parser(tok2vec={**TOK2VEC, "width": 96}).to_disk("parser")
    overrides = {"vars.parser": "parser", "vars.silver_steps": 8, "vars.lm_size": "100kB", "vars.n_threads": 1}
    project = load_project_config(tmp_path, overrides=overrides)
    treebank = ROOT / "tests" / "data" / "mini_en.conllu"
    sentences = treebank.read_text(encoding="utf8").strip().split("\n\n")
    for part, own in (("ud_train", sentences[:90]), ("ud_dev", sentences[70:])):
        path = Path("assets", project["vars"][part])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(own) + "\n\n", encoding="utf8")
    texts = [doc.text for doc in read_conllu(treebank, spacy.blank("en").vocab)]
    Path("assets/text").mkdir()
    sources = ("chat", "sentences", "government", "dialogues", "books", "wikipedia")
    for k, source in enumerate(sources):
        with lzma.open(f"assets/text/{source}.txt.xz", "wt", encoding="utf8") as file:
            file.write("\n".join(texts[k : 90 : len(sources)]))
    for name in ("en_ud", "en_core_web"):
        Path("spacy_linearize/pretrained", name).mkdir(parents=True)

    registry.cli.get_all()  # adds the commands of plug-ins
    commands = {command["name"]: command for command in project["commands"]}
    for step in project["workflows"]["bundle"]:
        assert all(Path(path).exists() for path in commands[step]["deps"]), step
        for line in commands[step]["script"]:
            words = shlex.split(line)
            assert words[:3] == ["python", "-m", "spacy"]
            done = CliRunner().invoke(spacy_app, words[3:])
            assert done.exit_code == 0, (line, done.output, done.exception)
        outputs = [*commands[step].get("outputs", ()), *commands[step].get("outputs_no_cache", ())]
        assert all(Path(path).exists() for path in outputs), step

    for name, dev in (("en_ud", "corpus/ud/dev.spacy"), ("en_core_web", "corpus/web/dev/000000.spacy")):
        nlp = spacy.load(Path("spacy_linearize/pretrained", name))
        assert nlp.meta["name"] == json.loads(Path(f"configs/{name}.json").read_text())["name"]
        docs = list(DocBin().from_disk(dev).get_docs(nlp.vocab))
        found = [nlp(shuffled(doc, random.Random(seed))) for seed, doc in enumerate(docs)]
        right = [[t.text for t in new] == [t.text for t in doc] for new, doc in zip(found, docs, strict=True)]
        assert sum(right) > 0.5 * len(docs), name
        assert "calibration" in nlp.get_pipe("linearizer").cfg
