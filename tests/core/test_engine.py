"""Learning on the mini treebank, and models as files."""

import json
import os
import struct
import zlib

import numpy as np
import pytest
import slow

from spacy_linearize.core import store
from spacy_linearize.core.bag.bag import FREE, ROOT, PackedBag
from spacy_linearize.core.engine import Engine
from spacy_linearize.core.records import Sentence
from spacy_linearize.core.search.learn import update
from spacy_linearize.core.settings import Settings
from spacy_linearize.errors import LinearizeError

PAPER_GROUPS = ("unigram", "bigram", "trigram", "linearization", "lookahead", "lookahead_of_S0")


def exact(engine, sentences, beam_width=16, **given):
    """The share of sentences that come back in their own order."""
    right = 0
    for s in sentences:
        result = engine.order(engine.hide(s, **given), beam_width=beam_width)[0]
        right += [s.texts[k] for k in result.order] == list(s.texts)
    return right / len(sentences)


@pytest.fixture(scope="module")
def trained(mini):
    engine = Engine(Settings(table_bits=16, attach_bits=14))
    engine.train(mini, epochs=6)
    return engine


@pytest.mark.parametrize("direction", ["left_to_right", "right_to_left", "both"])
def test_full_trees_are_learned(mini, direction):
    engine = Engine(Settings(direction=direction, table_bits=18))
    engine.train(mini, epochs=8)
    assert exact(engine, mini, tags=1, heads=1) >= 0.95


def test_free_violations_fall_each_epoch(mini):
    engine = Engine(Settings(table_bits=18))
    violations = [p.violations for p in engine.train(mini, epochs=4, tags=0, heads=0)]
    assert violations == sorted(violations, reverse=True)
    assert violations[-1] < 0.5 * violations[0]


def test_joint_with_the_papers_features_and_beam_64(mini):
    engine = Engine(Settings(system="joint", groups=PAPER_GROUPS, table_bits=18, update="early"))
    history = engine.train(mini, epochs=5, beam_width=64, tags=1, heads=1)
    assert history[-1].violations < 0.4 * history[0].violations
    assert exact(engine, mini, beam_width=64, tags=1, heads=1) >= 0.9


def test_joint_searches_tags_and_labels(mini):
    engine = Engine(Settings(system="joint", tags="search", table_bits=18))
    engine.train(mini, epochs=6, tags=0, heads=0)
    assert exact(engine, mini, tags=0, heads=0) > 0.5
    right = total = 0
    for s in mini:
        result = engine.order(engine.hide(s))[0]
        assert (result.heads == ROOT).sum() == 1
        assert 0 not in result.labels
        right += int((result.tags == s.tags).sum())
        total += len(s)
    assert right / total > 0.9


def test_liu_2015_actions(mini):
    settings = Settings(system="joint", groups=PAPER_GROUPS[:4], atomic_shift=True, update="early", table_bits=18)
    engine = Engine(settings)
    engine.train(mini, epochs=6, tags=1, heads=1)
    assert exact(engine, mini, tags=1, heads=1) > 0.8


def test_german(mini_de):
    engine = Engine(Settings(table_bits=16))
    engine.train(mini_de, epochs=10)
    assert exact(engine, mini_de, tags=1, heads=1) >= 0.9


def test_dropout_is_seeded(mini):
    def train(seed):
        engine = Engine(Settings(table_bits=14))
        engine.train(mini[:30], epochs=2, seed=seed, dropout=0.2)
        return engine.to_bytes()

    assert train(1) == train(1)
    assert train(1) != train(2)


def test_dropout_is_a_share(mini):
    engine = Engine(Settings(table_bits=10))
    with pytest.raises(LinearizeError, match=r"SL022.*'dropout' is 1"):
        engine.update([(engine.hide(mini[0]), mini[0])], dropout=1)


def test_order_is_learned_without_a_tree(mini):
    """Text alone is enough for the system that orders first; the joint one needs trees."""
    bare = [Sentence(forms=s.forms, tags=s.tags, heads=[FREE] * len(s), labels=[], texts=s.texts) for s in mini]
    engine = Engine(Settings(table_bits=16))
    history = engine.train(bare, epochs=4, tags=1, heads=0)
    assert history[-1].violations < 0.5 * history[0].violations
    with pytest.raises(LinearizeError, match="SL012"):
        Engine(Settings(system="joint", table_bits=10)).train(bare, epochs=1)


