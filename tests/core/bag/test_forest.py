"""What is not a forest of given arcs is refused, with the words concerned; what is one gets canonical numbers."""

import itertools
import pickle
import random

import numpy as np
import pytest
from helpers import brute

from spacy_linearize import trees
from spacy_linearize.core.bag.bag import MAX_WORDS, PackedBag
from spacy_linearize.core.bag.forest import is_projective
from spacy_linearize.core.records import Bag
from spacy_linearize.errors import LinearizeError
from spacy_linearize.trees import FREE, ROOT

TEXTS = ["the", "dog", "barks", "loudly"]


def packed(forms, **columns):
    return PackedBag(Bag(forms=forms, **columns))


def refuse(code, words, heads, **settings):
    with pytest.raises(LinearizeError) as caught:
        packed([1, 2, 3, 4], heads=heads, texts=TEXTS, **settings)
    assert caught.value.code == code
    assert caught.value.words == words
    for word in words:
        assert f"word {word} '{TEXTS[word]}'" in str(caught.value)
    return str(caught.value)


def test_cycle():
    message = refuse("SL001", (0, 1, 2), [1, 2, 0, FREE])
    assert message.startswith("[SL001] The given heads form a cycle: word 0 'the', word 1 'dog', word 2 'barks'.")


def test_cycle_names_only_the_words_on_it():
    refuse("SL001", (1, 2), [1, 2, 1, 0])


def test_two_roots():
    refuse("SL002", (1, 3), [FREE, ROOT, FREE, ROOT])


@pytest.mark.parametrize("head", [4, 99, -3])
def test_head_out_of_range(head):
    assert f"has head {head}" in refuse("SL003", (2,), [1, FREE, head, FREE])


def test_head_out_of_range_with_a_precedence():
    refuse("SL003", (2,), [1, FREE, 2**30, FREE], before=[(0, 2)])


def test_own_head():
    refuse("SL004", (1,), [1, 1, FREE, FREE])


def test_more_words_than_fit():
    n = MAX_WORDS + 1
    with pytest.raises(LinearizeError, match=rf"SL005.* {n} words is over the limit of {MAX_WORDS}"):
        packed(range(n))


def test_arrays_of_other_lengths():
    with pytest.raises(LinearizeError, match=r"SL006.*'labels' has 1 entries for 2 words"):
        packed([1, 2], labels=[1])
    for name in ("tags", "heads", "labels", "lowers", "suffixes", "shapes", "puncts", "kept"):
        for column in ([], [1], [1, 1, 1]):
            with pytest.raises(LinearizeError, match=rf"SL006.*'{name}' has {len(column)} entries for 2 words"):
                packed([1, 2], **{name: column})


def test_every_assignment_of_heads_is_refused_or_a_forest():
    """All 6 ** 3 ways to give heads to 3 words, with values from -3 to 2."""
    for heads in itertools.product(range(-3, 3), repeat=3):
        fits = all(h != k and h > -3 for k, h in enumerate(heads)) and brute.is_forest(heads)
        if fits:
            assert packed([1, 2, 3], heads=heads).heads.tolist() == list(heads)
        else:
            with pytest.raises(LinearizeError):
                packed([1, 2, 3], heads=heads)


def test_projective_as_the_slow_way_says():
    """All ways to give heads to up to 5 words, values that are no heads among them."""
    for n in range(6):
        for heads in itertools.product(range(-3, n + 1), repeat=n):
            assert is_projective(np.array(heads, dtype=np.int32)) == trees.is_projective(heads), heads


def test_projective_long_trees():
    rng = random.Random(2)

    def hang(heads, low, high, head):
        """Hang the words of a stretch below a head, as one subtree."""
        if low < high:
            top = rng.randrange(low, high)
            heads[top] = head
            hang(heads, low, top, top)
            hang(heads, top + 1, high, top)

    for _ in range(200):
        heads = np.empty(rng.randint(6, 60), dtype=np.int32)
        hang(heads, 0, len(heads), ROOT)
        assert is_projective(heads)
        heads[rng.randrange(len(heads))] = rng.randrange(len(heads))
        assert is_projective(heads) == trees.is_projective(heads.tolist())


def test_errors_survive_pickling():
    with pytest.raises(LinearizeError) as caught:
        packed([1, 2], heads=[1, 0])
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.code, again.words) == (str(caught.value), "SL001", (0, 1))


def test_canonical_numbers_do_not_depend_on_input_order():
    rng = random.Random(1)
    for _ in range(300):
        n = rng.randint(1, 12)
        heads = brute.random_forest(rng, n, rng.random())
        forms = [rng.choice([5, 6, 7]) for _ in range(n)]
        labels = [rng.choice([0, 1, 2]) for _ in range(n)]

        def content(order, forms=forms, heads=heads, labels=labels):
            """The canonical sequence of the same bag, handed in in this order."""
            place = {k: i for i, k in enumerate(order)}
            given = [place[heads[k]] if heads[k] >= 0 else heads[k] for k in order]
            bag = packed([forms[k] for k in order], heads=given, labels=[labels[k] for k in order])
            words = [order[p] for p in bag.positions]
            number = {k: i for i, k in enumerate(words)}
            return [(forms[k], labels[k], number[heads[k]] if heads[k] >= 0 else heads[k]) for k in words]

        shuffled = rng.sample(range(n), n)
        assert content(list(range(n))) == content(shuffled)
        assert content(shuffled)[0][2] < 0
        assert all(head < i for i, (_, _, head) in enumerate(content(shuffled)))


def test_deep_chain_and_wide_star():
    n = 5000
    assert len(packed(range(1, n + 1), heads=[ROOT, *range(n - 1)])) == n
    assert len(packed(range(1, n + 1), heads=[ROOT, *[0] * (n - 1)])) == n
