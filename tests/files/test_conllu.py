"""CoNLL-U to Docs, and back."""

import time
from pathlib import Path

import pytest
import spacy
from helpers.docs import read_docs
from spacy.tokens import Doc, DocBin

from spacy_linearize.errors import LinearizeError
from spacy_linearize.files.conllu import BadSentence, drop_rows, read_conllu, read_sentences
from spacy_linearize.files.conllu_writer import to_conllu
from spacy_linearize.files.convert import convert

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture(scope="module")
def vocab():
    return spacy.blank("en").vocab


def fail(path, line, message):
    raise AssertionError(f"{path}:{line}: {message}")


def read(tmp_path, vocab, text, **settings):
    path = tmp_path / "x.conllu"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf8"))
    problems = []
    docs = list(read_conllu(path, vocab, report=lambda *problem: problems.append(problem[1:]), **settings))
    return docs, problems


def rows(*words):
    """Lines for words given as (form, head)."""
    return "".join(f"{i}\t{w}\t{w}\tX\tY\t_\t{h}\tdep{i}\t_\t_\n" for i, (w, h) in enumerate(words, start=1)) + "\n"


GOOD = rows(("a", 2), ("b", 0))


@pytest.mark.parametrize("name", ["mini_en.conllu", "mini_de.conllu"])
def test_mini_treebanks(vocab, name):
    docs = list(read_conllu(DATA / name, vocab, report=fail))
    assert len(docs) == (DATA / name).read_text(encoding="utf8").count("# sent_id")
    for doc in docs:
        assert len(list(doc.sents)) == 1
        assert doc.user_data["sent_id"].startswith("mini-")
        assert not doc.has_unknown_spaces
    same = [doc.text == doc.user_data["text"] for doc in docs]
    assert all(same) if "en" in name else same.count(False) == 1  # "im" for "in dem"


