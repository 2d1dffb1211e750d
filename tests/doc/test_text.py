"""Sentences for the language model, from text and from Docs."""

import gc
import pickle
import random
import subprocess
import sys

import numpy as np
import pytest
import spacy
from helpers.components import SMALL
from helpers.docs import bag, read_docs, write_corpus
from helpers.processes import ENVIRONMENT
from spacy.lang.en import English
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_linearize.doc import text as text_module
from spacy_linearize.doc.components import components_for
from spacy_linearize.doc.spacy_files import read_spacy
from spacy_linearize.doc.text import read_sentences
from spacy_linearize.errors import LinearizeError


def words_of(nlp, paths, **settings):
    """The words of every sentence."""
    nlp = spacy.blank("en") if nlp is None else nlp
    found = []
    for keys, lengths, _ in read_sentences(nlp, paths, add_strings=True, **settings):
        found += [own.tolist() for own in np.split(keys, np.cumsum(lengths)[:-1])]
    return [[nlp.vocab.strings[key] for key in keys] for keys in found]


def random_lines(n, seed=0):
    """Lines with much that is hard to split."""
    rng = random.Random(seed)
    pieces = ["He", "left", ".", "..", "...", "?", "!", '"', "(", ")", "Mr.", "。", "don't", "  ", "\t", "3.5", "x.y"]

    def line():
        return "".join(rng.choice(pieces) + rng.choice(["", " ", " "]) for _ in range(rng.randrange(1, 30)))

    return [line() for _ in range(n)]


@pytest.fixture
def text_path(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(random_lines(400)), encoding="utf8")
    return path


def test_text_teaches_the_language_model(tmp_path):
    """Its lines count beside the words of the examples, in the tokenization of the pipeline."""
    (tmp_path / "text").write_text("\nthe cat saw the dog.\n\n  the dog saw me\n", encoding="utf8")

    def ngrams(text):
        nlp = spacy.blank("en")
        component = nlp.add_pipe("linearizer", config=SMALL)
        gold = bag(nlp, "John left .")
        component.initialize(lambda: [Example(gold.copy(), gold)], nlp=nlp, text=text)
        return nlp, component.engine.experts.ngrams

    nlp, more = ngrams(tmp_path / "text")
    _, bare = ngrams(None)
    seen, unseen = ([nlp.vocab.strings.add(word) for word in text.split()] for text in ("the dog .", "dog the ."))
    assert more.score(seen) > more.score(unseen)
    assert more.score(seen) > bare.score(seen)


def test_sentences_of_docs_and_of_lines(tmp_path):
    nlp = spacy.blank("en")
    two = Doc(nlp.vocab, words=["a", "dog", "barks"], sent_starts=[True, False, True])
    DocBin(docs=[two, Doc(nlp.vocab, words=["Who", "?"])]).to_disk(tmp_path / "docs.spacy")
    (tmp_path / "lines.txt").write_text("\ufeffa dog\n\n  barks \nWho?\n", encoding="utf8")
    for name in ("docs.spacy", "lines.txt"):
        assert words_of(nlp, tmp_path / name) == [["a", "dog"], ["barks"], ["Who", "?"]]
    assert len(words_of(nlp, tmp_path)) == 6  # a folder may hold both
    write_corpus(tmp_path / "mini.spacy")
    assert words_of(nlp, tmp_path / "mini.spacy") == [[token.text for token in doc] for doc in read_docs()]


def test_the_rules_are_those_of_the_sentencizer(text_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    expected = []
    for line in text_path.read_text(encoding="utf8").splitlines():
        for sent in nlp(line.strip()).sents:
            words = [token.text for token in sent if not token.is_space]
            if words:
                expected.append(words)
    assert len(expected) > 1000
    assert words_of(None, text_path) == expected
    # The component of the pipeline says the same, and takes another way.
    assert words_of(nlp, text_path, split="pipeline") == expected


def test_one_sentence_a_line_and_tokens_that_are_kept(tmp_path):
    (tmp_path / "a.txt").write_text("Well . He ca n't. Who?\n", encoding="utf8")
    assert words_of(None, tmp_path, split="lines") == [["Well", ".", "He", "ca", "n't", ".", "Who", "?"]]
    assert words_of(None, tmp_path, keep_tokens=True) == [["Well", ".", "He", "ca", "n't.", "Who?"]]


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"keep_tokens": True}, {"split": "lines"}])
def test_the_number_of_processes_does_not_matter(text_path, settings):
    nlp = spacy.blank("en")
    n_strings = len(nlp.vocab.strings)
    one, two = (list(read_sentences(nlp, text_path, n_process=n, batch_size=30, **settings)) for n in (1, 3))
    assert len(one) == len(two) > 10
    for a, b in zip(one, two, strict=True):
        for x, y, dtype in zip(a, b, (np.uint64, np.int64, np.uint64), strict=True):
            assert (x == y).all()
            assert x.dtype == y.dtype == dtype
            assert x.flags.c_contiguous
            assert y.flags.c_contiguous
    assert len(nlp.vocab.strings) == n_strings  # unless they are asked for
    assert words_of(nlp, text_path, n_process=2, batch_size=30, **settings) == words_of(None, text_path, **settings)


