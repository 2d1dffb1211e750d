"""CoNLL-U: sentences to Docs, and Docs to sentences.

Order hints of the Surface Realisation shared tasks, `lin=-1` or `lin=+1` in FEATS or MISC, say on which side of its
head a word stands, and how far from it among the words with a hint on that side: `doc._.linearize_before`. Multiword
tokens are kept in `doc._.linearize_ranges`. What else a Doc has no place for is kept beside it, too, and written again:
the rows of its words in `doc._.linearize_rows`, which move with them, comments and empty nodes in `doc.user_data`. A
malformed sentence is reported with its line and skipped.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from pathlib import Path

from spacy.parts_of_speech import IDS
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..doc.contraction import Range
from ..doc.precedence import BEFORE
from ..doc.reorder import ROWS
from ..doc.surface import RANGES
from ..errors import error, first_sentence
from ..trees import FREE, ROOT, find_cycle
from . import Report, warn

N_COLUMNS = 10
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(N_COLUMNS)
# In doc.user_data. The last one says that no space follows the sentence in its text.
SENT_ID, TEXT, COMMENTS, EMPTY_NODES, ENDS_JOINED = "sent_id", "text", "comments", "empty_nodes", "ends_joined"
UPOS_TAGS = frozenset(IDS)
HINT = "lin="
NO_SPACE = "SpaceAfter=No"
TAGS = {"xpos": XPOS, "upos": UPOS}

Rows = list[tuple[int, list[str]]]  # where each stands in the file, and its columns


class BadSentence(ValueError):
    """What is wrong with a sentence; `line` says where in the file."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass
class Block:
    """The lines of one sentence."""

    line: int
    rows: Rows = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    problem: BadSentence | None = None


def read_conllu(
    path: str | Path,
    vocab: Vocab,
    *,
    tag: str = "xpos",
    upos_tags: Container[str] = UPOS_TAGS,
    report: Report = warn,
) -> Iterator[Doc]:
    """Read a CoNLL-U file.

    path (Union[str, Path]): The file.
    vocab (Vocab): The vocabulary of the Docs.
    tag (str): The column that becomes `token.tag`: "xpos", or "upos". `token.pos` is always the latter.
    upos_tags (Container[str]): Where XPOS is empty, UPOS becomes the tag if it is one of these.
    report (Callable[[Path, int, str], None]): Called with file, line and message for each sentence that is left out. By
        default it goes to the log.
    YIELDS (Doc): Words, spaces, tags, parts of speech, morphology, lemmas and the tree. `doc.user_data` holds "sent_id"
        and "text" where the file has them.
    """
    path = Path(path)
    with path.open("rb") as file:
        for _, doc in read_sentences(file, vocab, tag=tag, upos_tags=upos_tags):
            if isinstance(doc, BadSentence):
                report(path, doc.line, str(doc))
            else:
                yield doc


def read_sentences(
    lines: Iterable[bytes],
    vocab: Vocab,
    *,
    tag: str = "xpos",
    upos_tags: Container[str] = UPOS_TAGS,
    need_tree: bool = True,
) -> Iterator[tuple[int, Doc | BadSentence]]:
    """Read CoNLL-U with all of its sentences, good or bad. See `read_conllu`.

    lines (Iterable[bytes]): A file, opened to read bytes.
    need_tree (bool): Whether a sentence whose heads are no forest is bad. Otherwise it is read without heads.
    YIELDS (Tuple[int, Union[Doc, BadSentence]]): The line where a sentence begins, and the sentence, or what is wrong
        with it.
    """
    if tag not in TAGS:
        raise error("SL022", key="tag", value=tag, expected=" or ".join(TAGS))
    for block in blocks(lines):
        try:
            if block.problem:
                raise block.problem
            named = {key: value for key, value in map(comment_of, block.comments) if key in (SENT_ID, TEXT)}
            if named and not block.rows:  # a file that was cut off here
                raise BadSentence("a sentence without words", block.line)
            doc = _make_doc(block, vocab, TAGS[tag], upos_tags, need_tree)
            doc.user_data.update(named)
            _keep_rows(doc, block)
        except BadSentence as problem:
            yield block.line, problem
            continue
        except ValueError as problem:  # something that spaCy refuses in a Doc
            said = " ".join(first_sentence(problem).split())
            yield block.line, BadSentence(f"in the sentence from here on: {said}", block.line)
            continue
        if len(doc):
            yield block.line, doc


