"""CoNLL-U: sentences to Docs, and Docs to sentences.

Order hints of the Surface Realisation shared tasks, `lin=-1` or `lin=+1` in FEATS or MISC, say on which side of its
head a word stands, and how far from it among the words with a hint on that side: `doc._.linearize_before`. Multiword
tokens give their spacing to the words they stand for and are left out themselves, as are empty nodes. A
malformed sentence is reported with its line and skipped.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise, product
from pathlib import Path

from spacy.parts_of_speech import IDS as UPOS_TAGS
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ..doc.precedence import BEFORE
from ..errors import error, first_sentence
from ..trees import FREE, ROOT, find_cycle
from . import Report, warn

N_COLUMNS = 10
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, _, MISC = range(N_COLUMNS)
COMMENTS = ("sent_id", "text")  # kept in doc.user_data
HINT = "lin="
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

    need_tree (bool): Whether a sentence whose heads are no forest is bad. Otherwise it is read without heads.
    YIELDS (Tuple[int, Union[Doc, BadSentence]]): The line where a sentence begins, and the sentence, or what is wrong
        with it.
    """
    if tag not in TAGS:
        raise error("SL022", key="tag", value=tag, expected=" or ".join(TAGS))
    for block in _blocks(path):
        try:
            if block.problem:
                raise block.problem
            if block.comments and not block.rows:  # a file that was cut off here
                raise BadSentence("a sentence without words", block.line)
            doc = _make_doc(block, vocab, TAGS[tag], need_tree)
        except BadSentence as problem:
            yield block.line, problem
            continue
        except ValueError as problem:  # something that spaCy refuses in a Doc
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


def _read_words(block: Block) -> tuple[Rows, list[bool]]:
    """The words of a sentence, without its multiword tokens and empty nodes, and whether a space follows each."""
    words: Rows = []
    ranges: list[tuple[int, int, list[str]]] = []
    for line, row in block.rows:
        if len(row) != N_COLUMNS:
            raise BadSentence(f"{len(row)} columns instead of {N_COLUMNS}, separated by tabs", line)
        first, _, last = row[ID].partition("-")
        if "." in row[ID]:
            continue
        if last:
            if not (first.isdecimal() and last.isdecimal() and 0 < int(first) <= int(last)):
                raise BadSentence(f"the id '{row[ID]}' is not a range of numbers", line)
            if ranges and int(first) <= ranges[-1][1]:
                raise BadSentence(f"the range {row[ID]} overlaps the one before it", line)
            ranges.append((int(first), int(last), row))
        elif row[ID] != str(len(words) + 1):
            raise BadSentence(f"the id is '{row[ID]}' where {len(words) + 1} is expected", line)
        elif not row[FORM]:
            raise BadSentence(f"the word with the id {row[ID]} has no form", line)
        else:
            words.append((line, row))
    spaces = [_has_space(row) for _, row in words]
    for start, end, row in ranges:
        forms = [part[FORM] for _, part in words[start - 1 : end]]
        # "don't" is "do" and "n't" without a space; "im" is not "indem".
        spaces[start - 1 : end] = ["".join(forms) != row[FORM]] * len(forms)
        if end <= len(words):
            spaces[end - 1] = _has_space(row)
    return words, spaces


def _make_doc(block: Block, vocab: Vocab, tag_column: int, need_tree: bool) -> Doc:
    words, spaces = _read_words(block)
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
        tags=[_value(row[tag_column]) for row in rows],
        # Some treebanks have something else in these two. Nothing here looks at them, but spaCy refuses it.
        pos=[row[UPOS] if row[UPOS] in UPOS_TAGS else "" for row in rows],
        morphs=[_features(row[FEATS]) for row in rows],
        lemmas=["_" if row[FORM] == row[LEMMA] == "_" else _value(row[LEMMA]) for row in rows],
        heads=[None if head == FREE else i if head == ROOT else head for i, head in enumerate(heads)],
        deps=deps,
    )
    doc.user_data.update(block.comments)
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


def _has_space(row: list[str]) -> bool:
    return "SpaceAfter=No" not in row[MISC].split("|")


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


def to_conllu(doc: Doc, rank: int = 1, used: dict[str, int] | None = None) -> str:
    """A Doc in CoNLL-U, with its rank among the orders of its bag if that is not the first. One with several roots has
    a block for each of its sentences, one without words has none.

    used (Optional[Dict[str, int]]): The names of the sentences that the file has already, and how often each was asked
        for; new ones are added. Further sentences and ranks have a number after the name of the Doc.
    """
    if not len(doc):
        return ""
    used = {} if used is None else used
    n_roots = sum(token.has_head() and token.head.i == token.i for token in doc)
    sents = list(doc.sents) if n_roots > 1 else [doc[:]]
    return "".join(_block(doc, sent, rank, used) for sent in sents)


def _unique(name: str, used: dict[str, int]) -> str:
    """A name, or with the first number from 2 on that makes it a new one."""
    unique = name
    while unique in used:
        used[name] += 1
        unique = f"{name}-{used[name]}"
    used[unique] = 1
    return unique


def _block(doc: Doc, sent: Span, rank: int, used: dict[str, int]) -> str:
    name = one_line(str(doc.user_data.get("sent_id", "")))
    lines = [f"# sent_id = {_unique(name, used)}"] if name else []
    lines.append(f"# text = {one_line(sent.text)}")
    if rank > 1:
        lines.append(f"# rank = {rank}")
    for number, token in enumerate(sent, start=1):
        is_root = token.has_head() and token.head.i == token.i
        head = "0" if is_root else str(token.head.i - sent.start + 1) if token.has_head() else "_"
        dep = "root" if is_root else one_line(token.dep_) or "_"
        misc = "_" if token.whitespace_ or number == len(sent) else "SpaceAfter=No"
        columns = [token.text, token.lemma_, token.pos_, token.tag_, str(token.morph)]
        values = [str(number), *(one_line(column) or "_" for column in columns), head, dep, "_", misc]
        lines.append("\t".join(values))
    return "\n".join(lines) + "\n\n"


def one_line(text: str) -> str:
    """A text with spaces instead of tabs and line ends, which would end a column or a line."""
    return " ".join(filter(None, (part.strip(" ") for part in re.split(r"[\t\r\n]", text))))
