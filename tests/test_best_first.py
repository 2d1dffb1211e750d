"""The best-first baseline of the papers, `benchmarks/best_first`."""

import random
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.brute import random_forest

from spacy_linearize.core.records import Bag
from spacy_linearize.trees import FREE, ROOT, is_projective

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
from best_first.features import BITS, TEMPLATES, join_slots
from best_first.learn import Learner
from best_first.search import Problem, order

# Words by number: 1 "the" (tag 1), 2 to 4 nouns (tag 2), 5 and 6 verbs (tag 3), 7 "." (tag 4)
SENTENCES = [
    Bag(forms=[1, 2, 5, 1, 3, 7], tags=[1, 2, 3, 1, 2, 4], heads=[1, 2, ROOT, 4, 2, 2]),
    Bag(forms=[1, 2, 6, 1, 4, 7], tags=[1, 2, 3, 1, 2, 4], heads=[1, 2, ROOT, 4, 2, 2]),
    Bag(forms=[1, 2, 5, 7], tags=[1, 2, 3, 4], heads=[1, 2, ROOT, 2]),
]


def trained(passes=12):
    learner = Learner(SENTENCES)
    counts = [[learner.update(Bag(forms=s.forms, tags=s.tags), s) for s in SENTENCES] for _ in range(passes)]
    return learner, counts


def test_slots_depend_on_every_atom_of_their_template():
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 1 << 60, size=(2, 15), dtype=np.uint64)
    slots = join_slots(rows[:1], rows[1:], np.array([1], dtype=np.uint64))[0]
    assert slots.shape == (len(TEMPLATES),)
    assert slots.min() >= 0
    assert slots.max() < 1 << BITS
    other = join_slots(rows[:1], rows[1:], np.array([2], dtype=np.uint64))[0]
    assert (slots != other).all()
    rows[0, 0] += np.uint64(1)  # the head of the left one
    changed = join_slots(rows[:1], rows[1:], np.array([1], dtype=np.uint64))[0]
    assert [a != b for a, b in zip(slots, changed, strict=True)] == ["Ah.w" in template for template in TEMPLATES]


def test_training_learns_its_sentences():
    learner, counts = trained()
    assert sum(counts[0]) > 0
    assert sum(counts[-1]) == 0
    rng = random.Random(1)
    for sentence in SENTENCES:
        places = rng.sample(range(len(sentence)), len(sentence))
        bag = Bag(forms=[sentence.forms[k] for k in places], tags=[sentence.tags[k] for k in places])
        found = order(learner.problem(bag), learner.mean, seconds=10)
        assert found.covered == 1
        assert [bag.forms[k] for k in found.words] == list(sentence.forms)


def test_words_get_tags_that_were_seen():
    learner, _ = trained()
    bag = Bag(forms=[7, 5, 2, 1])
    found = order(learner.problem(bag), learner.mean, seconds=10)
    assert dict(zip(found.words, found.tags, strict=True)) == {0: 4, 1: 3, 2: 2, 3: 1}


@pytest.mark.parametrize("seconds", [10, 0])
def test_a_permutation_with_the_given_arcs(seconds):
    """Also when time runs out at once, and words are all that there is to glue."""
    learner, _ = trained(1)
    rng = random.Random(2)
    n_whole = 0
    for _ in range(40):
        n = rng.randint(1, 6)
        given = random_forest(rng, n)
        bag = Bag(forms=[rng.randint(1, 7) for _ in range(n)], tags=[rng.randint(1, 4) for _ in range(n)], heads=given)
        found = order(learner.problem(bag), learner.mean, seconds=seconds)
        assert sorted(found.words) == list(range(n))
        assert found.tags == tuple(bag.tags[k] for k in found.words)
        if found.covered < 1 or seconds == 0:
            continue
        n_whole += 1
        heads = dict(zip(found.words, found.heads, strict=True))
        assert all(heads[k] == head for k, head in enumerate(given) if head >= 0)
        assert sum(head == FREE for head in heads.values()) == 1
        place = {word: i for i, word in enumerate(found.words)}
        assert is_projective([ROOT if head == FREE else place[head] for head in found.heads])
    assert n_whole > 30 or seconds == 0


@pytest.mark.parametrize("seconds", [10, 0])
def test_the_input_order_is_not_given_away(seconds):
    """Neither by ties of an untrained model nor by glue."""
    rng = random.Random(3)
    forms, found = [31, 7, 22], set()
    for _ in range(10):
        rng.shuffle(forms)
        problem = Problem(Bag(forms=forms), [[form % 3 + 1] for form in forms])
        found.add(tuple(forms[k] for k in order(problem, np.zeros(1 << BITS), seconds=seconds).words))
    assert len(found) == 1


def test_the_largest_pieces_are_glued():
    problem = Problem(Bag(forms=[1, 2, 3], heads=[1, ROOT, ROOT]), [[1], [2], [2]])
    # Two roots cannot be joined: the search comes to an end without a whole.
    found = order(problem, np.zeros(1 << BITS), seconds=10)
    assert found.covered == pytest.approx(2 / 3)
    assert sorted(found.words[:2]) == [0, 1]
    assert found.words[2] == 2