def blocks(lines: Iterable[bytes]) -> Iterator[Block]:
    """The sentences of a file, as they are read."""
    block = Block(1)
    for number, raw in enumerate(lines, start=1):
        try:
            line = raw.decode("utf8").rstrip("\r\n").removeprefix("\ufeff" if number == 1 else "")
        except UnicodeDecodeError:
            block.problem = block.problem or BadSentence("this line is not UTF-8", number)
            continue
        if not line.strip():
            yield block
            block = Block(number + 1)
        elif line.startswith("#"):
            block.comments.append(line)
        else:
            block.rows.append((number, line.split("\t")))
    yield block


def comment_of(line: str) -> tuple[str, str]:
    """The key and the value of a comment."""
    key, _, value = line.removeprefix("#").partition("=")
    return key.strip(), value.strip()


def _keep_rows(doc: Doc, block: Block) -> None:
    """Keep beside a Doc what it has no place for."""
    rows = [row for _, row in block.rows if row[ID].isdecimal()]
    doc.user_data[ROWS] = tuple(map(tuple, rows))
    if block.comments:
        doc.user_data[COMMENTS] = tuple(block.comments)
    if empty := tuple(tuple(row) for _, row in block.rows if "." in row[ID]):
        doc.user_data[EMPTY_NODES] = empty


def drop_rows(doc: Doc) -> Sequence[Sequence[str]]:
    """Remove what was kept beside a Doc, which training does not need. Returns the rows of its words."""
    for key in (COMMENTS, EMPTY_NODES, ENDS_JOINED):
        doc.user_data.pop(key, None)
    rows: Sequence[Sequence[str]] = doc.user_data.pop(ROWS, ())
    return rows


def _read_words(block: Block) -> tuple[Rows, list[Range]]:
    """The words of a sentence, and its multiword tokens. Empty nodes are left out."""
    words: Rows = []
    ranges: list[Range] = []
    range_line = 0
    for line, row in block.rows:
        if len(row) != N_COLUMNS:
            raise BadSentence(f"{len(row)} columns instead of {N_COLUMNS}, separated by tabs", line)
        _check_misc(row, line)
        if "." in row[ID]:
            continue
        if "-" in row[ID]:
            ranges.append(_read_range(row, line, len(words) + 1, ranges[-1].end if ranges else 0))
            range_line = line
        elif row[ID] != str(len(words) + 1):
            raise BadSentence(f"the id is '{row[ID]}' where {len(words) + 1} is expected", line)
        elif not row[FORM]:
            raise BadSentence(f"the word with the id {row[ID]} has no form", line)
        else:
            words.append((line, row))
    if ranges and ranges[-1].end > len(words):
        raise BadSentence(f"the range up to {ranges[-1].end} goes on after the last word, {len(words)}", range_line)
    return words, ranges


def _read_range(row: list[str], line: int, expected: int, last_end: int) -> Range:
    """A multiword token.

    expected (int): The number of the next word.
    last_end (int): The last word of the multiword token before.
    """
    first, _, last = row[ID].partition("-")
    if not (first.isdecimal() and last.isdecimal() and 0 < int(first) <= int(last)):
        raise BadSentence(f"the id '{row[ID]}' is not a range of numbers", line)
    if int(first) <= last_end:
        raise BadSentence(f"the range {row[ID]} overlaps the one before it", line)
    if int(first) != expected:
        raise BadSentence(f"the range {row[ID]} does not stand before its first word", line)
    if row[FORM] in ("", "_"):
        raise BadSentence(f"the range {row[ID]} has no form", line)
    return Range(int(first) - 1, int(last), row[FORM], row[MISC])


def _check_misc(row: list[str], line: int) -> None:
    """Refuse a column MISC that cannot be read as a list, or that says something else of spaces than Yes or No."""
    items = row[MISC].split("|")
    if "" in items:
        raise BadSentence(f"the column MISC of '{row[FORM]}' is empty, or has an empty item: '{row[MISC]}'", line)
    for item in items:
        if item.startswith("SpaceAfter=") and item not in (NO_SPACE, "SpaceAfter=Yes"):
            raise BadSentence(f"the column MISC of '{row[FORM]}' has '{item}' instead of {NO_SPACE}", line)


