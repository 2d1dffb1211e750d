"""The corpus as a stream: shuffled within a buffer, mixed from several sources, in flat memory."""

import random
import sys
from collections import Counter

import numpy as np
import pytest
import spacy
from helpers.processes import run_python
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from thinc.api import Config

from spacy_linearize.doc import gold as gold_module
from spacy_linearize.doc.gold import Gold
from spacy_linearize.errors import LinearizeError
from spacy_linearize.registered import create_linearizer_corpus
from spacy_linearize.training.corpus import Corpus
from spacy_linearize.training.stream import shuffled


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two sources: 100 sentences in one file, and 600 in twelve."""
    folder = tmp_path_factory.mktemp("sources")
    vocab = spacy.blank("en").vocab
    for name, n_files, n_docs in (("gold", 1, 100), ("silver", 12, 50)):
        (folder / name).mkdir()
        for k in range(n_files):
            docs = [Doc(vocab, words=[name, f"{k:02}", f"{i:02}"]) for i in range(n_docs)]
            DocBin(docs=docs).to_disk(folder / name / f"{k:02}.spacy")
    return {name: folder / name for name in ("gold", "silver")}


def texts(corpus, nlp):
    return [eg.reference.text.strip() for eg in corpus(nlp)]


def mixed(folders, gold=3, silver=1, **settings):
    weights = {"gold": gold, "silver": silver}
    sources = {name: {"path": folders[name], "weight": weight} for name, weight in weights.items()}
    return Corpus(sources=sources, **{"resample": True, **settings})


@pytest.mark.parametrize("buffer_size", [1, 7, 100, 600, 10_000])
def test_every_sentence_comes_once_in_each_reading(nlp, folders, buffer_size):
    corpus = Corpus(folders["silver"], resample=True, buffer_size=buffer_size)
    first, second = texts(corpus, nlp), texts(corpus, nlp)
    expected = texts(Corpus(folders["silver"]), nlp)
    assert expected == sorted(expected)
    assert first != second
    assert sorted(first) == sorted(second) == expected
    assert first != expected
    assert texts(Corpus(folders["silver"], resample=True, buffer_size=buffer_size), nlp) == first
    assert texts(Corpus(folders["silver"], resample=True, buffer_size=buffer_size, seed=1), nlp) != first


def test_a_small_corpus_is_shuffled_as_a_whole():
    """As a list would be."""
    for size in (20, 21, 1000):
        expected = list(range(20))
        random.Random(5).shuffle(expected)
        assert list(shuffled(range(20), random.Random(5), size)) == expected


def test_the_buffer_mixes_what_is_in_it():
    places = [list(shuffled(range(100), random.Random(seed), 20)).index(50) for seed in range(300)]
    assert min(places) >= 50 - 20
    assert len(set(places)) > 20
    assert sorted(shuffled(range(100), random.Random(0), 20)) == list(range(100))


@pytest.mark.parametrize(("gold", "silver"), [(3, 1), (1, 2), (2, 0.5), (0.25, 1)])
def test_weights_are_how_often_a_source_is_read(nlp, folders, gold, silver):
    corpus = mixed(folders, gold, silver)
    readings = [Counter(texts(corpus, nlp)) for _ in range(2)]
    for counts in readings:
        for name, weight, n in (("gold", gold, 100), ("silver", silver, 600)):
            times = [count for text, count in counts.items() if text.startswith(name)]
            assert sum(times) == pytest.approx(weight * n, rel=0.35 if weight % 1 else 0)
            assert set(times) <= {int(weight), int(np.ceil(weight))} - {0}
    assert (readings[0] != readings[1]) == bool(gold % 1 or silver % 1)  # a part of a source is drawn anew


def test_sources_are_mixed_evenly(nlp, folders):
    """Neither at once nor at the end, even with hardly any buffer."""
    found = [text.startswith("gold") for text in texts(mixed(folders, buffer_size=2), nlp)]
    assert len(found) == 900
    for k in range(0, 900, 100):
        assert 15 < sum(found[k : k + 100]) < 55  # a third


@pytest.mark.parametrize("resample", [True, False])
def test_a_source_comes_last(nlp, folders, resample):
    """In each reading, however often the corpus is read, and whoever reads it."""
    silver, gold = {"path": folders["silver"]}, {"path": folders["gold"], "weight": 2, "last": 1.5}
    corpus = Corpus(sources={"silver": silver, "gold": gold}, resample=resample, buffer_size=50)
    for _ in range(3):
        found = [text.split()[0] for text in texts(corpus, nlp)]
        assert Counter(found[:800]) == {"silver": 600, "gold": 200}
        assert set(found[800:]) == {"gold"}
        assert 120 < len(found[800:]) < 180


def test_mixing_is_deterministic(nlp, folders):
    corpus = mixed(folders, 2.5, 0.5, buffer_size=50)
    first = texts(corpus, nlp)
    assert first == texts(mixed(folders, 2.5, 0.5, buffer_size=50), nlp)
    assert first != texts(corpus, nlp)
    fixed = mixed(folders, 1, 0.5, resample=False)
    assert texts(fixed, nlp) == texts(fixed, nlp)
    assert [text.startswith("gold") for text in texts(fixed, nlp)][:100] == [True] * 100
    assert len(texts(mixed(folders, 1, 1, limit=10), nlp)) == 20


def test_sources_in_a_config(folders):
    config = f"""
    [train]
    @readers = "spacy_linearize.Corpus.v1"
    path = null
    resample = true

    [train.sources]
    silver = {{"path": "{folders["silver"].as_posix()}", "weight": 0.5}}

    [train.sources.gold]
    path = "{folders["gold"].as_posix()}"
    weight = 3
    """
    corpus = spacy.registry.resolve(Config().from_str(config))["train"]
    assert {source.path: source.weight for source in corpus.sources} == {folders["silver"]: 0.5, folders["gold"]: 3.0}
    assert create_linearizer_corpus(path=folders["gold"]).sources[0].weight == 1.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sources": {"a": {}}}, "sources.a"),
        ({"sources": {"a": {"path": "x", "wieght": 2}}}, "sources.a"),
        ({"sources": {"a": {"path": None}}}, "sources.a"),
        ({"sources": {"a": {"path": "x", "weight": 0}}}, r"sources\.a\.weight' is 0"),
        ({"sources": {"a": {"path": "x", "weight": "3"}}}, r"sources\.a\.weight"),
        ({"sources": {"a": {"path": "x", "last": -1}}}, r"sources\.a\.last' is -1"),
        ({"sources": {"a": {"path": "x", "last": True}}}, r"sources\.a\.last"),
        ({"sources": {"a": {"path": "x", "last": float("nan")}}}, r"sources\.a\.last"),
        ({"path": "y", "sources": {"a": {"path": "x"}}}, "left out"),
        ({"path": "y", "buffer_size": 0}, "buffer_size"),
        ({"path": "y", "limit": -1}, "limit"),
        ({"path": "y", "min_length": -1}, "min_length"),
        ({"path": "y", "max_length": 1.5}, "max_length"),
        ({"path": "y", "settings": [1]}, "tags, heads"),
        ({"path": 5}, "path"),
        ({"sources": [1, 2]}, "sources"),
        ({"sources": {"a": {"path": 5}}}, "a"),
    ],
)
def test_wrong_sources(settings, message):
    with pytest.raises(LinearizeError, match=f"SL022.*{message}"):
        Corpus(**settings)


def test_a_source_that_is_not_there(nlp, folders, tmp_path):
    corpus = Corpus(sources={"a": {"path": folders["gold"]}, "b": {"path": tmp_path / "none"}})
    with pytest.raises(LinearizeError, match=r"SL183.*none"):
        list(corpus(nlp))


# Initialization in one pass


def test_gold_is_read_once_as_a_stream(nlp, folders, monkeypatch):
    monkeypatch.setattr(gold_module, "MAX_WRITTEN", 30)
    n_read = 0

    def examples():
        nonlocal n_read
        for eg in Corpus(folders["silver"])(nlp):
            n_read += 1
            yield Example(eg.predicted, eg.reference)

    gold = Gold(examples())
    for k, sentence in enumerate(gold, start=1):
        assert n_read == k  # no further than what was asked for
        assert len(sentence) == 3
    assert (gold.text.n_words, gold.text.n_sentences) == (1800, 600)
    assert nlp.vocab.strings[int(gold.text.words()[0, 0])] == "silver"
    assert len(gold.written) == 30
    assert len({text.words[1] for text in gold.written}) > 6  # from all files


MEMORY = """
import random, resource, sys
import spacy
from pathlib import Path
from spacy.tokens import Doc, DocBin
from spacy_linearize.doc import gold
from spacy_linearize.training.corpus import Corpus

