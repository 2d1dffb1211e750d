"""spacy linearize tune"""

from pathlib import Path

import typer

from ..errors import error
from ._util import app, check_places, linearizer_name, load, one_line_errors, say


@app.command("tune")
@one_line_errors
def tune_command(
    model: str = typer.Argument(..., help="A trained pipeline: a package or a folder"),
    dev_path: Path = typer.Argument(..., help="A .spacy file that the pipeline was not trained on", exists=True),
    output_path: Path = typer.Argument(..., help="The folder to write the new pipeline to"),
    weights: str = typer.Option("0,2,3,4,5,6,8,10,12,16", help="The weights to try"),
    limit: int = typer.Option(0, help="Read only this many Docs; 0 for all"),
) -> None:
    """Find out how much the language model of a pipeline should count, for each kind of bag.

    \b
    Example:
      spacy linearize tune model dev.spacy tuned_model
    """
    from ..atomic import check_pipeline_folder, save_pipeline
    from ..training.tune import tune

    try:
        numbers = [float(weight) for weight in weights.split(",")]
    except ValueError as problem:
        raise error("SL022", key="weights", value=weights, expected="numbers with commas between them") from problem
    check_pipeline_folder(output_path)
    nlp = load(model)
    check_places([nlp.path, dev_path], [output_path, *output_path.rglob("*")])
    say("kind     weight   BLEU  exact")
    best = tune(
        nlp,
        linearizer_name(nlp),
        dev_path,
        weights=numbers,
        limit=limit,
        report=lambda t: say(f"{t.kind:8} {t.weight:6g} {t.bleu:6.1f} {t.exact:6.1f}"),
    )
    save_pipeline(nlp, output_path)
    say(f"✔ {', '.join(f'{kind} {weight:g}' for kind, weight in best.items())} to {output_path}")
