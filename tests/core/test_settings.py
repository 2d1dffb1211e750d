"""Settings of a model, checked by name."""

import json

import pytest

from spacy_linearize.core.features.templates import DEFAULT_GROUPS, FREE_GROUPS, JOINT_GROUPS, TREE_GROUPS
from spacy_linearize.core.settings import Settings
from spacy_linearize.errors import LinearizeError


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("system", "arc_eager"),
        ("direction", "up"),
        ("tags", "all"),
        ("update", "late"),
        ("table_bits", 99),
        ("table_bits", 20.0),
        ("table_bits", True),
        ("attach_bits", "18"),
        ("labelled", "yes"),
        ("atomic_shift", 1),
        ("markers", ("case",)),
        ("markers", (-1,)),
        ("markers", (1 << 64,)),
        ("min_updates", 0),
        ("min_updates", 256),
        ("min_updates", 1.0),
        ("min_updates", True),
        ("ngram_order", 6),
        ("ngram_order", -1),
        ("ngram_weights", {"partial": -1.0}),
        ("ngram_weights", {"tree": float("inf")}),
        ("ngram_weights", {"free": float("nan")}),
        ("ngram_weights", {"tree": "8"}),
        ("ngram_weights", {"tree": True}),
        ("ngram_weights", {"trees": 8.0}),
        ("ngram_weights", 8.0),
        ("experts", {}),
        ("experts", {"tree": ("words",)}),
        ("experts", {"partial": ("words",), "all": ("words",)}),
        ("experts", {"partial": "words"}),
        ("experts", ("partial",)),
    ],
)
def test_wrong_values_name_the_key(key, value):
    with pytest.raises(LinearizeError, match=rf"SL022.*'{key}' is"):
        Settings(**{key: value})


def test_tag_search_needs_the_joint_system():
    with pytest.raises(LinearizeError, match=r"SL022.*'tags' is 'search'"):
        Settings(tags="search")
    assert Settings(system="joint", tags="search").tags == "search"


def test_experts_that_suit_the_system():
    assert Settings().experts == {"partial": DEFAULT_GROUPS, "tree": TREE_GROUPS, "free": FREE_GROUPS}
    assert Settings(system="joint").experts == {"partial": JOINT_GROUPS}
    experts = {"free": ["words"], "partial": ["next"]}
    assert list(Settings(experts=experts).experts.items()) == [("partial", ("next",)), ("free", ("words",))]


def test_templates_are_those_of_the_groups_and_the_further_ones():
    settings = Settings(experts={"partial": ("tree",), "free": ()}, templates=["W2.w  L.w SHIFT"])
    assert len(settings.expand("partial")) == 5
    assert settings.expand("free") == ["W2.w L.w SHIFT"]
    for kind in ("tree", "free"):
        with pytest.raises(LinearizeError, match="SL021"):
            Settings(experts={"partial": (), kind: ("bigrams",)})


def test_weights_that_are_not_named_are_the_defaults():
    assert Settings().ngram_weights == {"partial": 5.0, "tree": 8.0, "free": 5.0}
    assert Settings(ngram_weights={"tree": 1}).ngram_weights == {"partial": 5.0, "tree": 1.0, "free": 5.0}


def test_directions():
    assert [Settings(direction=name).directions for name in ("left_to_right", "right_to_left", "both")] == [
        (False,),
        (True,),
        (False, True),
    ]


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(
            system="joint",
            experts={"partial": ("bigram",), "free": ("next",)},
            templates=("S0.w L.w",),
            markers=(7, 2**64 - 1),
            min_updates=2,
            ngram_weights={"free": 2},
        ),
    ],
)
def test_round_trip(settings):
    assert Settings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings


@pytest.mark.parametrize("key", ["colour", "copies", "groups"])
def test_unknown_key(key):
    with pytest.raises(LinearizeError, match=rf"SL022.*'{key}'"):
        Settings.from_dict({key: "red"})


@pytest.mark.parametrize(
    ("n_words", "bits"),
    [(0, 14), (3_000, 19), (204_000, 22), (800_000, 23), (16_000_000, 25), (10**9, 25)],
)
def test_tables_that_are_chosen_from_the_corpus(n_words, bits):
    open_size = Settings(table_bits=None)
    assert open_size.bits == 22  # as long as nothing has been chosen
    chosen = open_size.for_corpus(n_words)
    assert chosen.table_bits == chosen.bits == bits
    assert chosen.for_corpus(10 * n_words + 10) is chosen
    assert Settings(table_bits=7).for_corpus(n_words).bits == 7
    assert Settings.from_dict(json.loads(json.dumps(open_size.to_dict()))) == open_size
