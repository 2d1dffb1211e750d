"""What an Example teaches: the gold sentence, and beside it the bag of what is given."""

import random
import warnings

import numpy as np
import pytest
import spacy
from helpers.components import SMALL, TINY, make_nlp
from helpers.docs import bag, read_docs, shuffled
from spacy.tokens import Doc
from spacy.training import Example

from spacy_linearize.doc.gold import _possible, gold_pairs
from spacy_linearize.errors import LinearizeError
from spacy_linearize.options import Options
from spacy_linearize.training.corpus import Corpus, give
from spacy_linearize.trees import FREE, ROOT, is_projective


@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_plain_text_behind_a_parser(system):
    """The predicted Doc has a tree and the reference none: it stopped with SL014."""
    nlp = make_nlp(model={**SMALL["model"], "system": system})
    golds = [doc for doc in read_docs(nlp.vocab)[:40] if is_projective([-2 if t.head is t else t.head.i for t in doc])]
    examples = [Example(gold.copy(), Doc(nlp.vocab, words=[t.text for t in gold])) for gold in golds]
    nlp.initialize(lambda: [Example(eg.reference.copy(), eg.reference) for eg in examples])
    losses = [nlp.update(examples, drop=0.0)["linearizer"] for _ in range(5)]
    assert losses[-1] < 0.5 * losses[0]
    # What was given in training is known.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = nlp(shuffled(golds[0], random.Random(0)))
    assert [t.text for t in new] == [t.text for t in golds[0]]
    assert {t.dep_ for gold in golds for t in gold} - {"dep"} <= set(nlp.get_pipe("linearizer").labels) | {"ROOT"}


@pytest.mark.parametrize(
    ("heads", "kept"),
    [
        ([1, 1, 1, 2], [1, ROOT, 1, 2]),
        ([2, 3, 3, 3], [2, FREE, 3, ROOT]),  # the arcs of 0 and 1 cross
        ([0, 0, 2, 2], [FREE, 0, FREE, 2]),  # two sentences to the parser
    ],
)
def test_given_arcs_that_the_order_contradicts_are_free(nlp, heads, kept):
    words = ["a", "b", "c", "d"]
    predicted = Doc(nlp.vocab, words=words, heads=heads, deps=["dep"] * 4)
    eg = Example(predicted, Doc(nlp.vocab, words=words))
    ((given, gold),) = gold_pairs(eg, Options())
    assert given.heads.tolist() == gold.heads.tolist() == kept
    learner = make_nlp(**TINY)
    learner.initialize(lambda: [eg])
    learner.update([eg], drop=0.0)
    assert len(list(gold_pairs(eg, Options(), needs_tree=True))) == (FREE not in kept)


@pytest.mark.parametrize(
    ("gold", "given", "kept"),
    [
        ([1, FREE, FREE, FREE], [FREE, 2, ROOT, 2], [1, 2, ROOT, 2]),
        ([1, FREE, FREE, FREE], [FREE, 0, 1, 2], [1, FREE, 1, 2]),  # a cycle with what is gold
        ([1, ROOT, FREE, FREE], [FREE, FREE, 3, ROOT], [1, ROOT, 3, FREE]),  # two roots
        ([2, FREE, FREE, FREE], [FREE, 3, FREE, FREE], [2, FREE, FREE, FREE]),  # they cross
    ],
)
def test_given_arcs_beside_gold_ones(gold, given, kept):
    heads, more = np.array(gold, dtype=np.int32), np.array(given, dtype=np.int32)
    mask = _possible(heads, more, (more != FREE) & (heads == FREE))
    assert np.where(mask, more, heads).tolist() == kept


def test_a_permuted_prediction_is_matched():
    nlp = make_nlp()
    gold = read_docs(nlp.vocab)[0]
    assert gold.text.strip() == "The dog sleeps in the garden."
    rng = random.Random(0)
    straight = [Example(give(gold, 1, 1), gold)]
    permuted = [Example(shuffled(give(gold, 1, 1), rng), gold)]
    nlp.initialize(lambda: straight)
    weights = nlp.get_pipe("linearizer").model.to_bytes()
    nlp.update(straight, drop=0.0)
    other = make_nlp().from_bytes(nlp.to_bytes())
    other.get_pipe("linearizer").model.from_bytes(weights)
    other.update(permuted, drop=0.0)
    assert other.get_pipe("linearizer").model.to_bytes() == nlp.get_pipe("linearizer").model.to_bytes()


def test_a_prediction_that_leaves_its_match_open():
    nlp = make_nlp()
    gold = bag(nlp, "the dog saw the cat", tags=["DT", "NN", "VBD", "DT", "NN"])
    nlp.initialize(lambda: [Example(gold.copy(), gold)])
    bare = bag(nlp, "the the dog cat saw")
    nlp.update([Example(bare, gold)], drop=0.0)  # the two are the same: either will do
    tagged = bag(nlp, "the the dog cat saw", tags=["DT", "X", "", "", ""])
    with pytest.raises(LinearizeError, match=r"SL013.*'the'"):
        nlp.update([Example(tagged, gold)], drop=0.0)
    with pytest.raises(LinearizeError, match=r"SL013.*'house'|SL013.*'cat'"):
        nlp.update([Example(bag(nlp, "the the dog house saw"), gold)], drop=0.0)


def test_several_sentences_in_one_example():
    nlp = make_nlp()
    gold = Doc.from_docs(read_docs(nlp.vocab)[:3])
    assert len(list(gold.sents)) == 3
    nlp.initialize(lambda: [Example(give(gold, 1, 1), gold)])
    # A sentence counts once for each direction, and nothing has been learned yet.
    assert 3 < nlp.update([Example(give(gold, 1, 1), gold)], drop=0.0)["linearizer"] <= 2 * 3


def test_not_projective_is_reported_and_skipped(corpus_path, caplog, monkeypatch):
    nlp = make_nlp()
    corpus = Corpus(corpus_path)
    monkeypatch.setattr(spacy.util.logger, "propagate", True)
    with caplog.at_level("INFO", logger="spacy"):
        nlp.initialize(lambda: corpus(nlp))
    assert "2 of 113 sentences have crossing arcs: skipped in training." in caplog.text
    nlp.update(list(corpus(nlp)), drop=0.0)


def test_wrong_arcs_of_another_component_are_left_out():
    nlp = make_nlp()
    gold = read_docs(nlp.vocab)[0]
    given = give(gold, 1, 1)
    wrong = Doc(
        nlp.vocab,
        words=[t.text for t in given],
        heads=[2 if t.i == 0 else t.head.i for t in given],
        deps=[t.dep_ for t in given],
    )
    nlp.initialize(lambda: [Example(given, gold)])
    assert nlp.update([Example(wrong, gold)], drop=0.0)["linearizer"] == 2.0  # once for each direction
