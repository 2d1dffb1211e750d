"""Which weights order which kind of bag."""

import pytest
from helpers.core import decoders, hide, make, order, pack, plain, randomize, train

from spacy_linearize.core.experts import kind_of
from spacy_linearize.core.records import Bag
from spacy_linearize.trees import FREE, ROOT

BAGS = {
    "tree": [Bag(forms=[1, 2], heads=[ROOT, 0]), Bag(forms=[1, 2], heads=[FREE, 0]), Bag(forms=[1]), Bag(forms=[])],
    "partial": [Bag(forms=[1, 2, 3], heads=[FREE, 0, FREE]), Bag(forms=[1, 2, 3], heads=[ROOT, 0, FREE])],
    "free": [Bag(forms=[1, 2]), Bag(forms=[1, 2], heads=[ROOT, FREE])],
}
ALL = {"partial": ("words",), "tree": ("words", "pairs"), "free": ("next",)}


@pytest.mark.parametrize("kind", BAGS)
def test_kinds(kind):
    engine = make()
    assert {kind_of(engine.pack(bag)) for bag in BAGS[kind]} == {kind}


@pytest.mark.parametrize("kinds", [("partial",), ("partial", "tree"), ("partial", "free"), ("partial", "tree", "free")])
@pytest.mark.parametrize("direction", ["right_to_left", "both"])
def test_a_kind_without_an_expert_is_left_to_the_one_for_partial_trees(kinds, direction):
    engine = make(experts={kind: ALL[kind] for kind in kinds}, direction=direction)
    n_directions = 2 if direction == "both" else 1
    names = [name for name, _ in engine.experts]
    assert names == [f"{kind}.{i}" for kind in kinds for i in range(n_directions)]
    for kind, bags in BAGS.items():
        own = engine.experts[kind if kind in kinds else "partial"]
        assert len(own) == n_directions
        for bag in bags:
            assert engine.experts.decoders_for(engine.pack(bag)) == own
    assert len({id(decoder.weights) for decoder in decoders(engine)}) == len(names)
    assert {id(decoder.ngrams) for decoder in decoders(engine)} == {id(engine.experts.ngrams)}


def test_an_expert_alone_decides_on_its_bags():
    """As the whole of a model with its templates and weights would."""
    engine = randomize(make(experts=ALL, direction="both"))
    for kind, bags in BAGS.items():
        alone = make(groups=ALL[kind], direction="both")
        alone.attacher.weights.from_array(engine.attacher.weights.to_array())
        for one, own in zip(decoders(alone), engine.experts[kind], strict=True):
            one.weights.from_array(own.weights.to_array())
        for bag in bags:
            assert plain(order(alone, bag, n_best=4)) == plain(order(engine, bag, n_best=4))


@pytest.mark.parametrize(("kind", "heads"), [("tree", 1), ("partial", 0.5), ("free", 0)])
def test_an_expert_learns_from_its_bags_alone(mini, kind, heads):
    engine = make(experts=ALL, direction="both")
    long = [s for s in mini if len(s) > 8]
    assert {kind_of(engine.pack(hide(s, heads=heads))) for s in long} == {kind}
    engine.learn_lexicon(long)
    engine.update([(hide(s, heads=heads), s) for s in long])
    changed = {name for name, decoder in engine.experts if decoder.weights.to_array().any()}
    assert changed == {f"{kind}.0", f"{kind}.1"}


def test_a_kind_has_its_own_weight_of_the_language_model(mini):
    engine = make(experts=ALL, ngram_order=2, ngram_weights={"partial": 1, "tree": 2, "free": 3})
    train(engine, mini[:20], epochs=0)
    for kind, weight in (("partial", 1), ("tree", 2), ("free", 3)):
        for bag in BAGS[kind]:
            packed = engine.pack(bag)
            assert engine.experts.ngram_weight_for(packed) == weight
            found = order(engine, bag, tree=False)[0]
            target = (found.order, packed.heads, found.tags, found.labels)
            assert engine.experts[kind][0].score(packed, *target, ngram_weight=weight) == pytest.approx(found.score)


def test_a_fingerprint_of_all_templates():
    fingerprints = {
        make(experts=experts).fingerprint
        for experts in (ALL, {**ALL, "tree": ("words",)}, {**ALL, "free": ()}, {"partial": ("words",)})
    }
    assert len(fingerprints) == 4
    assert make(experts=ALL, templates=("W2.w W0.w L.w SHIFT",)).fingerprint not in fingerprints
    assert make(experts=ALL, atomic_shift=True).fingerprint not in fingerprints
    assert make(experts=ALL, table_bits=8).fingerprint in fingerprints


def test_packed_bags_are_shared_by_all():
    engine = make(experts=ALL)
    engine.learn_lexicon([Bag(forms=[1, 2], tags=[5, 6], heads=[1, ROOT])])
    assert pack(engine, forms=[2, 1]).column(1).tolist() == [6, 5]
