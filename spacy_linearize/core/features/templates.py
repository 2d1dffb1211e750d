"""Feature templates as data: atoms, tuples of atoms, and the groups that settings switch on and off.

An atom is something to look at in a state or in an action; a template is a few atoms joined by spaces. It fires when
all of its atoms are there. See `ATOMS` for every name.

In a state, `S0.w` is the form of the word on top of the stack:

    S0, S1          the topmost words of the stack
    S0l, S0l2       the leftmost dependent of S0, and the second from the left (S0r, S0r2 likewise; S1l ... S1r2)
    W0, W1, W2      the word placed last, and the ones before: w_0, w_-1, w_-2 of the papers
    .w .p .d        its form, its tag, the label of the arc to its head
    .lower .suffix .shape
    .mark           its marker, such as a preposition: the form of its given dependents with a label that marks
    .frame          the set of the labels of its given dependents
    .company        the set of their tags
    marks, allmarks the set of punctuation still to come, and of all punctuation
    ask             whether there is a question mark
    rest            how many words are left: 1, 2, 3, 4 (four or more)

In a SHIFT, `L` is the word that comes next: `L.w`, `L.p`, ... The action itself is `A` (an arc with its label, or
SHIFT), and `SHIFT` is there in SHIFTs only. What is given about the arcs of L, and of S0, can be looked at too (Lcls
and so on, named as in Puduppully et al. 2016):

    c or s          its given dependents, or its siblings, ...
    l or p          ... the set of their labels, or of their tags, ...
    s or ns         ... of those that are shifted, or not shifted
    ps              whether its given head is shifted
    lp, pp, wp      the label of the arc to its given head, that head's tag, and its form; Lfp is its frame

The anchor H is the word that has to be finished first: S0, if something given is still to come below it, or else its
given head. It has H.w, H.p, ..., Hcls, Hclns, Hcps, Hcpns, Hrest, the number of its dependents that are not shifted (0,
1, 2, 3 or more), and Hs, whether it is shifted itself. P and P2 are what was placed last, and before that, of the
anchor and its dependents (where P is the anchor, P2 is its outermost dependent on the other side); their label P.d is a
value of its own where they are the anchor. A SHIFT opens the constituent C, the dependent of the anchor that L belongs
to (or of the top of L's component, when L is not below the anchor): C.w, C.p, ..., its number of words Csize (1, 2, 3,
4 to 6, more), Cheavy, whether it is larger or smaller than all of its siblings that are not shifted, and Cself, whether
L is the anchor, C itself, or below C, and whether this is outside of the anchor's component. C2 is the dependent of C
that L belongs to. LW0 is how L is related to W0: its dependent, its head, its sibling, in the same component, or not at
all.

Where some arcs are given and some are missing, T is the top of W0's component, U the top of L's, depth the number of
open words (0, 1, 2, 3 or more), and tops how many components have a top that is not shifted (0, 1, 2, 3, 4 to 6, more).

Templates of pairs stand apart: they look at two members of a family, X and Y, of which X comes first, and at the head Z
of the family (see `pairs.pxd`). A SHIFT has them once for each pair that it decides. X.w, X.p, ... are as above; X.d is
a value of its own where X is the head; X.size is the number of words in groups (1, 2, 3, 4 to 6, more), 1 for the head;
X.ask tells whether there is a question mark among its dependents, elsewhere, or nowhere.
"""

from collections.abc import Iterable

from ...errors import error
from ..hashing import hash_text, mix_values

POSITIONS = ("S0", "S1", "S0l", "S0l2", "S0r", "S0r2", "S1l", "S1l2", "S1r", "S1r2", "P", "P2", "W0", "W1", "W2")
ATTRIBUTES = ("w", "p", "d", "lower", "suffix", "shape", "mark", "frame", "company")
# What is given around a word: sets of labels and tags of its dependents (c) and siblings (s), and its head.
GIVEN = ("cls", "clns", "cps", "cpns", "sls", "slns", "sps", "spns", "ps", "lp", "pp", "wp")

