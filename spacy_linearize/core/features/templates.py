"""Feature templates as data, in groups that settings switch on and off.

A template is a few atoms joined by spaces, and fires when all of its atoms are there. See `atom_table` for every atom.

Templates of pairs stand apart: they look at two members of a family, X and Y, of which X comes first, and at the head Z
of the family (see `families.pxd`). A SHIFT has them once for each pair that it decides.
"""

from collections.abc import Iterable

from ...errors import error
from ..hashing import hash_text, mix_values
from .atom_table import ATOMS, GIVEN, PAIR_ATOMS


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
_SETS = tuple(given for given in GIVEN if given[0] in "cs")
_LOOKAHEAD = "".join(
    _with_stack(atoms) for atoms in (*(f"L{given}" for given in _SETS), "Lps Llp", "Lps Lpp", "Lps Lwp")
)
_LOOKAHEAD_OF_S0 = "".join(
    _with_stack(atoms) for atoms in (*(f"S0{given}" for given in _SETS), "S0ps S0lp", "S0ps S0pp")
)
# Section 3.2 of the same paper: form and tag of the word to shift, joined with its surroundings. The paper describes
# these by example only; the choice is ours.
_NEXT = """
    L.w; L.p; L.w L.p; rest L.w; rest L.p;
    W0.w L.w; W0.w L.p; W0.p L.w; W0.p L.p; W0.w W0.p L.w L.p;
    W1.w W0.w L.w; W1.w W0.w L.p; W1.p W0.p L.w; W1.p W0.p L.p; W1.w W0.w W0.p L.w L.p;
    W2.w W1.w W0.w L.w; W2.p W1.p W0.p L.p;
    S0.p L.w; S0.p L.p; S0.p L.d;
    L.p L.d; L.d Lslns; L.d Lsls; L.d Lps Lpp; W0.p L.p Lps Lpp;
"""

_NEXT_TO_STACK = """
    S0.w L.w; S0.w L.p; S0.p S0.d L.p L.d; S1.p S0.p L.p; S0.p S0l.p L.p; S0.p S0r.p L.p; S0.p S0r.d L.d;
    S0.p S0l.d L.d;
"""

# The atoms of Table 2 with the word to shift. On their own those of S0 are the same for all SHIFTs of a state: only
# with the word to shift can they tell which one is right.
_NEXT_TO_GIVEN = "".join(
    f"{atoms} L.p; {atoms} L.w; S0.p {atoms} L.p; "
    for word, parents in (("L", ("Lps Llp", "Lps Lpp", "Lps Lwp")), ("S0", ("S0ps S0lp", "S0ps S0pp")))
    for atoms in (*(f"{word}{given}" for given in _SETS), *parents)
)

# From here on, the templates go beyond the papers. They are what is left of a much longer list after removing redundant
# ones. The shorter list is faster, and as good within noise.

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
# What can be known of a word that was never seen, or not in this spelling; capitals at the beginning.
_SHAPES = """
    W0.lower L.lower; W0.lower L.p; W0.p L.lower; W0.w L.shape; W0.p L.suffix; W0.shape L.shape L.p; L.shape L.d;
    rest L.shape; rest L.shape L.p;
"""
# Which of two members of a family comes first. Pairs are scored before the search begins: many cost little.
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
# Templates that help only where all arcs are given: above all, the kind of the constituent.
_WHOLE = """
    L.w L.p; L.p L.d; L.p Lclns; S0.p L.d; L.d Lps Lpp; Lclns; Lps Lpp; S0.p Lps Llp; LW0 L.w; Hs C.d L.lower;
    C.d C.p L.p Cself; Hs Hcpns C.p C.d; H.p C.d Csize; Hs P.w C.d; Cself L.w; Cself Csize Hs; L.frame L.p Cself;
    Hs C.frame C.d; Hs P.d C.frame C.d; Hs H.d C.company; L.company L.p L.d; C.p C.company C2.p C2.d;
    C.p C.company Cself L.p; Hs Cheavy C.d; Hs H.p P.d Cheavy C.d C.p; Hs Cheavy C.d Hclns; allmarks L.p W0.p;
    ask Hs H.d P.d C.d; ask Hs H.p P.p C.p;
"""
# Templates that help only where arcs are missing: more about the words before, and about the components.
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
    "next_to_given": _lines(_NEXT_TO_GIVEN, "SHIFT"),
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
# nothing about which of the words should come next: in the default system they cost more than they gain.
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