def test_early_and_max_violation_differ(mini):
    def train(rule):
        engine = Engine(Settings(table_bits=14, update=rule))
        return engine.train(mini, epochs=1, tags=0, heads=0)[0]

    early, most = train("early"), train("max_violation")
    assert early.actions < most.actions
    assert early.examples == most.examples == len(mini)


def test_update_without_violation_changes_nothing(trained, mini):
    engine = Engine.from_bytes(trained.to_bytes())
    s = next(s for s in mini if exact(engine, [s], tags=1, heads=1) == 1 and len(s) > 6)
    before = engine.decoder.weights.to_array()
    progress = engine.update([(engine.hide(s, tags=1, heads=1), s)])
    assert (progress.examples, progress.violations, progress.actions) == (1, 0, 0)
    assert (engine.decoder.weights.to_array() == before).all()


def test_averaging(mini):
    """The averaged weights are the mean of the weights after each example, the start included."""
    engine = Engine(Settings(table_bits=12, attach_bits=8))
    engine.learn_lexicon(mini)
    s = mini[3]
    bag = engine.hide(s, tags=1, heads=1)
    engine.update([(bag, s)])
    # One update at time 1 of 2: the mean is half of the weights, which are whole numbers.
    first = engine.decoder.weights.to_array()
    assert np.abs(first).max() > 0
    assert ((first * 2) % 1 == 0).all()
    bag_of_one = engine.bag(forms=[1])
    one = Sentence(forms=[1], tags=[1], heads=[ROOT], labels=[1])
    engine.update([(bag_of_one, one)])  # nothing to learn here
    assert engine.decoder.weights.to_array() == pytest.approx(first * 2 * 2 / 3)


def test_not_projective_is_skipped_and_counted(mini_all):
    engine = Engine(Settings(table_bits=14))
    progress = engine.train(mini_all, epochs=1)[0]
    assert progress.skipped == 2
    assert progress.examples == len(mini_all) - 2


def test_gold_that_cannot_be_reached(mini):
    engine = Engine(Settings(table_bits=10))

    def learn(given, order, heads):
        bag = PackedBag([1, 2, 3], heads=given, texts=["a", "b", "c"])
        update(engine.decoder, bag, order, heads, [0] * 3, [0] * 3, width=4)

    with pytest.raises(LinearizeError, match=r"SL014.*word 0 'a'"):
        learn([1, FREE, FREE], [0, 1, 2], [2, ROOT, 1])  # contradicts the given arc
    with pytest.raises(LinearizeError, match=r"SL003.*word 0 'a' has head 99"):
        learn([FREE] * 3, [0, 1, 2], [99, ROOT, 1])
    with pytest.raises(LinearizeError, match=r"SL022.*'beam_width' is 0"):
        update(engine.decoder, PackedBag([1]), [0], [ROOT], [0], [0], width=0)
    with pytest.raises(LinearizeError, match="SL010"):
        learn([FREE] * 3, [0, 1, 1], [1, ROOT, 1])
    with pytest.raises(LinearizeError, match=r"SL012.*2 roots"):
        learn([FREE] * 3, [0, 1, 2], [ROOT, ROOT, 1])
    with pytest.raises(LinearizeError, match="SL011"):
        learn([FREE] * 3, [0, 1, 2], [1, 0, ROOT])  # a cycle beside the root
    bag = PackedBag([1, 2, 3, 4])
    with pytest.raises(LinearizeError, match="SL011"):
        update(engine.decoder, bag, [0, 1, 2, 3], [2, 3, ROOT, 2], [0] * 4, [0] * 4, width=4)


