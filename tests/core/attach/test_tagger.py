"""Tags over a fixed order: the best ones beside those that are given."""

import random
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from helpers import core, slow
from helpers.slow_tagger import SlowTagger

from spacy_linearize.core.attach import tagger as module
from spacy_linearize.core.attach.tagger import Tagger
from spacy_linearize.core.bag.bag import PackedBag
from spacy_linearize.core.example import Example
from spacy_linearize.core.lexicon import Lexicon
from spacy_linearize.core.records import Bag
from spacy_linearize.core.weights import Weights
from spacy_linearize.errors import LinearizeError
from spacy_linearize.trees import ROOT

THE, SHE, DRINKS, COLD = 1, 2, 3, 4
DT, PRP, NN, VB, JJ = 11, 12, 13, 14, 15
PHRASES = [
    Bag(forms=[THE, COLD, DRINKS], tags=[DT, JJ, NN], heads=[2, 2, ROOT]),
    Bag(forms=[SHE, DRINKS], tags=[PRP, VB], heads=[1, ROOT]),
    Bag(forms=[THE, DRINKS], tags=[DT, NN], heads=[1, ROOT]),
]


def in_order(n):
    return np.arange(n, dtype=np.int32)


@pytest.fixture(scope="module")
def markers(mini):
    return tuple({label for s in mini for label in s.column("labels").tolist()})[:3]


@pytest.mark.parametrize("seed", range(6))
def test_as_the_slow_tagger(mini, markers, seed):
    """Random weights, random orders, some tags and arcs given, and words that the lexicon has never seen."""
    rng = random.Random(seed)
    learned = mini[: rng.choice([10, 40])]
    lexicon = Lexicon(markers)
    lexicon.learn(learned)
    tagger = Tagger(Weights(12), lexicon)
    slow.random_weights(tagger.weights, seed)
    tagger.is_trained = True
    reference = SlowTagger(learned, tagger.weights, markers)
    n_unusual = 0
    for sentence in rng.sample(mini, 12):
        bag = core.hide(sentence, rng.choice([0, 0.4]), rng.choice([0, 0.5, 1]), rng)
        order = rng.sample(range(len(bag)), len(bag))
        packed = PackedBag(bag, lexicon)
        tags = tagger.tag(packed, np.array(order, dtype=np.int32))
        assert tags.tolist() == reference.tag(bag, order)
        given = bag.column("tags") != 0
        assert (tags[given] == bag.column("tags")[given]).all()
        n_unusual += (tags != packed.column(1)).sum()
    assert n_unusual


def test_usual_tags_until_it_has_learned(mini):
    engine = core.make()
    engine.learn_lexicon(mini)
    slow.random_weights(engine.tagger.weights)
    packed = engine.pack(core.hide(mini[0]))
    assert engine.tagger.tag(packed, in_order(len(packed))).tolist() == packed.column(1).tolist()


def test_the_order_decides():
    engine = core.make()
    core.train(engine, PHRASES, epochs=12, tags=0, heads=0)
    for forms, tag in (([THE, DRINKS], NN), ([SHE, DRINKS], VB)):
        tags = engine.tagger.tag(core.pack(engine, forms=forms), in_order(2))
        assert tags[1] == tag


def test_a_given_arc_decides():
    """Where the neighbours say nothing, the label does."""
    nominal = Bag(forms=[5, DRINKS], tags=[PRP, NN], heads=[ROOT, 0], labels=[0, 21])
    verbal = Bag(forms=[5, DRINKS], tags=[PRP, VB], heads=[ROOT, 0], labels=[0, 22])
    engine = core.make()
    core.train(engine, [nominal, verbal], epochs=12, tags=0, heads=1)
    for gold in (nominal, verbal):
        tags = engine.tagger.tag(engine.pack(replace(gold, tags=None)), in_order(2))
        assert tags.tolist() == gold.tags


