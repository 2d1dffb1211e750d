"""ARPA files, as they should be and as they should not."""

import math

import numpy as np
import pytest
from helpers.texts import text_from

from spacy_linearize.core.hashing import hash_text
from spacy_linearize.core.ngrams.estimate import Estimation, Estimator, fill_table
from spacy_linearize.core.ngrams.table import BEGIN_KEY, END_KEY, UNKNOWN_KEY, Ngrams
from spacy_linearize.errors import LinearizeError
from spacy_linearize.files.arpa import read_arpa, write_arpa

MODEL = r"""
\data\
ngram 1=5
ngram 2=3
ngram 3=1

\1-grams:
-2.0	<unk>
-99	<s>	-0.5
-1.0	</s>
-0.75	ab	-0.25
-1.25	cd	-0.125

\2-grams:
-0.5	<s> ab	-0.0625
-0.25	ab cd	-0.5
-0.375	cd </s>

\3-grams:
-0.125	<s> ab cd

\end\
"""


@pytest.fixture
def read(tmp_path):
    def read_text(text):
        path = tmp_path / "model.arpa"
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf8"))
        return read_arpa(path, hash_text)

    return read_text


def test_reads(read):
    order, entries = read(MODEL)
    ab, cd = hash_text("ab"), hash_text("cd")
    assert order == 3
    grams = {gram: (probability / math.log(10), backoff / math.log(10)) for gram, probability, backoff in entries}
    expected = {
        (UNKNOWN_KEY,): (-2, 0),
        (BEGIN_KEY,): (-99, -0.5),
        (END_KEY,): (-1, 0),
        (ab,): (-0.75, -0.25),
        (cd,): (-1.25, -0.125),
        (BEGIN_KEY, ab): (-0.5, -0.0625),
        (ab, cd): (-0.25, -0.5),
        (cd, END_KEY): (-0.375, 0),
        (BEGIN_KEY, ab, cd): (-0.125, 0),
    }
    assert grams.keys() == expected.keys()
    for gram, values in expected.items():
        assert grams[gram] == pytest.approx(values)


def test_is_a_model(read, tmp_path):
    model = Ngrams()
    model.fill_grams(*read(MODEL))
    ab, cd, other = hash_text("ab"), hash_text("cd"), hash_text("other")
    for words, log10 in (
        ([ab, cd], -0.5 - 0.125 - 0.5 - 0.375),
        ([cd, ab], -0.5 - 1.25 - 0.125 - 0.75 - 0.25 - 1),
        ([other], -0.5 - 2 - 1),
        ([], -0.5 - 1),
    ):
        assert model.score(words) == pytest.approx(log10 * math.log(10), abs=0.01)
    assert read_arpa(str(tmp_path / "model.arpa"), hash_text) == read(MODEL)


def with_fewer_blanks(text):
    return "".join(line for line in text.splitlines(keepends=True) if line.strip())


@pytest.mark.parametrize(
    "text",
    [
        MODEL.replace("\t", " "),
        MODEL.replace("\t", "   ").replace("\n", "  \r\n"),
        MODEL.replace(" ", "\t").replace("ngram\t", "ngram "),
        MODEL.replace("\n", "\n\n \n"),
        with_fewer_blanks(MODEL),
        "\ufeff" + MODEL.lstrip(),
        "Made by some tool\nngram 1=7\n" + MODEL,
        MODEL.replace("=", " = "),
        MODEL.replace("<unk>", "<UNK>"),
        MODEL.replace("-0.125\t<s> ab cd", "-0.125\t<s> ab cd\t0"),
        MODEL.replace("-0.75", "-7.5E-1"),
        MODEL + "anything\n",
        MODEL.rstrip("\n"),
    ],
)
def test_reads_what_other_programs_write(read, text):
    assert read(text) == read(MODEL)


def test_words_are_parted_by_ascii_spaces_only(read):
    assert read(MODEL.replace("ab", "a\u00a0b"))[1][3][0] == (hash_text("a\u00a0b"),)


def test_numbers_are_words_too(read):
    _, entries = read(MODEL.replace("ab", "1").replace("cd", "-2.5"))
    assert (hash_text("1"), hash_text("-2.5")) in {gram for gram, _, _ in entries}


