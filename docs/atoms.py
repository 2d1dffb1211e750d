"""Writes the tables of atoms for docs/templates.md: python docs/atoms.py"""

from spacy_linearize.core.features.atom_table import (
    GIVEN,
    OF_ACTIONS,
    OF_MEMBERS,
    OF_STATES,
    OTHER_WORDS,
    POSITIONS,
    TABLE,
)


def to_markdown() -> str:
    """All atoms as tables."""
    words = {name: what for name, (_, what) in POSITIONS.items()} | OTHER_WORDS
    rows = ["| word | what it is |", "|---|---|"]
    rows += [f"| `{name}` | {what} |" for name, what in words.items()]
    rows += ["", "| attribute | what it is | value |", "|---|---|---|"]
    rows += [f"| `.{name}` | {what} | {kind} |" for name, (kind, what) in OF_MEMBERS.items()]
    rows += ["", "| of L, S0 or H | what it is | value |", "|---|---|---|"]
    for given, (_, kind, what) in GIVEN.items():
        names = ", ".join(f"`{word}{given}`" for word in ("L", "S0", "H") if f"{word}{given}" in TABLE)
        rows.append(f"| {names} | {what} | {kind} |")
    rows += ["", "| atom | what it is | value |", "|---|---|---|"]
    for atom in (*OF_STATES, *OF_ACTIONS):
        is_listed = "." in atom.name and atom.name.split(".")[0] in words
        if not is_listed and not any(atom.name == f"{word}{given}" for word in ("L", "S0", "H") for given in GIVEN):
            rows.append(f"| `{atom.name}` | {atom.what} | {atom.kind} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(to_markdown(), end="")
