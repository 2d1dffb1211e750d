"""A small parser, trained on the mini treebank."""

import random

import spacy
from spacy.training import Example
from spacy.util import fix_random_seed

from .docs import read_docs

TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 32,
    "depth": 2,
    "embed_size": 300,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
}


def train_parser(n_epochs=6, *, tok2vec=None):
    """A pipeline with a tagger and a parser, as users have them, hardly trained.

    tok2vec (Optional[Dict[str, Any]]): A layer that both share, as in spaCy's own pipelines.
    """
    fix_random_seed(0)
    nlp = spacy.blank("en")
    own = TOK2VEC
    if tok2vec is not None:
        nlp.add_pipe("tok2vec", config={"model": tok2vec})
        own = {"@architectures": "spacy.Tok2VecListener.v1", "width": tok2vec["width"]}
    nlp.add_pipe("tagger", config={"model": {"tok2vec": own}})
    parser = {"tok2vec": own, "state_type": "parser", "hidden_width": 32, "maxout_pieces": 2, "use_upper": True}
    nlp.add_pipe("parser", config={"model": {"@architectures": "spacy.TransitionBasedParser.v2", **parser}})
    docs = read_docs(nlp.vocab)
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    optimizer = nlp.initialize(lambda: examples)
    rng = random.Random(0)
    for _ in range(n_epochs):
        rng.shuffle(examples)
        for k in range(0, len(examples), 16):
            nlp.update(examples[k : k + 16], sgd=optimizer)
    return nlp
