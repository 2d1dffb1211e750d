"""The door of the core: learning on the mini treebank, updates, and the model as arrays."""

import pickle
import random
from dataclasses import replace

import numpy as np
import pytest
from helpers import brute, slow
from helpers.core import copy, decoder, decoders, exact, hide, make, order, plain, to_bytes, train
from helpers.texts import text_from

from spacy_linearize.core import engine as engine_module
from spacy_linearize.core.engine import Engine
from spacy_linearize.core.ngrams.estimate import text_of
from spacy_linearize.core.records import Bag, Progress, SearchOptions
from spacy_linearize.core.search.learn import update
from spacy_linearize.core.settings import Settings
from spacy_linearize.errors import LinearizeError
from spacy_linearize.trees import FREE, ROOT

PAPER_GROUPS = ("unigram", "bigram", "trigram", "linearization", "lookahead", "lookahead_of_S0")


@pytest.fixture(scope="module")
def trained(mini):
    engine = make(table_bits=16, attach_bits=14, update="max_violation")
    train(engine, mini, epochs=6)
    return engine


class TestLearning:
    @pytest.mark.parametrize("rule", ["softmax", "max_violation"])
    @pytest.mark.parametrize("direction", ["left_to_right", "right_to_left", "both"])
    def test_full_trees_are_learned(self, mini, direction, rule):
        engine = make(direction=direction, table_bits=18, attach_bits=14, update=rule)
        train(engine, mini, epochs=8)
        assert exact(engine, mini) >= 0.95

    @pytest.mark.parametrize("rule", ["softmax", "max_violation"])
    def test_free_violations_fall_each_epoch(self, mini, rule):
        engine = make(table_bits=18, update=rule)
        violations = [p.violations for p in train(engine, mini, epochs=4, tags=0, heads=0)]
        assert violations == sorted(violations, reverse=True)
        assert violations[-1] < 0.5 * violations[0]

    def test_the_default_settings_learn_every_kind_of_bag(self, mini):
        """Three experts, both directions, a language model."""
        engine = Engine(Settings(table_bits=16, attach_bits=14))
        for tags, heads in ((0, 0), (1, 0.5), (1, 1)):
            train(engine, mini, epochs=5, tags=tags, heads=heads)
            assert exact(engine, mini, tags, heads) >= 0.9

    def test_joint_with_the_papers_features_and_beam_64(self, mini):
        engine = make(system="joint", groups=PAPER_GROUPS, table_bits=18, update="early")
        history = train(engine, mini, epochs=5, beam_width=64)
        assert history[-1].violations < 0.4 * history[0].violations
        assert exact(engine, mini, beam_width=64) >= 0.9

    def test_joint_searches_tags_and_labels(self, mini):
        engine = make(system="joint", tags="search", table_bits=18, update="max_violation")
        train(engine, mini, epochs=6, tags=0, heads=0)
        assert exact(engine, mini, tags=0, heads=0) > 0.5
        right = total = 0
        for s in mini:
            result = order(engine, hide(s))[0]
            assert (result.heads == ROOT).sum() == 1
            assert 0 not in result.labels
            right += int((result.tags == s.column("tags")).sum())
            total += len(s)
        assert right / total > 0.9

    def test_liu_2015_actions(self, mini):
        engine = make(system="joint", groups=PAPER_GROUPS[:4], atomic_shift=True, update="early", table_bits=18)
        train(engine, mini, epochs=6)
        assert exact(engine, mini) > 0.8

    def test_german(self, mini_de):
        engine = make(table_bits=16, update="max_violation")
        train(engine, mini_de, epochs=10)
        assert exact(engine, mini_de) >= 0.9

    def test_dropout_is_seeded(self, mini):
        def model(seed):
            engine = make()
            train(engine, mini[:30], epochs=2, seed=seed, dropout=0.2)
            return to_bytes(engine)

        assert model(1) == model(1)
        assert model(1) != model(2)

    def test_order_is_learned_without_a_tree(self, mini):
        """Text alone is enough for the system that orders first; the joint one needs trees."""
        bare = [Bag(forms=s.forms, tags=s.tags, texts=s.texts) for s in mini]
        engine = make(table_bits=16)
        history = train(engine, bare, epochs=4, tags=1, heads=0)
        assert history[-1].violations < 0.5 * history[0].violations
        with pytest.raises(LinearizeError, match="SL012"):
            train(make(system="joint", table_bits=10), bare, epochs=1)

    def test_attach_learns_from_whole_trees_alone(self, mini):
        """A missing gold head is not the root."""
        engine = make(table_bits=12)
        engine.learn_lexicon(mini[:20])
        partial = [replace(s, heads=np.where(np.arange(len(s)) == 0, FREE, s.column("heads"))) for s in mini[:20]]
        progress = engine.update([(hide(gold, 0, 0), gold) for gold in partial])
        assert progress.wrong_arcs == progress.wrong_labels == 0
        assert not engine.attacher.weights.to_array().any()
        assert engine.update([(hide(gold, 0, 0), gold) for gold in mini[:20]]).wrong_arcs > 0

    def test_early_and_max_violation_differ(self, mini):
        def first_epoch(rule):
            return train(make(update=rule), mini, epochs=1, tags=0, heads=0)[0]

        early, most = first_epoch("early"), first_epoch("max_violation")
        assert early.actions < most.actions
        assert early.examples == most.examples == len(mini)