# The anchor, and the constituent that a SHIFT opens below it; LW0 is how L is related to the word before.
ANCHOR = (*(f"H.{attribute}" for attribute in ATTRIBUTES), "Hs", "Hcls", "Hclns", "Hcps", "Hcpns", "Hrest")
OPENED = (*(f"C.{attribute}" for attribute in ATTRIBUTES), "Csize", "Cheavy", "Cself", "LW0", "C2.p", "C2.d", "Lfp")
# The tops of two components, that of W0 and that of L.
LAST_TOP = (*(f"T.{attribute}" for attribute in ATTRIBUTES), "depth", "tops")
NEXT_TOP = tuple(f"U.{attribute}" for attribute in ATTRIBUTES)

# The sequence of these names is the numbering of atoms that `features.pyx` computes by.
STATE_ATOMS = (
    *(f"{position}.{attribute}" for position in POSITIONS for attribute in ATTRIBUTES),
    "rest",
    "marks",
    "allmarks",
    "ask",
    *(f"S0{given}" for given in GIVEN),
    *ANCHOR,
    *LAST_TOP,
)
ACTION_ATOMS = (
    *(f"L.{attribute}" for attribute in ATTRIBUTES),
    *(f"L{given}" for given in GIVEN),
    "A",
    "SHIFT",
    *OPENED,
    *NEXT_TOP,
)
# Two members of a family, X before Y, and its head Z.
MEMBER_ATTRIBUTES = (*ATTRIBUTES, "size", "ask")
PAIR_ATOMS = tuple(f"{member}.{attribute}" for member in "XYZ" for attribute in MEMBER_ATTRIBUTES)
ATOMS = STATE_ATOMS + ACTION_ATOMS + PAIR_ATOMS


def _lines(text: str, also: str = "") -> tuple[str, ...]:
    """One template for each entry between semicolons, with the atoms `also` added to each."""
    return tuple(" ".join([*entry.split(), *also.split()]) for entry in text.split(";") if entry.strip())


def _with_stack(atoms: str) -> str:
    """An atom of the lookahead on its own and with the words and tags of S0 and S1: the rows of Table 2."""
    return f"{atoms}; S0.w {atoms}; S0.p {atoms}; S1.w {atoms}; S1.p {atoms}; "


# Table 1 of Puduppully et al. 2016, the base templates of Liu et al. 2015, as printed there. Each is combined with the
# action. The fourth entry of each trigram row mixes l and r in print (S0w S0,lw S0,rp); it is kept as it stands.
_UNIGRAM = """
    S0.w; S0.p; S0l.w; S0l.p; S0r.w; S0r.p; S0l2.w; S0l2.p; S0r2.w; S0r2.p;
    S1.w; S1.p; S1l.w; S1l.p; S1r.w; S1r.p; S1l2.w; S1l2.p; S1r2.w; S1r2.p;
"""
_BIGRAM = """
    S0.w S0l.w; S0.w S0l.p; S0.p S0l.w; S0.p S0l.p; S0.w S0r.w; S0.w S0r.p; S0.p S0r.w; S0.p S0r.p;
    S1.w S1l.w; S1.w S1l.p; S1.p S1l.w; S1.p S1l.p; S1.w S1r.w; S1.w S1r.p; S1.p S1r.w; S1.p S1r.p;
    S0.w S1.w; S0.w S1.p; S0.p S1.w; S0.p S1.p;
"""
_TRIGRAM = """
    S0.w S0.p S0l.w; S0.w S0l.w S0l.p; S0.w S0.p S0l.p; S0.p S0l.w S0l.p;
    S0.w S0.p S0r.w; S0.w S0l.w S0r.p; S0.w S0.p S0r.p; S0.p S0r.w S0r.p;
    S1.w S1.p S1l.w; S1.w S1l.w S1l.p; S1.w S1.p S1l.p; S1.p S1l.w S1l.p;
    S1.w S1.p S1r.w; S1.w S1l.w S1r.p; S1.w S1.p S1r.p; S1.p S1r.w S1r.p;
"""
_LINEARIZATION = """
    W0.w; W0.p; W1.w W0.w; W1.p W0.p; W2.w W1.w W0.w; W2.p W1.p W0.p;
    S0l.w S0l2.w; S0l.p S0l2.p; S0r2.w S0r.w; S0r2.p S0r.p;
    S1l.w S1l2.w; S1l.p S1l2.p; S1r2.w S1r.w; S1r2.p S1r.p;
"""
# Table 2 of Puduppully et al. 2016, for SHIFTs only: what is given around the word to shift, and around S0.
_LOOKAHEAD = "".join(
    _with_stack(atoms) for atoms in (*(f"L{given}" for given in GIVEN[:8]), "Lps Llp", "Lps Lpp", "Lps Lwp")
)
_LOOKAHEAD_OF_S0 = "".join(
    _with_stack(atoms) for atoms in (*(f"S0{given}" for given in GIVEN[:8]), "S0ps S0lp", "S0ps S0pp")
)
# Section 3.2 of the same paper: form and tag of the word to shift, joined with its surroundings. The paper describes
# these by example only; the choice is ours.
_NEXT = """
    L.w; L.p; L.w L.p; rest L.w; rest L.p;
    W0.w L.w; W0.w L.p; W0.p L.w; W0.p L.p; W0.w W0.p L.w L.p;
    W1.w W0.w L.w; W1.w W0.w L.p; W1.p W0.p L.w; W1.p W0.p L.p; W1.w W0.w W0.p L.w L.p;
    W2.w W1.w W0.w L.w; W2.p W1.p W0.p L.p;
    S0.p L.w; S0.p L.p; S0.p L.d;
    L.p L.d; L.p Lclns; L.p Lcls; L.d Lslns; L.d Lsls; L.p Lps Lpp; L.d Lps Lpp; W0.p L.p Lps Lpp;
"""

