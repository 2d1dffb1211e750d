from pathlib import Path

import pytest
from helpers.treebank import is_projective, read_conllu

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture(scope="session")
def mini(mini_all):
    """The projective sentences of the English mini treebank."""
    return [sentence for sentence in mini_all if is_projective(sentence)]


@pytest.fixture(scope="session")
def mini_all():
    return read_conllu(DATA / "mini_en.conllu")


@pytest.fixture(scope="session")
def mini_de():
    return read_conllu(DATA / "mini_de.conllu")
