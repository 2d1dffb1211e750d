from pathlib import Path

import pytest
from treebank import read_conllu

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def mini():
    """The projective sentences of the English mini treebank."""
    return [s for s in read_conllu(DATA / "mini_en.conllu") if s.projective]


@pytest.fixture(scope="session")
def mini_all():
    return read_conllu(DATA / "mini_en.conllu")


@pytest.fixture(scope="session")
def mini_de():
    return read_conllu(DATA / "mini_de.conllu")
