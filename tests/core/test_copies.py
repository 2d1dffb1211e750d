"""Copies of the weights that learn side by side, and models made small."""

import pickle
import random
from collections import Counter

import brute
import numpy as np
import pytest

from spacy_linearize.core.bag.bag import FREE, ROOT
from spacy_linearize.core.engine import Engine
from spacy_linearize.core.learner import BLIND_SHARE_OF_COPY, SHARE_OF_COPY
from spacy_linearize.core.records import Progress, Sentence
from spacy_linearize.core.search.learn import update
from spacy_linearize.core.search.stepper import Stepper
from spacy_linearize.core.settings import Settings
from spacy_linearize.errors import LinearizeError


def make(**settings):
    return Engine(Settings(**{"table_bits": 14, "attach_bits": 10, **settings}))


def exact(engine, sentences, tags=1.0, heads=1.0):
    """The share of sentences that come back in their own order."""
    right = 0
    for s in sentences:
        result = engine.order(engine.hide(s, tags=tags, heads=heads), beam_width=8)[0]
        right += [s.texts[k] for k in result.order] == list(s.texts)
    return right / len(sentences)


class TestCopies:
    def test_the_model_is_the_mean_of_its_copies(self, mini):
        """Each copy learns from its own share of examples and features, as if it were alone."""
        engine = make(direction="both", copies=3)
        engine.learn_lexicon(mini)
        pairs = [(engine.hide(s, tags=1, heads=1), s) for s in mini[:30]]
        progress = engine.update(pairs, beam_width=4, dropout=0.1, seed=7)
        engine.to_bytes()  # the mean is taken when it is needed
        tables, violations, n_seen = [], 0, 0
        for i in range(6):
            alone = make(direction="left_to_right" if i < 3 else "right_to_left")
            alone.learn_lexicon(mini)
            rng = random.Random(f"7 {i}")
            for bag, s in rng.sample(pairs, round(SHARE_OF_COPY * len(pairs))):
                gold = (np.arange(len(s)), s.heads, s.tags, s.labels)
                seed = rng.getrandbits(63)
                blind = {"blind": BLIND_SHARE_OF_COPY, "blind_seed": i % 3}
                violations += update(alone.decoder, bag, *gold, width=4, dropout=0.1, seed=seed, **blind)[0]
                n_seen += 1
            tables.append(alone.decoder.weights.to_array())
        for direction, decoder in enumerate(engine.decoders):
            mean = np.mean(tables[3 * direction : 3 * direction + 3], axis=0, dtype=np.float64)
            assert (decoder.weights.to_array() == mean.astype(np.float32)).all()
        assert not (tables[0] == tables[1]).all()
        assert n_seen < 6 * len(pairs)
        assert (progress.examples, progress.violations) == (len(pairs), violations)

    def test_an_order_is_found_with_the_mean(self, mini):
        """Without asking for bytes first, and again after more updates."""
        engine = make(copies=2)
        engine.learn_lexicon(mini)
        for _ in range(2):
            engine.update([(engine.hide(s, tags=1, heads=1), s) for s in mini[:20]])
            bag = engine.hide(mini[3], tags=1, heads=1)
            assert engine.order(bag)[0].score == Engine.from_bytes(engine.to_bytes()).order(bag)[0].score != 0

    @pytest.mark.parametrize("direction", ["left_to_right", "both"])
    @pytest.mark.parametrize("copies", [1, 3])
    def test_threads_change_nothing(self, mini, direction, copies):
        def train(n_threads, seed=0):
            engine = make(direction=direction, copies=copies)
            history = engine.train(
                mini[:40], epochs=2, dropout=0.1, tags=0.5, heads=0.5, seed=seed, n_threads=n_threads
            )
            return engine.to_bytes(), history

        assert train(1) == train(2) == train(8)
        assert train(1, seed=1) != train(1)

    def test_training_goes_on_from_a_loaded_model(self, mini):
        engine = make(direction="both", copies=2, table_bits=16)
        first = engine.train(mini, epochs=4)
        data = engine.to_bytes()
        loaded = Engine.from_bytes(data)
        assert loaded.settings.copies == 2
        assert loaded.to_bytes() == data
        before = exact(loaded, mini)
        pairs = [(loaded.hide(s, tags=1, heads=1), s) for s in mini]
        progress = loaded.update(pairs, seed=3)
        assert progress.violations < 0.5 * first[0].violations
        assert loaded.to_bytes() != data
        assert exact(loaded, mini) >= before - 0.05
        again = pickle.loads(pickle.dumps(Engine.from_bytes(data)))
        again.update(pairs, seed=3, n_threads=2)
        assert again.to_bytes() == loaded.to_bytes()

    def test_copies_order_the_treebank(self, mini):
        engine = make(copies=3, table_bits=16)
        engine.train(mini, epochs=6)
        assert exact(engine, mini) >= 0.9

    @pytest.mark.parametrize("copies", [0, 17, 1.0, True])
    def test_wrong_numbers(self, copies):
        with pytest.raises(LinearizeError, match=r"SL022.*'copies' is"):
            Settings(copies=copies)


