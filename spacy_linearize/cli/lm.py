"""spacy linearize lm"""

from pathlib import Path

import typer

from ._util import app, bytes_bar, check_count, check_places, linearizer_name, linearizer_of, load, one_line_errors, say


@app.command("lm")
@one_line_errors
def lm_command(
    model: str = typer.Argument(..., help="A trained pipeline: a package or a folder"),
    output_path: Path = typer.Argument(..., help="The folder to write the new pipeline to"),
    files: list[Path] = typer.Argument(
        ..., help="Text (.txt, .gz, .xz, .bz2), .spacy files, folders of these, or - ; or one .arpa"
    ),
    like: Path = typer.Option(None, help="Text of the kind that is to be ordered, such as the training data"),
    order: int = typer.Option(None, help="Length of the longest n-grams: 1 to 5; of .arpa, its own  [default: 3]"),
    size: str = typer.Option(None, help="Prune the model to this size, such as 8MB"),
    min_count: int = typer.Option(1, help="Leave out n-grams of three words and more that were seen less often"),
    min_word: int = typer.Option(
        1, help="Let words that were seen less often share n-grams with others of their class"
    ),
    memory: str = typer.Option("2GB", help="How much memory to take at most, about"),
    n_process: int = typer.Option(1, "--n-process", "-n", help="In how many processes to tokenise"),
    arpa: Path = typer.Option(None, help="Write the model in ARPA format, too"),
    weight: float = typer.Option(None, help="How much the model counts where arcs are missing"),
    free_weight: float = typer.Option(None, help="How much it counts where no arcs are given, instead of --weight"),
    tree_weight: float = typer.Option(None, help="How much it counts where all arcs are given"),
) -> None:
    """Give a pipeline another language model.

    \b
    Examples:
      spacy linearize lm model new_model wikipedia.txt.xz mails/ --like train.spacy --order 4 --size 8MB -n 2
      spacy linearize lm model new_model news.arpa
    """
    from ..atomic import check_pipeline_folder, save_pipeline
    from ..core.ngrams.estimate import Estimation
    from ..training.language_model import (
        DEFAULT_ORDER,
        Sources,
        check_arpa,
        import_arpa,
        is_arpa,
        parse_size,
        replace_language_model,
        store_settings,
    )

    if is_arpa(files):
        check_arpa(files, order, like)
    check_count("n_process", n_process)
    how = Estimation(
        order=DEFAULT_ORDER if order is None else order,
        min_counts=(1, 1, min_count),
        min_word=min_word,
        size=None if size is None else parse_size(size),
        memory=parse_size(memory, "memory"),
    )
    check_pipeline_folder(output_path)
    nlp = load(model)
    check_places([nlp.path, *files, like], [output_path, *output_path.rglob("*"), arpa])
    if arpa is not None:  # what cannot be written is said before the work
        arpa.parent.mkdir(parents=True, exist_ok=True)
    name, engine = linearizer_name(nlp), linearizer_of(nlp).engine
    weights = {"partial": weight, "free": weight if free_weight is None else free_weight, "tree": tree_weight}
    if is_arpa(files):
        import_arpa(nlp, name, files[0])
    else:
        sources = Sources(files=files, like=like, n_process=n_process)
        with bytes_bar([*files, *([like] if like else [])]) as progress:
            shares = replace_language_model(nlp, name, sources, how, arpa=arpa, progress=progress)
        for path, share in zip([like, *files] if like else [], shares, strict=False):
            say(f"  {share:.3f}  {path}")
    engine.change_ngrams(weights={kind: value for kind, value in weights.items() if value is not None})
    store_settings(nlp, name)
    save_pipeline(nlp, output_path)
    say(f"✔ {len(engine.experts.ngrams)} n-grams to {output_path}")