def test_every_form_comes_once_with_suffix_and_shape(tmp_path, text_path):
    write_corpus(tmp_path / "mini.spacy")
    nlp = spacy.blank("en")
    seen = set()
    paths = [text_path, tmp_path / "mini.spacy"]
    for keys, lengths, forms in read_sentences(nlp, paths, batch_size=50, add_strings=True):
        assert lengths.min() > 0
        assert lengths.sum() == len(keys)
        assert forms.shape == (len(forms), 3)
        assert set(forms[:, 0].tolist()) == set(keys.tolist()) - seen
        assert not seen & set(forms[:, 0].tolist())
        seen |= set(keys.tolist())
        for form, suffix, shape in forms.tolist():
            lexeme = nlp.vocab[form]
            assert (suffix, shape) == (lexeme.suffix, lexeme.shape)


def test_words_are_forgotten_after_a_while(text_path, monkeypatch):
    """When the cache is full, each batch has a memory zone of its own. The result is the same."""
    expected = words_of(None, text_path, batch_size=20)
    monkeypatch.setattr(text_module, "KEPT_WORDS", 5)
    zones = []
    monkeypatch.setattr(text_module._TextWorker, "_memory", _counted(text_module._TextWorker._memory, zones))
    assert words_of(None, text_path, batch_size=20) == expected
    assert zones.count("_GeneratorContextManager") > 10
    assert zones[0] == "nullcontext"


def _counted(function, calls):
    def counted(self):
        found = function(self)
        calls.append(type(found).__name__)
        return found

    return counted


def test_vectors_are_not_copied():
    nlp = English()
    nlp.vocab.set_vector("dog", np.ones(3000, dtype="f"))
    assert len(pickle.dumps(nlp.tokenizer)) - len(text_module._pack_tokenizer(nlp)) > 10_000
    copy = pickle.loads(text_module._pack_tokenizer(nlp))
    assert [token.text for token in copy("Don't!")] == ["Do", "n't", "!"]


def test_components_that_are_needed():
    nlp = spacy.blank("en")
    for name in ("tok2vec", "tagger", "ner", "parser", "attribute_ruler", "lemmatizer"):
        nlp.add_pipe(name)
    assert components_for(nlp, ["token.is_sent_start"]) == ["tok2vec", "parser"]
    assert components_for(nlp, ["token.tag", "token.dep"]) == ["tok2vec", "tagger", "parser"]
    assert components_for(nlp, ["token.vector"]) == []


def test_rulers_that_are_needed():
    """What a ruler sets on white space does not count: spaCy's English pipelines have such patterns."""
    nlp = spacy.blank("en")
    for name in ("tagger", "parser", "attribute_ruler"):
        nlp.add_pipe(name)
    ruler = nlp.get_pipe("attribute_ruler")
    ruler.add([[{"TAG": "NN"}]], {"POS": "NOUN"})
    ruler.add([[{"IS_SPACE": True}]], {"TAG": "_SP", "DEP": "dep"})
    assert components_for(nlp, ["token.tag", "token.dep"]) == ["tagger", "parser"]
    for pattern in (
        [[{"IS_SPACE": True}], [{"LOWER": "to"}]],
        [[{"IS_SPACE": True, "OP": "!"}]],
        [[{"IS_SPACE": True}, {"LOWER": "to"}]],
        [[{"IS_SPACE": False}]],
    ):
        ruler.clear()
        ruler.add(pattern, {"TAG": "TO"}, index=-1)
        assert components_for(nlp, ["token.tag", "token.dep"]) == ["tagger", "parser", "attribute_ruler"], pattern


def test_settings_that_cannot_be():
    nlp = spacy.blank("en")
    for settings in ({"split": "all"}, {"n_process": 0}, {"batch_size": "many"}):
        with pytest.raises(LinearizeError, match=f"SL022.*{next(iter(settings))}"):
            read_sentences(nlp, "-", **settings)


def test_files_that_cannot_be_read(tmp_path):
    nlp = spacy.blank("en")
    (tmp_path / "bad.txt").write_bytes(b"a dog\n\xff\nbarks")
    with pytest.warns(UserWarning, match=r"SL213.*Line 2 of .*bad.txt"):
        assert words_of(nlp, tmp_path / "bad.txt") == [["a", "dog"], ["barks"]]
    for data in (b"", b"x", b"version https://git-lfs.github.com/spec/v1"):
        (tmp_path / "bad.spacy").write_bytes(data)
        with pytest.raises(LinearizeError, match=r"SL180.*bad.spacy"):
            list(read_spacy(tmp_path / "bad.spacy", nlp.vocab))
        assert gc.isenabled()
    for name in ("none.txt", "none.spacy"):
        with pytest.raises(LinearizeError, match=rf"SL210.*{name}"):
            read_sentences(nlp, tmp_path / name)


SPAWN = """
import multiprocessing, sys
import spacy
from spacy_linearize.doc.text import read_sentences
if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    nlp = spacy.blank("en")
    one, two = (list(read_sentences(nlp, sys.argv[1], n_process=n, batch_size=50)) for n in (1, 2))
    print(all((a == b).all() for x, y in zip(one, two) for a, b in zip(x, y)), len(one))
"""


@pytest.mark.slow
def test_processes_that_share_nothing(tmp_path, text_path):
    """As on macOS and Windows."""
    (tmp_path / "program.py").write_text(SPAWN)
    command = [sys.executable, str(tmp_path / "program.py"), str(text_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, cwd=tmp_path)
    assert done.stdout == "True 8\n", done.stderr
