"""spacy linearize convert"""

from enum import Enum
from pathlib import Path

import typer

from ..errors import error
from ._util import app, check_places, one_line_errors, say


class Tag(str, Enum):
    xpos = "xpos"
    upos = "upos"


class TreebankFormat(str, Enum):
    conllu = "conllu"
    ptb = "ptb"
    t1 = "t1"


@app.command("convert")
@one_line_errors
def convert_command(
    input_path: Path = typer.Argument(..., help="A file, or a folder of files: .mrg, .parse or .conllu", exists=True),
    output_path: Path = typer.Argument(..., help="The .spacy file to write"),
    file_format: TreebankFormat = typer.Option(
        None, "--format", "-f", help="When the suffix does not tell; t1 for the Surface Realisation tasks"
    ),
    tag: Tag = typer.Option(Tag.xpos, help="CoNLL-U: the column that becomes token.tag; UPOS where XPOS is empty"),
    base_nps: bool = typer.Option(False, help="Brackets: merge base noun phrases into single units"),
    treebank: Path = typer.Option(None, help="T1: the CoNLL-U file that has its forms", exists=True),
    split: str = typer.Option(
        None, help="Only some files: train, dev, test (WSJ 2-21, 22, 23), or globs, set apart by commas"
    ),
) -> None:
    """Convert a treebank to a .spacy file: one Doc a sentence, in order.

    A sentence that cannot be read is reported with file and line, and skipped. Multiword tokens, such as "du" for "de
    le", are kept beside the words that they stand for.

    \b
    Examples:
      spacy linearize convert en_ewt-ud-train.conllu train.spacy
      spacy linearize convert wsj/ train.spacy --split train --base-nps
      spacy linearize convert en_ewt-ud-dev.t1.conllu dev.spacy --format t1 --treebank en_ewt-ud-dev.conllu
    """
    from ..files.convert import convert

    check_places([input_path, treebank], [output_path])
    counts = convert(
        input_path,
        output_path,
        kind=file_format.value if file_format else None,
        tag=tag.value,
        base_nps=base_nps,
        split=split,
        treebank=treebank,
        report=_report,
    )
    if counts.upos:
        say(f"⚠ {counts.upos} of {counts.words} words have no XPOS: their tag is UPOS. --tag upos takes it for all.")
    say(
        f"✔ {counts.sentences} sentences from {counts.files} files ({counts.not_projective} not projective, "
        f"{counts.skipped} skipped, {counts.multiword} multiword tokens) to {output_path}"
    )


def _report(path: Path, line: int, message: str) -> None:
    say(f"✘ {path}:{line}: {error('SL202', problem=message)}")
