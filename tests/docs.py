"""The mini treebank as spaCy Docs."""

from pathlib import Path

from spacy.tokens import DocBin
from spacy.training.converters import conllu_to_docs
from spacy.vocab import Vocab

MINI = Path(__file__).parent / "data" / "mini_en.conllu"


def read_docs(vocab=None):
    """The sentences of the English mini treebank, each a Doc with its tree and its spaces."""
    vocab = Vocab() if vocab is None else vocab
    docs = conllu_to_docs(MINI.read_text(encoding="utf8"), n_sents=1, no_print=True)
    return list(DocBin(docs=docs).get_docs(vocab))


def write_corpus(path):
    """Write these Docs as a .spacy file."""
    DocBin(docs=read_docs()).to_disk(path)
