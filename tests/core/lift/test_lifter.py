"""The lifter: random models keep all promises, and a small treebank is learned."""

import random
from pathlib import Path

import numpy as np
import pytest
from helpers import brute
from helpers.core import copy, exact, hide, make, order, plain, randomize, randomize_lifter, to_bytes, train
from helpers.treebank import read_conllu

from spacy_linearize.core.records import Bag, SearchOptions
from spacy_linearize.errors import LinearizeError
from spacy_linearize.trees import FREE, ROOT

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def crossing():
    return list(read_conllu(DATA / "mini_nl.conllu"))


@pytest.fixture(scope="module", params=["order_first", "joint"])
def engine(request):
    """Random weights: about half of all questions are answered with yes."""
    return randomize_lifter(randomize(make(system=request.param, direction="both")))


def bags(count, seed=0, n_words=(1, 12)):
    rng = random.Random(seed)
    for _ in range(count):
        n = rng.randint(*n_words)
        heads = brute.random_forest(rng, n, rng.choice([0.5, 0.8, 1.0]))
        most = rng.choice([1, 2, 2 * n])  # equal words, too, which only their arcs tell apart
        yield Bag(
            forms=[rng.randint(1, most) for _ in range(n)],
            tags=[rng.randint(0, 4) for _ in range(n)],
            heads=heads,
            labels=[rng.randint(0, 3) if head != FREE else 0 for head in heads],
            puncts=[int(rng.random() < 0.3) for _ in range(n)],
        )


def lifted_heads(bag, found):
    heads = found.heads.copy()
    for word, head in found.lifts:
        heads[word] = head
    return heads


def shuffled(bag, rng):
    """The same words in another sequence."""
    order = rng.sample(range(len(bag)), len(bag))
    place = np.argsort(order)
    heads = [place[h] if h >= 0 else h for h in np.array(bag.heads)[order].tolist()]
    columns = {name: bag.column(name)[order] for name in ("forms", "tags", "labels", "puncts")}
    return Bag(heads=heads, before=[(place[a], place[b]) for a, b in bag.before], **columns)


def as_read(bag, found):
    """What a reader sees of an order: words and arcs by place."""
    place = np.argsort(found.order)
    heads = np.where(found.heads >= 0, place[np.maximum(found.heads, 0)], found.heads)[found.order]
    lifts = sorted((int(place[word]), int(place[head])) for word, head in found.lifts)
    columns = [bag.column("forms"), found.tags, found.labels]
    return [c[found.order].tolist() for c in columns], heads.tolist(), lifts, round(found.score, 6)


