"""spacy linearize calibrate"""

from pathlib import Path

import typer

from ._util import app, check_places, linearizer_of, load, one_line_errors, say


@app.command("calibrate")
@one_line_errors
def calibrate_command(
    model: str = typer.Argument(..., help="A trained pipeline: a package or a folder"),
    dev_path: Path = typer.Argument(..., help="A .spacy file that the pipeline was not trained on", exists=True),
    output_path: Path = typer.Argument(..., help="The folder to write the new pipeline to"),
    parser: str = typer.Option(None, help="The pipeline that will parse what is scored, such as en_core_web_sm"),
    limit: int = typer.Option(500, help="Read only this many Docs; 0 for all"),
    seed: int = typer.Option(0, help="For the choice of what is moved"),
) -> None:
    """Calibrate a pipeline, so that `score` gives the probability that a reader prefers an order to the best one.

    The constants are fitted on gold orders beside others of the same words, and stored as text in the pipeline.

    \b
    Examples:
      spacy linearize calibrate model dev.spacy calibrated_model
      spacy linearize calibrate model dev.spacy calibrated_model --parser en_core_web_sm
    """
    import spacy

    from ..atomic import check_pipeline_folder, save_pipeline
    from ..training.calibrate import calibrate
    from ..training.corpus import Corpus

    check_pipeline_folder(output_path)
    nlp = load(model)
    check_places([nlp.path, dev_path], [output_path, *output_path.rglob("*")])
    docs = (eg.reference for eg in Corpus(dev_path, gold_preproc=True, limit=limit)(nlp))
    found = calibrate(linearizer_of(nlp), docs, parser=spacy.load(parser) if parser else None, seed=seed)
    save_pipeline(nlp, output_path)
    say(f"✔ {found.n_orders} orders; with trees {found.tree}, words alone {found.words}; to {output_path}")
