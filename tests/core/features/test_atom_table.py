"""The table of atoms: what derives from it, and the page that lists it."""

import importlib.util
import re
from pathlib import Path

import pytest

from spacy_linearize.core.features import atom_table
from spacy_linearize.core.features.atom_table import (
    ACTION_ATOMS,
    ATOM_KINDS,
    ATOMS,
    ATTRIBUTES,
    GIVEN,
    OF_ACTIONS,
    OF_MEMBERS,
    OF_PAIRS,
    OF_STATES,
    PAIR_ATOMS,
    POSITIONS,
    STATE_ATOMS,
    TABLE,
)

PAGE = Path(__file__).parents[3] / "docs" / "templates.md"


def test_every_atom_once():
    assert len(ATOMS) == len(set(ATOMS)) == len(TABLE) == len(STATE_ATOMS) + len(ACTION_ATOMS) + len(PAIR_ATOMS)
    assert len(STATE_ATOMS) == (len(POSITIONS) + 2) * len(ATTRIBUTES) + len(GIVEN) + 12
    assert len(ACTION_ATOMS) == 3 * len(ATTRIBUTES) + len(GIVEN) + 9
    assert len(PAIR_ATOMS) == 3 * len(OF_MEMBERS)


def test_kinds_of_values():
    assert set(ATOM_KINDS.values()) == {"text", "set", "number", "flag"}
    for name, kind in ATOM_KINDS.items():
        attribute = name.partition(".")[2]
        if attribute in ("w", "p", "d", "lower", "suffix", "shape") or name in ("Llp", "Lpp", "Lwp", "S0lp", "S0wp"):
            assert kind == "text", name
        if attribute in ("mark", "frame", "company") or name in ("marks", "allmarks", "Lfp", "S0cls", "Hcpns"):
            assert kind == "set", name
    assert [ATOM_KINDS[name] for name in ("rest", "Csize", "X.size", "ask", "LW0", "SHIFT")] == [
        *["number"] * 3,
        *["flag"] * 3,
    ]


def test_scopes_of_states_are_not_those_of_actions():
    of_states, of_actions, of_pairs = ({atom.scope for atom in atoms} for atoms in (OF_STATES, OF_ACTIONS, OF_PAIRS))
    assert of_states == {"bag", "before", "state"}
    assert of_actions == {
        *("shifts", "word", "component", "constituent", "siblings", "opening", "neighbours", "action"),
    }
    assert of_pairs == {"pair"}


@pytest.mark.parametrize(
    ("scopes", "expected"),
    [
        (("bag",), {"ask", "allmarks"}),
        (("shifts",), {"SHIFT"}),
        (("neighbours",), {"LW0"}),
        (("siblings",), {"Cheavy"}),
        (("opening",), {"Cself", "C2.p", "C2.d"}),
        (("component",), {f"U.{attribute}" for attribute in ATTRIBUTES}),
        (("constituent",), {"Csize", *(f"C.{attribute}" for attribute in ATTRIBUTES)}),
        (("word",), {"A", "Llp", "Lpp", "Lwp", "Lfp", *(f"L.{attribute}" for attribute in ATTRIBUTES)}),
        (("bag", "before"), {"ask", "allmarks", "rest", *(f"{w}.{a}" for w in ("W0", "T") for a in ATTRIBUTES)}),
    ],
)
def test_what_depends_on_what(scopes, expected):
    assert atom_table.atoms_of(TABLE.values(), *scopes) == expected


def tables():
    """What docs/atoms.py writes."""
    spec = importlib.util.spec_from_file_location("atoms_page", PAGE.with_name("atoms.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.to_markdown()


def test_the_page_has_the_table():
    """Written by: python docs/atoms.py"""
    assert tables() in PAGE.read_text(encoding="utf8")


def test_the_page_lists_every_atom():
    cells = re.findall(r"`([^`]+)`", tables())
    words = [cell for cell in cells if cell in POSITIONS or cell in atom_table.OTHER_WORDS]
    attributes = [cell for cell in cells if cell.startswith(".")]
    assert set(ATOMS) <= {*cells, *(word + attribute for word in words for attribute in attributes)}