class TestPromises:
    def test_everything_given_is_kept(self, engine):
        n_lifted = 0
        for bag in bags(300):
            for found in order(engine, bag, beam_width=4, n_best=3):
                n_lifted += len(found.lifts)
                assert sorted(found.order.tolist()) == list(range(len(bag)))
                assert (found.heads == ROOT).sum() == 1
                assert brute.is_forest(found.heads.tolist())
                given, labels = bag.column("heads"), bag.column("labels")
                assert ((found.heads == given) | (given == FREE)).all()
                assert ((found.labels == labels) | (labels == 0)).all()
                assert brute.is_projective(lifted_heads(bag, found).tolist(), found.order.tolist())
        assert n_lifted > 100

    def test_words_hang_below_an_ancestor_and_marks_below_their_head(self, engine):
        seen = set()
        for bag in bags(300, seed=1):
            heads = bag.column("heads").tolist()
            for word, head in order(engine, bag, beam_width=1)[0].lifts:
                is_lifted = head in brute.chain(heads, heads[word])
                seen.add(is_lifted)
                if not is_lifted:
                    assert bag.puncts[word]
                    assert word not in heads
                    assert heads[word] in brute.chain(heads, head)
        assert seen == {True, False}

    def test_no_trace_of_the_input_order(self, engine):
        rng = random.Random(2)
        for bag in bags(200, seed=2):
            other = shuffled(bag, rng)
            want = [as_read(bag, found) for found in order(engine, bag, beam_width=4, n_best=2)]
            assert [as_read(other, found) for found in order(engine, other, beam_width=4, n_best=2)] == want

    def test_precedences_are_kept(self, engine):
        """What contradicts a lifted tree is tried without lifting; what contradicts both is an error, as ever."""
        rng = random.Random(3)
        n_kept = n_refused = 0
        for bag in bags(300, seed=3, n_words=(2, 9)):
            pair = tuple(rng.sample(range(len(bag)), 2))
            both = Bag(**{**vars(bag), "before": [pair, tuple(rng.sample(range(len(bag)), 2))]})
            try:
                found = order(engine, both, beam_width=4)[0]
            except LinearizeError:
                n_refused += 1
                with pytest.raises(LinearizeError, match="SL008"):
                    engine.order([both], SearchOptions(projective=True))
                continue
            place = np.argsort(found.order)
            assert all(place[first] < place[second] for first, second in both.before)
            n_kept += bool(found.lifts)
        assert n_kept > 50
        assert n_refused

    def test_projective_forbids_it(self, engine):
        for bag in bags(100, seed=4):
            found = engine.order([bag], SearchOptions(projective=True))[0][0]
            assert found.lifts == ()
            assert brute.is_projective(found.heads.tolist(), found.order.tolist())

    def test_stored_and_copied(self, engine):
        other = copy(engine)
        assert sorted(other.lifter.judges) == ["lift", "lower"]
        for bag in bags(20, seed=5):
            assert plain(order(other, bag)) == plain(order(engine, bag))


class TestLearning:
    def test_a_small_treebank_is_learned(self, crossing):
        engine = make(table_bits=16, attach_bits=14, direction="both")
        history = train(engine, crossing, epochs=10)
        assert engine.lifts
        assert history[-1].skipped == 0
        assert 0 < history[-1].lifted < len(crossing)
        assert exact(engine, crossing) == 1
        n_lifted = sum(bool(order(engine, hide(s, 1, 1))[0].lifts) for s in crossing)
        assert n_lifted == history[-1].lifted

    def test_with_some_arcs(self, crossing):
        engine = make(table_bits=16, attach_bits=14)
        assert all(one.skipped == 0 for one in train(engine, crossing, epochs=4, heads=0.7))
        for sentence in crossing:
            bag = hide(sentence, 1, 0.7, random.Random(1))
            found = order(engine, bag)[0]
            assert ((found.heads == bag.heads) | (bag.heads == FREE)).all()
            assert (found.heads == ROOT).sum() == 1

    def test_projective_training_skips_them(self, crossing):
        engine = make()
        engine.learn_lexicon(crossing)
        progress = engine.update([(hide(s, 1, 1), s) for s in crossing], projective=True)
        assert progress.skipped > 0 == progress.lifted
        assert not engine.lifter.is_trained
        assert not copy(engine).lifter.is_trained

    def test_what_the_corpus_suggests_is_stored(self, crossing, mini_all):
        """A model that was only initialised goes on as if it had never been stored."""
        for sentences in (crossing, mini_all):
            engine = make(table_bits=14, attach_bits=12)
            engine.learn_lexicon(sentences)
            other = copy(engine)
            assert other.lifts == engine.lifts == (sentences is crossing)
            pairs = [(hide(s, 1, 1), s) for s in crossing]
            assert other.update(pairs) == engine.update(pairs)
            assert (b"lift.slots" in to_bytes(other)) == other.lifts

    def test_few_crossing_sentences_are_skipped(self, mini_all):
        engine = make()
        assert engine.learn_lexicon(mini_all) == 2
        assert not engine.lifts
        progress = engine.update([(hide(s, 1, 1), s) for s in mini_all], projective=False)
        assert (progress.skipped, progress.lifted) == (0, 2)

    def test_seeds_and_threads_change_nothing(self, crossing):
        def run(n_threads):
            engine = make(direction="both")
            train(engine, crossing, epochs=2, n_threads=n_threads)
            return to_bytes(engine)

        assert run(1) == run(3)