def test_learns(mini):
    engine = core.make(attach_bits=16)
    history = core.train(engine, mini, epochs=8, tags=0, heads=0)
    assert 0 < history[-1].wrong_tags < 0.5 * history[0].wrong_tags
    right = usual = total = 0
    for s in mini:
        packed = engine.pack(core.hide(s))
        right += (engine.tagger.tag(packed, in_order(len(s))) == s.column("tags")).sum()
        usual += (packed.column(1) == s.column("tags")).sum()
        total += len(s)
    assert usual < right
    assert right / total > 0.99


def test_tags_that_cannot_be_chosen_teach_nothing():
    lexicon = Lexicon()
    lexicon.learn(PHRASES)
    tagger = Tagger(Weights(8), lexicon)
    packed = PackedBag(Bag(forms=[SHE, DRINKS]), lexicon)
    assert tagger.update(packed, in_order(2), np.array([PRP, 99], dtype=np.uint64)) == 1
    assert not tagger.is_trained
    assert not tagger.weights.to_array().any()


def test_what_attach_learns_with():
    """Given tags, right or not; then gold ones; then usual ones."""
    lexicon = Lexicon()
    lexicon.learn(PHRASES)
    gold = Bag(forms=[THE, COLD, DRINKS], tags=[DT, 0, VB])
    example = Example(Bag(forms=gold.forms, tags=[77, 0, 0]), partial(PackedBag, lexicon=lexicon), gold)
    assert example.tags_to_attach().tolist() == [77, JJ, VB]
    for tags, wanted in (([DT, JJ, VB], [DT, JJ, VB]), ([0, 0, VB], [DT, JJ, VB]), ([0, 0, 0], [DT, JJ, NN])):
        example = Example(replace(gold, tags=None), example.pack, replace(gold, tags=tags))
        assert example.tags_to_attach().tolist() == wanted


@pytest.mark.parametrize("system", ["order_first", "joint"])
@pytest.mark.parametrize("tree", [True, False])
def test_given_tags_stay_and_the_others_are_chosen(mini, system, tree):
    engine = core.make(system=system)
    engine.learn_lexicon(mini)
    core.randomize(engine)
    rng, n_unusual = random.Random(0), 0
    for s in mini[:20]:
        bag = core.hide(s, 0.5, 0.3, rng)
        found = core.order(engine, bag, beam_width=4, tree=tree)[0]
        given = bag.column("tags") != 0
        packed = engine.pack(bag)
        assert (found.tags[given] == bag.column("tags")[given]).all()
        assert found.tags.tolist() == engine.tagger.tag(packed, found.order).tolist()
        n_unusual += (found.tags != packed.column(1)).sum()
    assert n_unusual


def test_tokens_of_units_get_tags_in_their_order():
    engine = core.make()
    core.train(engine, PHRASES, epochs=12, tags=0, heads=0)
    tokens = Bag(forms=[DRINKS, THE, COLD])
    bag = Bag(forms=[DRINKS, 99], tokens=tokens, members=[range(0, 1), range(1, 3)], tops=[0, 2], before=[(1, 0)])
    found = core.order(engine, bag)[0]
    assert found.order.tolist() == [1, 2, 0]
    assert found.tags.tolist() == [NN, DT, JJ]


class TestStoring:
    def test_round_trip(self, mini):
        engine = core.make()
        core.train(engine, mini[:20], epochs=2, tags=0.5)
        loaded = core.copy(engine)
        assert loaded.tagger.is_trained
        assert (loaded.tagger.weights.to_array() == engine.tagger.weights.to_array()).all()
        assert core.to_bytes(loaded) == core.to_bytes(engine)

    def test_what_has_learned_nothing_is_not_stored(self, mini):
        """As in a model of a treebank without tags."""
        engine = core.make()
        core.train(engine, [replace(s, tags=None) for s in mini[:5]], epochs=1)
        assert not [name for name in engine.to_arrays()[1] if name.startswith("tagger")]
        assert not core.copy(engine).tagger.is_trained

    def test_other_templates_are_refused(self, mini, monkeypatch):
        engine = core.make()
        core.train(engine, mini[:20], epochs=1, tags=0)
        data = core.to_bytes(engine)
        monkeypatch.setattr(module, "TAG_TEMPLATES", module.TAG_TEMPLATES[1:])
        with pytest.raises(LinearizeError, match="SL033"):
            core.from_bytes(data)
