"""Docs as CoNLL-U: what a treebank's file says of them comes back, in the new order."""

import re
from collections.abc import Iterator
from typing import Any

from spacy.tokens import Doc, Span, Token

from ..doc.reorder import ROWS
from ..doc.surface import ranges_in, ranges_of, surface_text
from .conllu import (
    COMMENTS,
    DEPREL,
    DEPS,
    EMPTY_NODES,
    ENDS_JOINED,
    FEATS,
    HEAD,
    ID,
    MISC,
    NO_SPACE,
    SENT_ID,
    TEXT,
    UPOS,
    UPOS_TAGS,
    XPOS,
    _features,
    _has_space,
    comment_of,
)

OF_THE_ORDER = ("rank", "score")  # comments that are written anew
OF_THE_DOCUMENT = ("newdoc", "newpar", "global.columns")  # comments that stand once


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
        key, _ = comment_of(line)
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
