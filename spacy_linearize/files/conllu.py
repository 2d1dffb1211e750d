"""CoNLL-U to Docs, one for each sentence.

Order hints of the Surface Realisation shared tasks, `lin=-1` or `lin=+1` in FEATS or MISC, say on which side of its
head a word stands, and how far from it among the words with a hint on that side: `doc._.linearize_before`. Multiword
tokens give their spacing to the words they stand for and are left out themselves, as are empty nodes. A
sentence that is not well formed is reported with its line and costs nothing but itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise, product
from pathlib import Path

from spacy.parts_of_speech import IDS as UPOS_TAGS
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..control import BEFORE
from ..errors import error, first_sentence
from . import Report, warn

N_COLUMNS = 10
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, _, MISC = range(N_COLUMNS)
COMMENTS = ("sent_id", "text")  # kept in doc.user_data
HINT = "lin="
TAGS = {"xpos": XPOS, "upos": UPOS}


class BadSentence(ValueError):
    """What is wrong with a sentence; `line` says where in the file."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass
class Block:
    """The lines of one sentence."""

    line: int
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    comments: dict[str, str] = field(default_factory=dict)
    problem: BadSentence | None = None


def read_conllu(path: str | Path, vocab: Vocab, *, tag: str = "xpos", report: Report = warn) -> Iterator[Doc]:
    """Read a CoNLL-U file.

    path (Union[str, Path]): The file.
    vocab (Vocab): The vocabulary of the Docs.
    tag (str): The column that becomes `token.tag`: "xpos", or "upos". `token.pos` is always the latter.
    report (Callable[[Path, int, str], None]): Called with file, line and message for each sentence that is left out. By
        default it goes to the log.
    YIELDS (Doc): Words, spaces, tags, parts of speech, morphology, lemmas and the tree. `doc.user_data` holds "sent_id"
        and "text" where the file has them.
    """
    path = Path(path)
    for _, doc in read_sentences(path, vocab, tag=tag):
        if isinstance(doc, BadSentence):
            report(path, doc.line, str(doc))
        else:
            yield doc


def read_sentences(
    path: Path, vocab: Vocab, *, tag: str = "xpos", need_tree: bool = True
) -> Iterator[tuple[int, Doc | BadSentence]]:
    """Read a CoNLL-U file with all of its sentences, good or bad. See `read_conllu`.

    need_tree (bool): Whether a sentence is bad whose heads are no tree. Otherwise it is read without heads.
    YIELDS (Tuple[int, Union[Doc, BadSentence]]): The line where a sentence begins, and the sentence, or what is wrong
        with it.
    """
    if tag not in TAGS:
        raise error("SL022", key="tag", value=tag, expected=" or ".join(TAGS))
    for block in _blocks(path):
        try:
            if block.problem:
                raise block.problem
            if block.comments and not block.rows:  # as a file has it that was cut here
                raise BadSentence("a sentence without words", block.line)
            doc = _make_doc(block, vocab, TAGS[tag], need_tree)
        except BadSentence as problem:
            yield block.line, problem
            continue
        except ValueError as problem:  # what spaCy will not have in a Doc
            said = " ".join(first_sentence(problem).split())
            yield block.line, BadSentence(f"in the sentence from here on: {said}", block.line)
            continue
        if len(doc):
            yield block.line, doc


def _blocks(path: Path) -> Iterator[Block]:
    """The sentences of a file, as they are read."""
    block = Block(1)
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            try:
                line = raw.decode("utf8").rstrip("\r\n").removeprefix("\ufeff" if number == 1 else "")
            except UnicodeDecodeError:
                block.problem = block.problem or BadSentence("this line is not UTF-8", number)
                continue
            if not line.strip():
                yield block
                block = Block(number + 1)
            elif line.startswith("#"):
                key, _, value = line[1:].partition("=")
                if key.strip() in COMMENTS:
                    block.comments[key.strip()] = value.strip()
            else:
                block.rows.append((number, line.split("\t")))
    yield block


