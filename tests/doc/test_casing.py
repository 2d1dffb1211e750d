"""Capitals."""

import json

import pytest

from spacy_linearize.doc.casing import Casing

TEXTS = [
    ("Yesterday I saw the dog .", "RB PRP VBD DT NN ."),
    ("The dog saw Will .", "DT NN VBD NNP ."),
    ("We will leave yesterday 's town of London .", "PRP MD VB NN POS NN IN NNP ."),
    ("And we will see .", "CC PRP MD VB ."),
]


@pytest.fixture(scope="module")
def casing():
    casing = Casing()
    casing.learn((words.split(), tags.split()) for words, tags in TEXTS)
    return casing


@pytest.mark.parametrize(
    ("words", "tags", "expected"),
    [
        ("the dog Yesterday saw I", "DT NN RB VBD PRP", "The dog yesterday saw I"),
        ("Will The dog see London", "NNP DT NN VB NNP", "Will the dog see London"),
        ("we Will see", "PRP MD VB", "We will see"),
        ("Maria saw Zebras", "NNP VBD NNS", "Maria saw Zebras"),  # not known: it may be a name
        ('" the dog "', "`` DT NN ''", '" The dog "'),
        ("iPhone saw we", "NN VBD PRP", "iPhone saw we"),
        ("3 dogs", "CD NNS", "3 dogs"),
        ("", "", ""),
    ],
)
def test_capitals(casing, words, tags, expected):
    assert " ".join(casing.apply(words.split(), tags.split())) == expected


def test_where_sentences_begin_without_a_capital():
    casing = Casing()
    casing.learn([(["我", "爱", "你"], ["", "", ""]), (["he", "sleeps"], ["", ""])])
    assert casing.apply(["sleeps", "he"], ["", ""]) == ["sleeps", "he"]
    assert Casing().apply(["Sleeps", "he"], ["", ""]) == ["Sleeps", "he"]


def test_what_is_stored_comes_back(casing):
    again = Casing.from_dict(json.loads(json.dumps(casing.to_dict())))
    assert vars(again) == vars(casing)


def test_letters_of_turkish():
    """ "I" is the capital of "ı", and that of "i" has a dot."""
    casing = Casing()
    texts = [
        ("Işık bu sabah ısındı .", "N D N V ."),
        ("İnsan ılık su içti .", "N A N V ."),
        ("Bu insan ışık gördü", "D N N V"),
    ]
    casing.learn((words.split(), tags.split()) for words, tags in texts)
    assert casing.apply(["insan", "ılık"], ["N", "A"]) == ["İnsan", "ılık"]
    assert casing.apply(["bu", "İnsan", "Işık"], ["D", "N", "N"]) == ["Bu", "insan", "ışık"]
    assert Casing.from_dict(json.loads(json.dumps(casing.to_dict()))).dotless


@pytest.mark.parametrize(
    ("form", "before", "after", "expected"),
    [("Du", "De", "de", "du"), ("au", "à", "À", "Au"), ("du", "de", "de", "du"), ("IM", "IN", "IN", "IM")],
)
def test_forms_of_several_words(casing, form, before, after, expected):
    assert casing.as_changed(form, before, after) == expected
