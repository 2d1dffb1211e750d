"""The app as a whole: its two names, and its page in the docs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from spacy_linearize.cli import app

PAGE = Path(__file__).parent.parent.parent / "docs" / "cli.md"
COMMANDS = typer.main.get_command(app).commands


def test_module_is_the_same_command(tmp_path):
    def options(*module):
        command = [sys.executable, "-m", *module, "convert", "--help"]
        env = {**os.environ, "PYTHONUTF8": "1"}
        out = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True).stdout
        assert "Convert a treebank to a .spacy file" in out
        return sorted(set(re.findall(r"--[a-z-]+", out)))  # some versions draw boxes around them

    assert options("spacy_linearize") == options("spacy", "linearize")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_names_every_option(name):
    """docs/cli.md has a section for each command, with an example and all that it takes."""
    sections = re.split(r"^## ", PAGE.read_text(encoding="utf8"), flags=re.MULTILINE)
    (section,) = [section for section in sections if section.startswith(f"{name}\n")]
    assert f"spacy linearize {name} " in section
    for parameter in COMMANDS[name].params:
        is_option = parameter.param_type_name == "option"
        for one in [*parameter.opts, *parameter.secondary_opts] if is_option else [parameter.name]:
            assert f"`{one}`" in section or one == "--help", one


def test_the_page_names_no_other_command():
    found = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf8"), flags=re.MULTILINE)
    assert sorted(found) == sorted(COMMANDS)
