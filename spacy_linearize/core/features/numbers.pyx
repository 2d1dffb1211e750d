"""Compares the enums of `word`, `atoms` and `families` with the sequence of the atoms in `atom_table`, on import."""
from ..bag.word cimport COMPANY, FORM, FRAME, LABEL, LOWER, MARKER, N_ATTRIBUTES, SHAPE, SUFFIX, TAG
from .atoms cimport *
from .families cimport MEMBER_ASK, MEMBER_SIZE, N_MEMBER_ATOMS

from .atom_table import ACTION_ATOMS, ATTRIBUTES, GIVEN, OF_MEMBERS, POSITIONS, SPECIAL_VALUES, STATE_ATOMS


cdef dict counted(str prefix, names, int first):
    """Numbers from the first one on."""
    return {f"{prefix}{name}": first + i for i, name in enumerate(names)}


cdef int compare(str name, names, int n, dict numbers) except -1:
    if list(numbers.items()) != [(atom, i) for i, atom in enumerate(names)] or len(numbers) != n:
        wrong = next((atom for i, atom in enumerate(names) if numbers.get(atom) != i), "how many there are")
        raise RuntimeError(f"{name} of atom_table and the enums of compiled code differ, first at: {wrong}")
    return 0


compare("ATTRIBUTES", ATTRIBUTES, N_ATTRIBUTES, {
    "w": FORM, "p": TAG, "d": LABEL, "lower": LOWER, "suffix": SUFFIX, "shape": SHAPE, "mark": MARKER, "frame": FRAME,
    "company": COMPANY,
})
compare("POSITIONS", POSITIONS, N_POSITIONS, {
    "S0": AT_S0, "S1": AT_S1, "S0l": AT_S0_LEFT, "S0l2": AT_S0_LEFT2, "S0r": AT_S0_RIGHT, "S0r2": AT_S0_RIGHT2,
    "S1l": AT_S1_LEFT, "S1l2": AT_S1_LEFT2, "S1r": AT_S1_RIGHT, "S1r2": AT_S1_RIGHT2, "P": AT_P, "P2": AT_P2,
    "W0": AT_W0, "W1": AT_W1, "W2": AT_W2,
})
compare("GIVEN", GIVEN, N_GIVEN, {
    "cls": CHILD_LABELS, "clns": CHILD_LABELS + 1, "cps": CHILD_TAGS, "cpns": CHILD_TAGS + 1, "sls": SIBLING_LABELS,
    "slns": SIBLING_LABELS + 1, "sps": SIBLING_TAGS, "spns": SIBLING_TAGS + 1, "ps": HEAD_IS_SHIFTED,
    "lp": LABEL_TO_HEAD, "pp": TAG_OF_HEAD, "wp": FORM_OF_HEAD,
})
compare("OF_STATES", STATE_ATOMS, N_STATE_ATOMS, {
    **{f"{position}.{attribute}": p * N_ATTRIBUTES + a
       for p, position in enumerate(POSITIONS) for a, attribute in enumerate(ATTRIBUTES)},
    "rest": REST, "marks": MARKS, "allmarks": ALL_MARKS, "ask": ASK, **counted("S0", GIVEN, GIVEN_OF_S0),
    **counted("H.", ATTRIBUTES, ANCHOR), "Hs": ANCHOR_IS_SHIFTED, "Hcls": ANCHOR_CHILD_LABELS,
    "Hclns": ANCHOR_CHILD_LABELS + 1, "Hcps": ANCHOR_CHILD_TAGS, "Hcpns": ANCHOR_CHILD_TAGS + 1, "Hrest": ANCHOR_REST,
    **counted("T.", ATTRIBUTES, LAST_TOP), "depth": DEPTH, "tops": TOPS,
})
compare("OF_ACTIONS", ACTION_ATOMS, N_ACTION_ATOMS, {
    **counted("L.", ATTRIBUTES, 0), **counted("L", GIVEN, GIVEN_OF_L), "A": ACTION, "SHIFT": IS_SHIFT,
    **counted("C.", ATTRIBUTES, OPENED), "Csize": OPENED_SIZE, "Cheavy": HEAVY, "Cself": COURSE, "LW0": RELATION,
    "C2.p": TAG_BELOW, "C2.d": LABEL_BELOW, "Lfp": FRAME_OF_HEAD, **counted("U.", ATTRIBUTES, NEXT_TOP),
})
compare("OF_MEMBERS", OF_MEMBERS, N_MEMBER_ATOMS, {
    **counted("", ATTRIBUTES, 0), "size": MEMBER_SIZE, "ask": MEMBER_ASK,
})
if list(SPECIAL_VALUES) != [START, UNLABELLED, NO_HEAD, ITSELF]:
    raise RuntimeError("SPECIAL_VALUES of atom_table are not those of atoms.pxd")
