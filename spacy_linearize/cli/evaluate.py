"""spacy linearize evaluate"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..errors import error
from . import _util
from ._util import app, check_count, check_places, linearizer_name, linearizer_of, load, one_line_errors, say, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..linearizer import Linearizer
    from ..training.evaluate import Run

COLUMNS = ("tags", "arcs", "beam", "BLEU", "exact", "UAS", "LAS", "tags right", "ms a sentence")


@app.command("evaluate")
@one_line_errors
def evaluate_command(
    model: str = typer.Argument(..., help="A trained pipeline: a package or a folder"),
    corpus: Path = typer.Argument(..., help="A .spacy file", exists=True),
    tags: float = typer.Option(1.0, help="Share of the tags that is given"),
    heads: float = typer.Option(1.0, help="Share of the arcs that is given"),
    labelled: bool = typer.Option(True, help="Whether given arcs have their labels"),
    grid: bool = typer.Option(False, help="All of 0, 50, 100% tags with 0, 50, 100% arcs"),
    beam: int = _util.BEAM,
    reranker: str = _util.RERANKER,
    limit: int = typer.Option(0, help="Read only this many Docs; 0 for all"),
    seed: int = typer.Option(0, help="For the choice of what is given"),
    shared_task: bool = typer.Option(False, help="The metrics of the Surface Realisation tasks, too"),
    analyse: bool = typer.Option(False, help="Spans by length, and the lengths of spans"),
    beams: str = typer.Option(None, help="BLEU for several widths of the beam, such as 1,4,16"),
    log: Path = typer.Option(None, help="BLEU by step and epoch, from a log file of spacy train", exists=True),
    json_path: Path = typer.Option(None, "--json", help="Write all figures here, with settings and versions"),
    sentences: Path = typer.Option(
        None, help="Write every sentence here, as JSONL: hypothesis, reference, BLEU, what was given, score"
    ),
    plot: Path = typer.Option(None, help="Analyse, and draw all figures into this folder (needs the extra 'plots')"),
    png: bool = typer.Option(False, help="Draw PNG instead of SVG"),
) -> None:
    """Evaluate a pipeline: BLEU, exact match, UAS, LAS and tag accuracy of what was not given, and the time.

    \b
    Examples:
      spacy linearize evaluate my_model dev.spacy
      spacy linearize evaluate my_model dev.spacy --grid --json grid.json
      spacy linearize evaluate my_model dev.spacy --sentences dev.jsonl
      spacy linearize evaluate my_model dev.spacy --tags 0 --heads 0 --analyse --beams 1,4,16,64 --plot figures
    """
    import srsly

    from ..atomic import save
    from ..training import evaluate as evaluation
    from ..training.plots import PLOTS, draw, require_matplotlib

    if corpus.is_file() and corpus.suffix != ".spacy":
        raise error("SL054", path=corpus)
    widths = _read_widths(beams)
    if plot:
        require_matplotlib()
    suffix = "png" if png else "svg"
    targets = [json_path, sentences, *(plot / f"{name}.{suffix}" for name in (PLOTS if plot else ()))]
    check_places([corpus, *corpus.rglob("*.spacy"), log], targets)
    nlp = load(model, beam, reranker=reranker)
    check_places(nlp.path.rglob("*") if nlp.path else (), targets)
    component = linearizer_of(nlp)
    _warn_of_ignored(component)
    settings: dict[str, Any] = {"labelled": labelled, "limit": limit, "seed": seed, "name": linearizer_name(nlp)}
    rows = 0

    def run(shares: tuple[float, float], width: int | None = None) -> "Run":
        nonlocal rows
        result = evaluation.evaluate(nlp, corpus, tags=shares[0], heads=shares[1], beam_width=width, **settings)
        _print_row(result, is_first=rows == 0)
        rows += 1
        return result

    cell = evaluation.given(component, tags, heads)
    cells = [evaluation.given(component, *shares) for shares in evaluation.GRID] if grid else [cell]
    runs = {shares: run(shares) for shares in dict.fromkeys(cells)}
    figures: dict[str, Any] = {"model": shown(model), "corpus": shown(corpus.name)}
    figures |= {"seed": seed, "labelled": labelled, "limit": limit, **evaluation.provenance(component)}
    figures["runs"] = [result.to_dict() for result in runs.values()]
    if shared_task:
        figures["shared_task"] = _print_shared_task(runs.values())
    if widths:
        figures["beams"] = [run(cell, width).to_dict() for width in widths]
    if log:
        figures["steps"] = evaluation.steps(log)
        figures["epochs"] = evaluation.epochs(figures["steps"])
        _print_steps(figures["steps"])
    if analyse or plot:
        # With a grid, the cell that --tags and --heads name.
        figures["analysed"] = dict(zip(("tags", "heads"), cell, strict=True))
        figures.update(evaluation.analyse((runs.get(cell) or run(cell)).pairs))
        _print_analysis(figures)
    if json_path:
        json_path.parent.mkdir(parents=True, exist_ok=True)
        save(json_path, srsly.json_dumps(figures, indent=2).encode("utf8"))
    if sentences:
        lines = [{"given": result.to_dict()["given"], **row} for result in runs.values() for row in result.sentences()]
        sentences.parent.mkdir(parents=True, exist_ok=True)
        save(sentences, "".join(f"{srsly.json_dumps(line)}\n" for line in lines).encode("utf8"))
    if plot:
        for path in draw(figures, plot, suffix):
            say(f"✔ {path}")


def _read_widths(beams: str | None) -> list[int]:
    if beams and not all(width.strip().isdecimal() for width in beams.split(",")):
        raise error("SL022", key="beams", value=beams, expected="widths set apart by commas, such as 1,4,16")
    widths = [int(width) for width in beams.split(",")] if beams else []
    for width in widths:
        check_count("beams", width)
    return widths


def _warn_of_ignored(component: "Linearizer") -> None:
    for kind in ("tags", "heads", "deps"):
        if not getattr(component.options, f"use_{kind}"):
            say(f"⚠ '{component.name}' has use_{kind} = false: none are given.")


def _print_row(run: "Run", *, is_first: bool) -> None:
    """A row of the table. Its head comes with the first row: an evaluation that fails has no table."""
    if is_first:
        print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    scores = (f"{value:.2f}" if value is not None else "–" for value in run.scores.values())
    row = [f"{run.tags:.0%}", f"{run.heads:.0%}", run.beam_width, *scores, f"{run.ms:.2f}"]
    print(f"| {' | '.join(map(str, row))} |", flush=True)


def _print_shared_task(runs: "Iterable[Run]") -> list[dict[str, float]]:
    """The metrics of the Surface Realisation tasks. Returns them."""
    from ..training.sr_metrics import sr_scores

    found = []
    print("\nLower-cased, as in the Surface Realisation tasks:")
    print("\n| tags | arcs | BLEU (NLTK) | NIST | DIST |\n|---|---|---|---|---|")
    for run in runs:
        scores = sr_scores([([t.text for t in output], [t.text for t in gold]) for output, gold in run.pairs])
        bleu, nist, dist = 100 * scores["sr_bleu"], scores["sr_nist"], 100 * scores["sr_dist"]
        print(f"| {run.tags:.0%} | {run.heads:.0%} | {bleu:.2f} | {nist:.2f} | {dist:.2f} |")
        found.append({"tags": run.tags, "heads": run.heads, **scores})
    return found


def _print_steps(steps: list[dict[str, Any]]) -> None:
    print("\n| step | epoch | BLEU |\n|---|---|---|")
    for row in steps:
        print(f"| {row['step']} | {row['epoch']} | {row['bleu']:.2f} |")


def _print_analysis(figures: dict[str, Any]) -> None:
    tags, heads = figures["analysed"].values()
    print(f"\nWith {tags:.0%} of the tags and {heads:.0%} of the arcs given:")
    print("\n| spans shorter than | precision | recall | F |\n|---|---|---|---|")
    for row in figures["spans"]:
        print(f"| {row['shorter_than']} | {row['precision']:.2f} | {row['recall']:.2f} | {row['f']:.2f} |")
