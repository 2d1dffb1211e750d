"""Another language model for a trained pipeline: from text and .spacy files, or from ARPA files."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from spacy.language import Language
from spacy.strings import get_string_id

from ..core.engine import Engine
from ..core.ngrams.table import HIGHEST_ORDER
from ..doc.text import read_sentences
from ..errors import error
from ..files.arpa import read_arpa
from ..model import engine_of

DEFAULT_ORDER = 3


def check_files(files: Sequence[Path], backward: Path | None, order: int | None) -> None:
    """Refuse what `replace_language_model` cannot do, before time is spent on a pipeline."""
    is_arpa = _is_arpa(files)
    if is_arpa and len(files) > 1:
        raise error("SL022", key="files", value=f"{len(files)} files", expected="one .arpa file, or none")
    if is_arpa and order is not None:
        raise error("SL022", key="order", value=order, expected="left out: an .arpa file has its own")
    if order is not None and not 1 <= order <= HIGHEST_ORDER:
        raise error("SL022", key="order", value=order, expected=f"from 1 to {HIGHEST_ORDER}")
    if backward and not is_arpa:
        raise error("SL022", key="backward", value=str(backward), expected="left out unless the file is an .arpa file")


def replace_language_model(
    nlp: Language,
    name: str,
    files: Sequence[Path],
    *,
    backward: Path | None = None,
    order: int | None = None,
    weights: dict[str, float] | None = None,
) -> list[int]:
    """Give the linearizer of a pipeline another language model, and say so in the config of the pipeline.

    nlp (Language): The pipeline. It is changed.
    name (str): The name of its linearizer.
    files (Sequence[Path]): Text and .spacy files, see `read_sentences`; or one .arpa file.
    backward (Optional[Path]): With an .arpa file, the one of the reversed sentences.
    order (Optional[int]): Length of the longest n-grams, 3 if it is left out. An .arpa file has its own.
    weights (Optional[Dict[str, float]]): How much the model counts, by kind of bag: "partial", "tree" or "free".
    RETURNS (List[int]): The number of n-grams for each direction of the search.
    """
    check_files(files, backward, order)
    engine = engine_of(nlp.get_pipe(name).model)
    if _is_arpa(files):
        import_arpa(engine, files[0], backward)
    else:
        learn_from_files(nlp, engine, files, DEFAULT_ORDER if order is None else order)
    sizes = [len(ngrams) for ngrams in engine.experts.ngrams]
    if not any(sizes):
        raise error("SL022", key="files", value=" ".join(map(str, files)), expected="files with sentences")
    engine.change_ngrams(weights=weights)
    settings = engine.settings
    changed = {"ngram_order": settings.ngram_order, "ngram_weights": dict(settings.ngram_weights)}
    nlp.get_pipe_config(name)["model"].update(changed)
    return sizes


def learn_from_files(nlp: Language, engine: Engine, files: Iterable[Path], order: int) -> None:
    """Estimate the language models of an engine anew, from nothing but these files."""
    engine.change_ngrams(order=order)
    engine.learn_ngrams(sentence for path in files for sentence in read_sentences(nlp, path))


def import_arpa(engine: Engine, forward: Path, backward: Path | None = None) -> None:
    """Take over language models in ARPA format.

    forward (Path): The model of sentences as they are read: for the search from left to right.
    backward (Optional[Path]): The model of reversed sentences: for the search from right to left, which has none if
        this is left out.
    """
    directions = engine.settings.directions
    if backward is not None and True not in directions:
        expected = "left out: this pipeline does not search from right to left"
        raise error("SL022", key="backward", value=str(backward), expected=expected)
    paths = {False: forward, True: backward}
    models = []
    for mirrored in directions:
        path = paths[mirrored]
        models.append(read_arpa(path, get_string_id) if path is not None else (1, []))
    engine.change_ngrams(order=max(order for order, _ in models))
    for ngrams, (order, entries) in zip(engine.experts.ngrams, models, strict=True):
        ngrams.fill(order, entries)


def _is_arpa(files: Iterable[Path]) -> bool:
    return any(path.suffix == ".arpa" for path in files)