def test_unseen_words_get_tags_from_suffix_then_shape():
    """Words 1 to 3 are seen with a tag, suffix and shape each; a frequent word teaches nothing about unseen ones."""
    engine = Engine(Settings(table_bits=8, attach_bits=8))
    columns = {"suffixes": [21, 22, 22], "shapes": [31, 31, 32]}
    rare = Sentence(forms=[1, 2, 3], tags=[11, 12, 13], heads=[1, ROOT, 1], labels=[0, 0, 0], **columns)
    frequent = Sentence(forms=[4], tags=[14], heads=[ROOT], labels=[0], suffixes=[21], shapes=[31])
    engine.learn_lexicon([rare] + [frequent] * 50)

    def tag(form, suffix, shape):
        bag = engine.bag(forms=[form], suffixes=[suffix], shapes=[shape])
        return int(engine.order(bag)[0].tags[0])

    assert tag(4, 0, 0) == 14
    assert tag(99, 21, 31) == 11
    assert tag(99, 22, 32) == 13
    assert tag(99, 21, 99) == 11
    assert tag(99, 99, 32) == 13
    assert tag(99, 99, 99) in (11, 12, 13)


class TestSettings:
    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("system", "arc_eager"),
            ("direction", "up"),
            ("tags", "all"),
            ("update", "late"),
            ("table_bits", 99),
            ("table_bits", 20.0),
            ("attach_bits", "18"),
            ("labelled", "yes"),
            ("markers", ("case",)),
            ("markers", (-1,)),
            ("markers", (1 << 64,)),
            ("copies", 0),
            ("ngram_order", 5),
            ("ngram_order", -1),
            ("ngram_weight", -1.0),
            ("ngram_weight", float("inf")),
            ("ngram_weight", float("nan")),
            ("ngram_weight", "8"),
        ],
    )
    def test_wrong_values_name_the_key(self, key, value):
        with pytest.raises(LinearizeError, match=rf"SL022.*'{key}' is"):
            Settings(**{key: value})

    def test_tag_search_needs_the_joint_system(self):
        with pytest.raises(LinearizeError, match=r"SL022.*'tags' is 'search'"):
            Settings(tags="search")

    def test_round_trip(self):
        settings = Settings(
            system="joint", groups=("bigram",), templates=("S0.w L.w",), markers=(7, 2**64 - 1), copies=2
        )
        assert Settings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings

    def test_unknown_key(self):
        with pytest.raises(LinearizeError, match=r"SL022.*'colour'"):
            Settings.from_dict({"colour": "red"})