_NEXT_TO_STACK = """
    S0.w L.w; S0.w L.p; S0.p S0.d L.p L.d; S1.p S0.p L.p; S0.p S0l.p L.p; S0.p S0r.p L.p; S0.p S0r.d L.d;
    S0.p S0l.d L.d;
"""

# Beyond the papers, from here on: what is left of a much longer list, after taking out what others can stand in for. A
# shorter list is faster, and as good within noise.

# The word to come and the words before it.
_WORDS = """
    rest L.w; rest L.p; rest W0.p L.p; W0.w L.p; W0.p L.w; W0.w W0.p L.w L.p; W1.p L.p; W1.p L.w; W1.p W0.p L.p;
    S0.p L.p; L.p Lcls; L.d Lslns; Lcls; Lps Llp;
"""
# What the given arcs tell about the constituent that a SHIFT opens, and about its neighbours.
_TREE = """
    Hs C.d Csize; LW0 L.d W0.d; LW0 L.p W0.p W1.p; LW0 C.d W0.p L.p;
"""
# The sequence of constituents below one head.
_FAMILY = """
    Hs P.d C.d; Hs H.p P.d C.d; Hs H.p P.p C.d; Hs P.d C.d C.p Csize; Hs P.d C.w; Hrest Hs C.d;
    Hs P.d Cheavy C.d; Hs Cheavy Csize C.d;
"""
# Whether to go on below the anchor, with its head or before it, or to open something else.
_COURSE = """
    Cself W0.p C.p; Cself W0.p L.p; Cself W0.p L.w; Cself LW0 W0.p L.p; Cself Hs Hrest L.p; Cself Hs Hclns C.p;
    Cself rest;
"""
# With which of its words a constituent begins.
_BEGINNING = """
    C.d C2.d Cself; C.p C2.d L.p; C.p C.frame C2.d Cself; L.frame L.d L.p Cself; C.frame C2.d C.d Hs;
"""
# Punctuation still to come, and questions.
_PUNCTUATION = """
    marks C.d Hs; ask L.p W0.p; ask W1.p W0.p L.p;
"""
# What is left of a word that was never seen, or not in this spelling; capitals at the beginning.
_SHAPES = """
    W0.lower L.lower; W0.lower L.p; W0.p L.lower; W0.w L.shape; W0.p L.suffix; W0.shape L.shape L.p; L.shape L.d;
    rest L.shape; rest L.shape L.p;
"""
# Which of two members of a family comes first. Scored before the search begins, so that many cost little.
_PAIRS = """
    X.d Y.d; Z.p X.d Y.d; Z.w X.d Y.d; Z.d X.d Y.d; Z.d Z.p X.d Y.d; Z.frame X.d Y.d; X.p Y.p; X.d X.p Y.d Y.p;
    Z.p X.d X.p Y.d Y.p; X.w Y.w; X.lower Y.lower; X.lower X.d Y.d; X.d Y.lower Y.d; X.lower Y.p; X.p Y.lower;
    Z.p X.lower Y.d; Z.p X.d Y.lower; X.lower X.d Y.d Y.p; X.d X.p Y.lower Y.d; X.mark Y.mark; X.mark X.d Y.d;
    X.d Y.mark Y.d; X.mark Y.p; X.p Y.mark; X.d Y.d X.size; X.d Y.d Y.size; X.d Y.d X.size Y.size;
    Z.p X.d Y.d X.size Y.size; X.frame X.d Y.d; X.d Y.frame Y.d; X.frame X.d Y.frame Y.d; X.company X.d Y.d;
    X.d Y.company Y.d; X.company X.p Y.company Y.p; X.p X.frame Y.p Y.frame; X.suffix Y.suffix; X.suffix Y.p;
    X.p Y.suffix; X.suffix X.d Y.suffix Y.d; X.shape Y.shape; X.shape X.d Y.shape Y.d; Z.ask Z.d X.d Y.d;
    Z.ask Z.d X.d X.p Y.d Y.p; Z.ask Z.d Z.frame X.d Y.d; Z.ask Z.d Z.company X.d Y.d; Z.ask Z.d Z.company X.p Y.p;
    Z.ask Z.d X.lower Y.d; Z.ask Z.d X.d Y.lower; Z.ask Z.d X.lower Y.lower; Z.d X.lower Y.lower; Z.w X.lower Y.lower;
    Z.w X.d Y.d Y.lower; Z.w X.lower X.d Y.d;
"""
# What pays only where all arcs are given: above all, what kind of constituent it is.
_WHOLE = """
    L.w L.p; L.p L.d; L.p Lclns; S0.p L.d; L.d Lps Lpp; Lclns; Lps Lpp; S0.p Lps Llp; LW0 L.w; Hs C.d L.lower;
    C.d C.p L.p Cself; Hs Hcpns C.p C.d; H.p C.d Csize; Hs P.w C.d; Cself L.w; Cself Csize Hs; L.frame L.p Cself;
    Hs C.frame C.d; Hs P.d C.frame C.d; Hs H.d C.company; L.company L.p L.d; C.p C.company C2.p C2.d;
    C.p C.company Cself L.p; Hs Cheavy C.d; Hs H.p P.d Cheavy C.d C.p; Hs Cheavy C.d Hclns; allmarks L.p W0.p;
    ask Hs H.d P.d C.d; ask Hs H.p P.p C.p;
"""
# What pays only where arcs are missing: more of the words before, and of the components.
_OPEN = """
    L.p; W0.w L.w; W0.p L.p; W1.w L.p; W1.w W0.w L.w; W1.p W0.p L.w; W1.w W0.p L.w; W1.p W0.w L.p; W1.w W0.p L.p;
    W2.p L.p; W2.p W0.p L.p; W2.p W1.p L.p; rest W0.w L.w; rest L.lower; L.d Lsls; Lsls; Lslns; S0.p Lcls;
    W0.p L.p Lps Lpp; LW0 L.p W0.p; LW0 W0.w L.p; LW0 L.w W0.p; Hs H.p C.w; Hs H.p P.p C.p; Hs H.frame C.d;
    Hs P.d C.company; C.p C2.d C2.p Cself; Cself Hs H.p; Cself Hs H.p Hclns; Cself H.p L.p Hs; Cself Hrest Hs;
    Cself W0.w L.w; Cself W0.w L.p; Cself W1.p W0.p L.p; T.p L.p; W0.p U.p; T.frame U.p; tops Cself; depth Cself;
    depth tops Cself; marks L.w; marks W0.p L.p; ask L.w W0.w; W0.w L.shape L.p; W0.suffix L.suffix; W0.suffix L.p;
"""
# What is left to look at where no arc is given, beside `words`, `punctuation` and `shapes`.
_FREE = """
    L.p; W0.w L.w; W0.p L.p; W1.w L.p; W1.w W0.w L.w; W1.p W0.p L.w; W1.w W0.p L.w; W1.p W0.w L.p; W1.w W0.p L.p;
    W2.p L.p; W2.p W0.p L.p; W2.p W1.p L.p; rest W0.w L.w; rest L.lower; marks L.w; marks W0.p L.p; ask L.w W0.w;
    W0.w L.shape L.p; W0.suffix L.suffix; W0.suffix L.p;
"""

