"""spacy linearize init-config"""

from pathlib import Path

import typer

from ._util import app, check_places, one_line_errors, say


@app.command("init-config")
@one_line_errors
def init_config_command(
    output_path: Path = typer.Argument(..., help="The config to write"),
    lang: str = typer.Option("en", "--lang", "-l", help="The language, as spaCy names it"),
    train: Path = typer.Option(None, help="A .spacy file to train on", exists=True),
    dev: Path = typer.Option(None, help="A .spacy file to evaluate on", exists=True),
    labelled: bool = typer.Option(True, help="Whether the model knows the labels of arcs"),
) -> None:
    """Write a config to start from: one model for every amount of input. The corpus decides how long to train.

    \b
    Example:
      spacy linearize init-config config.cfg --lang de --train train.spacy --dev dev.spacy
      spacy train config.cfg --output training
    """
    from ..atomic import save
    from ..training.starting import starting_config

    check_places([train, dev], [output_path])
    config = starting_config(lang, train, dev, labelled=labelled)
    output_path.parent.mkdir(parents=True, exist_ok=True)
    save(output_path, config.to_str(interpolate=False).encode("utf8"))
    more = "" if train and dev else " --paths.train train.spacy --paths.dev dev.spacy"
    say(f"✔ {output_path}; spacy train {output_path} --output training{more}")
