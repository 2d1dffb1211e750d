"""The mini treebank as spaCy Docs."""

from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.training.converters import conllu_to_docs
from spacy.vocab import Vocab

MINI = Path(__file__).parent.parent / "data" / "mini_en.conllu"


def read_docs(vocab=None):
    """The sentences of the English mini treebank, each a Doc with its tree and its spaces."""
    vocab = Vocab() if vocab is None else vocab
    docs = conllu_to_docs(MINI.read_text(encoding="utf8"), n_sents=1, no_print=True)
    return list(DocBin(docs=docs).get_docs(vocab))


def write_corpus(path):
    """Write these Docs as a .spacy file."""
    DocBin(docs=read_docs()).to_disk(path)


def shuffled(doc, rng):
    """The same words and annotation in another order."""
    order = rng.sample(range(len(doc)), len(doc))
    place = {k: i for i, k in enumerate(order)}
    return Doc(
        doc.vocab,
        words=[doc[k].text for k in order],
        tags=[doc[k].tag_ for k in order],
        heads=[place[doc[k].head.i] if doc[k].has_head() else None for k in order],
        deps=[doc[k].dep_ for k in order],
    )


def rows(doc):
    return [(t.text, t.whitespace_, t.tag_, t.dep_, t.head.i) for t in doc]


def bag(nlp, words, **annotation):
    return Doc(nlp.vocab, words=words.split(), **annotation)
