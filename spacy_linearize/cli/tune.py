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
    weights: str = typer.Option(
        None, help="The weights to try [default: 0,2,3,4,5,6,8,10,12,16; 0,4,8,16,24,32,48,64 with --reranker]"
    ),
    reranker: bool = typer.Option(False, "--reranker", help="Tune the second opinion of the pipeline instead"),
    limit: int = typer.Option(0, help="Read only this many Docs; 0 for all"),
) -> None:
    """Find out how much the language model of a pipeline, or its second opinion, should count, for each kind of bag.

    \b
    Examples:
      spacy linearize tune model dev.spacy tuned_model
      spacy linearize tune model dev.spacy tuned_model --reranker
    """
    from ..atomic import check_pipeline_folder, save_pipeline
    from ..training.tune import RERANKER_WEIGHTS, WEIGHTS, tune, tune_reranker

    try:
        numbers = [float(weight) for weight in weights.split(",")] if weights else []
    except ValueError as problem:
        raise error("SL022", key="weights", value=weights, expected="numbers with commas between them") from problem
    check_pipeline_folder(output_path)
    nlp = load(model)
    check_places([nlp.path, dev_path], [output_path, *output_path.rglob("*")])
    say("kind     weight   BLEU  exact")
    best = (tune_reranker if reranker else tune)(
        nlp,
        linearizer_name(nlp),
        dev_path,
        weights=numbers or (RERANKER_WEIGHTS if reranker else WEIGHTS),
        limit=limit,
        report=lambda t: say(f"{t.kind:8} {t.weight:6g} {t.bleu:6.1f} {t.exact:6.1f}"),
    )
    save_pipeline(nlp, output_path)
    say(f"✔ {', '.join(f'{kind} {weight:g}' for kind, weight in best.items())} to {output_path}")
