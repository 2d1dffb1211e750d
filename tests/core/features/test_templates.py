"""Groups of templates, and what is refused."""

import pytest
from helpers.core import settings

from spacy_linearize.core.features.atom_table import ACTION_ATOMS, ATOMS
from spacy_linearize.core.features.templates import (
    DEFAULT_GROUPS,
    FREE_GROUPS,
    GROUPS,
    JOINT_GROUPS,
    TREE_GROUPS,
    expand,
)
from spacy_linearize.errors import LinearizeError


def test_groups_hold_every_template_of_the_papers():
    """Counts of Tables 1 and 2 of Puduppully et al. 2016."""
    assert {name: len(GROUPS[name]) for name in list(GROUPS)[:6]} == {
        "unigram": 20,
        "bigram": 20,
        "trigram": 16,
        "linearization": 14,
        "lookahead": 5 * 8 + 5 * 3,
        "lookahead_of_S0": 5 * 8 + 5 * 2,
    }


@pytest.mark.parametrize("groups", [DEFAULT_GROUPS, TREE_GROUPS, FREE_GROUPS, JOINT_GROUPS])
def test_default_groups_share_no_template(groups):
    templates = expand(groups)
    assert len(templates) == len(set(templates)) == sum(len(GROUPS[group]) for group in groups)


def test_default_groups_name_the_next_word():
    """Each of their templates tells one next word from another, by L or by the constituent that L opens."""
    for template in expand(DEFAULT_GROUPS) + expand(TREE_GROUPS)[-len(GROUPS["whole"]) :]:
        atoms = set(template.split()) - {"SHIFT"}
        assert any(atom in ACTION_ATOMS for atom in atoms) or {"X", "Y"} <= {atom[0] for atom in atoms}, template


def test_misspelt_atom_names_the_known_ones():
    with pytest.raises(LinearizeError, match=r"SL020.*'S0.w S9.q' names the unknown atom 'S9.q'.*S0.w, S0.p") as caught:
        settings(templates=("S0.w S9.q",))
    assert all(atom in str(caught.value) for atom in ATOMS)


@pytest.mark.parametrize("templates", [("",), ("S0.w", "S0.w"), ("rest L.w SHIFT",), ("X.w L.w",)])
def test_empty_repeated_and_mixed_templates_are_refused(templates):
    with pytest.raises(LinearizeError, match="SL02"):
        settings(templates=templates)


def test_atoms_of_pairs_stand_apart():
    with pytest.raises(LinearizeError, match=r"SL024.*'X.w L.w' joins atoms of pairs"):
        settings(templates=("X.w L.w",))


def test_unknown_group():
    with pytest.raises(LinearizeError, match=r"SL021.*'bigrams'.*unigram, bigram"):
        settings(groups=("bigrams",))