class TestUpdate:
    def test_dropout_is_a_share(self, mini):
        with pytest.raises(LinearizeError, match=r"SL022.*'dropout' is 1"):
            make().update([(hide(mini[0]), mini[0])], dropout=1)

    def test_without_violation_changes_nothing(self, trained, mini):
        engine = copy(trained)
        s = next(s for s in mini if exact(engine, [s]) == 1 and len(s) > 6)
        before = decoder(engine).weights.to_array()
        progress = engine.update([(hide(s, tags=1, heads=1), s)])
        assert (progress.examples, progress.violations, progress.actions) == (1, 0, 0)
        assert (decoder(engine).weights.to_array() == before).all()

    def test_an_order_is_found_with_the_mean(self, mini):
        """Without asking for bytes first, and again after more updates."""
        engine = make()
        engine.learn_lexicon(mini)
        bag = hide(mini[3], tags=1, heads=1)
        for _ in range(2):
            engine.update([(hide(s, tags=1, heads=1), s) for s in mini[:20]])
            assert order(engine, bag)[0].score == order(copy(engine), bag)[0].score != 0

    @pytest.mark.parametrize("experts", [("partial",), ("partial", "tree", "free")])
    @pytest.mark.parametrize("direction", ["left_to_right", "both"])
    def test_threads_change_nothing(self, mini, direction, experts):
        def run(n_threads, seed=0):
            engine = make(direction=direction, experts=dict.fromkeys(experts, ("words", "tree")))
            history = train(
                engine, mini[:40], epochs=2, dropout=0.1, tags=0.5, heads=0.5, seed=seed, n_threads=n_threads
            )
            return to_bytes(engine), history

        assert run(1) == run(2) == run(8)
        assert run(1, seed=1) != run(1)

    def test_not_projective_is_skipped(self, mini):
        engine = make(direction="both")
        engine.learn_lexicon(mini)
        crossed = Bag(forms=[1, 2, 3, 4], tags=[1] * 4, heads=[2, 3, ROOT, 2], labels=[1] * 4)
        bag = Bag(forms=crossed.forms, tags=crossed.tags, heads=crossed.heads)
        before = to_bytes(engine)
        assert engine.update([(bag, crossed)]) == Progress(skipped=1)
        assert to_bytes(engine) == before
        pairs = [(hide(mini[0]), mini[0]), (bag, crossed), (hide(mini[1]), mini[1])]
        progress = engine.update(pairs)
        assert (progress.examples, progress.skipped) == (2, 1)

    def test_not_projective_is_counted(self, mini_all):
        progress = train(make(), mini_all, epochs=1)[0]
        assert progress.skipped == 2
        assert progress.examples == len(mini_all) - 2

    def test_whatever_can_be_reached_is_learned_from(self):
        """Every forest of a few words as a gold tree with free heads: skipped only where no tree has this order."""
        engine = make(direction="both", table_bits=10, attach_bits=4)
        rng = random.Random(0)
        for heads in [*(f for n in range(1, 5) for f in brute.forests(n)), *brute.sample(6, 100)]:
            n = len(heads)
            gold = Bag(forms=range(1, n + 1), tags=[1] * n, heads=heads, labels=[1] * n)
            given = [h if rng.random() < 0.8 else FREE for h in heads]
            progress = engine.update([(Bag(forms=gold.forms, heads=given), gold)], beam_width=2)
            if n < 6:
                can_be_reached = any(order == tuple(range(n)) for order, _ in brute.expected(heads))
                assert progress.examples == can_be_reached
                assert progress.skipped == (not can_be_reached)

    def test_nothing(self):
        assert make().update([]) == Progress()

    @pytest.mark.parametrize("n_threads", [1, 2])
    def test_an_error_of_one_search_is_raised(self, n_threads):
        """The joint system needs a tree."""
        with pytest.raises(LinearizeError, match="SL012"):
            make(system="joint").update([(Bag(forms=[1, 2]), Bag(forms=[1, 2], tags=[1, 2]))], n_threads=n_threads)

    @pytest.mark.parametrize(
        ("code", "bag", "gold"),
        [
            ("SL010", {}, {"forms": [1, 2]}),
            ("SL014", {"heads": [1, FREE, FREE]}, {"heads": [2, ROOT, 1]}),
            ("SL048", {"before": [(2, 1)]}, {}),
            ("SL006", {}, {"labels": [1]}),
            ("SL006", {}, {"heads": [1, ROOT]}),
        ],
    )
    def test_what_contradicts_its_bag_is_refused_before_anything_is_learned(self, code, bag, gold):
        engine = make(direction="both")
        good = (Bag(forms=[1, 2]), Bag(forms=[1, 2], heads=[1, ROOT]))
        bad = (Bag(**{"forms": [1, 2, 3], **bag}), Bag(**{"forms": [1, 2, 3], **gold}))
        before = to_bytes(engine)
        with pytest.raises(LinearizeError, match=code):
            engine.update([good, bad])
        assert to_bytes(engine) == before

    def test_gold_that_cannot_be_reached(self):
        engine = make(table_bits=10)

        def learn(order, heads, given=None, width=4):
            bag = engine.pack(Bag(forms=range(1, len(order) + 1), heads=given, texts=list("abcd")[: len(order)]))
            update(decoder(engine), [(bag, order, heads, [0] * len(order), [0] * len(order))], widths=[width])

        with pytest.raises(LinearizeError, match=r"SL014.*word 0 'a'"):
            learn([0, 1, 2], [2, ROOT, 1], given=[1, FREE, FREE])  # contradicts the given arc
        with pytest.raises(LinearizeError, match=r"SL003.*word 0 'a' has head 99"):
            learn([0, 1, 2], [99, ROOT, 1])
        with pytest.raises(LinearizeError, match=r"SL022.*'beam_width' is 0"):
            learn([0], [ROOT], width=0)
        with pytest.raises(LinearizeError, match="SL010"):
            learn([0, 1, 1], [1, ROOT, 1])
        with pytest.raises(LinearizeError, match=r"SL012.*2 roots"):
            learn([0, 1, 2], [ROOT, ROOT, 1])
        with pytest.raises(LinearizeError, match="SL011"):
            learn([0, 1, 2], [1, 0, ROOT])  # a cycle beside the root
        with pytest.raises(LinearizeError, match="SL011"):
            learn([0, 1, 2, 3], [2, 3, ROOT, 2])