GROUPS: dict[str, tuple[str, ...]] = {
    "unigram": _lines(_UNIGRAM, "A"),
    "bigram": _lines(_BIGRAM, "A"),
    "trigram": _lines(_TRIGRAM, "A"),
    "linearization": _lines(_LINEARIZATION, "A"),
    "lookahead": _lines(_LOOKAHEAD, "SHIFT"),
    "lookahead_of_S0": _lines(_LOOKAHEAD_OF_S0, "SHIFT"),
    "next": _lines(_NEXT, "SHIFT"),
    "next_to_stack": _lines(_NEXT_TO_STACK, "SHIFT"),
    "words": _lines(_WORDS, "SHIFT"),
    "tree": _lines(_TREE, "SHIFT"),
    "family": _lines(_FAMILY, "SHIFT"),
    "course": _lines(_COURSE, "SHIFT"),
    "beginning": _lines(_BEGINNING, "SHIFT"),
    "punctuation": _lines(_PUNCTUATION, "SHIFT"),
    "shapes": _lines(_SHAPES, "SHIFT"),
    "pairs": _lines(_PAIRS),
    "whole": _lines(_WHOLE, "SHIFT"),
    "open": _lines(_OPEN, "SHIFT"),
    "free": _lines(_FREE, "SHIFT"),
}
# What the default model looks at. Templates that do not name the next word (L, or the constituent C that it opens) say
# nothing about which of the words should come next: in the default system they cost more than they bring.
_COMMON = ("words", "tree", "family", "course", "beginning", "punctuation", "shapes", "pairs")
DEFAULT_GROUPS = (*_COMMON, "open")
TREE_GROUPS = (*_COMMON, "whole")
FREE_GROUPS = ("words", "punctuation", "shapes", "free")
# The joint system scores arcs too, which only templates with A look at.
JOINT_GROUPS = ("unigram", "bigram", "trigram", "linearization", *DEFAULT_GROUPS)


