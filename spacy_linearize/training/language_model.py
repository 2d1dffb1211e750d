"""Another language model for a trained pipeline: from text and .spacy files, or from ARPA files."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spacy.language import Language
from spacy.strings import get_string_id

from ..core.ngrams.estimate import Estimation, Estimator, fill_table
from ..doc.text import read_text
from ..errors import error
from ..files.arpa import read_arpa, write_arpa
from ..lines import Progress
from ..model import engine_of

DEFAULT_ORDER = 3
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?)b?", re.IGNORECASE)
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Where a language model comes from.

    files (Sequence[Path]): Text, .spacy files and folders of both, see `doc.text.read_sentences`.
    like (Optional[Path]): Text from the target domain. The model learns from it, too. Each file is then a separate
        source, with the interpolation weight that suits this text. Without it, all files are one source.
    n_process (int): In how many processes to tokenise.
    """

    files: Sequence[Path]
    like: Path | None = None
    n_process: int = 1


def parse_size(text: str, key: str = "size") -> int:
    """A number of bytes, from a text such as "8MB" or "2GB"."""
    found = SIZE.fullmatch(text.strip())
    if found is None or not float(found[1]):
        raise error("SL022", key=key, value=text, expected="a number of bytes, such as 8MB")
    return int(float(found[1]) * UNITS[found[2].lower()])


def is_arpa(files: Iterable[Path]) -> bool:
    """Whether one of these files is a model in ARPA format."""
    return any(path.suffix.lower() == ".arpa" for path in files)


def check_arpa(files: Sequence[Path], order: int | None, like: Path | None) -> None:
    """Refuse what cannot be done with an ARPA file, before a pipeline is loaded."""
    if len(files) > 1:
        raise error("SL022", key="files", value=f"{len(files)} files", expected="one .arpa file, or none")
    for key, value in (("order", order), ("like", like and str(like))):
        if value is not None:
            raise error("SL022", key=key, value=value, expected="left out: an .arpa file is finished")


def replace_language_model(
    nlp: Language,
    name: str,
    sources: Sources,
    how: Estimation,
    *,
    arpa: Path | None = None,
    progress: Progress | None = None,
) -> list[float]:
    """Give the linearizer of a pipeline a language model from text, and record it in the config of the pipeline.

    nlp (Language): The pipeline. It is changed.
    name (str): The name of its linearizer.
    how (Estimation): How to make the model.
    arpa (Optional[Path]): Where to write the model in ARPA format as well.
    progress (Optional[Callable[[int], object]]): Is told the number of bytes read since it was last told.
    RETURNS (List[float]): The weights of the sources, that of `like` first.
    """
    engine = engine_of(nlp.get_pipe(name).model)
    groups = [[path] for path in sources.files] if sources.like else [list(sources.files)]
    if sources.like:
        groups.insert(0, [sources.like])
    texts = [
        read_text(nlp, group, n_process=sources.n_process, add_strings=arpa is not None, progress=progress)
        for group in groups
    ]
    for text, group in zip(texts, groups, strict=True):
        if not text.n_sentences:
            key = "like" if group == [sources.like] else "files"
            raise error("SL022", key=key, value=" ".join(map(str, group)), expected="text with sentences in it")
    engine.change_ngrams(order=how.order)
    estimator = Estimator(texts, how)
    model = estimator.model()
    fill_table(engine.experts.ngrams, model, estimator.vocabulary.keys)
    if arpa is not None:
        write_arpa(arpa, model, estimator.vocabulary, nlp.vocab.strings.__getitem__)
    store_settings(nlp, name)
    return estimator.weights


def import_arpa(nlp: Language, name: str, path: Path) -> None:
    """Give the linearizer of a pipeline a language model in ARPA format."""
    engine = engine_of(nlp.get_pipe(name).model)
    order, entries = read_arpa(path, get_string_id)
    engine.change_ngrams(order=order)
    engine.experts.ngrams.fill_grams(order, entries)
    store_settings(nlp, name)


def store_settings(nlp: Language, name: str) -> None:
    """Record in the config of a pipeline which language model it has."""
    settings = engine_of(nlp.get_pipe(name).model).settings
    changed = {"ngram_order": settings.ngram_order, "ngram_weights": dict(settings.ngram_weights)}
    nlp.get_pipe_config(name)["model"].update(changed)
