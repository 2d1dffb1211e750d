"""The project: every config is valid, and the workflow leads from a treebank to an installable package."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from spacy.schemas import ConfigSchemaTraining
from spacy.util import load_config, load_model_from_config, registry

ROOT = Path(__file__).parent.parent
CONFIGS = sorted((ROOT / "configs").glob("*.cfg"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_configs_are_filled_and_valid(path):
    config = load_config(path, overrides={"paths.train": "train.spacy", "paths.dev": "dev.spacy"}, interpolate=True)
    nlp = load_model_from_config(config, validate=True, auto_fill=False)
    assert nlp.pipe_names == ["linearizer"]
    registry.resolve(config["training"], schema=ConfigSchemaTraining)
    corpora = registry.resolve(config["corpora"])
    assert set(corpora) == {"train", "dev"}
    assert corpora["train"].resample
    assert not corpora["dev"].resample


def test_defaults_agree():
    """The configs name what the component has by default, and the groups one by one."""
    from spacy_linearize.core.features import templates
    from spacy_linearize.linearizer import DEFAULT_LINEARIZER_MODEL

    for name in ("default", "full_tree"):
        model = load_config(ROOT / "configs" / f"{name}.cfg")["components"]["linearizer"]["model"]
        # The configs take more time to train.
        groups = {"groups": list(templates.TREE_GROUPS)}
        if name == "default":
            groups = {"groups": list(templates.DEFAULT_GROUPS), "tree_groups": list(templates.TREE_GROUPS)}
            groups["free_groups"] = list(templates.FREE_GROUPS)
        different = {"copies": 6, "min_updates": 4, "experts": ["tree", "free"] if name == "default" else [], **groups}
        assert {**model, **DEFAULT_LINEARIZER_MODEL, **different} == model


def test_configs_of_the_papers():
    liu = load_config(ROOT / "configs" / "liu2015.cfg")["components"]["linearizer"]
    assert (liu["beam_width"], liu["model"]["system"], liu["model"]["update"]) == (64, "joint", "early")
    assert liu["model"]["groups"] == ["unigram", "bigram", "trigram", "linearization"]
    assert liu["model"]["atomic_shift"] is True
    puduppully = load_config(ROOT / "configs" / "puduppully2016.cfg")["components"]["linearizer"]
    assert {"lookahead", "lookahead_of_S0"} < set(puduppully["model"]["groups"])
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


def test_from_brackets_to_a_package_and_nothing_twice(project):
    for command in ("ptb", "analyse", "package"):
        spacy_project("run", command, ".", *SMALL, *GLOBS, cwd=project)
    full = json.loads((project / "metrics" / "ptb-full_tree-full.json").read_text())
    assert full["runs"][0]["sentences"] == 30
    assert full["runs"][0]["bleu"] > 60
    grid = json.loads((project / "metrics" / "ptb-full_tree-grid.json").read_text())
    assert [(run["tags"], run["heads"]) for run in grid["runs"]] == [
        (t, h) for t in (0.0, 0.5, 1.0) for h in (0.0, 0.5, 1.0)
    ]
    analysis = json.loads((project / "metrics" / "ptb-full_tree-analysis.json").read_text())
    assert {row["brevity"] for row in analysis["brevity"]} == {1.0}
    assert [row["beam_width"] for row in analysis["beams"]] == [1, 2, 4, 8, 16, 32, 64]
    assert analysis["epochs"]
    plots = {path.name for path in (project / "metrics" / "ptb-full_tree-plots").iterdir()}
    assert plots == {"brevity.svg", "span_lengths.svg", "beams.svg", "epochs.svg", "spans.svg"}
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