# What `attach` looks at to score an arc between h and d: form, tag, and the tags before and after. Every template is
# taken with the side of the head, and arcs once more with the distance.
ARC_ATOMS = ("h.w", "h.p", "h-1.p", "h+1.p", "d.w", "d.p", "d-1.p", "d+1.p")
ARC_TEMPLATES = _lines("""
    h.w h.p d.w d.p; h.p d.w d.p; h.w d.w d.p; h.w h.p d.p; h.w h.p d.w; h.w d.w; h.p d.p;
    h.w h.p; d.w d.p; h.w; h.p; d.w; d.p;
    h.p h+1.p d-1.p d.p; h-1.p h.p d-1.p d.p; h.p h+1.p d.p d+1.p; h-1.p h.p d.p d+1.p;
    h.p h+1.p d.p; h-1.p h.p d.p; h.p d-1.p d.p; h.p d.p d+1.p; h.w d-1.p d.p d+1.p;
""")
LABEL_TEMPLATES = _lines("""
    h.w d.w; h.w d.p; h.p d.w; h.p d.p; h.w h.p d.w d.p; d.w; d.p; h.w; h.p;
    d-1.p d.p; d.p d+1.p; d-1.p d.w; h.p d-1.p d.p; h.p d.p d+1.p;
""")


def expand(groups: Iterable[str], extra: Iterable[str] = ()) -> list[str]:
    """All templates of the named groups, then the extra ones, checked.

    groups (Iterable[str]): Names from `GROUPS`.
    extra (Iterable[str]): Templates of the user: atoms joined by spaces.
    RETURNS (List[str]): The templates, in canonical spelling.

    Example:

        expand(["unigram"], ["W0.lower L.lower"])
    """
    listed: list[tuple[str, str]] = []  # each with where it comes from
    for group in groups:
        if group not in GROUPS:
            raise error("SL021", group=group, known=", ".join(GROUPS))
        listed += [(template, f"the group '{group}'") for template in GROUPS[group]]
    listed += [(" ".join(template.split()), "the templates of your own") for template in extra]
    found: dict[str, str] = {}
    for template, where in listed:
        atoms = template.split() or [""]
        for atom in atoms:
            if atom not in ATOMS:
                raise error("SL020", template=template, atom=atom, known=", ".join(ATOMS))
        if len({atom in PAIR_ATOMS for atom in atoms}) > 1:
            raise error("SL024", template=template)
        if template in found:
            raise error("SL023", template=template, where=found[template])
        found[template] = where
    return list(found)


def fingerprint(templates: Iterable[str], *more: str) -> int:
    """One number for a list of templates and whatever else weights depend on."""
    return mix_values(hash_text(text) for text in [*templates, *more])