def long_model(highest):
    """A model of one word, repeated."""
    counts = "".join(f"ngram {n}=1\n" for n in range(1, highest + 1))
    sections = "".join(f"\n\\{n}-grams:\n-{n}\t{' '.join(['ab'] * n)}\t-0.5\n" for n in range(1, highest + 1))
    return f"\\data\\\n{counts}{sections}\n\\end\\\n"


@pytest.mark.parametrize("highest", [1, 2, 3, 4, 5, 6, 12])
def test_reads_up_to_five_words(read, highest):
    order, entries = read(long_model(highest))
    assert order == min(highest, 5)
    assert [len(gram) for gram, _, _ in entries] == list(range(1, order + 1))
    Ngrams().fill_grams(order, entries)


@pytest.mark.parametrize(
    "text", ["", "\n\n", "some text\n", "data\n", b"\x1f\x8b\x08\x00\xff\xfe", "\\1-grams:\n-1 a\n"]
)
def test_no_arpa_file(read, text):
    with pytest.raises(LinearizeError, match=r"SL055.*model\.arpa.*unpack"):
        read(text)


BAD = [
    # what is replaced, by what, the line, what the message says
    ("ngram 1=5", "ngram 1=five", 3, "no words are announced"),
    ("ngram 1=5", "ngram 1=-5", 3, "no words are announced"),
    ("ngram 1=5", "ngram 1=0", 7, "no words are announced"),
    ("ngram 1=5", "ngram 1=" + "9" * 5000, 3, "no words are announced"),
    ("ngram 2=3", "ngram 3=3", 4, "'ngram 2=...' is expected"),
    ("ngram 2=3", "what is this", 4, r"'\\1-grams:' is expected"),
    ("ngram 3=1", "", 19, r"'\\end\\' is expected"),
    ("ngram 1=5", "ngram 1=6", 14, "the 1-grams end here, and are 5 instead of the 6"),
    ("ngram 2=3", "ngram 2=2", 19, "the 2-grams end here, and are 3 instead of the 2"),
    ("ngram 3=1", "ngram 3=1000000", 22, "the 3-grams end here, and are 1 instead of the 1000000"),
    ("ngram 3=1", "ngram 3=1\nngram 4=0", 23, r"'\\4-grams:' is expected"),
    ("\\1-grams:", "\\2-grams:", 7, r"'\\1-grams:' is expected"),
    ("\\2-grams:", "\\3-grams:", 14, r"'\\2-grams:' is expected"),
    ("\\2-grams:", "2-grams:", 14, "1 columns instead of 2 or 3"),
    ("-0.75\tab", "-0,75\tab", 11, "'-0,75' is not a finite number"),
    ("-0.75\tab", "nan\tab", 11, "'nan' is not a finite number"),
    ("-0.75\tab", "-inf\tab", 11, "'-inf' is not a finite number"),
    ("-0.75\tab", "-1e999\tab", 11, "'-1e999' is not a finite number"),
    ("-0.75\tab", "0.75\tab", 11, "above 1"),
    ("ab\t-0.25", "ab\tx", 11, "'x' is not a finite number"),
    ("ab\t-0.25", "ab\tinf", 11, "'inf' is not a finite number"),
    ("-0.75\tab", "-0.75\ta b", 11, "4 columns instead of 2 or 3"),
    ("-0.75\tab\t-0.25", "-0.75", 11, "1 columns instead of 2 or 3"),
    ("-1.25\tcd", "-1.25\tab", 12, "listed before"),
    ("ab cd\t-0.5", "<s> ab\t-0.5", 16, "listed before"),
    ("ab cd\t-0.5", "ab ef\t-0.5", 16, "'ef' is not among the 1-grams"),
    ("\\end\\", "", 22, r"ends here, before the line '\\end\\'"),
    ("\\end\\", "\\4-grams:", 22, r"'\\end\\' is expected"),
]


@pytest.mark.parametrize(("old", "new", "line", "problem"), BAD)
def test_bad_files(read, old, new, line, problem):
    assert MODEL.count(old) == 1
    with pytest.raises(LinearizeError, match=rf"SL056.*Line {line} of .*model\.arpa.*{problem}.*Correct"):
        read(MODEL.replace(old, new))


def test_cut_short(read):
    """Wherever a file ends too early, that is said and nothing else happens."""
    whole = MODEL.rstrip("\n")
    for end in range(len(whole)):
        with pytest.raises(LinearizeError, match=r"SL055|SL056"):
            read(whole[:end])


