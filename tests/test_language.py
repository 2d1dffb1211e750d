"""The commands of docs/language.md, on its small treebanks."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "language.md"
SMALL = [
    "--training.max_steps",
    "12",
    "--training.eval_frequency",
    "6",
    "--components.linearizer.model.table_bits",
    "16",
]


@pytest.mark.skipif(not PAGE.exists(), reason="needs the pages")
@pytest.mark.parametrize("lang", ["fr", "ja"])
def test_from_the_treebank_to_text(tmp_path, lang):
    """Training is shorter than on the page; what is shown below the commands comes out."""
    page = PAGE.read_text(encoding="utf8")
    commands = [line for line in page.splitlines() if line.startswith("spacy ") and f"{lang}/" in line]
    assert [command.split()[1] for command in commands] == ["linearize", "train", "linearize"]
    (tmp_path / "tests").mkdir()
    shutil.copytree(ROOT / "tests" / "data", tmp_path / "tests" / "data")
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    for command in commands:
        _, *arguments = shlex.split(command)
        small = SMALL if arguments[0] == "train" else []
        line = [sys.executable, "-m", "spacy", *arguments, *small]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, encoding="utf8", timeout=300)
        assert done.returncode == 0, done.stderr
    shown = re.search(rf"mini_{lang}.conllu --output -\n```\n\n((?:    .*\n)+)", page)[1].split("\n")[:2]
    assert done.stdout.splitlines()[:2] == [line.strip() for line in shown]
    if lang == "fr":  # what a new bag does not say about its multiword tokens has been learned
        bag = {"words": ["le", "membres", "de", "club", "Les"], "precedences": [[4, 1], [1, 2], [2, 0], [0, 3]]}
        model = tmp_path / "fr" / "training" / "model-best"
        line = [sys.executable, "-m", "spacy", "linearize", "order", "-m", model, "-i", "-", "--input-format", "jsonl"]
        bag_line = json.dumps(bag)
        done = subprocess.run([*line, "-f", "text"], input=bag_line, capture_output=True, encoding="utf8", cwd=tmp_path)
        assert done.stdout == "Les membres du club\n"