def _make_doc(block: Block, vocab: Vocab, tag_column: int, need_tree: bool) -> Doc:
    words: list[list[str]] = []
    spaces: list[bool] = []
    numbers: list[int] = []
    ranges: list[tuple[int, int, list[str]]] = []
    for number, row in block.rows:
        if len(row) != N_COLUMNS:
            raise BadSentence(f"{len(row)} columns instead of {N_COLUMNS}, separated by tabs", number)
        first, _, last = row[ID].partition("-")
        if "." in row[ID]:
            continue
        if last:
            if not (first.isdecimal() and last.isdecimal() and 0 < int(first) <= int(last)):
                raise BadSentence(f"the id '{row[ID]}' is not a range of numbers", number)
            if ranges and int(first) <= ranges[-1][1]:
                raise BadSentence(f"the range {row[ID]} overlaps the one before it", number)
            ranges.append((int(first), int(last), row))
        elif row[ID] != str(len(words) + 1):
            raise BadSentence(f"the id is '{row[ID]}' where {len(words) + 1} is expected", number)
        elif not row[FORM]:
            raise BadSentence(f"the word with the id {row[ID]} has no form", number)
        else:
            words.append(row)
            spaces.append(_has_space(row))
            numbers.append(number)
    for start, end, row in ranges:
        parts = words[start - 1 : end]
        # "don't" is "do" and "n't" without a space; "im" is not "indem".
        spaces[start - 1 : end] = ["".join(part[FORM] for part in parts) != row[FORM]] * len(parts)
        if end <= len(words):
            spaces[end - 1] = _has_space(row)
    try:
        heads, deps = _tree(words, numbers)
    except BadSentence:
        if need_tree:
            raise
        heads, deps = [None] * len(words), [""] * len(words)
    doc = Doc(
        vocab,
        words=[row[FORM] for row in words],
        spaces=[*spaces[:-1], False] if spaces else None,
        tags=[_value(row[tag_column]) for row in words],
        # Some treebanks have something else in these two. Nothing here looks at them, but spaCy refuses it.
        pos=[row[UPOS] if row[UPOS] in UPOS_TAGS else "" for row in words],
        morphs=[_features(row[FEATS]) for row in words],
        lemmas=["_" if row[FORM] == row[LEMMA] == "_" else _value(row[LEMMA]) for row in words],
        heads=heads,
        deps=deps,
    )
    doc.user_data.update(block.comments)
    if before := _hinted(words, numbers, heads):
        doc.user_data["._.", BEFORE, None, None] = before
    return doc


def _features(feats: str) -> str:
    """Those like Name=Value, without hints."""
    return "|".join(feat for feat in feats.split("|") if "=" in feat and not feat.startswith(HINT))


def _hinted(words: list[list[str]], numbers: list[int], heads: list[int | None]) -> tuple[tuple[int, int], ...]:
    """The pairs of words that order hints ask for: a word and its head, and its neighbour with a hint on that side."""
    families: dict[int, list[tuple[int, int]]] = {}  # by head: the distance of each word with a hint, and the word
    for i, row in enumerate(words):
        for feat in [*row[FEATS].split("|"), *row[MISC].split("|")]:
            if not feat.startswith(HINT):
                continue
            value = feat.removeprefix(HINT)
            if value[:1] not in ("+", "-") or not value[1:].isdecimal() or not int(value):
                raise BadSentence(f"the order hint '{feat}' of '{row[FORM]}' is not like lin=+1 or lin=-1", numbers[i])
            head = heads[i]
            if head is not None and head != i:
                families.setdefault(head, [(0, head)]).append((int(value), i))
    pairs: list[tuple[int, int]] = []
    for family in families.values():
        places: dict[int, list[int]] = {}
        for distance, i in family:
            places.setdefault(distance, []).append(i)
        for near, far in pairwise(sorted(places)):
            pairs += product(places[near], places[far])
    return tuple(pairs)


def _value(text: str) -> str:
    return "" if text == "_" else text


def _has_space(row: list[str]) -> bool:
    return "SpaceAfter=No" not in row[MISC].split("|")


def _tree(words: list[list[str]], numbers: list[int]) -> tuple[list[int | None], list[str]]:
    """Heads and labels as a Doc wants them. A word may be without a head (`_`), but what there is must be a forest."""
    heads: list[int | None] = []
    deps: list[str] = []
    root: int | None = None
    for i, row in enumerate(words):
        if row[HEAD] == "_":
            heads.append(None)
            deps.append("")
            continue
        if not row[HEAD].isdecimal() or int(row[HEAD]) > len(words):
            raise BadSentence(
                f"the head of '{row[FORM]}' is '{row[HEAD]}', not a number up to {len(words)}", numbers[i]
            )
        head = int(row[HEAD]) - 1
        if head < 0:
            if root is not None:
                raise BadSentence(f"'{words[root][FORM]}' and '{row[FORM]}' are both the root", numbers[i])
            root = i
        elif head == i:
            raise BadSentence(f"'{row[FORM]}' is its own head", numbers[i])
        heads.append(i if head < 0 else head)
        deps.append("ROOT" if head < 0 else _value(row[DEPREL]) or "dep")
    # From each word upwards, to one that was seen before: on the same way up, it closes a cycle.
    way_of = [-1] * len(words)
    for i in range(len(words)):
        k: int | None = i
        while k is not None and way_of[k] < 0:
            way_of[k] = i
            k = heads[k] if heads[k] != k else None
        if k is not None and way_of[k] == i:
            raise BadSentence(f"the heads form a cycle at '{words[k][FORM]}'", numbers[k])
    return heads, deps
