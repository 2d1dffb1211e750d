"""Fixtures of pipelines. They import spaCy and the package when they are used: the tests of the core need neither."""

import signal

import pytest

# A shell that starts the tests in the background lets them ignore Ctrl-C, and with them all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def corpus_path(tmp_path_factory):
    """The English mini treebank as a .spacy file."""
    from docs import write_corpus

    path = tmp_path_factory.mktemp("corpus") / "mini.spacy"
    write_corpus(path)
    return path


@pytest.fixture(scope="session")
def trained_path(corpus_path, tmp_path_factory):
    """A pipeline trained on the mini treebank with every amount of input, on disk."""
    import spacy

    from spacy_linearize.training.corpus import Corpus

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
    import spacy

    from spacy_linearize.training.corpus import Corpus

    nlp = spacy.blank("en")
    nlp.add_pipe("linearizer", config={"model": {"system": "joint", "table_bits": 14, "attach_bits": 10}})
    corpus = Corpus(corpus_path, settings=[[0, 0], [1, 1]], resample=True)
    nlp.initialize(lambda: corpus(nlp))
    nlp.update(list(corpus(nlp)))
    return nlp


@pytest.fixture
def joint_nlp(trained_joint):
    """The pipeline with the joint system, with the settings of its component put back afterwards."""
    from random_docs import settings

    with settings(trained_joint.get_pipe("linearizer")):
        yield trained_joint


@pytest.fixture
def component(nlp):
    """The trained component, with its settings put back afterwards."""
    from random_docs import settings

    with settings(nlp.get_pipe("linearizer")) as component:
        yield component