class TestModelFile:
    def test_round_trip(self, trained, mini, tmp_path):
        trained.save(tmp_path / "model")
        loaded = Engine.load(tmp_path / "model")
        assert loaded.to_bytes() == trained.to_bytes()
        for s in mini[:30]:
            a, b = (e.order(e.hide(s, tags=0.5, heads=0.5))[0] for e in (trained, loaded))
            assert (a.order.tolist(), a.heads.tolist(), a.labels.tolist(), a.score) == (
                b.order.tolist(),
                b.heads.tolist(),
                b.labels.tolist(),
                b.score,
            )

    def test_both_directions_are_stored(self, mini):
        engine = Engine(Settings(table_bits=12, attach_bits=10, direction="both"))
        engine.train(mini[:10], epochs=1)
        loaded = Engine.from_bytes(engine.to_bytes())
        for a, b in zip(engine.decoders, loaded.decoders, strict=True):
            assert (a.weights.to_array() == b.weights.to_array()).all()
            assert a.mirrored == b.mirrored
        assert not (loaded.decoders[0].weights.to_array() == loaded.decoders[1].weights.to_array()).all()

    def test_training_goes_on_from_a_loaded_model(self, trained, mini):
        loaded = Engine.from_bytes(trained.to_bytes())
        progress = loaded.update([(loaded.hide(s, tags=1, heads=1), s) for s in mini])
        assert progress.violations < 0.3 * len(mini)

    def test_foreign_file(self, tmp_path):
        (tmp_path / "x").write_bytes(b"PK\x03\x04 something else")
        with pytest.raises(LinearizeError, match=r"SL030.*x is not a spacy_linearize model"):
            Engine.load(tmp_path / "x")

    def test_newer_file(self, trained):
        data = bytearray(trained.to_bytes())
        struct.pack_into("<I", data, 8, 99)
        with pytest.raises(LinearizeError, match=r"SL031.*format 99.*up to 1"):
            Engine.from_bytes(bytes(data))

    def test_truncated_file(self, mini):
        engine = Engine(Settings(table_bits=6, attach_bits=4))
        engine.train(mini[:2], epochs=1)
        data = engine.to_bytes()
        for length in range(len(data)):
            with pytest.raises(LinearizeError, match="SL030" if length < 8 else "SL032"):
                Engine.from_bytes(data[:length])

    def test_flipped_bytes(self, mini):
        engine = Engine(Settings(table_bits=6, attach_bits=4))
        engine.train(mini[:2], epochs=1)
        data = engine.to_bytes()
        for i in range(len(data)):
            broken = bytearray(data)
            broken[i] ^= 0x55
            with pytest.raises(LinearizeError, match=r"SL03[012]"):
                Engine.from_bytes(bytes(broken))

    def test_other_templates(self, trained):
        header, arrays = store.unpack(trained.to_bytes())
        header["settings"]["groups"] = ["unigram"]
        with pytest.raises(LinearizeError, match=r"SL033.*Use the version .* or train the model again"):
            Engine.from_bytes(store.pack(header, arrays))

    @pytest.mark.parametrize(
        ("name", "array"),
        [
            ("search0.values", np.array([1.0], dtype=np.float32)),
            ("search0.slots", np.array([2**31], dtype=np.uint32)),
            ("lexicon.lengths", np.array([7], dtype=np.uint32)),
            ("lexicon.keys", np.array([7, 8], dtype=np.uint64)),
        ],
    )
    def test_arrays_that_do_not_fit(self, trained, name, array):
        header, arrays = store.unpack(trained.to_bytes())
        with pytest.raises(LinearizeError, match="SL032"):
            Engine.from_bytes(store.pack(header, {**arrays, name: array}))

    def test_values_that_are_not_numbers(self, trained):
        header, arrays = store.unpack(trained.to_bytes())
        values = arrays["search0.values"].copy()
        values[0] = np.nan
        with pytest.raises(LinearizeError, match=r"SL032.*not numbers"):
            Engine.from_bytes(store.pack(header, {**arrays, "search0.values": values}))

    def test_sizes_are_checked_before_memory_is_taken(self, trained):
        header, arrays = store.unpack(trained.to_bytes())
        data = store.pack(header, arrays)
        body = data[store.PREFIX.size :].replace(b'["lexicon.keys", "<u8", ', b'["lexicon.keys", "<u8", 99999999999', 1)
        head_length = struct.unpack_from("<I", data, 12)[0] + 11
        prefix = store.PREFIX.pack(store.SIGNATURE, 1, head_length, zlib.crc32(body))
        with pytest.raises(LinearizeError, match="SL032"):
            Engine.from_bytes(prefix + body)

    def test_saving_is_atomic(self, trained, tmp_path, monkeypatch):
        path = tmp_path / "model"
        path.write_bytes(b"old")

        def fail(*_):
            raise OSError("no space left on device")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="no space"):
            trained.save(path)
        assert path.read_bytes() == b"old"
        assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_tags_that_the_search_chose_are_kept_without_a_tree():
    """The joint system may take another tag than the usual one; that is part of the order's score."""
    sentences = [
        Sentence(forms=[1, 2], tags=[5, 6], heads=[1, ROOT], labels=[0, 0]),
        Sentence(forms=[2, 1], tags=[7, 8], heads=[1, ROOT], labels=[0, 0]),
    ]
    engine = Engine(Settings(system="joint", tags="search", table_bits=10, attach_bits=8))
    engine.learn_lexicon(sentences)
    n_other = 0
    for seed in range(8):
        slow.random_weights(engine.decoder.weights, seed)
        bag = engine.bag(forms=[1, 2, 1])
        with_tree, without = (engine.order(bag, beam_width=8, tree=tree)[0] for tree in (True, False))
        assert with_tree.tags.tolist() == without.tags.tolist()
        n_other += without.tags.tolist() != bag.column(1).tolist()
    assert n_other
