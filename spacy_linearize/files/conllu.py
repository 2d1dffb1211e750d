"""CoNLL-U: sentences to Docs, and Docs to sentences.

Order hints of the Surface Realisation shared tasks, `lin=-1` or `lin=+1` in FEATS or MISC, say on which side of its
head a word stands, and how far from it among the words with a hint on that side: `doc._.linearize_before`. Multiword
tokens are kept in `doc._.linearize_ranges`. What else a Doc has no place for is kept beside it, too, and written again:
the rows of its words in `doc._.linearize_rows`, which move with them, comments and empty nodes in `doc.user_data`. A
malformed sentence is reported with its line and skipped.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from spacy.parts_of_speech import IDS
from spacy.tokens import Doc, Span, Token
from spacy.vocab import Vocab

from ..doc.contraction import Range
from ..doc.precedence import BEFORE
from ..doc.reorder import ROWS
from ..doc.surface import RANGES, ranges_in, ranges_of, surface_text
from ..errors import error, first_sentence
from ..trees import FREE, ROOT, find_cycle
from . import Report, warn

N_COLUMNS = 10
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(N_COLUMNS)
# In doc.user_data. The last one says that no space follows the sentence in its text.
SENT_ID, TEXT, COMMENTS, EMPTY_NODES, ENDS_JOINED = "sent_id", "text", "comments", "empty_nodes", "ends_joined"
OF_THE_ORDER = ("rank", "score")  # comments that are written anew
OF_THE_DOCUMENT = ("newdoc", "newpar", "global.columns")  # comments that stand once
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
            named = {key: value for key, value in map(_comment, block.comments) if key in (SENT_ID, TEXT)}
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


def _comment(line: str) -> tuple[str, str]:
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


# Writing


def to_conllu(doc: Doc, rank: int | None = None, *, used: dict[str, int] | None = None) -> str:
    """A Doc in CoNLL-U, with all that it had there. One with several roots has a block for each of its sentences, one
    without words has none.

    rank (Optional[int]): Its rank among the orders of its bag, if there are several: it is written as a comment, with
        the score.
    used (Optional[Dict[str, int]]): The names of the sentences that the file has already, and how often each was asked
        for; new ones are added. Further sentences and ranks have a number after the name of the Doc.
    """
    if not len(doc):
        return ""
    used = {} if used is None else used
    n_roots = sum(token.has_head() and token.head.i == token.i for token in doc)
    sents = list(doc.sents) if n_roots > 1 else [doc[:]]
    return "".join("\n".join([*_comments(sent, rank, used), *_rows(sent)]) + "\n\n" for sent in sents)


def _unique(name: str, used: dict[str, int]) -> str:
    """A name, or with the first number from 2 on that makes it a new one."""
    unique = name
    while unique in used:
        used[name] += 1
        unique = f"{name}#{used[name]}"
    used[unique] = 1
    return unique


def _comments(sent: Span, rank: int | None, used: dict[str, int]) -> Iterator[str]:
    """The comments of a sentence, in their old sequence; name and text are new."""
    data = sent.doc.user_data
    name = one_line(str(data.get(SENT_ID, "")))
    new = {SENT_ID: _unique(name, used)} if name else {}
    new[TEXT] = one_line(surface_text(sent))
    if rank is not None:
        new |= {"rank": str(rank), "score": f"{sent.doc._.linearization['score']:.4f}"}
    for line in data.get(COMMENTS, ()):
        key, _ = _comment(line)
        is_once = key.split(" ")[0] in OF_THE_DOCUMENT and ((rank or 1) > 1 or sent.start > 0)
        if key in new and key not in OF_THE_ORDER:
            yield f"# {key} = {new.pop(key)}"
        elif key not in (SENT_ID, TEXT, *OF_THE_ORDER) and not is_once:
            yield one_line(line)
    yield from (f"# {key} = {value}" for key, value in new.items())


def _rows(sent: Span) -> Iterator[str]:
    """The rows of a sentence: its words, and its empty nodes, each after the word that it followed."""
    doc = sent.doc
    old: Any = doc.user_data.get(ROWS)
    old = old[sent.start : sent.end] if old is not None and len(old) == len(doc) else [None] * len(sent)
    # DEPS, and the ids of empty nodes, speak of the old order.
    numbers = {"0": 0} | {row[ID]: number for number, row in enumerate(old, start=1) if row}
    empty: dict[int, list[list[str]]] = {}
    for node in doc.user_data.get(EMPTY_NODES, ()) if len(sent) == len(doc) else ():
        after, _, rank = node[ID].partition(".")
        if after in numbers:
            row = [f"{numbers[after]}.{rank}", *node[1:DEPS], _renumber(node[DEPS], numbers), *node[MISC:]]
            empty.setdefault(numbers[after], []).append(row)
    ranges = {one.start: one for one in ranges_in(ranges_of(doc), sent.start, sent.end)}
    inside = {k for one in ranges.values() for k in range(one.start, one.end)}
    ends_joined = sent.end == len(doc) and bool(doc.user_data.get(ENDS_JOINED))
    spaces = [bool(token.whitespace_) for token in sent[:-1]] + [not ends_joined]
    for number, (token, row) in enumerate(zip(sent, old, strict=True)):
        yield from map("\t".join, empty.get(number, ()))
        if number in ranges:
            _, last, form, misc = ranges[number]
            yield "\t".join([f"{number + 1}-{last}", one_line(form), *"_" * 7, _with_space(misc, spaces[last - 1])])
        space = spaces[number] or number in inside
        yield "\t".join(_row(token, number + 1, sent.start, row, numbers, space))
    yield from map("\t".join, empty.get(len(sent), ()))


def _row(
    token: Token, number: int, start: int, old: list[str] | None, numbers: dict[str, int], space: bool
) -> list[str]:
    """The row of a word. Where the Doc still says what the old row was read as, the old value is written.

    number, start (int): Its number in the sentence, from 1, and where that begins in the Doc.
    numbers (Dict[str, int]): From old ids to new ones.
    space (bool): Whether a space follows.
    """
    is_root = token.has_head() and token.head.i == token.i
    head = "0" if is_root else str(token.head.i - start + 1) if token.has_head() else "_"
    dep = "root" if is_root else token.dep_
    upos = token.pos_ or (token.tag_ if token.tag_ in UPOS_TAGS else "")
    new = [str(number), token.text, token.lemma_, upos, token.tag_, str(token.morph), head, dep, "", ""]
    row = [one_line(value) or "_" for value in new]
    if old:
        if not token.pos_ and old[UPOS] not in UPOS_TAGS and old[UPOS] != "_":
            row[UPOS] = old[UPOS]
        if token.tag_ == old[UPOS]:
            row[XPOS] = old[XPOS]
        if {*str(token.morph).split("|")} == {*_features(old[FEATS]).split("|")}:
            row[FEATS] = old[FEATS]
        if is_root and old[HEAD] == "0":
            row[DEPREL] = old[DEPREL]
        row[DEPS] = _renumber(old[DEPS], numbers)
        row[MISC] = old[MISC]
    row[MISC] = _with_space(row[MISC], space)
    return row


def _with_space(misc: str, space: bool) -> str:
    """The column MISC of a token that is followed by a space, or not."""
    if space == _has_space(misc):
        return misc
    others = [item for item in misc.split("|") if item not in ("_", NO_SPACE)]
    return "|".join(others if space else [*others, NO_SPACE]) or "_"


def _renumber(deps: str, numbers: dict[str, int]) -> str:
    """Enhanced dependencies with new ids for old ones, sorted by them. What is no such list stays as it is."""
    found = []
    for item in deps.split("|"):
        head, colon, label = item.partition(":")
        word, dot, rank = head.partition(".")
        if not colon or word not in numbers or (dot and not rank.isdecimal()):
            return deps
        found.append(((numbers[word], int(rank or 0)), f"{numbers[word]}{dot}{rank}:{label}"))
    return "|".join(item for _, item in sorted(found))


def one_line(text: str) -> str:
    """A text with spaces instead of tabs and line ends, which would end a column or a line."""
    return " ".join(filter(None, (part.strip(" ") for part in re.split(r"[\t\r\n]", text))))
