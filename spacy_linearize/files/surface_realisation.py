"""T1 files of the Surface Realisation shared tasks of 2018 to 2020: trees whose words are in no order.

They are CoNLL-U files with the words of each sentence shuffled, and lemmas in place of forms. `original_id=5`, in FEATS
or MISC, says where a word stood, in the parts of the data that are for training; order hints (`lin=+1`) are as `conllu`
reads them. Forms come from the treebank that a file was made from, if that is at hand: it has the same sentences in the
same sequence.
"""

from collections.abc import Iterator
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..errors import error
from . import Report, warn
from .conllu import FEATS, FORM, HEAD, ID, LEMMA, MISC, BadSentence, Block, blocks, read_sentences

PLACE = "original_id="


def read_t1(
    path: str | Path, vocab: Vocab, *, treebank: str | Path | None = None, tag: str = "xpos", report: Report = warn
) -> Iterator[Doc]:
    """Read a T1 file. Where all words of a sentence have an original id they are put in order, so that the Docs are
    good for training and evaluation; otherwise they stay as they are, for `spacy linearize order`.

    path (Union[str, Path]): The file.
    vocab (Vocab): The vocabulary of the Docs.
    treebank (Optional[Union[str, Path]]): The CoNLL-U file that it was made from: its forms take the place of lemmas,
        which become those of the Docs.
    tag (str): The column that becomes `token.tag`: "xpos" or "upos".
    report (Callable[[Path, int, str], None]): Called with file, line and message for each sentence that is left out.
    YIELDS (Doc): As `read_conllu` does.
    """
    path = Path(path)
    originals = _sentences(Path(treebank)) if treebank is not None else None
    sentences = _sentences(path)
    if originals is not None and len(originals) != len(sentences):
        raise error("SL290", path=path, n=len(sentences), treebank=treebank, others=len(originals))
    for number, block in enumerate(sentences):
        try:
            if block.problem:
                raise block.problem
            lines = _in_order(block, originals[number] if originals is not None else None)
            for _, doc in read_sentences(lines, vocab, tag=tag):
                if isinstance(doc, BadSentence):
                    raise BadSentence(str(doc), block.line)
                yield doc
        except BadSentence as problem:
            report(path, problem.line, str(problem))


def _sentences(path: Path) -> list[Block]:
    with path.open("rb") as file:
        return [block for block in blocks(file) if block.rows or block.problem]


def _in_order(block: Block, original: Block | None) -> list[bytes]:
    """The lines of a sentence in ordinary CoNLL-U."""
    rows = [row for _, row in block.rows]
    if any(len(row) <= MISC for row in rows):  # the reader says what is wrong with it
        return _encode(block.comments, rows)
    places = [_place(row) for row in rows]
    if None in places:
        if original is not None:
            raise BadSentence("words without an original id cannot be found in the treebank", block.line)
        return _encode(block.comments, rows)
    forms = {row[ID]: row[FORM] for _, row in original.rows} if original is not None else {}
    ids = {"0": "0", "_": "_"}
    order = sorted(range(len(rows)), key=lambda i: places[i] or 0)
    for k, i in enumerate(order, start=1):
        ids[rows[i][ID]] = str(k)
    found = []
    for i in order:
        row = list(rows[i])
        if original is not None:
            if str(places[i]) not in forms:
                raise BadSentence(f"the treebank has no word {places[i]} ('{row[FORM]}') in this sentence", block.line)
            row[LEMMA] = row[FORM] if row[LEMMA] == "_" else row[LEMMA]
            row[FORM] = forms[str(places[i])]
        row[ID], row[HEAD] = ids[row[ID]], ids.get(row[HEAD], row[HEAD])
        for column in (FEATS, MISC):
            row[column] = "|".join(feat for feat in row[column].split("|") if not feat.startswith(PLACE)) or "_"
        found.append(row)
    return _encode(block.comments, found)


def _place(row: list[str]) -> int | None:
    """Where a word stood, if it says so."""
    for feat in [*row[FEATS].split("|"), *row[MISC].split("|")]:
        if feat.startswith(PLACE) and feat.removeprefix(PLACE).isdecimal():
            return int(feat.removeprefix(PLACE))
    return None


def _encode(comments: list[str], rows: list[list[str]]) -> list[bytes]:
    return [line.encode("utf8") for line in [*comments, *("\t".join(row) for row in rows), ""]]
