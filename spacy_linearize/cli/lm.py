"""spacy linearize lm"""

from pathlib import Path

import typer

from ._util import app, check_places, linearizer_name, load, one_line_errors, say


@app.command("lm")
@one_line_errors
def lm_command(
    model: str = typer.Argument(..., help="A trained pipeline: a package or a folder"),
    output_path: Path = typer.Argument(..., help="The folder to write the new pipeline to"),
    files: list[Path] = typer.Argument(..., help="Text (.txt, one sentence a line), .spacy, or one .arpa", exists=True),
    backward: Path = typer.Option(None, help="With .arpa: the model of the reversed sentences", exists=True),
    order: int = typer.Option(None, help="Length of the longest n-grams: 1 to 4; of .arpa, its own  [default: 3]"),
    weight: float = typer.Option(None, help="How much the model counts where arcs are missing"),
    free_weight: float = typer.Option(None, help="How much it counts where no arcs are given, instead of --weight"),
    tree_weight: float = typer.Option(None, help="How much it counts where all arcs are given"),
) -> None:
    """Give a pipeline another language model.

    \b
    Examples:
      spacy linearize lm model new_model train.spacy more_text.txt
      spacy linearize lm model new_model news.arpa --backward news_reversed.arpa
    """
    from ..atomic import check_pipeline_folder, save_pipeline
    from ..training.language_model import check_files, replace_language_model

    check_files(files, backward, order)
    check_pipeline_folder(output_path)
    nlp = load(model)
    check_places([nlp.path, *files, backward], [output_path, *output_path.rglob("*")])
    weights = {"partial": weight, "free": weight if free_weight is None else free_weight, "tree": tree_weight}
    sizes = replace_language_model(
        nlp,
        linearizer_name(nlp),
        files,
        backward=backward,
        order=order,
        weights={kind: value for kind, value in weights.items() if value is not None},
    )
    save_pipeline(nlp, output_path)
    say(f"✔ {', '.join(f'{size} n-grams' for size in sizes)} to {output_path}")