class TestOrder:
    def test_options(self):
        """A beam of its own for whole trees, and one that holds as many hypotheses as there are to be results."""
        engine = make(groups=("words", "tree", "pairs"))
        slow.random_weights(decoder(engine).weights)
        tree = Bag(forms=range(1, 9), heads=[ROOT, *[0] * 7])
        free = Bag(forms=range(1, 9))
        wide, narrow = SearchOptions(beam_width=64), SearchOptions(beam_width=1)
        mixed = SearchOptions(beam_width=64, tree_beam_width=1)
        assert plain(engine.order([tree], mixed)[0]) == plain(engine.order([tree], narrow)[0])
        assert plain(engine.order([free], mixed)[0]) == plain(engine.order([free], wide)[0])
        assert engine.order([free], wide)[0][0].score > engine.order([free], narrow)[0][0].score
        assert len(engine.order([tree], SearchOptions(beam_width=1, n_best=9))[0]) == 9

    def test_many_bags_at_once(self, trained, mini):
        bags = [hide(s, tags=0.5, heads=0.5) for s in mini[:20]]
        together = trained.order(bags, SearchOptions(n_best=3))
        assert [plain(one) for one in together] == [plain(trained.order([b], SearchOptions(n_best=3))[0]) for b in bags]
        assert trained.order([]) == []

    def test_the_root_gets_the_label_of_roots(self, trained, mini):
        labels = [s.labels[s.heads.index(ROOT)] for s in mini]
        assert trained.root_label == max(set(labels), key=labels.count)
        for s in mini[:10]:
            found = order(trained, hide(s))[0]
            assert found.labels[found.heads == ROOT].tolist() == [trained.root_label]

    def test_tags_that_the_search_chose_are_kept_without_a_tree(self):
        """The joint system may take another tag than the usual one; that is part of the order's score."""
        engine = make(system="joint", tags="search", table_bits=10, attach_bits=8)
        engine.learn_lexicon([
            Bag(forms=[1, 2], tags=[5, 6], heads=[1, ROOT]),
            Bag(forms=[2, 1], tags=[7, 8], heads=[1, ROOT]),
        ])  # fmt: skip
        n_other = 0
        bag = Bag(forms=[1, 2, 1])
        for seed in range(8):
            slow.random_weights(decoder(engine).weights, seed)
            with_tree, without = (order(engine, bag, beam_width=8, tree=tree)[0] for tree in (True, False))
            assert with_tree.tags.tolist() == without.tags.tolist()
            n_other += without.tags.tolist() != engine.pack(bag).column(1).tolist()
        assert n_other


