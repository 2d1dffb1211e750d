"""The table of atoms: whatever a template can look at, each declared once.

An atom is a value of a state, of an action, or of a pair. Its line here says what it is, what it depends on (its scope,
by which `plan` decides how often it is read), and of what kind it is. The numbers that compiled code uses for atoms,
and the list in docs/templates.md, are checked against this table.

A new atom is a line here, its name at the same place in the enums of `atoms.pxd`, and one case in `atoms.pyx` (those of
pairs: `families`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Kinds of values
TEXT = "text"  # the key of a text, or one of SPECIAL_VALUES
SET = "set"  # a hash of several values, whatever their sequence
NUMBER = "number"  # a small count, never 0
FLAG = "flag"  # one of a few cases, by number
# What stands for a text where there is none, see `atoms.pxd`.
SPECIAL_VALUES = {1: "<start>", 2: "<unlabelled>", 3: "<root>", 5: "<itself>"}

# Scopes of the atoms of a state: what their values depend on.
BAG = "bag"  # nothing that changes in a search
BEFORE = "before"  # the word placed last. (`rest` is one of these: as long as many words are left, it stays the same.)
STATE = "state"  # any of it
# Scopes of the atoms of an action:
SHIFTS = "shifts"  # nothing: they are the same for all SHIFTs
WORD = "word"  # the word to shift
COMPONENT = "component"  # the component of that word
CONSTITUENT = "constituent"  # the constituent that it opens
SIBLINGS = "siblings"  # that constituent, and which of its siblings are shifted
OPENING = "opening"  # the word, and below which word it opens something
NEIGHBOURS = "neighbours"  # the word, and the word placed last
ACTION = "action"  # the word, and any of the state
# The atoms of pairs do not depend on the state.
PAIR = "pair"


@dataclass(frozen=True)
class Atom:
    """One atom.

    name (str): As templates spell it.
    block (str): The atoms that it is read with. Blocks that no template looks at are not read.
    scope (str): What its value depends on.
    kind (str): What its value is: "text", "set", "number" or "flag".
    what (str): A description.
    """

    name: str
    block: str
    scope: str
    kind: str
    what: str


# Attributes of words, in the sequence of `Attribute` in bag/word.pxd: kind, description
ATTRIBUTES = {
    "w": (TEXT, "its form"),
    "p": (TEXT, "its tag"),
    "d": (TEXT, "the label of the arc to its head"),
    "lower": (TEXT, "its form in lower case"),
    "suffix": (TEXT, "its last letters"),
    "shape": (TEXT, "its shape: capitals, digits"),
    "mark": (SET, "its markers, such as a preposition: the given dependents with a label that marks"),
    "frame": (SET, "the labels of its given dependents"),
    "company": (SET, "the tags of its given dependents"),
}
# Members of a family have two more, see `families.pxd`.
OF_MEMBERS = ATTRIBUTES | {
    "size": (NUMBER, "of pairs only: its number of words: 1, 2, 3, 4 (up to 6), 5 (more); 1 for the head"),
    "ask": (FLAG, "of pairs only: whether a question mark is nowhere (1), elsewhere (2), or its dependent (3)"),
}
# Words of a state: scope, description
POSITIONS = {
    "S0": (STATE, "the word on top of the stack"),
    "S1": (STATE, "the word below it"),
    "S0l": (STATE, "the leftmost dependent of S0"),
    "S0l2": (STATE, "the second dependent of S0 from the left"),
    "S0r": (STATE, "the rightmost dependent of S0"),
    "S0r2": (STATE, "the second dependent of S0 from the right"),
    "S1l": (STATE, "the leftmost dependent of S1"),
    "S1l2": (STATE, "the second dependent of S1 from the left"),
    "S1r": (STATE, "the rightmost dependent of S1"),
    "S1r2": (STATE, "the second dependent of S1 from the right"),
    "P": (STATE, "what was placed last of the anchor and its dependents; P.d is a value of its own for the anchor"),
    "P2": (STATE, "what was placed before P; if P is the anchor, its outermost dependent on the other side"),
    "W0": (BEFORE, "the word placed last"),
    "W1": (STATE, "the word placed before W0"),
    "W2": (STATE, "the word placed before W1"),
}
# What is given around a word, named as in Puduppully et al. 2016: c or s for its dependents or siblings, l or p for
# their labels or tags, s or ns for those that are shifted or not. Scope for the word to shift, kind, description
GIVEN = {
    "cls": (ACTION, SET, "the labels of its given dependents that are shifted"),
    "clns": (ACTION, SET, "the labels of its given dependents that are not shifted"),
    "cps": (ACTION, SET, "the tags of its given dependents that are shifted"),
    "cpns": (ACTION, SET, "the tags of its given dependents that are not shifted"),
    "sls": (ACTION, SET, "the labels of its siblings that are shifted"),
    "slns": (ACTION, SET, "the labels of its siblings that are not shifted"),
    "sps": (ACTION, SET, "the tags of its siblings that are shifted"),
    "spns": (ACTION, SET, "the tags of its siblings that are not shifted"),
    "ps": (ACTION, FLAG, "whether its given head is shifted (1: no, 2: yes, 3: it is the root)"),
    "lp": (WORD, TEXT, "the label of the arc to its given head"),
    "pp": (WORD, TEXT, "the tag of its given head"),
    "wp": (WORD, TEXT, "the form of its given head"),
}
# Words that are looked at by their attributes alone, beside those of POSITIONS
OTHER_WORDS = {
    "L": "the word to shift",
    "H": "the anchor, which has to be finished first: S0, if something given is still to come below it, else its head",
    "C": "the constituent that a SHIFT opens: the dependent of the anchor (or of the component's top) that L is in",
    "T": "the top of W0's component, where some arcs are given and some are missing",
    "U": "the top of L's component, where some arcs are given and some are missing",
    "X": "in a pair: the member of a family that comes first; X.d is a value of its own for the head of the family",
    "Y": "in a pair: the other member",
    "Z": "in a pair: the head of the family",
}


def _of_word(name: str, block: str, scope: str, what: str) -> Iterator[Atom]:
    """The attributes of a word."""
    for attribute, (kind, of_attribute) in ATTRIBUTES.items():
        yield Atom(f"{name}.{attribute}", block, scope, kind, f"{what}: {of_attribute}")


def _given(name: str, block: str, scope: str | None = None) -> Iterator[Atom]:
    """What is given around a word."""
    for given, (own_scope, kind, what) in GIVEN.items():
        yield Atom(f"{name}{given}", block, scope or own_scope, kind, f"{name}: {what}")


def _group(*parts: Iterable[Atom] | Atom) -> tuple[Atom, ...]:
    return tuple(atom for part in parts for atom in ([part] if isinstance(part, Atom) else part))


# The sequence of the atoms of a state and of an action is that of their numbers in `atoms.pxd`.
OF_STATES = _group(
    *(_of_word(name, "positions", scope, what) for name, (scope, what) in POSITIONS.items()),
    Atom("rest", "rest", BEFORE, NUMBER, "how many words are left: 1, 2, 3, 4 (four or more)"),
    Atom("marks", "marks", STATE, SET, "the punctuation still to come"),
    Atom("allmarks", "marks", BAG, SET, "all punctuation"),
    Atom("ask", "rest", BAG, FLAG, "whether there is a question mark (1: no, 2: yes)"),
    _given("S0", "given of S0", STATE),
    _of_word("H", "anchor", STATE, OTHER_WORDS["H"]),
    Atom("Hs", "anchor", STATE, FLAG, "whether the anchor is shifted (1: no, 2: yes)"),
    [atom for atom in _given("H", "anchor", STATE) if atom.name[1] == "c"],
    Atom("Hrest", "anchor", STATE, NUMBER, "the anchor's given dependents that are not shifted, plus 1: 1 to 4"),
    _of_word("T", "tops", BEFORE, OTHER_WORDS["T"]),
    Atom("depth", "tops", STATE, NUMBER, "the number of open words, plus 1: 1 to 4"),
    Atom("tops", "tops", STATE, NUMBER, "components whose top is not shifted: none, 1, 2, 3, 4 to 6, more, as 1 to 6"),
)
OF_ACTIONS = _group(
    _of_word("L", "word", WORD, OTHER_WORDS["L"]),
    _given("L", "given of L"),
    Atom("A", "action", WORD, SET, "the action: an arc with its label, or SHIFT; with atomic_shift, word and tag, too"),
    Atom("SHIFT", "action", SHIFTS, FLAG, "there in SHIFTs only"),
    _of_word("C", "opened", CONSTITUENT, OTHER_WORDS["C"]),
    Atom("Csize", "opened", CONSTITUENT, NUMBER, "the number of words of C: 1, 2, 3, 4 (up to 6), 5 (more)"),
    Atom(
        "Cheavy",
        "opened",
        SIBLINGS,
        FLAG,
        "C beside its siblings to come: alone (2), larger (3), smaller (4) or neither",
    ),
    Atom("Cself", "opened", OPENING, FLAG, "whether L is the anchor, C, or below C; and if outside of its component"),
    Atom("LW0", "opened", NEIGHBOURS, FLAG, "what L is to W0: dependent, head, sibling, in one component, nothing"),
    Atom("C2.p", "opened", OPENING, TEXT, "the tag of the dependent of C with L in it"),
    Atom("C2.d", "opened", OPENING, TEXT, "the label of the dependent of C with L in it"),
    Atom("Lfp", "opened", WORD, SET, "the labels of the given dependents of L's given head"),
    _of_word("U", "tops", COMPONENT, OTHER_WORDS["U"]),
)
OF_PAIRS = tuple(
    Atom(f"{member}.{attribute}", "pairs", PAIR, kind, f"{OTHER_WORDS[member]}: {what}")
    for member in "XYZ"
    for attribute, (kind, what) in OF_MEMBERS.items()
)

STATE_ATOMS = tuple(atom.name for atom in OF_STATES)
ACTION_ATOMS = tuple(atom.name for atom in OF_ACTIONS)
PAIR_ATOMS = tuple(atom.name for atom in OF_PAIRS)
ATOMS = STATE_ATOMS + ACTION_ATOMS + PAIR_ATOMS

TABLE = {atom.name: atom for atom in (*OF_STATES, *OF_ACTIONS, *OF_PAIRS)}
ATOM_KINDS = {name: atom.kind for name, atom in TABLE.items()}


def atoms_of(atoms: Iterable[Atom], *scopes: str) -> frozenset[str]:
    """The names of the atoms that depend on nothing else than this."""
    return frozenset(atom.name for atom in atoms if atom.scope in scopes)