@pytest.mark.parametrize("word", ["ab", "cd </s>"])
def test_not_utf8(read, word):
    data = MODEL.encode().replace(word.encode(), b"\xe4\xf6\xfc" + word.encode())
    with pytest.raises(LinearizeError, match=r"SL056.*Line \d+ of .*not UTF-8"):
        read(data)


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_arpa(tmp_path / "missing.arpa", hash_text)


SENTENCES = [
    "the dog sleeps",
    "a cat sleeps and the dog eats",
    "the cat eats",
    "a dog and a cat",
    "the 1 dog",
    "a -2.5",
]
SUFFIX, SHAPE = "ing", "Xxxxx"


def written(tmp_path, lines, **how):
    """A model of these sentences in a file. Words with an upper case letter have one suffix and shape."""
    strings = {hash_text(word): word for line in lines for word in line}
    strings |= {hash_text(text): text for text in (SUFFIX, SHAPE)}
    text = text_from([[hash_text(word) for word in line] for line in lines])
    titles = [hash_text(word) for line in lines for word in line if word.istitle()]
    text.add_forms(np.array([[k, hash_text(SUFFIX), hash_text(SHAPE)] for k in titles], np.uint64).reshape(-1, 3))
    estimator = Estimator([text], Estimation(**how))
    model, table = estimator.model(), Ngrams()
    fill_table(table, model, estimator.vocabulary.keys)
    write_arpa(tmp_path / "written.arpa", model, estimator.vocabulary, strings.__getitem__)
    return table, model


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_a_model_that_is_read_back_is_the_same(tmp_path, order):
    lines = [line.split() for line in SENTENCES]
    table, model = written(tmp_path, lines, order=order)
    copy = Ngrams()
    read_order, entries = read_arpa(tmp_path / "written.arpa", hash_text)
    copy.fill_grams(read_order, entries)
    assert (copy.order, len(copy), len(entries)) == (order, len(table), sum(model.sizes) - 1)
    for words in [*lines, ["dog", "the"], ["the", "unicorn"], []]:
        keys = [hash_text(word) for word in words]
        assert copy.score(keys) == pytest.approx(table.score(keys), abs=(len(keys) + 1) * order / 1024)


def test_classes_are_read_back(tmp_path):
    names = [f"Ab{chr(97 + i)}" for i in range(25)]
    table, _ = written(tmp_path, [["the", name, "eats"] for name in names] + [["the", "dog"]] * 2, min_word=2, order=3)
    content = (tmp_path / "written.arpa").read_text(encoding="utf8")
    assert "the <class:ing:Xxxxx> eats" in content
    assert "Aba" not in content
    copy = Ngrams()
    copy.fill_grams(*read_arpa(tmp_path / "written.arpa", hash_text))
    words = [[hash_text(text) for text in ("the", word, "eats")] for word in ("Unseen", SUFFIX, SHAPE)]
    assert copy.score(*words) == pytest.approx(table.score(*words), abs=0.01)
    assert copy.score(*words) > copy.score(words[0])


@pytest.mark.parametrize("word", ["", "New York", "a\tb", "<s>", "</s>", "<unk>", "<class:a:b>", "\ud800", "\n"])
def test_words_that_a_file_cannot_hold(tmp_path, word):
    """They are left out; all the rest is there."""
    _, model = written(tmp_path, [["the", word, "dog"], ["the", "dog"], [word]], order=3)
    order, entries = read_arpa(tmp_path / "written.arpa", hash_text)
    assert order == 3
    assert len({gram for gram, _, _ in entries}) == len(entries) < sum(model.sizes) - 1
    assert (BEGIN_KEY, hash_text("the"), hash_text("dog")) in {gram for gram, _, _ in entries}


@pytest.mark.parametrize("word", ["a\u00a0b", "\u2028", "-", "ngram", "\\end\\", "\\2-grams:", "\ufeff", "日本"])
def test_unusual_words_are_read_back(tmp_path, word):
    written(tmp_path, [["the", word, "dog"], ["the", "dog"], [word]], order=2)
    _, entries = read_arpa(tmp_path / "written.arpa", hash_text)
    assert (hash_text("the"), hash_text(word)) in {gram for gram, _, _ in entries}
