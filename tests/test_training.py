"""What the component learns from Examples."""

import random
import warnings

import numpy as np
import pytest
import spacy
from docs import bag, read_docs, shuffled
from spacy.tokens import Doc
from spacy.training import Example
from spacy_linearize.bag import FREE, ROOT, Use
from spacy_linearize.examples import _possible, training_pairs
from spacy_linearize.projective import is_projective

from spacy_linearize.errors import LinearizeError
from spacy_linearize.training.corpus import Corpus, give

CONFIG = {"model": {"table_bits": 16, "attach_bits": 14}, "beam_width": 8}


@pytest.fixture(scope="module")
def nlp(trained_path):
    return spacy.load(trained_path)


class TestTraining:
    def make(self, **config):
        nlp = spacy.blank("en")
        nlp.add_pipe("linearizer", config={**CONFIG, **config})
        return nlp

    def test_no_data(self):
        nlp = self.make()
        with pytest.raises(TypeError, match="E930"):
            nlp.get_pipe("linearizer").initialize("wrong")
        with pytest.raises(TypeError, match="E978"):
            nlp.get_pipe("linearizer").initialize(lambda: "wrong")
        with pytest.raises(TypeError, match="E930"):
            nlp.get_pipe("linearizer").initialize(lambda: [])
        empty = Doc(nlp.vocab)
        with pytest.raises(LinearizeError, match="SL045"):
            nlp.get_pipe("linearizer").initialize(lambda: [Example(empty, empty)])

    def test_words_alone_teach_the_order(self):
        """No tags, no trees, no spaces: plain text in its right order."""
        nlp = self.make(use_tags=False)
        docs = [Doc(nlp.vocab, words=[t.text for t in doc]) for doc in read_docs()[:40]]
        examples = [Example(doc.copy(), doc) for doc in docs]
        nlp.initialize(lambda: examples)
        losses = []
        for _ in range(6):
            losses.append(nlp.update(examples, drop=0.0)["linearizer"])
        assert losses[-1] < 0.4 * losses[0]
        assert nlp.evaluate(examples)["linearize_bleu"] > 0.8
        assert "  " not in nlp(docs[0]).text

    @pytest.mark.parametrize("system", ["order_first", "joint"])
    def test_plain_text_behind_a_parser(self, system):
        """The predicted Doc has a tree and the reference none: it stopped with SL014."""
        nlp = self.make(model={**CONFIG["model"], "system": system})
        golds = [
            doc for doc in read_docs(nlp.vocab)[:40] if is_projective([-2 if t.head is t else t.head.i for t in doc])
        ]
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
    def test_given_arcs_that_the_order_contradicts_are_free(self, nlp, heads, kept):
        words = ["a", "b", "c", "d"]
        predicted = Doc(nlp.vocab, words=words, heads=heads, deps=["dep"] * 4)
        eg = Example(predicted, Doc(nlp.vocab, words=words))
        ((given, gold),) = training_pairs(eg, Use())
        assert given.heads.tolist() == gold.heads.tolist() == kept
        nlp.update([eg], drop=0.0)
        assert len(list(training_pairs(eg, Use(), needs_tree=True))) == (FREE not in kept)

    @pytest.mark.parametrize(
        ("gold", "given", "kept"),
        [
            ([1, FREE, FREE, FREE], [FREE, 2, ROOT, 2], [1, 2, ROOT, 2]),
            ([1, FREE, FREE, FREE], [FREE, 0, 1, 2], [1, FREE, 1, 2]),  # a cycle with what is gold
            ([1, ROOT, FREE, FREE], [FREE, FREE, 3, ROOT], [1, ROOT, 3, FREE]),  # two roots
            ([2, FREE, FREE, FREE], [FREE, 3, FREE, FREE], [2, FREE, FREE, FREE]),  # they cross
        ],
    )
    def test_given_arcs_beside_gold_ones(self, gold, given, kept):
        heads, more = np.array(gold, dtype=np.int32), np.array(given, dtype=np.int32)
        mask = _possible(heads, more, (more != FREE) & (heads == FREE))
        assert np.where(mask, more, heads).tolist() == kept

    def test_stock_corpus(self, corpus_path):
        """Examples of spaCy's own reader have nothing given: free ordering."""
        nlp = self.make()
        corpus = spacy.training.Corpus(corpus_path, gold_preproc=True)
        examples = list(corpus(nlp))
        nlp.initialize(lambda: examples)
        first = nlp.update(examples, drop=0.0)["linearizer"]
        for _ in range(4):
            last = nlp.update(examples, drop=0.0)["linearizer"]
        assert last < 0.5 * first

    def test_a_permuted_prediction_is_matched(self):
        nlp = self.make()
        gold = read_docs(nlp.vocab)[0]
        assert gold.text.strip() == "The dog sleeps in the garden."
        rng = random.Random(0)
        straight = [Example(give(gold, 1, 1), gold)]
        permuted = [Example(shuffled(give(gold, 1, 1), rng), gold)]
        nlp.initialize(lambda: straight)
        weights = nlp.get_pipe("linearizer").model.to_bytes()
        nlp.update(straight, drop=0.0)
        other = self.make().from_bytes(nlp.to_bytes())
        other.get_pipe("linearizer").model.from_bytes(weights)
        other.update(permuted, drop=0.0)
        assert other.get_pipe("linearizer").model.to_bytes() == nlp.get_pipe("linearizer").model.to_bytes()

    def test_a_prediction_that_leaves_its_match_open(self):
        nlp = self.make()
        gold = bag(nlp, "the dog saw the cat", tags=["DT", "NN", "VBD", "DT", "NN"])
        nlp.initialize(lambda: [Example(gold.copy(), gold)])
        bare = bag(nlp, "the the dog cat saw")
        nlp.update([Example(bare, gold)], drop=0.0)  # the two are the same: either will do
        tagged = bag(nlp, "the the dog cat saw", tags=["DT", "X", "", "", ""])
        with pytest.raises(LinearizeError, match=r"SL013.*'the'"):
            nlp.update([Example(tagged, gold)], drop=0.0)
        with pytest.raises(LinearizeError, match=r"SL013.*'house'|SL013.*'cat'"):
            nlp.update([Example(bag(nlp, "the the dog house saw"), gold)], drop=0.0)

    def test_several_sentences_in_one_example(self):
        nlp = self.make()
        gold = Doc.from_docs(read_docs(nlp.vocab)[:3])
        assert len(list(gold.sents)) == 3
        nlp.initialize(lambda: [Example(give(gold, 1, 1), gold)])
        # A sentence counts once for each direction, and nothing has been learned yet.
        assert 3 < nlp.update([Example(give(gold, 1, 1), gold)], drop=0.0)["linearizer"] <= 2 * 3

    def test_not_projective_is_reported_and_skipped(self, corpus_path, caplog):
        nlp = self.make()
        corpus = Corpus(corpus_path)
        spacy.util.logger.propagate, before = True, spacy.util.logger.propagate
        try:
            with caplog.at_level("INFO", logger="spacy"):
                nlp.initialize(lambda: corpus(nlp))
        finally:
            spacy.util.logger.propagate = before
        assert "2 of 113 sentences are not projective: skipped in training." in caplog.text
        nlp.update(list(corpus(nlp)), drop=0.0)

    def test_initialize_reads_a_corpus_of_its_own(self, corpus_path):
        nlp = self.make()
        corpus = Corpus(corpus_path)
        few = list(corpus(nlp))[:3]
        component = nlp.get_pipe("linearizer")
        component.initialize(lambda: few, nlp=nlp)
        some = component.labels
        component.initialize(lambda: few, nlp=nlp, corpus=corpus)
        assert len(component.labels) > len(some)

    def test_wrong_arcs_of_another_component_are_left_out(self):
        nlp = self.make()
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

    def test_dropout_and_seed(self, corpus_path):
        def train(seed, drop):
            nlp = self.make(seed=seed)
            corpus = Corpus(corpus_path, limit=20)
            nlp.initialize(lambda: corpus(nlp))
            nlp.update(list(corpus(nlp)), drop=drop)
            return nlp.get_pipe("linearizer").model.to_bytes()

        assert train(1, 0.2) == train(1, 0.2)
        assert train(1, 0.2) != train(2, 0.2)
        assert train(1, 0.2) != train(1, 0.0)
        assert train(1, 0.0) != train(2, 0.0)  # the sequence of the examples

    def test_a_failed_start_changes_nothing(self, tmp_path):
        nlp = self.make()
        gold = read_docs(nlp.vocab)[0]
        component = nlp.get_pipe("linearizer")
        component.initialize(lambda: [Example(gold.copy(), gold)], nlp=nlp)
        before = component.to_bytes()
        other = read_docs(nlp.vocab)[1]
        with pytest.raises(FileNotFoundError):
            component.initialize(lambda: [Example(other.copy(), other)], nlp=nlp, text=tmp_path / "missing.txt")
        for labels in (["nsubj"], {"tags": "NN"}, {"tags": [1]}, {"labels": 7}):
            with pytest.raises(LinearizeError, match=r"SL022.*'labels' is"):
                component.initialize(lambda: [Example(other.copy(), other)], nlp=nlp, labels=labels)
        assert component.to_bytes() == before

    def test_labels(self, nlp):
        component = nlp.get_pipe("linearizer")
        assert {"nsubj", "ROOT", "punct"} < set(component.labels)
        assert set(component.label_data) == {"tags", "labels"}
        other = self.make()
        gold = read_docs(other.vocab)[0]
        other.get_pipe("linearizer").initialize(
            lambda: [Example(gold.copy(), gold)], nlp=other, labels={"tags": ["ZZ"], "labels": ["zz"]}
        )
        assert "ZZ" in other.get_pipe("linearizer").label_data["tags"]
        assert "zz" in other.vocab.strings

    def test_frozen_weights_survive_use_params(self, nlp):
        with nlp.use_params({(0, "W"): np.zeros(1)}):  # of another component
            assert nlp(bag(nlp, "dog The sleeps .")).text == "The dog sleeps."
