"""Features of a join: words, tags and n-grams where two hypotheses meet, as rows of slots in a table of weights."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

BITS = 20
PRIME = np.uint64(0x9E3779B97F4A7C15)

# What is known of one hypothesis: word and tag of its head, of its first and last words, of the outermost dependents.
OF_ONE = ("h.w", "h.p", "first.w", "first.p", "second.w", "second.p", "last.w", "last.p", "before.w", "before.p")
OF_ONE += ("l.w", "l.p", "r.w", "r.p", "size")
ATOMS = (*(f"A{name}" for name in OF_ONE), *(f"B{name}" for name in OF_ONE), "how")

# A is the hypothesis on the left, B the one on the right; "how" says which of them is the head, and is part of each.
# The templates of Liu et al. 2015 for S0 and S1, and the n-grams over the place where the two meet.
_TEMPLATES = """
    Ah.w; Ah.p; Bh.w; Bh.p; Ah.w Bh.w; Ah.w Bh.p; Ah.p Bh.w; Ah.p Bh.p; Ah.w Ah.p Bh.p; Ah.p Bh.w Bh.p;
    Ah.p Al.p Bh.p; Ah.p Ar.p Bh.p; Ah.p Bl.p Bh.p; Ah.p Br.p Bh.p; Ah.w Ar.w; Bh.w Bl.w; Ah.p Ar.p; Bh.p Bl.p;
    Ah.w Ar.p Bh.p; Ah.p Bl.p Bh.w; Ah.p Bh.p Asize; Ah.p Bh.p Bsize;
    Alast.w Bfirst.w; Alast.p Bfirst.p; Alast.w Bfirst.p; Alast.p Bfirst.w;
    Abefore.w Alast.w Bfirst.w; Abefore.p Alast.p Bfirst.p; Alast.w Bfirst.w Bsecond.w; Alast.p Bfirst.p Bsecond.p
"""
TEMPLATES = [template.split() for template in _TEMPLATES.split(";")]
_COLUMNS = [[ATOMS.index(atom) for atom in template] for template in TEMPLATES]


def join_slots(left: Array, right: Array, how: Array) -> Array:
    """The slots of some joins, one row for each.

    left, right (ndarray): Atoms of the two hypotheses, a row for each join.
    how (ndarray): Which of the two is the head.
    """
    columns = np.concatenate([left, right, how[:, np.newaxis]], axis=1)
    slots = np.empty((len(columns), len(TEMPLATES)), dtype=np.int64)
    for number, atoms in enumerate(_COLUMNS):
        mixed = (columns[:, -1] + np.uint64(4 * number + 1)) * PRIME
        for atom in atoms:
            mixed = (mixed ^ columns[:, atom]) * PRIME
            mixed ^= mixed >> np.uint64(29)
        slots[:, number] = mixed >> np.uint64(64 - BITS)
    return slots