gold.MAX_WRITTEN = 500
folder = Path(sys.argv[1])
nlp = spacy.blank("en")
words = [f"word{i}" for i in range(500)]
rng = random.Random(0)
for name, n_files in (("small", 4), ("large", 40)):
    (folder / name).mkdir()
    for k in range(n_files):
        docs = DocBin(attrs=["TAG", "DEP", "HEAD"])
        for _ in range(500):
            tree = {"tags": ["NN"] * 20, "heads": [0] * 20, "deps": ["ROOT"] + ["x"] * 19}
            docs.add(Doc(nlp.vocab, words=rng.choices(words, k=20), **tree))
        docs.to_disk(folder / name / f"{k}.spacy")
for name in ("small", "large"):
    corpus = Corpus(sources={"a": {"path": folder / name, "weight": 2}}, resample=True, buffer_size=1000)
    n = sum(len(eg.reference) for eg in corpus(nlp))
    n_gold = sum(1 for _ in gold.Gold(Corpus(folder / name, resample=True, buffer_size=1000)(nlp)))
    print(n, n_gold, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss in kilobytes")
def test_memory_is_flat(tmp_path):
    """20,000 sentences take no more memory than 2,000. As Docs, they would take about 150 MB."""
    small, large = (list(map(int, line.split())) for line in run_python(MEMORY, tmp_path).splitlines())
    assert (small[:2], large[:2]) == ([80_000, 2000], [800_000, 20_000])
    assert large[2] - small[2] < 25_000