# What the tagger looks at to choose the tag of a word: the word, its neighbours in the order (tags before it are given
# or chosen, tags after it given or usual), and the given tree: the label of its arc, its head, the labels of
# its dependents, its markers. Every template is taken with the tag.
TAG_ATOMS = (
    *("w", "lower", "suffix", "shape", "-1.lower", "+1.lower", "-1.suffix", "+1.suffix"),
    *("-1.p", "-2.p", "+1.p", "+2.p", "d", "h.lower", "h.p", "side", "frame", "mark"),
)
TAG_TEMPLATES = _lines("""
    w; lower; suffix; shape; suffix shape; -1.lower; +1.lower; -1.suffix; +1.suffix; -1.p; -1.p -2.p; +1.p; +1.p +2.p;
    -1.p +1.p; -1.p lower; +1.p lower; -1.p suffix; +1.p suffix; -1.lower lower; lower +1.lower; -1.p -2.p lower;
    d; d lower; d suffix; h.lower d; h.p d side; h.p d lower; frame; frame lower; frame suffix; d frame; mark lower;
""")

# What the lifter looks at to decide whether a word d, given below h, is lifted past a, which it has come to, to the
# head g of that; gg is the head of g. `size` is the number of words in the subtree of d, `same` that of its siblings
# with the same label.
LIFT_ATOMS = (
    *("d.w", "d.p", "d.d", "d.frame", "d.mark", "d.size", "same", "h.w", "h.p", "h.d", "h.frame"),
    *("a.p", "a.d", "g.w", "g.p", "g.d", "g.frame", "gg.p", "gg.d", "step"),
)
LIFT_TEMPLATES = _lines("""
    step; step d.d; d.p; d.w; d.d h.d; d.d h.p; d.d h.d step; d.d h.d g.d; d.d h.p g.p; d.d a.d g.d step;
    d.d a.p g.p step;
    d.d d.p h.d h.p g.d g.p; d.p h.p g.p; d.w h.w; d.w d.d h.d g.d; d.d h.w; d.d g.w; d.w g.p; d.w h.p; h.w g.w d.d;
    d.d d.size; d.d d.size h.d g.p; d.d d.size h.d g.d; d.d h.frame; d.d h.d g.frame; d.d d.frame h.d; 
    h.frame g.frame d.d;
    d.mark d.d h.d; d.mark d.d g.w; d.mark h.p g.p; d.d same h.d; h.d g.d; d.d g.d gg.d; d.d h.d g.p gg.p;
    d.d d.size h.frame;
""")
# What it looks at to decide whether punctuation d, given below h, is lowered to x: how many marks like it there are
# below h, which of these it is for x (rank), the labels below x as a multiset, the largest number of equal ones among
# them, how far x is below h, and the head y of x.
LOWER_ATOMS = (
    *("d.w", "rank", "marks", "h.p", "h.d", "h.frame", "x.w", "x.p", "x.d", "x.frame", "x.labels", "x.equal"),
    *("x.size", "x.n", "depth", "y.p", "y.d"),
)
LOWER_TEMPLATES = _lines(
    """
    h.p; x.d; x.p; x.w; x.frame; x.labels; x.d x.frame; x.d x.labels; x.p x.labels; x.p x.frame; x.d x.p x.n;
    x.equal x.d; x.equal x.n x.size; x.size x.d; x.size x.frame; depth x.d; depth x.frame; marks x.labels;
    marks x.frame;    marks x.d depth; marks x.n; x.d y.d; x.d y.d x.frame; x.d y.p x.p; h.p x.d x.frame;
    h.d x.d x.labels; h.frame x.d;    h.frame x.labels; x.w x.frame; x.n x.size x.d; marks h.frame x.d;
""",
    "d.w rank",
)


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
