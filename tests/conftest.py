"""Fixtures of pipelines. They import spaCy and the package when they are used: the tests of the core need neither."""

import signal
import sys

import pytest

# A shell that starts the tests in the background lets them ignore Ctrl-C, and with them all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def corpus_path(tmp_path_factory):
    """The English mini treebank as a .spacy file."""
    from helpers.docs import write_corpus

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


@pytest.fixture(scope="module")
def nlp(trained_path):
    """The trained pipeline."""
    import spacy

    return spacy.load(trained_path)


@pytest.fixture
def component(nlp):
    """The trained component, new for each test: its settings may be changed."""
    from helpers.components import with_options

    return with_options(nlp.get_pipe("linearizer"))


@pytest.fixture
def joint(trained_joint):
    """The component with the joint system, new for each test."""
    from helpers.components import with_options

    return with_options(trained_joint.get_pipe("linearizer"))


@pytest.fixture(scope="session")
def parser_path(tmp_path_factory):
    """A pipeline with a tagger and a parser, on disk."""
    from helpers.parser import train_parser

    path = tmp_path_factory.mktemp("parser") / "model"
    train_parser().to_disk(path)
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A browser without a window."""
    from helpers.browser import Browser, require_browser

    if sys.platform == "win32":
        pytest.skip("the browser is driven through pipes that Windows does not have")
    browser = Browser(require_browser(), tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()
