"""The reader: sampled constraints, lengths and limits, references without spaces."""

import random
import shutil

import pytest
import spacy
from helpers.docs import read_docs
from spacy.tokens import Doc, DocBin

from spacy_linearize.doc.surface import RANGES, ranges_of
from spacy_linearize.errors import LinearizeError
from spacy_linearize.training.corpus import Corpus, give, without_spaces


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


def slow_give(doc, tags, heads, labelled, rng):
    """As a reader of spaCy's documentation would write it."""
    keep_tag = [rng.random() < tags for _ in doc]
    keep_head = [rng.random() < heads and token.has_head() for token in doc]
    given = Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=None if doc.has_unknown_spaces else [bool(token.whitespace_) for token in doc],
        tags=[token.tag_ if keep_tag[token.i] else "" for token in doc],
        pos=[token.pos_ if keep_tag[token.i] else "" for token in doc],
        heads=[token.head.i if keep_head[token.i] else None for token in doc],
        deps=[(token.dep_ if labelled else "dep") if keep_head[token.i] else "" for token in doc],
    )
    for token in doc:
        if keep_tag[token.i] and token.has_morph():
            given[token.i].set_morph(str(token.morph))
    return given


@pytest.mark.parametrize("labelled", [True, False])
def test_give_is_what_tokens_say(nlp, labelled):
    docs = read_docs(nlp.vocab)
    docs += [Doc.from_docs(docs[:3]), without_spaces(docs[0]), Doc(nlp.vocab, words=["no", "tree"])]
    docs.append(Doc(nlp.vocab, words=["half", "a", "tree"], heads=[2, None, 2], deps=["amod", "", "ROOT"]))
    for seed, doc in enumerate(docs):
        for shares in ((0, 0), (1, 1), (0.5, 0.5)):
            slow = slow_give(doc, *shares, labelled, random.Random(seed))
            assert give(doc, *shares, labelled=labelled, rng=random.Random(seed)).to_bytes() == slow.to_bytes()


def test_a_source_may_have_settings_of_its_own(nlp, corpus_path, tmp_path):
    """Of one source whole trees are given, of the other tags alone."""
    shutil.copy(corpus_path, tmp_path / "silver.spacy")
    sources = {
        "gold": {"path": corpus_path, "weight": 2},
        "silver": {"path": tmp_path / "silver.spacy", "settings": [[1, 0]]},
    }
    for resample in (True, False):
        corpus = Corpus(sources=sources, settings=[[0, 1]], resample=resample)
        examples = list(corpus(nlp))
        given = [(any(t.tag for t in eg.predicted), any(t.has_head() for t in eg.predicted)) for eg in examples]
        n = len(examples) // 3
        assert (given.count((False, True)), given.count((True, False))) == (2 * n, n)


def test_bad_settings_of_a_source_are_refused(corpus_path):
    for setting in ([1], [0, 2]):
        with pytest.raises(LinearizeError, match="SL022"):
            Corpus(sources={"gold": {"path": corpus_path, "settings": [setting]}})


def test_sentences_keep_their_multiword_tokens(tmp_path):
    nlp = spacy.blank("fr")
    doc = Doc(
        nlp.vocab,
        words=["Il", "part", ".", "Les", "gens", "de", "le", "club"],
        heads=[1, 1, 1, 4, 4, 7, 7, 4],
        deps=["nsubj", "ROOT", "punct", "det", "ROOT", "case", "det", "nmod"],
    )
    doc.user_data[RANGES] = ((5, 7, "du", "_"),)
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "two.spacy")
    first, second = Corpus(tmp_path / "two.spacy", gold_preproc=True)(nlp)
    assert [ranges_of(eg.reference) for eg in (first, second)] == [[], [(2, 4, "du", "_")]]
