"""The reader: sampled constraints, lengths and limits, references without spaces; and the scores and spaces."""

import random

import pytest
import spacy
from docs import read_docs
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_linearize.corpus import Corpus, give, without_spaces
from spacy_linearize.errors import LinearizeError
from spacy_linearize.scorer import linearizer_score, match
from spacy_linearize.spacing import Spacing


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


@pytest.fixture
def path(corpus_path):
    return corpus_path


def shares(examples):
    n = sum(len(eg.predicted) for eg in examples)
    tags = sum(t.tag != 0 for eg in examples for t in eg.predicted)
    heads = sum(t.has_head() for eg in examples for t in eg.predicted)
    return tags / n, heads / n


class TestCorpus:
    @pytest.mark.parametrize(("tags", "heads"), [(0, 0), (1, 1), (0, 1), (1, 0), (0.5, 0.25)])
    def test_shares(self, nlp, path, tags, heads):
        found = shares(list(Corpus(path, tags=tags, heads=heads)(nlp)))
        assert found == pytest.approx((tags, heads), abs=0.05)

    def test_what_is_given_is_gold(self, nlp, path):
        for eg in Corpus(path, tags=0.5, heads=0.5)(nlp):
            for token, gold in zip(eg.predicted, eg.reference, strict=True):
                assert token.text == gold.text
                assert token.tag_ in ("", gold.tag_)
                if token.has_head():
                    assert (token.head.i, token.dep_) == (gold.head.i, gold.dep_)

    def test_arcs_without_labels(self, nlp, path):
        labels = {t.dep_ for eg in Corpus(path, labelled=False)(nlp) for t in eg.predicted}
        assert labels == {"dep"}

    def test_references_have_no_spaces_and_all_annotation(self, nlp, path):
        gold = read_docs(nlp.vocab)
        examples = list(Corpus(path)(nlp))
        assert len(examples) == len(gold)
        for eg, doc in zip(examples, gold, strict=True):
            assert eg.reference.has_unknown_spaces
            assert not eg.predicted.has_unknown_spaces
            for attr in ("TAG", "POS", "MORPH", "LEMMA", "DEP", "HEAD"):
                assert (eg.reference.to_array(attr) == doc.to_array(attr)).all(), attr

    def test_settings_are_drawn_for_each_sentence(self, nlp, path):
        examples = list(Corpus(path, settings=[[0, 0], [1, 1]])(nlp))
        kinds = [shares([eg]) for eg in examples]
        assert set(kinds) == {(0, 0), (1, 1)}
        assert 0.3 < kinds.count((1, 1)) / len(kinds) < 0.7

    def test_a_fixed_corpus_and_one_that_is_drawn_anew(self, nlp, path):
        def read(corpus):
            return [(eg.reference.text, [t.tag for t in eg.predicted]) for eg in corpus(nlp)]

        fixed = Corpus(path, tags=0.5)
        assert read(fixed) == read(fixed) == read(Corpus(path, tags=0.5))
        assert read(fixed) != read(Corpus(path, tags=0.5, seed=1))
        moving = Corpus(path, tags=0.5, resample=True)
        first, second = read(moving), read(moving)
        assert first != second
        assert sorted(text for text, _ in first) == sorted(text for text, _ in second)
        assert read(Corpus(path, tags=0.5, resample=True)) == first

    def test_limits(self, nlp, path):
        def lengths(**settings):
            return [len(eg.reference) for eg in Corpus(path, **settings)(nlp)]

        everything = lengths()
        assert len(lengths(limit=7)) == 7
        assert lengths(min_length=10) == [n for n in everything if n >= 10]
        assert lengths(max_length=10) == [n for n in everything if n <= 10]
        assert 10 in everything

    def test_sentences(self, nlp, tmp_path):
        docs = read_docs(nlp.vocab)[:4]
        DocBin(docs=[Doc.from_docs(docs[:2]), Doc.from_docs(docs[2:])]).to_disk(tmp_path / "two.spacy")
        words = [[t.text for t in doc] for doc in docs]
        whole = [[t.text for t in eg.reference] for eg in Corpus(tmp_path / "two.spacy")(nlp)]
        assert whole == [words[0] + words[1], words[2] + words[3]]
        parts = list(Corpus(tmp_path / "two.spacy", gold_preproc=True)(nlp))
        assert [[t.text for t in eg.reference] for eg in parts] == words
        assert all(eg.reference.has_unknown_spaces for eg in parts)
        # Longer than max_length: split, and sentences that are still longer are left out.
        limit = min(len(w) for w in words)
        short = [w for w in words if len(w) <= limit]
        assert [[t.text for t in eg.reference] for eg in Corpus(tmp_path, max_length=limit)(nlp)] == short

    @pytest.mark.parametrize("setting", [{"tags": 1.5}, {"heads": -1}, {"settings": [[1]]}, {"tags": "all"}])
    def test_wrong_shares(self, path, setting):
        with pytest.raises(LinearizeError, match=r"SL022.*'tags, heads'"):
            Corpus(path, **setting)

    def test_no_path(self):
        with pytest.raises(LinearizeError, match=r"SL022.*'path' is None"):
            Corpus(None)

    def test_paths_without_examples(self, nlp, tmp_path):
        (tmp_path / "dev.conllu").write_text("")
        with pytest.raises(LinearizeError, match=r"SL054.*dev\.conllu is not a \.spacy file"):
            Corpus(tmp_path / "dev.conllu")
        for path in (tmp_path / "nothing.spacy", tmp_path / "nothing"):
            with pytest.raises(LinearizeError, match=r"SL183.*nothing"):
                list(Corpus(path)(nlp))
        with pytest.warns(UserWarning, match="W090"), pytest.raises(LinearizeError, match=r"SL183"):
            list(Corpus(tmp_path)(nlp))


