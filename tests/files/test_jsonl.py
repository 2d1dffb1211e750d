"""Bags as JSON objects, and their answers."""

import json

import pytest
import spacy
from helpers.docs import read_docs

from spacy_linearize.errors import LinearizeError
from spacy_linearize.files.jsonl import doc_to_object, object_to_doc, parse_line, to_line

BAG = {
    "id": "s1",
    "words": ["barks", "dog", "the", "."],
    "tags": ["VBZ", None, "", "."],
    "heads": [0, 0, 1, None],
    "labels": [None, "nsubj", "", None],
    "precedences": [[2, 0]],
    "units": [[0, 1]],
}


@pytest.fixture(scope="module")
def vocab():
    return spacy.blank("en").vocab


def test_what_is_given(vocab):
    doc = object_to_doc(BAG, vocab)
    assert [token.tag_ for token in doc] == ["VBZ", "", "", "."]
    assert [token.dep_ for token in doc] == ["ROOT", "nsubj", "dep", ""]
    assert [token.head.i for token in doc if token.has_head()] == [0, 0, 1]
    assert doc.user_data["sent_id"] == "s1"
    assert doc.user_data["._.", "linearize_before", None, None] == ((2, 0),)
    assert [(span.start, span.end) for span in doc.spans["linearize_units"]] == [(0, 1)]


def test_only_words_are_needed(vocab):
    doc = object_to_doc({"words": ["a", "b c"]}, vocab)
    assert [token.text for token in doc] == ["a", "b c"]
    assert not any(token.has_head() or token.tag for token in doc)
    assert doc_to_object(doc) == {"words": ["a", "b c"]}
    assert doc_to_object(object_to_doc({"words": []}, vocab))["words"] == []


def test_a_doc_comes_back(vocab):
    for doc in read_docs(vocab)[:20]:
        again = object_to_doc(parse_line(to_line(doc_to_object(doc))), vocab)
        for attr in ("ORTH", "TAG", "DEP", "HEAD"):
            assert (again.to_array(attr) == doc.to_array(attr)).all()


def test_an_answer(nlp, component):
    doc = object_to_doc({**BAG, "units": [[1, 3]], "words": ["barks", "the", "dog", "."], "heads": [0, 2, 0, None],
                         "labels": [None, "det", None, None], "precedences": [[1, 0]]}, nlp.vocab)  # fmt: skip
    answer = doc_to_object(component(doc))
    assert answer["words"] == ["the", "dog", "barks", "."]
    assert (answer["heads"][:3], answer["precedences"], answer["units"]) == ([1, 2, 2], [[0, 2]], [[0, 2]])
    assert (answer["order"], answer["text"], answer["rank"], answer["gap"]) == ([1, 2, 0, 3], "the dog barks.", 1, 0.0)
    # It is a bag again, whose order is settled.
    assert doc_to_object(component(object_to_doc(answer, nlp.vocab)))["words"] == answer["words"]


def test_pins(nlp, component):
    doc = object_to_doc({"words": ["dog", "the", "sees"], "first": 2, "precedences": [[2, 0], [0, 1]]}, nlp.vocab)
    assert doc._.linearize_first == 2
    answer = doc_to_object(component(doc))
    assert (answer["words"][0], answer["first"], answer["precedences"]) == ("sees", 0, [[1, 2]])
    doc._.linearize_first, doc._.linearize_before = None, None
    doc._.linearize_last = [1]  # a list, as for several sentences
    answer = doc_to_object(component(doc))
    assert (answer["words"][2], "last" in answer, answer["precedences"]) == ("the", False, [[0, 2], [1, 2]])


def test_own_units_beside_those_of_the_settings(nlp, component):
    """They are read whatever the settings say."""
    doc = object_to_doc({"words": ["the", "in", "dog", "garden", "the", "sleeps"], "units": [[4, 6]]}, nlp.vocab)
    component.units = "more"
    doc.spans["more"] = [doc[0:2]]
    text = " ".join(token.text for token in component(doc))
    assert "the sleeps" in text
    assert "the in" in text


@pytest.mark.parametrize(
    ("change", "code", "named"),
    [
        ({"words": None}, "SL221", "'words'"),
        ({"words": "dog"}, "SL221", "'words' of the JSON object has 'dog'"),
        ({"words": ["a", "", "b", "c"]}, "SL221", "'words' of the JSON object has ''"),
        ({"words": ["a", 1, "b", "c"]}, "SL221", "has 1"),
        ({"words": ["a", "\ud800", "b", "c"]}, "SL221", "'words'"),
        ({"tags": ["X"]}, "SL006", "'tags' has 1 entries for 4 words"),
        ({"tags": {"a": 1}}, "SL221", "'tags'"),
        ({"heads": [0, 0, 1, 4]}, "SL221", "'heads' of the JSON object has 4, but must be a list of positions"),
        ({"heads": [0, 0, 1, True]}, "SL221", "'heads' of the JSON object has True"),
        ({"heads": [0, None, 1, None]}, "SL221", "must be null for word 1 'dog', without a head"),
        ({"precedences": [[0, 0]]}, "SL221", "'precedences' of the JSON object has [0, 0]"),
        ({"precedences": [[0, 9]]}, "SL221", "'precedences' of the JSON object has [0, 9]"),
        ({"precedences": {"a": 1}}, "SL221", "'precedences'"),
        ({"precedences": 1}, "SL221", "'precedences'"),
        ({"first": 4}, "SL221", "'first' of the JSON object has 4, but must be a position from 0 to 3"),
        ({"last": [1]}, "SL221", "'last'"),
        ({"units": [[2, 1]]}, "SL221", "'units' of the JSON object has [2, 1]"),
        ({"units": [[0, 5]]}, "SL221", "'units'"),
        ({"id": [1]}, "SL221", "'id' of the JSON object has [1], but must be a text or a whole number"),
        ({"deps": []}, "SL221", "must be left out: the keys are id, words, tags, heads, labels, precedences, first"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(vocab, change, code, named):
    with pytest.raises(LinearizeError) as raised:
        object_to_doc({**BAG, **change}, vocab)
    assert raised.value.code == code
    assert named in str(raised.value)


@pytest.mark.parametrize("line", [b"{", b"[]", b"1", b"\xff", b'"a"', b"[" * 100_000, b""])
def test_lines_that_are_no_objects(line):
    with pytest.raises(LinearizeError, match=r"SL222.*not a JSON object"):
        parse_line(line)


def test_one_line(vocab):
    """Line ends in words are escaped."""
    doc = object_to_doc({"words": ["a\nb", "\u2028", "é"]}, vocab)
    line = to_line(doc_to_object(doc))
    assert line.count("\n") == 1
    assert json.loads(line)["words"] == ["a\nb", "\u2028", "é"]