class TestUpdate:
    def test_not_projective_is_skipped(self, mini):
        engine = make(direction="both")
        engine.learn_lexicon(mini)
        crossed = Sentence(forms=[1, 2, 3, 4], tags=[1] * 4, heads=[2, 3, ROOT, 2], labels=[1] * 4)
        bag = engine.bag(forms=crossed.forms, tags=crossed.tags, heads=crossed.heads)
        before = engine.to_bytes()
        assert engine.update([(bag, crossed)]) == Progress(skipped=1)
        assert engine.to_bytes() == before
        pairs = [(engine.hide(mini[0]), mini[0]), (bag, crossed), (engine.hide(mini[1]), mini[1])]
        progress = engine.update(pairs)
        assert (progress.examples, progress.skipped) == (2, 1)

    def test_whatever_can_be_reached_is_learned_from(self):
        """Every forest of a few words as a gold tree with free heads: skipped only where no tree has this order."""
        engine = make(direction="both", table_bits=10, attach_bits=4)
        rng = random.Random(0)
        for heads in [*(f for n in range(1, 5) for f in brute.forests(n)), *brute.sample(6, 100)]:
            n = len(heads)
            gold = Sentence(forms=range(1, n + 1), tags=[1] * n, heads=heads, labels=[1] * n)
            given = [h if rng.random() < 0.8 else FREE for h in heads]
            progress = engine.update([(engine.bag(forms=gold.forms, heads=given), gold)], beam_width=2)
            if n < 6:
                can_be_reached = any(order == tuple(range(n)) for order, _ in brute.expected(heads))
                assert progress.examples == can_be_reached
                assert progress.skipped == (not can_be_reached)

    def test_nothing(self):
        assert make(copies=2).update([]) == Progress()

    @pytest.mark.parametrize("n_threads", [1, 2])
    def test_an_error_of_one_search_is_raised(self, n_threads):
        """The joint system needs a tree."""
        engine = make(system="joint", copies=2)
        bare = Sentence(forms=[1, 2], tags=[1, 2], heads=[-1, -1], labels=[0, 0])
        with pytest.raises(LinearizeError, match="SL012"):
            engine.update([(engine.bag(forms=[1, 2]), bare)], n_threads=n_threads)


class TestMinUpdates:
    def test_a_weight_waits(self):
        """Two words in the order that a model without weights does not choose: until there are some, every update adds
        to the same features, and takes from the same ones."""
        engine = make(min_updates=3, groups=("words",))
        forms = np.array([5, 6])[engine.order(engine.bag(forms=[5, 6]))[0].order[::-1]]
        gold = Sentence(forms=forms, tags=[0, 0], heads=[ROOT, 0], labels=[0, 0])
        bag = engine.bag(forms=forms)

        def slots(order):
            stepper = Stepper(engine.decoder, bag)
            for word in order:
                i = [action[1] for action in stepper.legal].index(word)
                yield from (slot for _, slot in stepper.features(i))
                stepper = stepper.step(i)

        changes = [*((slot, 1) for slot in slots([0, 1])), *((slot, -1) for slot in slots([1, 0]))]
        met, weights = Counter(), Counter()
        for n_updates in range(1, 4):
            for slot, change in changes:
                met[slot] += 1
                weights[slot] += change * (met[slot] >= 3)
            assert any(weights.values()) == (n_updates == 3)
            assert engine.update([(bag, gold)]).violations == 1
            # The third of three updates counts for a quarter of the time.
            expected = {slot: weight / 4 for slot, weight in weights.items() if weight}
            table = engine.decoder.weights.to_array()
            assert {slot: table[slot] for slot in np.flatnonzero(table)} == expected
        assert engine.update([(bag, gold)]).violations == 0

    def test_what_is_not_0_waits_no_more(self, mini):
        """A model that was loaded goes on with its weights at once, also a compact one."""
        engine = make(min_updates=4, table_bits=16)
        engine.train(mini, epochs=3)
        engine.compact(0.01)
        loaded = Engine.from_bytes(engine.to_bytes())
        before = loaded.decoder.weights.to_array()
        loaded.update([(loaded.hide(s, tags=1, heads=0), s) for s in mini[:3]])
        changed = loaded.decoder.weights.to_array() != before
        assert changed[before != 0].sum() > changed[before == 0].sum()

    def test_fewer_weights_do(self, mini):
        engines = [make(min_updates=n, table_bits=16) for n in (1, 3)]
        for engine in engines:
            engine.train(mini, epochs=6)
            assert exact(engine, mini) >= 0.9
        all_of_them, fewer = (np.count_nonzero(engine.decoder.weights.to_array()) for engine in engines)
        assert fewer < 0.8 * all_of_them
        assert Engine.from_bytes(engines[1].to_bytes()).settings.min_updates == 3

    @pytest.mark.parametrize("min_updates", [0, 256, 1.0, True])
    def test_wrong_numbers(self, min_updates):
        with pytest.raises(LinearizeError, match=r"SL022.*'min_updates' is"):
            Settings(min_updates=min_updates)


