import signal
from pathlib import Path

import pytest
import spacy
from docs import write_corpus
from random_docs import settings
from treebank import read_conllu

from spacy_linearize.corpus import Corpus

DATA = Path(__file__).parent / "data"

# A shell that starts the tests in the background lets them ignore Ctrl-C, and with them all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


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


@pytest.fixture(scope="session")
def corpus_path(tmp_path_factory):
    """The English mini treebank as a .spacy file."""
    path = tmp_path_factory.mktemp("corpus") / "mini.spacy"
    write_corpus(path)
    return path


@pytest.fixture(scope="session")
def trained_path(corpus_path, tmp_path_factory):
    """A pipeline trained on the mini treebank with every amount of input, on disk."""
    nlp = spacy.blank("en")
    nlp.add_pipe("linearizer", config={"model": {"table_bits": 16, "attach_bits": 14}, "beam_width": 8})
    corpus = Corpus(corpus_path, settings=[[0, 0], [1, 0], [0.5, 0.5], [1, 1]], resample=True)
    nlp.initialize(lambda: corpus(nlp))
    for _ in range(10):
        nlp.update(list(corpus(nlp)), drop=0.0)
    path = tmp_path_factory.mktemp("trained") / "model"
    nlp.to_disk(path)
    return path


@pytest.fixture(scope="session")
def trained_joint(corpus_path):
    """A pipeline with the joint system, hardly trained."""
    nlp = spacy.blank("en")
    nlp.add_pipe("linearizer", config={"model": {"system": "joint", "table_bits": 14, "attach_bits": 10}})
    corpus = Corpus(corpus_path, settings=[[0, 0], [1, 1]], resample=True)
    nlp.initialize(lambda: corpus(nlp))
    nlp.update(list(corpus(nlp)))
    return nlp


@pytest.fixture
def joint_nlp(trained_joint):
    """The pipeline with the joint system, with the settings of its component put back afterwards."""
    with settings(trained_joint.get_pipe("linearizer")):
        yield trained_joint


@pytest.fixture
def component(nlp):
    """The trained component, with its settings put back afterwards."""
    with settings(nlp.get_pipe("linearizer")) as component:
        yield component