def _spaces(words: Rows, ranges: list[Range]) -> list[bool]:
    """Whether a space follows each word. "don't" is "do" and "n't" without a space; "im" is not "indem"."""
    spaces = [_has_space(row[MISC]) for _, row in words]
    for start, end, form, misc in ranges:
        together = "".join(row[FORM] for _, row in words[start:end])
        spaces[start:end] = [together != form] * (end - start)
        spaces[end - 1] = _has_space(misc)
    return spaces


def _make_doc(block: Block, vocab: Vocab, tag_column: int, upos_tags: Container[str], need_tree: bool) -> Doc:
    words, ranges = _read_words(block)
    spaces = _spaces(words, ranges)
    try:
        heads, deps = _read_tree(words)
    except BadSentence:
        if need_tree:
            raise
        heads, deps = [FREE] * len(words), [""] * len(words)
    rows = [row for _, row in words]
    doc = Doc(
        vocab,
        words=[row[FORM] for row in rows],
        spaces=[*spaces[:-1], False] if rows else None,
        tags=[_value(row[tag_column]) or (row[UPOS] if row[UPOS] in upos_tags else "") for row in rows],
        # Some treebanks have something else in these two. Nothing here looks at them, but spaCy refuses it.
        pos=[row[UPOS] if row[UPOS] in UPOS_TAGS else "" for row in rows],
        morphs=[_features(row[FEATS]) for row in rows],
        lemmas=["_" if row[FORM] == row[LEMMA] == "_" else _value(row[LEMMA]) for row in rows],
        heads=[None if head == FREE else i if head == ROOT else head for i, head in enumerate(heads)],
        deps=deps,
    )
    if ranges:
        doc.user_data[RANGES] = tuple(map(tuple, ranges))
    if spaces and not spaces[-1]:
        doc.user_data[ENDS_JOINED] = True
    if before := _read_hints(words, heads):
        doc.user_data["._.", BEFORE, None, None] = before
    return doc


def _features(feats: str) -> str:
    """Those like Name=Value, without hints."""
    return "|".join(feat for feat in feats.split("|") if "=" in feat and not feat.startswith(HINT))


def _read_hints(words: Rows, heads: list[int]) -> tuple[tuple[int, int], ...]:
    """The pairs of words that order hints ask for: a word and its head, and its neighbour with a hint on that side."""
    families: dict[int, list[tuple[int, int]]] = {}  # by head: the distance of each word with a hint, and the word
    for i, (line, row) in enumerate(words):
        for feat in [*row[FEATS].split("|"), *row[MISC].split("|")]:
            if not feat.startswith(HINT):
                continue
            value = feat.removeprefix(HINT)
            if value[:1] not in ("+", "-") or not value[1:].isdecimal() or not int(value):
                problem = f"the order hint '{feat}' of '{row[FORM]}' is not like lin=+1 or lin=-1"
                raise BadSentence(problem, line)
            if heads[i] >= 0:
                families.setdefault(heads[i], [(0, heads[i])]).append((int(value), i))
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


def _has_space(misc: str) -> bool:
    return NO_SPACE not in misc.split("|")


def _read_tree(words: Rows) -> tuple[list[int], list[str]]:
    """Heads and labels. A word may be without a head (`_`), but what there is must be a forest."""
    heads: list[int] = []
    deps: list[str] = []
    for i, (line, row) in enumerate(words):
        if row[HEAD] == "_":
            heads.append(FREE)
            deps.append("")
            continue
        if not row[HEAD].isdecimal() or int(row[HEAD]) > len(words):
            raise BadSentence(f"the head of '{row[FORM]}' is '{row[HEAD]}', not a number up to {len(words)}", line)
        head = int(row[HEAD]) - 1
        if head == i:
            raise BadSentence(f"'{row[FORM]}' is its own head", line)
        if head < 0 and ROOT in heads:
            raise BadSentence(f"'{words[heads.index(ROOT)][1][FORM]}' and '{row[FORM]}' are both the root", line)
        heads.append(ROOT if head < 0 else head)
        deps.append("ROOT" if head < 0 else _value(row[DEPREL]) or "dep")
    if cycle := find_cycle(heads):
        line, row = words[cycle[0]]
        raise BadSentence(f"the heads form a cycle at '{row[FORM]}'", line)
    return heads, deps
