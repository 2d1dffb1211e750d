"""The settings of the component."""

import pytest
import spacy

from spacy_linearize.errors import LinearizeError


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("beam_width", "8"),
        ("beam_width", 0),
        ("beam_width", True),
        ("n_threads", 1.5),
        ("use_tags", 1),
        ("use_heads", "yes"),
        ("use_deps", None),
        ("tree", "no"),
        ("overwrite", 2),
        ("sentences", "paragraphs"),
        ("units", ["ents"]),
        ("max_words", "x"),
        ("tree_beam_width", -3),
        ("n_best", 10**12),
        ("seed", "x"),
    ],
)
def test_wrong_types_name_the_key(key, value):
    with pytest.raises(LinearizeError, match=rf"SL022.*'{key}' is"):
        spacy.blank("en").add_pipe("linearizer", config={key: value})
    component = spacy.blank("en").add_pipe("linearizer")
    if key != "seed":  # for a new component only
        with pytest.raises(LinearizeError, match=rf"SL022.*'{key}' is"):
            setattr(component, key, value)


def test_values_without_a_text(nlp):
    """Numbers that Python does not print, and lists that it cannot."""
    deep = []
    for _ in range(100_000):
        deep = [deep]
    for value, text in (
        (10**5000, "a value of type int"),
        (deep, "a value of type list"),
        ("x" * 999, "'xxx.*xxx[.]{3}"),
    ):
        with pytest.raises(LinearizeError, match=rf"SL022.*'beam_width' is {text}, but"):
            nlp.get_pipe("linearizer").beam_width = value


@pytest.mark.parametrize(
    ("key", "value"), [("units", ""), ("units", 3), ("n_best", 0), ("n_best", "2"), ("n_best", None)]
)
def test_bad_settings(nlp, key, value):
    with pytest.raises(LinearizeError, match=rf"SL022.*'{key}'"):
        nlp.create_pipe("linearizer", config={key: value})


def test_the_limit_is_a_setting(nlp):
    other = spacy.blank("en")
    assert other.add_pipe("linearizer", config={"max_words": 7}).max_words == 7
    assert spacy.blank("en").add_pipe("linearizer", config={"max_words": None}).max_words is None
    for value in (0, -1, 1.5, "many", True):
        with pytest.raises(LinearizeError, match=r"SL022.*max_words"):
            spacy.blank("en").add_pipe("linearizer", config={"max_words": value})
