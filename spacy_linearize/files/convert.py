"""A treebank, file or folder, to one .spacy file."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..atomic import save
from ..doc.surface import ranges_of
from ..errors import error
from ..trees import FREE, ROOT, is_projective
from . import Report, warn
from .bags import check_output
from .brackets import in_section, read_brackets
from .conllu import UPOS, XPOS, drop_rows, read_conllu
from .surface_realisation import read_t1

SUFFIXES = {".conllu": "conllu", ".mrg": "ptb", ".parse": "ptb"}
SECTIONS = {"train": (2, 21), "dev": (22, 22), "test": (23, 23)}  # of the Wall Street Journal, as in the papers


@dataclass
class Counts:
    """What a conversion found."""

    files: int = 0
    sentences: int = 0
    not_projective: int = 0
    skipped: int = 0
    multiword: int = 0  # tokens that stand for several words
    words: int = 0
    upos: int = 0  # words without XPOS, whose tag is UPOS instead


def convert(
    source: str | Path,
    target: str | Path,
    *,
    kind: str | None = None,
    tag: str = "xpos",
    base_nps: bool = False,
    split: str | None = None,
    treebank: str | Path | None = None,
    report: Report = warn,
) -> Counts:
    """Convert a treebank. One Doc a sentence, files by name, sentences in order.

    source (Union[str, Path]): A file, or a folder, which is searched recursively.
    target (Union[str, Path]): The .spacy file. It is written atomically.
    kind (Optional[str]): "conllu" or "ptb", for all files whose suffix does not tell; "t1" for CoNLL-U files of the
        Surface Realisation shared tasks.
    tag (str): The CoNLL-U column that becomes `token.tag`: "xpos", or UPOS where that is empty, or "upos".
    base_nps (bool): Merge base noun phrases of Penn brackets into single units.
    split (Optional[str]): "train", "dev" or "test" for WSJ sections 2-21, 22 and 23; or globs over file names, set
        apart by commas.
    treebank (Optional[Union[str, Path]]): With "t1" and a single file: the CoNLL-U file that has its forms.
    report (Callable[[Path, int, str], None]): Called for each sentence that is skipped. By default it goes to the log.
    """
    if Path(target).suffix != ".spacy":
        raise error("SL022", key="output", value=str(target), expected="a file that ends in .spacy")
    paths = list(_files(Path(source), kind, split))
    check_output(paths, [Path(target)])
    if treebank is not None and (kind != "t1" or len(paths) != 1):
        raise error(
            "SL022", key="treebank", value=str(treebank), expected="left out, unless there is one file of kind t1"
        )
    counts = Counts()

    def count_and_report(path: Path, line: int, message: str) -> None:
        counts.skipped += 1
        report(path, line, message)

    vocab = Vocab()
    docs = DocBin(store_user_data=True)
    for path in paths:
        counts.files += 1
        own_kind = "t1" if kind == "t1" else SUFFIXES.get(path.suffix.lower(), kind or "")
        for doc in _read(path, vocab, own_kind, tag, base_nps, treebank, count_and_report):
            counts.sentences += 1
            counts.not_projective += not is_projective(_heads(doc))
            counts.multiword += len(ranges_of(doc))
            counts.words += len(doc)
            rows = drop_rows(doc)
            counts.upos += sum(row[XPOS] == "_" != row[UPOS] for row in rows) if tag == "xpos" else 0
            docs.add(doc)
    if not counts.sentences:
        raise error("SL053", path=source)
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    save(target, docs.to_bytes())
    return counts


def _files(source: Path, kind: str | None, split: str | None) -> Iterator[Path]:
    paths = [source] if source.is_file() else sorted(path for path in source.rglob("*") if path.is_file())
    for path in paths:
        if path.suffix.lower() not in SUFFIXES and not (kind and (source.is_file() or not path.name.startswith("."))):
            continue
        if split in SECTIONS:
            if not in_section(path, *SECTIONS[split]):
                continue
        elif split and not any(path.match(glob) for glob in split.split(",")):
            continue
        yield path


def _read(
    path: Path,
    vocab: Vocab,
    kind: str,
    tag: str,
    base_nps: bool,
    treebank: str | Path | None,
    report: Report,
) -> Iterator[Doc]:
    if kind == "t1":
        return read_t1(path, vocab, treebank=treebank, tag=tag, report=report)
    if kind == "ptb":
        return read_brackets(path, vocab, base_nps=base_nps, report=report)
    return read_conllu(path, vocab, tag=tag, report=report)


def _heads(doc: Doc) -> list[int]:
    return [FREE if not token.has_head() else ROOT if token.head.i == token.i else token.head.i for token in doc]
