"""Bags that nobody would call a sentence: an answer, or a clear refusal. For figures see benchmarks/hostile.py."""

import random

import pytest
from helpers.brute import is_forest
from helpers.components import with_options
from spacy.tokens import Doc

from spacy_linearize.errors import LinearizeError
from spacy_linearize.trees import is_projective
from spacy_linearize.view.page import render

pytestmark = pytest.mark.slow


@pytest.fixture
def narrow(component):
    """The component with a narrow beam."""
    return with_options(component, beam_width=2)


def heads_of(doc):
    return [-2 if token.head.i == token.i else token.head.i for token in doc]


def order(narrow, words, heads=None, before=(), **changes):
    """The new Doc, checked."""
    deps = None if heads is None else ["ROOT" if h == k else "dep" for k, h in enumerate(heads)]
    doc = Doc(narrow.vocab, words=words, heads=heads, deps=deps)
    doc._.linearize_before = list(before)
    new = narrow(doc)
    positions = new._.linearization["order"]
    assert sorted(positions) == list(range(len(words)))
    assert [words[k] for k in positions] == [token.text for token in new]
    found = heads_of(new)
    assert found.count(-2) == 1
    assert is_projective(found)
    if heads is not None:
        place = {k: i for i, k in enumerate(positions)}
        assert all(new[place[k]].head.i == place[h] for k, h in enumerate(heads))
    place = {k: i for i, k in enumerate(positions)}
    assert all(place[first] < place[second] for first, second in before)
    return new


def test_a_bag_over_the_limit(narrow):
    assert narrow.max_words == 10_000
    with pytest.raises(LinearizeError, match=r"SL005.*50000 words is over the limit of 10000.*max_words"):
        narrow(Doc(narrow.vocab, words=["a"] * 50_000))
    doc = Doc(narrow.vocab, words=["a", "b", "c"])
    with pytest.raises(LinearizeError, match=r"SL005.*3 words is over the limit of 2"):
        with_options(narrow, max_words=2)(doc)
    assert len(with_options(narrow, max_words=3)(doc)) == 3
    assert len(with_options(narrow, max_words=None)(doc)) == 3


def test_the_limit_counts_for_each_sentence(narrow):
    doc = Doc(narrow.vocab, words=["a", "b", "c", "d"], sent_starts=[True, False, True, False])
    assert len(with_options(narrow, max_words=2, sentences="sents")(doc)) == 4


def test_a_long_token(narrow):
    order(narrow, ["x" * 10_000, "saw", "he", "."])


@pytest.mark.parametrize("n", [300, 1200])
def test_a_chain(narrow, n):
    order(narrow, [f"w{k}" for k in range(n)], [max(0, k - 1) for k in range(n)])


def test_a_deep_tree_can_be_shown_and_scored(narrow):
    """No step of the way goes down a tree by recursion."""
    n = 1500
    doc = order(narrow, [f"w{k}" for k in range(n)], [max(0, k - 1) for k in range(n)])
    assert narrow.score_order(doc).n_words == n
    bag = Doc(narrow.vocab, words=[f"w{k}" for k in range(n)])
    assert "w1499" in render([doc], bag)


def test_a_star(narrow):
    n = 600
    order(narrow, [f"w{k}" for k in range(n)], [0] * n)


@pytest.mark.parametrize("word", ["dog", "?", " ", "🙂"])
def test_equal_words(narrow, word):
    order(narrow, [word] * 600)


def test_a_whole_tree(narrow):
    rng = random.Random(0)
    heads = [0, *(rng.randrange(k) for k in range(1, 1000))]
    assert is_forest([-2, *heads[1:]])
    order(narrow, [f"w{rng.randrange(200)}" for _ in range(1000)], heads)


def test_many_precedences(narrow):
    rng = random.Random(1)
    n = 300
    order(
        narrow,
        [f"w{rng.randrange(50)}" for _ in range(n)],
        None,
        [sorted(rng.sample(range(n), 2)) for _ in range(1500)],
    )


def test_precedences_in_a_deep_tree(narrow):
    """Every word before its head: one order is left."""
    n = 300
    heads = [min(n - 1, k + 1) for k in range(n)]
    doc = order(narrow, [f"w{k}" for k in range(n)], heads, [(k, k + 1) for k in range(n - 1)])
    assert list(doc._.linearization["order"]) == list(range(n))


def test_a_circle_among_many_precedences(narrow):
    n = 400
    doc = Doc(narrow.vocab, words=[f"w{k}" for k in range(n)])
    doc._.linearize_before = [(k, (k + 1) % n) for k in range(n)] + [(5, 3)]
    with pytest.raises(LinearizeError, match=r"SL008.*word 3 'w3' before word 4 'w4'.*word 5 'w5' before word 3 'w3'"):
        narrow(doc)


def test_tops_are_found_in_any_forest():
    """`is_projective` with arcs missing, on long chains and on cycles, which others refuse."""
    n = 20_000
    assert is_projective([*range(1, n), -1])
    assert is_projective([-1, *range(n - 1)])
    assert not is_projective([2, -1, -1, 0])  # the arc from 3 to 0 runs over their top
    assert isinstance(is_projective([1, 0, -1]), bool)
