"""spacy linearize compact"""

from pathlib import Path

import typer

from ..errors import error
from ._util import app, check_places, linearizer_name, linearizer_of, load, one_line_errors, say


@app.command("compact")
@one_line_errors
def compact_command(
    model: str = typer.Argument(..., help="A trained pipeline: a package or a folder"),
    output_path: Path = typer.Argument(..., help="The folder to write the small pipeline to"),
    prune: float = typer.Option(0.5, help="Drop weights below this, and round the others to steps of at most this"),
    free_prune: float = typer.Option(None, help="The same for the weights of bags without arcs, which are lighter"),
    meta: Path = typer.Option(None, help="A JSON file with what meta.json should say of the pipeline", exists=True),
) -> None:
    """Make a trained pipeline small: drop light weights, and store the others as bytes.

    \b
    Example:
      spacy linearize compact training/ud-default/model-last en_ud --prune 0.5
    """
    import srsly

    from ..atomic import check_pipeline_folder, save_pipeline
    from ..model import engine_of
    from ..options import configure

    for key, value in (("prune", prune), ("free_prune", free_prune)):
        if value is not None and not 0 <= value < float("inf"):
            raise error("SL022", key=key, value=value, expected="a number, 0 or more")
    check_pipeline_folder(output_path)
    nlp = load(model)
    check_places([nlp.path, meta], [output_path, *output_path.rglob("*")])
    name = linearizer_name(nlp)
    configure(nlp, name, n_threads=1)  # the number used in training is no concern of users
    engine_of(linearizer_of(nlp).model).compact(prune, free_prune)
    if meta is not None:
        more = srsly.read_json(meta)
        if not isinstance(more, dict):
            raise error("SL022", key="meta", value=str(meta), expected="a file with a JSON object")
        nlp.meta.update(more)
    # The linearizer stores its tags and labels itself, and looks up no other strings of the vocabulary.
    is_alone = nlp.component_names == [name] and not nlp.vocab.vectors.size
    save_pipeline(nlp, output_path, exclude=["vocab"] if is_alone else [])
    size = sum(path.stat().st_size for path in output_path.rglob("*") if path.is_file())
    say(f"✔ {size / 1e6:.1f} MB to {output_path}")
