"""Penn Treebank brackets to Docs with dependency trees, as Penn2Malt makes them.

Trees may have the wrappers `( ... )`, `(TOP ...)`, `(ROOT ...)` or none, and any number of lines. A tree that cannot be
read is reported and skipped. Where it ends is then unknown: the next tree is the next line that starts with a bracket.
For the same reason such a line always begins a new tree.

Every tree becomes a projective dependency tree with one root. The depth of a tree is not bounded by Python's stack.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..trees import ROOT
from . import Report, warn
from .head_rules import head_child, relation, split_label

_COMMENTS = (b"*x*", b"#", b"%%")
_BOM = b"\xef\xbb\xbf"
_TOKEN = re.compile(r"[()\n]|[^()\s]+", re.ASCII)  # a no-break space is part of a word
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_ESCAPED = re.compile(r"\\([/*])")
_WSJ_FILE = re.compile(r"wsj_([0-9]{2})[0-9]{2}(?![0-9])", re.IGNORECASE)
_FOLDER = re.compile(r"[0-9]{1,2}")


@dataclass(slots=True)
class Node:
    """A constituent with children, or a unit (a word, or a base NP in one piece) without.

    label (str): The label as it is written, "" in a wrapper without one.
    children (List[Node]): Its parts.
    word (Optional[str]): The text of a unit.
    tag (str): The tag of a unit.
    """

    label: str = ""
    children: list["Node"] = field(default_factory=list)
    word: str | None = None
    tag: str = ""

    @property
    def category(self) -> str:
        return split_label(self.label)[0]


class Arc(NamedTuple):
    """What a unit depends on.

    head (int): The position of its head, or ROOT.
    label (str): The label.
    parent (str): The category of the constituent that it was found in.
    """

    head: int
    label: str
    parent: str


def read_brackets(path: str | Path, vocab: Vocab, *, base_nps: bool = False, report: Report = warn) -> Iterator[Doc]:
    """Read a file of bracketed trees.

    path (Union[str, Path]): The file, in UTF-8.
    vocab (Vocab): For the Docs.
    base_nps (bool): Whether each NP without an NP inside becomes one token with the tag NP and spaces in its text.
    report (Report): Called for each tree that cannot be read and is skipped. By default it goes to the log. Trees
        without words are no error.
    YIELDS (Doc): A sentence with tags, heads and labels. Its spaces are unknown.
    """
    for tree in read_trees(Path(path), base_nps=base_nps, report=report):
        units = leaves(tree)
        arcs = dependencies(tree)
        yield Doc(
            vocab,
            words=[unit.word for unit in units],
            tags=[unit.tag for unit in units],
            heads=[i if arc.head == ROOT else arc.head for i, arc in enumerate(arcs)],
            deps=[arc.label for arc in arcs],
        )


def in_section(path: Path, first: int, last: int) -> bool:
    """Whether a file belongs to some sections of the Wall Street Journal part.

    path (Path): The file: wsj_0204.mrg is in section 2, and so is any file without such a name in a folder 02.
    first, last (int): The sections, both ends included.
    """
    match = _WSJ_FILE.match(path.name)
    section = match[1] if match else path.parent.name
    return _FOLDER.fullmatch(section) is not None and first <= int(section) <= last


def read_trees(path: Path, *, base_nps: bool = False, report: Report) -> Iterator[Node]:
    """Read the trees of a file, without traces. See `read_brackets`.

    YIELDS (Node): A tree with at least one unit.
    """
    for first_line, raw in _stretches(path):
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as err:
            report(path, first_line, f"bytes that are not UTF-8: {err.object[err.start : err.end]!r}")
            continue
        trees, wrong = _parse(text, first_line)
        for tree in trees:
            _remove_empty(tree)
            if not _is_empty(tree):
                if base_nps:
                    _merge_base_nps(tree)
                yield tree
        if wrong is not None:
            report(path, *wrong)


def leaves(tree: Node) -> list[Node]:
    """The units of a tree in the order of the sentence."""
    units = []
    todo = [tree]
    while todo:
        node = todo.pop()
        if node.word is not None:
            units.append(node)
        todo.extend(reversed(node.children))
    return units


def dependencies(tree: Node) -> list[Arc]:
    """The dependency tree over the units of a tree.

    tree (Node): A tree without empty constituents.
    RETURNS (List[Arc]): An arc for each unit; the root's has no head and the label ROOT.
    """
    units = leaves(tree)
    heads = {id(unit): i for i, unit in enumerate(units)}  # of a node: the position of its head word
    arcs = [Arc(ROOT, "ROOT", "")] * len(units)
    for node in _bottom_up(tree):
        if not node.children:
            continue
        categories = [child.category for child in node.children]
        k = head_child(node.category, categories)
        head = heads[id(node)] = heads[id(node.children[k])]
        for child in node.children:
            if child is not node.children[k]:
                label = relation(child.label, node.category, categories[k])
                arcs[heads[id(child)]] = Arc(head, label, node.category)
    return arcs


def unescape(word: str) -> str:
    """A word without the escapes of the treebank, such as -LRB- for a bracket."""
    return _BRACKETS.get(word) or _ESCAPED.sub(r"\1", word)


def _stretches(path: Path) -> Iterator[tuple[int, bytes]]:
    """The parts of a file that can be read on their own: mostly one tree each.

    YIELDS (Tuple[int, bytes]): The number of the first line, and the lines. Comments are left as empty lines.
    """
    lines: list[bytes] = []
    first_line = 1
    depth = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if number == 1:
                line = line.removeprefix(_BOM)
            if line.startswith(_COMMENTS):
                line = b"\n"
            text = line.strip()
            # Between trees a line may be indented or stray; a closing bracket is one too many for the tree before.
            is_between = not lines or (depth == 0 and not text.startswith(b")"))
            if line.startswith(b"(") or (text and is_between):
                if lines:
                    yield first_line, b"".join(lines)
                lines = []
                first_line = number
                depth = 0
            if lines or text:  # no empty lines before a tree
                lines.append(line)
            depth += line.count(b"(") - line.count(b")")
    if lines:
        yield first_line, b"".join(lines)


def _parse(text: str, line: int) -> tuple[list[Node], tuple[int, str] | None]:
    """The trees in a text up to the first that is broken, and the line of that one with what is wrong."""
    trees: list[Node] = []
    open_nodes: list[Node] = []
    start = line
    label_is_next = False
    for token in _TOKEN.findall(text):
        if token == "\n":
            line += 1
        elif token == "(":
            node = Node()
            if not open_nodes:
                trees.append(node)
                start = line
            elif open_nodes[-1].word is not None:
                return trees[:-1], (start, f"a constituent beside the word '{open_nodes[-1].word}'")
            else:
                open_nodes[-1].children.append(node)
            open_nodes.append(node)
            label_is_next = True
        elif not open_nodes:
            what = "a closing bracket too many" if token == ")" else f"'{token}' is outside of brackets"
            return trees[:-1], (start if trees else line, what)
        elif token == ")":
            open_nodes.pop()
            label_is_next = False
        elif label_is_next:
            open_nodes[-1].label = token
            label_is_next = False
        elif open_nodes[-1].children or open_nodes[-1].word is not None:
            return trees[:-1], (start, f"the word '{token}' has no tag of its own")
        else:
            open_nodes[-1].word = unescape(token)
            open_nodes[-1].tag = open_nodes[-1].label
    if open_nodes:
        return trees[:-1], (start, f"closing brackets are missing: {len(open_nodes)}")
    return trees, None


def _bottom_up(tree: Node) -> list[Node]:
    """All nodes of a tree, children before their parents."""
    nodes = [tree]
    for node in nodes:  # the list grows meanwhile
        nodes.extend(node.children)
    nodes.reverse()
    return nodes


def _is_empty(node: Node) -> bool:
    return node.label == "-NONE-" or (node.word is None and not node.children)


def _remove_empty(tree: Node) -> None:
    """Remove traces, and the constituents that have nothing else."""
    for node in _bottom_up(tree):
        node.children = [child for child in node.children if not _is_empty(child)]


def _merge_base_nps(tree: Node) -> None:
    """Make a unit of each NP that has no NP inside."""
    with_np = set()
    base_nps = []
    for node in _bottom_up(tree):
        has_np = any(id(child) in with_np for child in node.children)
        if node.children and node.category == "NP":
            if not has_np:
                base_nps.append(node)
            has_np = True
        if has_np:
            with_np.add(id(node))
    for node in base_nps:
        node.word = " ".join(unit.word or "" for unit in leaves(node))
        node.tag = "NP"
        node.children = []
