"""The settings of the component."""

import dataclasses
import inspect

import pytest
import spacy
from spacy.language import Language
from thinc.api import ConfigValidationError

from spacy_linearize.core.records import SearchOptions
from spacy_linearize.errors import LinearizeError
from spacy_linearize.linearizer import Linearizer, Setting
from spacy_linearize.options import CHECKS, NAMES, Options
from spacy_linearize.registered import make_linearizer


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
        ("projective", "maybe"),
        ("truecase", 1),
        ("overwrite", 2),
        ("tags_from", "LEMMA"),
        ("sentences", "paragraphs"),
        ("units", ["ents"]),
        ("max_words", "x"),
        ("tree_beam_width", -3),
        ("n_best", 10**12),
        ("seed", "x"),
    ],
)
def test_wrong_types_name_the_key(key, value):
    # In a config, spaCy looks at types first.
    with pytest.raises((LinearizeError, ConfigValidationError), match=rf"SL022.*'{key}' is|linearizer -> {key}"):
        spacy.blank("en").add_pipe("linearizer", config={key: value})
    component = spacy.blank("en").add_pipe("linearizer")
    with pytest.raises(LinearizeError, match=rf"SL022.*'{key}' is"):
        setattr(component, key, value)
    assert component.options == Options()
    with pytest.raises(LinearizeError, match=rf"SL022.*'{key}' is"):
        Options(**{key: value})
    with pytest.raises(LinearizeError, match=rf"SL022.*'{key}' is"):
        Options().change(**{key: value})


def test_values_without_a_text(component):
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
            component.beam_width = value


@pytest.mark.parametrize(
    ("key", "value"), [("units", ""), ("units", 3), ("n_best", 0), ("n_best", "2"), ("n_best", None)]
)
def test_bad_settings(key, value):
    with pytest.raises((LinearizeError, ConfigValidationError), match=rf"SL022.*'{key}'|linearizer -> {key}"):
        spacy.blank("en").add_pipe("linearizer", config={key: value})
    with pytest.raises(LinearizeError, match=rf"SL022.*'{key}'"):
        Options(**{key: value})


def test_the_limit_is_a_setting():
    assert spacy.blank("en").add_pipe("linearizer", config={"max_words": 7}).max_words == 7
    assert spacy.blank("en").add_pipe("linearizer", config={"max_words": None}).max_words is None
    for value in (0, -1, 1.5, "many", True):
        with pytest.raises((LinearizeError, ConfigValidationError), match="max_words"):
            spacy.blank("en").add_pipe("linearizer", config={"max_words": value})
        with pytest.raises(LinearizeError, match=r"SL022.*max_words"):
            Options(max_words=value)


def test_the_names_are_the_same_everywhere():
    """In the dataclass, in its checks, in the factory, and in the config that spaCy fills in."""
    assert tuple(CHECKS) == NAMES
    parameters = [*inspect.signature(make_linearizer).parameters]
    assert parameters == ["nlp", "name", "model", "scorer", "reranker", *NAMES]
    defaults = Language.get_factory_meta("linearizer").default_config
    assert {name: defaults[name] for name in NAMES} == Options().to_dict()
    assert [name for name in vars(Linearizer) if isinstance(vars(Linearizer)[name], Setting)] == list(NAMES)


def test_every_setting_reaches_the_component():
    changed = {
        "beam_width": 3,
        "tree_beam_width": 2,
        "update_beam_width": 4,
        "use_tags": False,
        "use_heads": False,
        "use_deps": False,
        "tags_from": "TAG|POS|Number[psor]",
        "sentences": "sents",
        "units": "ents",
        "n_best": 5,
        "max_words": 99,
        "tree": False,
        "projective": True,
        "truecase": True,
        "overwrite": True,
        "n_threads": 2,
        "seed": 7,
    }
    component = spacy.blank("en").add_pipe("linearizer", config=changed)
    assert component.options == Options(**changed)
    assert component.options.to_dict() == changed
    assert {name: getattr(component, name) for name in NAMES} == changed
    other = spacy.blank("en").add_pipe("linearizer")
    for name, value in changed.items():
        setattr(other, name, value)
    assert other.options == Options(**changed)


def test_they_are_frozen():
    options = Options()
    with pytest.raises(dataclasses.FrozenInstanceError):
        options.beam_width = 3
    with pytest.raises(TypeError):
        Options(16)  # by name only
    with pytest.raises(TypeError, match="beamwidth"):
        Options(beamwidth=3)


def test_change():
    options = Options(beam_width=3)
    changed = options.change(n_best=2, units="ents")
    assert changed == Options(beam_width=3, n_best=2, units="ents")
    assert options == Options(beam_width=3)
    assert options.change() == options
    with pytest.raises(LinearizeError, match=r"SL022.*'beamwidth' is 5, but must be one of the settings beam_width, "):
        options.change(beamwidth=5)
    with pytest.raises(LinearizeError, match=r"SL022.*'n_best' is 0"):
        options.change(beam_width=2, n_best=0)


def test_how_to_search():
    options = Options(beam_width=3, tree_beam_width=2, n_best=4, tree=False)
    assert options.search() == SearchOptions(beam_width=3, tree_beam_width=2, n_best=4, tree=False)
    assert options.search(n_best=1) == SearchOptions(beam_width=3, tree_beam_width=2, n_best=1, tree=False)
    assert Options().search() == SearchOptions()
