"""spacy linearize parse"""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ._util import app, check_places, is_terminal, one_line_errors, say, stopped_politely

if TYPE_CHECKING:
    from ..training.parse import Counts


@app.command("parse")
@one_line_errors
def parse_command(
    model: str = typer.Argument(..., help="A pipeline with a parser: a package or a folder"),
    text: list[Path] = typer.Argument(
        ..., help="Text: .txt, .gz, .xz, .bz2, with --keep-tokens .spacy; folders of these; - for standard input"
    ),
    output_path: Path = typer.Argument(..., help="The folder to write .spacy files to"),
    keep_tokens: bool = typer.Option(False, help="The text is tokenised already: one sentence a line, split at spaces"),
    min_words: int = typer.Option(3, help="Leave out shorter sentences"),
    max_words: int = typer.Option(60, help="Leave out longer sentences"),
    min_letters: float = typer.Option(0.5, help="Leave out sentences with a smaller share of letters"),
    one_root: bool = typer.Option(True, help="Leave out sentences whose tree has not just one root"),
    projective: bool = typer.Option(True, help="Leave out sentences whose arcs cross"),
    unique: bool = typer.Option(True, help="Leave out sentences that have come up before"),
    limit: int = typer.Option(0, help="Stop after so many sentences"),
    shard_size: int = typer.Option(5000, help="The largest number of sentences to a file"),
    n_process: int = typer.Option(1, "--n-process", "-n", help="Parse in so many processes"),
    batch_size: int = typer.Option(100, help="How many lines go to a process at a time"),
    disable: str = typer.Option("", help="Further components to leave out, set apart by commas"),
    json_path: Path = typer.Option(None, "--json", help="Write all counts here"),
) -> None:
    """Parse text into a treebank: .spacy files to train a linearizer on, for the trees of that parser.

    One line is a paragraph or an utterance; the pipeline makes sentences of it. A run that was stopped goes on where it
    was when the same command is given again.

    \b
    Examples:
      spacy linearize parse en_core_web_sm news.txt.xz corpus --n-process 2
      zcat *.txt.gz | spacy linearize parse en_core_web_sm - corpus --limit 100000
      spacy linearize parse en_core_web_sm treebank.spacy corpus --keep-tokens
    """
    import spacy
    import srsly
    from tqdm import tqdm

    from ..atomic import save
    from ..lines import DOCS, TEXT_SUFFIXES, count_bytes, find_files
    from ..training.parse import Filters, parse_text

    filters = Filters(
        min_words=min_words,
        max_words=max_words,
        min_letters=min_letters,
        one_root=one_root,
        projective=projective,
        unique=unique,
    )
    files = find_files(text, (*TEXT_SUFFIXES, DOCS))
    check_places(files, [output_path, json_path])
    nlp = spacy.load(model)
    size = count_bytes(files)
    bar = tqdm(total=size, unit="B", unit_scale=True, disable=not is_terminal(sys.stderr) or size is None)
    with stopped_politely(), bar:
        counts = parse_text(
            nlp,
            text,
            output_path,
            filters=filters,
            keep_tokens=keep_tokens,
            shard_size=shard_size,
            limit=limit,
            n_process=n_process,
            batch_size=batch_size,
            disable=[name.strip() for name in disable.split(",") if name.strip()],
            progress=bar.update,
        )
    if json_path:
        json_path.parent.mkdir(parents=True, exist_ok=True)
        save(json_path, srsly.json_dumps(asdict(counts), indent=2).encode("utf8"))
    _report(counts, output_path)


def _report(counts: "Counts", output_path: Path) -> None:
    left_out = {
        "too short": counts.too_short,
        "too long": counts.too_long,
        "too few letters": counts.few_letters,
        "not one root": counts.not_one_root,
        "not projective": counts.not_projective,
        "there before": counts.duplicates,
    }
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in left_out.items())
    say(f"✔ {counts.kept:,} of {counts.sentences:,} sentences ({reasons}), {counts.words:,} words, to {output_path}")