def test_path_as_text_and_the_usual_report(vocab, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(spacy.util.logger, "propagate", True)
    path = tmp_path / "x.conllu"
    path.write_text(GOOD + rows(("a", 7)) + GOOD, encoding="utf8")
    assert [doc.text for doc in read_conllu(str(path), vocab)] == ["a b", "a b"]
    assert caplog.messages == [f"{path}:4: the head of 'a' is '7', not a number up to 1"]
    assert convert(str(path), str(tmp_path / "new" / "x.spacy")).sentences == 2
    with pytest.raises(LinearizeError, match=r"SL022.*'tag' is 'pos'"):
        list(read_conllu(path, vocab, tag="pos"))


def test_everything_is_there(vocab, tmp_path):
    line = "1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t2:nsubj\t_\n"
    text = "# sent_id = s1\n# text = Dogs bark.\n" + line + (
        "2\tbark\tbark\tVERB\tVBP\tTense=Pres|VerbForm=Fin\t0\troot\t_\tSpaceAfter=No\n2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_\n"
    )  # fmt: skip
    (doc,), problems = read(tmp_path, vocab, text)
    assert not problems
    assert doc.text == "Dogs bark."
    assert [(t.tag_, t.pos_, t.lemma_, str(t.morph), t.dep_, t.head.i) for t in doc] == [
        ("NNS", "NOUN", "dog", "Number=Plur", "nsubj", 1),
        ("VBP", "VERB", "bark", "Tense=Pres|VerbForm=Fin", "ROOT", 1),
        (".", "PUNCT", ".", "", "punct", 1),
    ]
    assert (doc.user_data["sent_id"], doc.user_data["text"]) == ("s1", "Dogs bark.")
    drop_rows(doc)
    assert doc.user_data == {"sent_id": "s1", "text": "Dogs bark."}
    (doc,), _ = read(tmp_path, vocab, text, tag="upos")
    assert [t.tag_ for t in doc] == ["NOUN", "VERB", "PUNCT"]


def test_multiword_tokens(vocab, tmp_path):
    text = "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n" + rows(("do", 0), ("n't", 1), ("!", 1))
    (doc,), problems = read(tmp_path, vocab, text)
    assert (doc.text, problems) == ("don't!", [])
    (doc,), _ = read(tmp_path, vocab, "1-2\tim\t_\t_\t_\t_\t_\t_\t_\t_\n" + rows(("in", 2), ("dem", 0), ("da", 2)))
    assert doc.text == "in dem da"


def test_columns_that_are_not_used(vocab, tmp_path):
    """Tags of the Penn Treebank instead of universal ones, and features of another kind, are no reason to refuse."""
    text = rows(("a", 2), ("b", 0)).replace("\tX\tY\t_\t", "\tNNP\tY\tsg|Case=Nom\t", 1)
    (doc,), problems = read(tmp_path, vocab, text)
    assert not problems
    assert [(token.pos_, token.tag_, str(token.morph)) for token in doc] == [("", "Y", "Case=Nom"), ("X", "Y", "")]
    (doc,), problems = read(tmp_path, vocab, text, tag="upos")
    assert [token.tag_ for token in doc] == ["NNP", "X"]


def test_long_ranges_and_families(vocab, tmp_path):
    """In one pass: 50,000 words in one range, or below one head, took half a minute and more."""
    n = 50_000
    lines = [f"{i}\tw\tw\tX\tY\t_\t{min(i - 1, 1)}\td\t_\tlin=+{i}\n" for i in range(1, n + 1)]
    start = time.process_time()
    (doc,), problems = read(tmp_path, vocab, f"1-{n}\tx" + "\t_" * 8 + "\n" + "".join(lines))
    assert (len(doc), problems) == (n, [])
    assert time.process_time() - start < 10
    assert len(doc.user_data["._.", "linearize_before", None, None]) == n - 1


def test_heads_may_be_missing(vocab, tmp_path):
    (doc,), problems = read(tmp_path, vocab, rows(("a", "_"), ("b", 1)))
    assert not problems
    assert [t.has_head() for t in doc] == [False, True]


def test_line_ends_and_byte_order_mark(vocab, tmp_path):
    docs, problems = read(tmp_path, vocab, "\ufeff" + (GOOD + GOOD).replace("\n", "\r\n"))
    assert ([[t.text for t in doc] for doc in docs], problems) == ([["a", "b"], ["a", "b"]], [])
    assert read(tmp_path, vocab, "") == ([], [])
    assert read(tmp_path, vocab, "\n\n\n") == ([], [])
    assert len(read(tmp_path, vocab, GOOD.strip())[0]) == 1


@pytest.mark.parametrize(
    ("bad", "line", "message"),
    [
        ("1\ta\tb\n\n", 4, "3 columns instead of 10"),
        (rows(("a", 0)).replace("1\ta", "2\ta"), 4, "the id is '2' where 1 is expected"),
        (rows(("a", 7)), 4, "the head of 'a' is '7'"),
        (rows(("a", "x")), 4, "the head of 'a' is 'x'"),
        (rows(("a", 0), ("b", 0)), 5, "'a' and 'b' are both the root"),
        (rows(("a", 1)), 4, "'a' is its own head"),
        (rows(("a", 2), ("b", 1), ("c", 0)), 4, "cycle"),
        ("1-x" + "\t_" * 9 + "\n\n", 4, "the id '1-x' is not a range"),
        ("0-1" + "\t_" * 9 + "\n\n", 4, "the id '0-1' is not a range"),
        ("# sent_id = s2\n# text = a b\n\n", 4, "a sentence without words"),
        (rows(("a", "9" * 5000)), 4, "in the sentence from here on"),
        (rows(("a", 2), ("b", 0)).replace("\tb\tb\t", "\t\tb\t"), 5, "the word with the id 2 has no form"),
        ("1-2\tab" + "\t_" * 8 + "\n2-3\tbc" + "\t_" * 8 + "\n" + GOOD, 5, "the range 2-3 overlaps the one before it"),
        ("1-2" + "\t_" * 9 + "\n" + GOOD, 4, "the range 1-2 has no form"),
        ("1-3\tab" + "\t_" * 8 + "\n" + GOOD, 4, "the range up to 3 goes on after the last word, 2"),
        ("2-2\tab" + "\t_" * 8 + "\n" + GOOD, 4, "the range 2-2 does not stand before its first word"),
        (rows(("a", 0)).replace("\t_\n", "\t\n"), 4, "the column MISC of 'a' is empty, or has an empty item: ''"),
        (rows(("a", 0)).replace("\t_\n", "\tX=1||Y=2\n"), 4, "has an empty item: 'X=1||Y=2'"),
        (rows(("a", 0)).replace("\t_\n", "\tSpaceAfter=Maybe\n"), 4, "has 'SpaceAfter=Maybe' instead of SpaceAfter=No"),
    ],
)
def test_a_bad_sentence_costs_only_itself(vocab, tmp_path, bad, line, message):
    docs, problems = read(tmp_path, vocab, GOOD + bad + GOOD)
    assert len(docs) == 2
    ((found, text),) = problems
    assert found == line
    assert message in text


def test_heads_that_are_no_tree_where_none_is_needed(vocab, tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(GOOD + rows(("a", 7), ("b", 0)) + "1\tbad\n\n" + GOOD)
    lines = path.read_bytes().splitlines(keepends=True)
    found = list(read_sentences(lines, vocab, need_tree=False))
    assert [line for line, _ in found] == [1, 4, 7, 9]
    heads = [[token.has_head() for token in doc] for _, doc in found if not isinstance(doc, BadSentence)]
    assert heads == [[True, True], [False, False], [True, True]]
    assert [line for line, doc in read_sentences(lines, vocab) if isinstance(doc, BadSentence)] == [4, 7]


def test_comments_of_no_sentence(vocab, tmp_path):
    docs, problems = read(tmp_path, vocab, "# global.columns = ID FORM\n\n" + GOOD + "# newdoc\n# the end\n")
    assert (len(docs), problems) == (1, [])


def test_a_file_that_is_cut(vocab, tmp_path):
    docs, problems = read(tmp_path, vocab, GOOD + "# sent_id = s2\n# te")
    assert (len(docs), problems) == (1, [(4, "a sentence without words")])


def test_bytes_that_are_not_utf8(vocab, tmp_path):
    docs, problems = read(
        tmp_path, vocab, GOOD.encode() + rows(("x", 0)).encode().replace(b"x", b"\xff") + GOOD.encode()
    )
    assert len(docs) == 2
    assert problems == [(4, "this line is not UTF-8")]


HINTS = """\
1\tJohn\tJohn\tPROPN\tNNP\tNumber=Sing|lin=-1\t3\tnsubj\t_\t_
2\tYesterday\tyesterday\tADV\tRB\tlin=-2\t3\tadvmod\t_\t_
3\tslept\tsleep\tVERB\tVBD\t_\t0\troot\t_\t_
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\tSpaceAfter=No|lin=+2
5\twell\twell\tADV\tRB\tlin=+1\t3\tadvmod\t_\t_
6\tvery\tvery\tADV\tRB\t_\t_\t_\t_\tlin=-1
"""


def test_order_hints(tmp_path, vocab):
    (doc,), problems = read(tmp_path, vocab, HINTS)
    assert not problems
    pairs = set(doc.user_data["._.", "linearize_before", None, None])
    # Yesterday John slept well . (a word without a head has no side to stand on)
    assert pairs == {(1, 0), (0, 2), (2, 4), (4, 3)}
    assert str(doc[0].morph) == "Number=Sing"
    assert str(doc[1].morph) == ""


@pytest.mark.parametrize("value", ["1", "+", "+0", "-x", "", "++1"])
def test_bad_order_hint(tmp_path, vocab, value):
    docs, problems = read(tmp_path, vocab, HINTS.replace("lin=+1", f"lin={value}") + "\n" + HINTS)
    assert len(docs) == 1
    ((line, message),) = problems
    assert line == 5
    assert f"'lin={value}'" in message
    assert "'well'" in message


def test_conllu_round_trip_keeps_everything(tmp_path):
    vocab = spacy.blank("en").vocab
    docs = list(read_conllu(DATA / "mini_en.conllu", vocab))
    docs += [Doc(vocab, words=["free", "words", "."], spaces=[True, False, False], tags=["JJ", "", "."])]
    docs += [Doc(vocab, words=["10\u00a0000", "New York", "a\u2009b"], lemmas=["10\u00a0000", "New York", "a  b"])]
    path = tmp_path / "again.conllu"
    path.write_text("".join(to_conllu(doc) for doc in docs), encoding="utf8")
    again = list(read_conllu(path, vocab))
    assert len(again) == len(docs)
    for new, old in zip(again, docs, strict=True):
        assert new.text == old.text.strip()
        assert new.user_data.get("sent_id") == old.user_data.get("sent_id")
        for attr in ("ORTH", "TAG", "POS", "LEMMA", "DEP", "HEAD"):
            assert (new.to_array(attr) == old.to_array(attr)).all(), (old.text, attr)
        assert [(str(t.morph), t.has_head()) for t in new] == [(str(t.morph), t.has_head()) for t in old]
    assert to_conllu(docs[0]).splitlines()[2] == "1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_"


def test_conllu_of_words_with_line_ends():
    """Whatever a token has in it, a row stays a row."""
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, words=["a\tb", "\n", "New\nYork", "c"], lemmas=["x\ty", "", "", ""])
    doc.user_data["sent_id"] = "one\ntwo"
    lines = to_conllu(doc).split("\n")
    assert lines[:2] == ["# sent_id = one two", "# text = a b New York c"]
    assert [line.split("\t")[:3] for line in lines[2:6]] == [
        ["1", "a b", "x y"],
        ["2", "_", "_"],
        ["3", "New York", "_"],
        ["4", "c", "_"],
    ]
    assert lines[6:] == ["", ""]


def test_conllu_of_several_sentences(tmp_path):
    docs = read_docs()[:2]
    path = tmp_path / "two.conllu"
    path.write_text(to_conllu(Doc.from_docs(docs)), encoding="utf8")
    again = list(read_conllu(path, docs[0].vocab))
    assert [doc.text for doc in again] == [doc.text.strip() for doc in docs]
    assert [[t.head.i for t in doc] for doc in again] == [[t.head.i for t in doc] for doc in docs]


RICH = """\
# newdoc id = d1
# sent_id = s1
# text = Dogs bark, cats don't.
# text_de = Hunde bellen, Katzen nicht.
# a remark without a value
1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur|Animacy=Anim\t2\tnsubj\t2:nsubj|4.1:ref\tGloss=Hunde
2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t0:root\tSpaceAfter=No|Gloss=bellen
3\t,\t,\tPUNCT\t,\t_\t4\tpunct\t4:punct\t_
4\tcats\tcat\tNOUN\tNNS\todd|Number=Plur\t2\tconj\t4.1:nsubj\tGloss=Katzen|Entity=(x)
4.1\tbark\tbark\tVERB\t_\t_\t_\t_\t2:conj\tCopyOf=2
5\tdo\tdo\tNEW\t_\t_\t4\torphan\t_\tSpaceAfter=No
6\tn't\tnot\tPART\tRB\t_\t4\torphan\t4.1:advmod\tSpaceAfter=No
7\t.\t.\tPUNCT\t.\t_\t2\tpunct\t2:punct\tSpacesAfter=\\n|SpaceAfter=No

"""


def test_what_a_doc_has_no_place_for(vocab, tmp_path):
    """Comments, features that are no pairs, DEPS, MISC, empty nodes, a tag that is not universal."""
    (doc,), problems = read(tmp_path, vocab, RICH)
    assert not problems
    assert to_conllu(doc) == RICH
    data = DocBin(docs=[doc], store_user_data=True).to_bytes()
    assert to_conllu(next(DocBin(store_user_data=True).from_bytes(data).get_docs(vocab))) == RICH


def test_rows_move_with_their_words(nlp, component, tmp_path):
    """The ids in DEPS and those of empty nodes follow the words; so do glosses. Spaces are those of the new text."""
    (doc,), _ = read(tmp_path, nlp.vocab, RICH)
    component.use_heads = False
    doc._.linearize_fixed = [[6, 5, 4, 3, 2, 1, 0]]
    new = component(doc)
    assert [token.text for token in new] == [".", "n't", "do", "cats", ",", "bark", "Dogs"]
    lines = to_conllu(new).splitlines()
    assert lines[:5] == [line if "# text =" not in line else f"# text = {new.text}" for line in RICH.splitlines()[:5]]
    by_id = {line.split("\t")[0]: line.split("\t") for line in lines[5:-1]}
    assert list(by_id) == ["1", "2", "3", "4", "4.1", "5", "6", "7"]
    assert [by_id[i][8] for i in ("2", "4", "4.1", "6", "7")] == [
        "4.1:advmod",
        "4.1:nsubj",
        "6:conj",
        "0:root",
        "4.1:ref|6:nsubj",
    ]
    assert by_id["4"][5] == "odd|Number=Plur"
    assert by_id["7"][9] == "Gloss=Hunde|SpaceAfter=No"  # nothing follows the sentence
    again, _ = read(tmp_path, nlp.vocab, to_conllu(new))
    assert to_conllu(again[0]) == to_conllu(new)


def test_new_annotation_is_written(vocab, tmp_path):
    (doc,), _ = read(tmp_path, vocab, RICH)
    doc[0].tag_, doc[0].lemma_, doc[4].pos_ = "NNPS", "hound", "AUX"
    doc[0].set_morph("Number=Sing")
    new = [line.split("\t") for line in to_conllu(doc).splitlines()]
    assert new[5][2:6] == ["hound", "NOUN", "NNPS", "Number=Sing"]
    assert new[10][3] == "AUX"


def test_orders_of_one_bag(nlp, component, tmp_path):
    """No name comes twice, and the ranks and scores are comments."""
    (doc,), _ = read(tmp_path, nlp.vocab, RICH)
    used = {}
    blocks = [to_conllu(new, rank, used=used) for rank, new in enumerate(component.alternatives(doc, 3), start=1)]
    for rank, block in enumerate(blocks, start=1):
        lines = block.splitlines()
        assert ("# newdoc id = d1" in lines) == (rank == 1)
        assert f"# sent_id = s1{'' if rank == 1 else f'#{rank}'}" in lines
        assert f"# rank = {rank}" in lines
        assert sum(line.startswith("# score = ") for line in lines) == 1
    (again, *_), _ = read(tmp_path, nlp.vocab, "".join(blocks))
    assert "# rank" not in to_conllu(again)