class TestStoring:
    def test_round_trip(self, trained, mini):
        loaded = copy(trained)
        assert to_bytes(loaded) == to_bytes(trained)
        for s in mini[:30]:
            a, b = (order(e, hide(s, tags=0.5, heads=0.5), n_best=2) for e in (trained, loaded))
            assert plain(a) == plain(b)

    def test_all_tables_are_stored(self, mini):
        experts = dict.fromkeys(("partial", "tree", "free"), ("words",))
        engine = make(table_bits=12, direction="both", experts=experts)
        train(engine, mini[:10], epochs=1, heads=1)
        train(engine, mini[:10], epochs=1, heads=0)
        train(engine, mini[:10], epochs=1, heads=0.5)
        loaded = copy(engine)
        for a, b in zip(decoders(engine), decoders(loaded), strict=True):
            assert (a.weights.to_array() == b.weights.to_array()).all()
            assert a.mirrored == b.mirrored
        tables = [one.weights.to_array().tobytes() for one in decoders(loaded)]
        assert len(set(tables)) == 6

    def test_training_goes_on_from_a_loaded_model(self, trained, mini):
        loaded = copy(trained)
        progress = loaded.update([(hide(s, tags=1, heads=1), s) for s in mini])
        assert progress.violations < 0.3 * len(mini)

    def test_training_goes_on_in_the_same_way(self, mini):
        engine = make(direction="both", table_bits=16)
        first = train(engine, mini, epochs=4)
        data = to_bytes(engine)
        loaded = copy(engine)
        assert to_bytes(loaded) == data
        before = exact(loaded, mini)
        pairs = [(hide(s, tags=1, heads=1), s) for s in mini]
        progress = loaded.update(pairs, seed=3)
        assert progress.violations < 0.5 * first[0].violations
        assert to_bytes(loaded) != data
        assert exact(loaded, mini) >= before - 0.05
        again = pickle.loads(pickle.dumps(copy(engine)))
        again.update(pairs, seed=3, n_threads=2)
        assert to_bytes(again) == to_bytes(loaded)

    def test_change_ngrams(self, mini):
        engine = make(ngram_order=3)
        train(engine, mini[:20], epochs=1)
        model = decoder(engine).ngrams
        before = len(model)
        bag = hide(mini[3], heads=0.5, rng=random.Random(1))
        first = order(engine, bag)[0].score
        engine.change_ngrams(weights={"partial": 0.0})
        assert engine.settings.ngram_weights == {"partial": 0.0, "tree": 8.0, "free": 5.0}
        assert order(engine, bag)[0].score != first
        engine.change_ngrams(weights={"partial": 5.0})
        assert (len(model), order(engine, bag)[0].score) == (before, first)
        engine.change_ngrams(order=2)
        assert (engine.settings.ngram_order, len(model)) == (2, 0)
        engine.learn_ngrams([text_of(mini[:20])])
        assert model.order == 2
        assert 0 < len(model) < before
        assert to_bytes(copy(engine)) == to_bytes(engine)
        with pytest.raises(LinearizeError, match=r"SL022.*'ngram_order'"):
            engine.change_ngrams(order=9)
        with pytest.raises(LinearizeError, match=r"SL022.*'ngram_weights'"):
            engine.change_ngrams(weights={"all": 1.0})
        assert (engine.settings.ngram_order, model.order) == (2, 2)

    def test_ngrams_without_an_order(self):
        engine = make(ngram_order=0)
        assert engine.learn_ngrams([text_from([[1, 2, 3]])]) == []
        assert decoder(engine).ngrams.order == 0

    def test_both_directions_share_the_ngrams(self):
        engine = make(direction="both", ngram_order=2)
        assert engine.learn_ngrams([text_from([[1, 2, 3]] * 3)]) == [1.0]
        assert all(one.ngrams is engine.experts.ngrams for one in decoders(engine))
        assert engine.experts.ngrams.score([1, 2, 3]) > engine.experts.ngrams.score([3, 2, 1])


def test_a_search_that_is_given_up(monkeypatch):
    """Whether an order exists is tried up to a limit. Beyond, nothing can be said of what contradicts what."""
    monkeypatch.setattr(engine_module, "decode", lambda decoders, bags, **_: [[] for _ in bags])
    for name in ("some_order", "conflict"):
        monkeypatch.setattr(engine_module, name, lambda *_: None)
    with pytest.raises(LinearizeError, match="SL009"):
        make().order([Bag(forms=[1, 2], before=[(0, 1)])])
