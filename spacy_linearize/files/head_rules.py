"""Which child is the head of a Penn Treebank constituent, and what its other children are to it.

The head table is the one that comes with Penn2Malt (Yamada and Matsumoto 2003, after Collins and Magerman).
There is no rule for coordination: the table decides, so that a noun phrase has its last conjunct as the head, and a
verb phrase its first. Labels are Penn2Malt's own set, found from the constituents and their function tags.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

# For each constituent: the side to start from, and its possible heads, the best first. Among those joined by "|" the
# nearest wins.
HEAD_RULES = {
    "ADJP": ("right", "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
    "ADVP": ("left", "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
    "CONJP": ("left", "CC RB IN"),
    "FRAG": ("left", ""),
    "INTJ": ("right", ""),
    "LST": ("left", "LS :"),
    "NAC": ("right", "NN|NNS|NNP|NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
    "NP": ("right", "POS|NN|NNP|NNPS|NNS NX JJR CD JJ JJS RB QP NP"),
    "NX": ("right", "POS|NN|NNP|NNPS|NNS NX JJR CD JJ JJS RB QP NP"),
    "PP": ("left", "IN TO VBG VBN RP FW"),
    "PRN": ("right", ""),
    "PRT": ("left", "RP"),
    "QP": ("right", "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
    "RRC": ("left", "VP NP ADVP ADJP PP"),
    "S": ("right", "TO IN VP S SBAR ADJP UCP NP"),
    "SBAR": ("right", "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
    "SBARQ": ("right", "SQ S SINV SBARQ FRAG"),
    "SINV": ("right", "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
    "SQ": ("right", "VBZ VBD VBP VB MD VP SQ"),
    "UCP": ("left", ""),
    "VP": ("left", "VBD VBN MD VBZ VB VBG VBP VP TO ADJP NN NNS NP"),
    "WHADJP": ("right", "CC WRB JJ ADJP"),
    "WHADVP": ("left", "CC WRB"),
    "WHNP": ("right", "WDT WP WP$ WHADJP WHPP WHNP"),
    "WHPP": ("left", "IN TO FW"),
}
_PARSED_RULES = {
    parent: (side, [frozenset(group.split("|")) for group in groups.split()])
    for parent, (side, groups) in HEAD_RULES.items()
}
_OTHER_RULE: tuple[str, list[frozenset[str]]] = ("right", [])

PUNCTUATION = frozenset([",", ".", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP"])
_VERBS = frozenset(["VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"])
_CLAUSES = frozenset(["S", "SBAR", "SBARQ", "SINV", "SQ", "FRAG"])

# Function tags that are labels, in order of precedence.
_ROLES = ("SBJ", "PRD", "OBJ")
# The label of a dependent for which nothing better is known, by its parent constituent.
_BY_PARENT = {
    parent: label
    for label, parents in {
        "AMOD": "ADJP ADVP QP WHADJP WHADVP",
        "NMOD": "NAC NP NX WHNP",
        "PMOD": "PP WHPP",
        "VMOD": "S SBAR SBARQ SINV SQ VP",
    }.items()
    for parent in parents.split()
}


@lru_cache(maxsize=4096)
def split_label(label: str) -> tuple[str, frozenset[str]]:
    """The category and the function tags of a label: NP and SBJ of "NP-SBJ-1".

    label (str): The label of a constituent, or a tag. Of alternatives, as in "ADVP|PRT", the first counts.
    RETURNS (Tuple[str, FrozenSet[str]]): The category, and its function tags without indices.
    """
    if label.startswith("-"):  # -LRB-, -NONE-
        return label, frozenset()
    category, *functions = re.split("[-=]", label.partition("|")[0])
    return category, frozenset(function for function in functions if function.isalpha())


def head_child(parent: str, children: Sequence[str]) -> int:
    """Find the child that holds the head word.

    parent (str): The category of the constituent.
    children (Sequence[str]): The categories of its children, at least one.
    RETURNS (int): Which of the children.
    """
    side, groups = _PARSED_RULES.get(parent, _OTHER_RULE)
    positions = list(range(len(children)))
    if side == "right":
        positions.reverse()
    for group in groups:
        for i in positions:
            if children[i] in group:
                return i
    for i in positions:
        if children[i] not in PUNCTUATION:
            return i
    return positions[0]


def relation(child: str, parent: str, head: str) -> str:
    """The label of the arc from a child's head word to that of its parent.

    child (str): The label of the child, with its function tags.
    parent (str): The category of the parent.
    head (str): The category of the parent's head child, which is another child.
    RETURNS (str): The label.
    """
    category, functions = split_label(child)
    if category in PUNCTUATION:
        return "P"
    for role in _ROLES:
        if role in functions:
            return role
    if parent == "VP" and category == "NP" and not functions and (head in _VERBS or head == "VP"):
        return "OBJ"
    if parent in ("VP", "SQ", "SINV") and category == "VP" and head in _VERBS:
        return "VC"
    if parent == "SBAR" and category in _CLAUSES and head not in _CLAUSES:
        return "SUB"
    return _BY_PARENT.get(parent, "DEP")