class TestCompact:
    @pytest.fixture(scope="class")
    @staticmethod
    def engine(mini):
        engine = make(direction="both", copies=2, table_bits=16, ngram_order=3)
        engine.train(mini, epochs=6)
        return engine

    @pytest.fixture(scope="class")
    @staticmethod
    def compact(engine):
        compact = Engine.from_bytes(engine.to_bytes())
        compact.compact(0.02)
        return compact

    def test_weights_are_multiples(self, engine, compact):
        full = [*engine.decoders, engine.attacher]
        for one, other in zip([*compact.decoders, compact.attacher], full, strict=True):
            table, before, scale = one.weights.to_array(), other.weights.to_array(), np.float32(one.weights.scale)
            assert other.weights.scale == 0
            units = np.rint(table / scale)
            assert scale > 0
            assert np.abs(units).max() <= 127
            assert (units.astype(np.float32) * scale == table).all()
            assert (table[np.abs(before) < 0.02] == 0).all()
            fits = (np.abs(before) >= 0.02) & (np.abs(before) <= 127 * scale)
            assert np.abs(table - before)[fits].max(initial=0) <= scale / 2 * 1.0001
            too_large = np.abs(before) > 127 * scale
            assert (table[too_large] == np.sign(before[too_large]) * np.float32(127) * scale).all()

    @pytest.mark.parametrize(("prune", "is_cut"), [(0.0, False), (0.001, True), (0.02, True), (10.0, False)])
    def test_steps(self, engine, prune, is_cut):
        """They are as fine as the largest weight allows, and never coarser than what is dropped."""
        compact = Engine.from_bytes(engine.to_bytes())
        compact.compact(prune)
        for one, other in zip(compact.decoders, engine.decoders, strict=True):
            largest = np.abs(other.weights.to_array()).max()
            assert (np.abs(one.weights.to_array()).max() < 0.99 * largest) == (is_cut or largest < prune)
            assert 0 < one.weights.scale <= (prune or largest) * 1.0001

    def test_round_trip(self, engine, compact, mini):
        data = compact.to_bytes()
        assert len(data) < 0.5 * len(engine.to_bytes())
        loaded = Engine.from_bytes(data)
        assert loaded.to_bytes() == data
        for one, other in zip(compact.decoders, loaded.decoders, strict=True):
            assert one.weights.scale == other.weights.scale
            assert (one.weights.to_array() == other.weights.to_array()).all()
        for s in mini[:20]:
            a, b = (e.order(e.hide(s, tags=0.5, heads=0.5), n_best=3) for e in (compact, loaded))
            assert [(r.order.tolist(), r.score) for r in a] == [(r.order.tolist(), r.score) for r in b]

    def test_orders_nearly_as_well(self, engine, compact, mini):
        for tags, heads in ((1, 1), (0, 0)):
            assert exact(compact, mini, tags, heads) >= exact(engine, mini, tags, heads) - 0.05

    def test_twice_changes_nothing(self, compact):
        again = Engine.from_bytes(compact.to_bytes())
        again.compact(0.02)
        assert again.to_bytes() == compact.to_bytes()

    def test_training_goes_on(self, compact, mini):
        loaded = Engine.from_bytes(compact.to_bytes())
        loaded.update([(loaded.hide(s), s) for s in mini[:10]])
        assert loaded.to_bytes() != compact.to_bytes()
        assert loaded.decoder.weights.scale == 0

    def test_training_goes_on_from_the_compact_weights(self, mini):
        """Whether or not the model was stored in between."""
        engine = make(copies=2)
        engine.train(mini[:20], epochs=1)
        engine.compact(0.5)
        loaded = Engine.from_bytes(engine.to_bytes())
        for e in (engine, loaded):
            e.update([(e.hide(s, tags=1, heads=1), s) for s in mini[:5]])
        assert engine.to_bytes() == loaded.to_bytes()

    def test_an_empty_model(self):
        engine = make()
        engine.compact(0.1)
        assert Engine.from_bytes(engine.to_bytes()).to_bytes() == engine.to_bytes()
        assert not engine.decoder.weights.to_array().any()
