"""The code on a page does what the page shows."""

import contextlib
import io
import json

import pytest
import spacy
from helpers.page import DOOR, ODD
from spacy.tokens import Doc

import spacy_linearize
from spacy_linearize.files.jsonl import doc_to_object, object_to_doc
from spacy_linearize.view.snippets import as_json, as_python

BAGS = [
    {"words": DOOR},
    {"words": DOOR, "tags": ["NN", *[""] * 4], "heads": [2, 0, *[None] * 3], "labels": ["obj", "dep", *[None] * 3]},
    {"words": DOOR, "first": 2, "last": 0, "precedences": [[4, 1]]},
    {"words": DOOR, "units": [[0, 2], [3, 5]]},
    {"words": ODD},
    {"words": DOOR * 8, "tags": ["NN"] * 40},
]  # fmt: skip


@pytest.fixture(scope="module")
def nlp(trained_path):
    return spacy.load(trained_path)


@pytest.mark.parametrize("bag", BAGS)
def test_python(nlp, trained_path, bag):
    code = as_python(bag, str(trained_path))
    assert max(map(len, code.splitlines())) < 420  # a word of 300 letters
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {})
    orders = nlp.get_pipe("linearizer").alternatives(object_to_doc(bag, nlp.vocab), 5)
    assert out.getvalue() == "".join(f"{order.text}\n" for order in orders)


@pytest.mark.parametrize("bag", BAGS)
def test_json(nlp, bag):
    assert json.loads(as_json(bag)) == bag
    assert doc_to_object(object_to_doc(bag, nlp.vocab)) == bag


def test_the_pipeline_is_named():
    bag = {"words": ["a"]}
    assert "nlp = spacy_linearize.load()\n" in as_python(bag)
    assert "nlp = spacy_linearize.load()\n" in as_python(bag, "en_ud")
    assert "nlp = spacy_linearize.load('en_core_web')\n" in as_python(bag, "en_core_web")
    assert "import spacy\n" in as_python(bag, "my/model")
    assert "nlp = spacy.load('my/model')\n" in as_python(bag, "my/model")


def test_of_a_bundled_pipeline():
    nlp = spacy_linearize.load()
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(as_python({"words": DOOR}), {})
    assert out.getvalue().splitlines()[0] == nlp(Doc(nlp.vocab, words=DOOR)).text
