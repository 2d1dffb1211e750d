"""Language models from files: text and .spacy to estimate one from, ARPA files to import."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from spacy.language import Language
from spacy.strings import get_string_id

from .errors import error

if TYPE_CHECKING:
    from .core.engine import Engine


def learn_from_files(nlp: Language, engine: "Engine", files: Iterable[Path], order: int) -> None:
    """Estimate the language models of an engine anew, from nothing but these files."""
    engine.change(ngram_order=order)
    engine.learn_ngrams(sentence for path in files for sentence in read_sentences(nlp, path))


def read_sentences(nlp: Language, path: str | Path) -> Iterator[list[int]]:
    """The sentences of a file as keys of words.

    path (Union[str, Path]): A .spacy file with sentence boundaries (or one sentence a Doc), or text with one sentence
        on each line, which the pipeline's own tokenizer splits.
    """
    if Path(path).suffix == ".spacy":
        from .files import read_spacy

        for doc in read_spacy(Path(path), nlp.vocab):
            for sent in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
                yield [token.orth for token in sent]
        return
    with Path(path).open("rb") as lines:
        for number, raw in enumerate(lines):
            try:
                line = raw.decode("utf8" if number else "utf-8-sig")
            except UnicodeDecodeError as problem:
                raise error("SL182", path=path) from problem
            keys = [token.orth for token in nlp.make_doc(line.strip()) if not token.is_space]
            if keys:
                yield keys


def import_arpa(engine: "Engine", forward: Path, backward: Path | None = None) -> None:
    """Take over language models in ARPA format.

    forward (Path): The model of sentences as they are read: for the search from left to right.
    backward (Optional[Path]): The model of reversed sentences: for the search from right to left, which has none if
        this is left out.
    """
    from .core.ngrams.arpa import read_arpa

    paths = {False: forward, True: backward}
    models = {}
    for decoder in engine.decoders:
        path = paths[decoder.mirrored]
        models[decoder.mirrored] = read_arpa(path, get_string_id) if path is not None else (1, [])
    engine.change(ngram_order=max(order for order, _ in models.values()))
    for decoder in engine.decoders:
        decoder.ngrams.fill(*models[decoder.mirrored])
