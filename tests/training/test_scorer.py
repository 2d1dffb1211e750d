"""Scores of reordered Docs."""

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_linearize.doc.write import claim_extensions
from spacy_linearize.training.scorer import linearizer_score, match


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


class TestScorer:
    def example(self, nlp, output, gold, info=None, **annotation):
        claim_extensions()
        out = Doc(nlp.vocab, words=output.split(), **annotation)
        n = len(out)
        out._.linearization = {"given_tags": [False] * n, "given_heads": [False] * n, **(info or {})}
        return Example(out, gold)

    @pytest.fixture
    def gold(self, nlp):
        return Doc(
            nlp.vocab,
            words=["the", "dog", "saw", "the", "cat"],
            tags=["DT", "NN", "VBD", "DT", "NN"],
            heads=[1, 2, 2, 4, 2],
            deps=["det", "nsubj", "ROOT", "det", "obj"],
        )

    def test_perfect(self, nlp, gold):
        annotation = {"tags": ["DT", "NN", "VBD", "DT", "NN"], "heads": [1, 2, 2, 4, 2]}
        deps = ["det", "nsubj", "ROOT", "det", "obj"]
        scores = linearizer_score([self.example(nlp, "the dog saw the cat", gold, deps=deps, **annotation)])
        assert list(scores.values()) == pytest.approx([1.0] * 5)

    def test_another_order(self, nlp, gold):
        """Saw as root with both nouns is right on every arc, whatever the order; one label and one tag are wrong."""
        eg = self.example(
            nlp,
            "the cat saw the dog",
            gold,
            tags=["DT", "NN", "VBD", "DT", "VB"],
            heads=[1, 2, 2, 4, 2],
            deps=["det", "obj", "ROOT", "det", "obj"],
        )
        scores = linearizer_score([eg])
        assert scores["exact"] == 0
        assert 0 < scores["bleu"] < 1
        assert scores["tags"] == 4 / 5
        # The first "the" hangs on the dog in the gold tree, here on the cat; the second likewise.
        assert scores["uas"] == 3 / 5
        assert scores["las"] == 2 / 5

    def test_only_what_was_predicted_counts(self, nlp, gold):
        info = {"given_tags": [True] * 5, "given_heads": [True, True, True, True, False]}
        annotation = {"tags": ["X"] * 5, "heads": [1, 2, 2, 4, 2], "deps": ["x", "x", "ROOT", "x", "obj"]}
        scores = linearizer_score([self.example(nlp, "the dog saw the cat", gold, info, **annotation)])
        assert scores["tags"] is None
        assert scores["uas"] == scores["las"] == 1

    def test_a_model_without_labels_has_no_las(self, nlp, gold):
        annotation = {"heads": [1, 2, 2, 4, 2], "deps": ["dep", "dep", "ROOT", "dep", "dep"]}
        scores = linearizer_score([self.example(nlp, "the dog saw the cat", gold, **annotation)])
        assert (scores["uas"], scores["las"]) == (1, None)

    def test_nothing(self):
        assert set(linearizer_score([]).values()) == {None}

    def test_words_are_matched_by_occurrence(self, nlp, gold):
        out = Doc(nlp.vocab, words=["cat", "the", "saw", "dog", "the", "bird"])
        assert match(out, gold) == {0: 4, 1: 0, 2: 2, 3: 1, 4: 3}


def test_docs_that_were_not_ordered_have_no_other_scores(nlp):
    """And words that are not in the gold Doc are passed over."""
    claim_extensions()
    out, gold = Doc(nlp.vocab, words=["a", "b"]), Doc(nlp.vocab, words=["a", "b"], tags=["X", "Y"])
    assert linearizer_score([Example(out, gold)])["tags"] is None
    out._.linearization = {"given_tags": (False, False), "given_heads": (False, False)}
    other = Doc(nlp.vocab, words=["a", "c"], tags=["X", "Y"])
    assert linearizer_score([Example(out, other)])["tags"] == 0.0