class TestScorer:
    def example(self, nlp, output, gold, info=None, **annotation):
        from spacy_linearize.build import claim_extensions

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
        assert scores["linearize_exact"] == 0
        assert 0 < scores["linearize_bleu"] < 1
        assert scores["linearize_tag_acc"] == 4 / 5
        # The first "the" hangs on the dog in the gold tree, here on the cat; the second likewise.
        assert scores["linearize_uas"] == 3 / 5
        assert scores["linearize_las"] == 2 / 5

    def test_only_what_was_predicted_counts(self, nlp, gold):
        info = {"given_tags": [True] * 5, "given_heads": [True, True, True, True, False]}
        annotation = {"tags": ["X"] * 5, "heads": [1, 2, 2, 4, 2], "deps": ["x", "x", "ROOT", "x", "obj"]}
        scores = linearizer_score([self.example(nlp, "the dog saw the cat", gold, info, **annotation)])
        assert scores["linearize_tag_acc"] is None
        assert scores["linearize_uas"] == scores["linearize_las"] == 1

    def test_nothing(self):
        assert set(linearizer_score([]).values()) == {None}

    def test_words_are_matched_by_occurrence(self, nlp, gold):
        out = Doc(nlp.vocab, words=["cat", "the", "saw", "dog", "the", "bird"])
        assert match(out, gold) == {0: 4, 1: 0, 2: 2, 3: 1, 4: 3}


@pytest.fixture(scope="module")
def spacing(nlp):
    spacing = Spacing()
    spacing.learn(read_docs(nlp.vocab))
    return spacing


class TestSpacing:
    def text(self, nlp, spacing, words):
        doc = Doc(nlp.vocab, words=words)
        spaces = spacing.spaces([t.orth for t in doc], [t.shape for t in doc], nlp.vocab.strings)
        return Doc(nlp.vocab, words=words, spaces=spaces).text

    def test_gold_texts_come_back(self, nlp, spacing):
        docs = read_docs(nlp.vocab)
        same = sum(self.text(nlp, spacing, [t.text for t in doc]) == doc.text.strip() for doc in docs)
        assert same / len(docs) > 0.9

    def test_punctuation_and_quotes(self, nlp, spacing):
        assert self.text(nlp, spacing, ["Yes", ",", "Tom", "!"]) == "Yes, Tom!"
        assert self.text(nlp, spacing, ["Anna", "'s", "dog", "(", "old", ")", "."]) == "Anna's dog (old)."

    def test_straight_quotes_open_and_close_in_turn(self, nlp):
        spacing = Spacing()
        words = ["He", "said", '"', "no", '"', "twice"]
        spacing.learn([Doc(nlp.vocab, words=words, spaces=[True, True, False, False, True, False])])
        assert self.text(nlp, spacing, ['"', "no", '"', "and", '"', "yes", '"']) == '"no" and "yes"'

    def test_single_spaces_without_knowledge(self, nlp):
        assert self.text(nlp, Spacing(), ["a", "b", "."]) == "a b ."
        assert Spacing().spaces([], [], nlp.vocab.strings) == []
        spacing = Spacing()
        spacing.learn([Doc(nlp.vocab, words=["a", "."])])  # unknown spaces
        assert not any(spacing.tables)

    def test_plain_words_stay_apart(self, nlp):
        """How a letter stands beside brackets and digits says nothing about how it stands beside words."""
        spacing = Spacing()
        words = ["row", "4", "b", "(", "b", ")", "is", "gon", "na", "be", "free", "for", "a", "day", "or", "more"]
        spaces = [True, False, True, False, False, True, True, False, *[True] * 7, False]
        spacing.learn([Doc(nlp.vocab, words=words, spaces=spaces)])
        assert self.text(nlp, spacing, words) == "row 4b (b) is gonna be free for a day or more"
        assert self.text(nlp, spacing, ["gate", "b"]) == "gate b"

    def test_language_without_spaces(self, nlp):
        spacing = Spacing()
        spacing.learn([Doc(nlp.vocab, words=["我", "爱", "你", "。"], spaces=[False] * 4)])
        assert self.text(nlp, spacing, ["你", "们", "爱", "我", "。"]) == "你们爱我。"

    def test_unseen_forms_go_by_shape(self, nlp, spacing):
        assert self.text(nlp, spacing, ["Zebras", "run", "."]) == "Zebras run."


def test_without_spaces_keeps_all_annotation(nlp):
    doc = read_docs(nlp.vocab)[2]
    doc.cats = {"A": 1.0}
    doc.spans["x"] = [doc[0:2]]
    doc.user_data["key"] = 1
    bare = without_spaces(doc)
    assert bare.has_unknown_spaces
    assert not doc.has_unknown_spaces
    assert (bare.cats, bare.user_data, [s.text for s in bare.spans["x"]]) == (doc.cats, doc.user_data, [doc[0:2].text])


def test_give_and_without_spaces_keep_the_original(nlp):
    doc = read_docs(nlp.vocab)[2]
    before = doc.to_bytes()
    rng = random.Random(0)
    give(doc, 0.5, 0.5, rng=rng)
    without_spaces(doc)
    assert doc.to_bytes() == before
