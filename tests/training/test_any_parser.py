"""From a parser and text to a linearizer for that parser's trees, in another language: the way of docs/training.md."""

import random
from pathlib import Path

import pytest
import spacy
from helpers.docs import shuffled
from helpers.parser import TOK2VEC
from spacy.cli.train import train
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.util import fix_random_seed

from spacy_linearize.files.conllu import read_conllu
from spacy_linearize.training.parse import Filters, parse_text

pytestmark = pytest.mark.slow
DATA = Path(__file__).parents[1] / "data"
CONFIG = Path(__file__).parents[2] / "configs" / "silver.cfg"


@pytest.fixture(scope="module")
def german_parser():
    """A pipeline with labels of its own, which knows a dozen German sentences by heart."""
    fix_random_seed(0)
    nlp = spacy.blank("de")
    nlp.add_pipe("tagger", config={"model": {"tok2vec": TOK2VEC}})
    parser = {"tok2vec": TOK2VEC, "state_type": "parser", "hidden_width": 32, "maxout_pieces": 2, "use_upper": True}
    model = {"@architectures": "spacy.TransitionBasedParser.v2", **parser}
    nlp.add_pipe("parser", config={"model": model, "min_action_freq": 1})
    docs = list(read_conllu(DATA / "mini_de.conllu", nlp.vocab))
    for doc in docs:
        for token in doc:
            token.dep_ = f"de_{token.dep_}" if token.dep_ != "ROOT" else "ROOT"
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(60):
        nlp.update(examples, sgd=optimizer)
    return nlp


@pytest.mark.skipif(not CONFIG.exists(), reason="needs the configs")
def test_text_and_a_parser_make_a_linearizer(german_parser, tmp_path):
    texts = [doc.text for doc in read_conllu(DATA / "mini_de.conllu", german_parser.vocab)]
    (tmp_path / "text.txt").write_text("\n".join(texts), encoding="utf8")
    counts = parse_text(german_parser, tmp_path / "text.txt", tmp_path / "corpus", filters=Filters(projective=False))
    assert counts.kept >= 10
    overrides = {
        "paths.train": str(tmp_path / "corpus"),
        "paths.dev": str(tmp_path / "corpus"),
        "paths.silver": str(tmp_path / "corpus"),
        "nlp.lang": "de",
        "training.max_steps": 12,
        "training.eval_frequency": 6,
        "components.linearizer.model.table_bits": 14,
        "components.linearizer.model.min_updates": 1,
    }
    train(CONFIG, tmp_path / "training", overrides=overrides)
    nlp = spacy.load(tmp_path / "training" / "model-last")
    docs = list(DocBin().from_disk(tmp_path / "corpus" / "000000.spacy").get_docs(nlp.vocab))
    assert {label for label in nlp.get_pipe("linearizer").labels if label.startswith("de_")}
    found = [nlp(shuffled(doc, random.Random(seed))) for seed, doc in enumerate(docs)]
    right = [[t.text for t in new] == [t.text for t in doc] for new, doc in zip(found, docs, strict=True)]
    assert sum(right) >= 0.8 * len(docs)
    for new, doc in zip(found, docs, strict=True):
        arcs = [sorted((t.text, t.dep_, t.head.text) for t in one) for one in (new, doc)]
        assert arcs[0] == arcs[1]
