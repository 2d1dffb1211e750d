"""Model files: compact tables, compressed arrays, and whatever can be wrong with them."""

import json
import random
import tracemalloc
import zlib

import numpy as np
import pytest

from spacy_linearize.core import store
from spacy_linearize.core.engine import Engine
from spacy_linearize.core.settings import Settings
from spacy_linearize.errors import LinearizeError


@pytest.fixture(scope="module")
def small(mini):
    """A compact model with everything in it."""
    settings = Settings(
        direction="both", table_bits=6, attach_bits=4, markers=(7, 8), ngram_order=2, groups=("next",), copies=2
    )
    engine = Engine(settings)
    engine.train(mini[:3], epochs=2)
    engine.compact(0.01)
    return engine.to_bytes()


def take_apart(data):
    """The header as JSON, and the arrays as one chunk of bytes."""
    _, _, length, _ = store.PREFIX.unpack_from(data)
    body = data[store.PREFIX.size :]
    return json.loads(body[:length]), body[length:]


def put_together(head, chunks):
    """A file with a good checksum, whatever it holds."""
    head = head if isinstance(head, bytes) else json.dumps(head, sort_keys=True).encode()
    prefix = store.PREFIX.pack(store.SIGNATURE, store.FORMAT_VERSION, len(head), zlib.crc32(head + chunks))
    return prefix + head + chunks


def decodes(data, mini):
    """Whether bytes are a model that orders words. Nothing but an error of this package may come of them."""
    try:
        engine = Engine.from_bytes(data)
        for s in mini[:2]:
            for tags, heads in ((0, 0), (1, 1)):
                result = engine.order(engine.hide(s, tags=tags, heads=heads), beam_width=2)[0]
                assert sorted(result.order.tolist()) == list(range(len(s)))
    except LinearizeError:
        return False
    return True


def test_the_pieces_of_a_file(small, mini):
    assert put_together(*take_apart(small)) == small
    assert decodes(small, mini)


def test_arrays_round_trip():
    """Of every type, empty and not, whether or not they can be compressed."""
    rng = np.random.default_rng(0)
    for length in (0, 1, 2, 7, 100, 1000):
        for high in (1, 2, 100):
            arrays = {
                "u8": rng.integers(0, high, length, dtype=np.uint64),
                "u4": rng.integers(0, high, length, dtype=np.uint32),
                "i4": rng.integers(-high, high, length, dtype=np.int32),
                "i1": rng.integers(-high, high, length, dtype=np.int8),
                "f4": rng.normal(size=length).astype(np.float32),
            }
            header, found = store.unpack(store.pack({"a": 1}, arrays))
            assert header == {"a": 1}
            for name, array in arrays.items():
                assert found[name].dtype == array.dtype
                assert (found[name] == array).all()


def test_an_array_that_compresses_to_its_own_length():
    """Its stored size does not tell whether it is compressed, so it must not be."""
    rng = np.random.default_rng(0)
    found = 0
    for length in range(8, 60):
        array = rng.integers(0, 4, length, dtype=np.int8)
        found += len(zlib.compress(array.tobytes())) == length
        assert (store.unpack(store.pack({}, {"a": array}))[1]["a"] == array).all()
    assert found


@pytest.mark.parametrize("promised", [0, 1, 999, 1001, 10**6, store.MAX_LENGTH])
def test_an_array_that_inflates_to_another_size_than_promised(promised):
    chunk = zlib.compress(bytes(1000))
    data = put_together({"arrays": [["a", "|i1", promised, len(chunk)]]}, chunk)
    with pytest.raises(LinearizeError, match=r"SL032.*an array of"):
        store.unpack(data)


def test_a_bomb_takes_no_memory():
    chunk = zlib.compress(bytes(50_000_000), 9)
    data = put_together({"arrays": [["a", "|i1", 1000, len(chunk)]]}, chunk)
    tracemalloc.start()
    try:
        with pytest.raises(LinearizeError, match="SL032"):
            store.unpack(data)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_stream_that_does_not_end():
    chunk = zlib.compress(bytes(1000))[:-1]
    with pytest.raises(LinearizeError, match="SL032"):
        store.unpack(put_together({"arrays": [["a", "|i1", 1000, len(chunk)]]}, chunk))


def test_every_truncation(small):
    for length in range(len(small)):
        with pytest.raises(LinearizeError, match="SL030" if length < 8 else "SL032"):
            Engine.from_bytes(small[:length])


def test_flipped_bytes(small, mini):
    rng = random.Random(0)
    for _ in range(500):
        broken = bytearray(small)
        broken[rng.randrange(len(small))] ^= rng.randrange(1, 256)
        assert not decodes(bytes(broken), mini)


@pytest.mark.parametrize("seed", range(5))
def test_flipped_bytes_behind_a_good_checksum(small, mini, seed):
    """Not an accident but a file that somebody made: still an error of this package, or a model that decodes."""
    _, _, length, _ = store.PREFIX.unpack_from(small)
    body = small[store.PREFIX.size :]
    rng = random.Random(seed)
    for _ in range(300):
        broken = bytearray(body)
        broken[rng.randrange(length if rng.random() < 0.5 else len(body))] ^= rng.randrange(1, 256)
        decodes(put_together(bytes(broken[:length]), bytes(broken[length:])), mini)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("root_label", "x"),
        ("root_label", -1),
        ("root_label", 1e999),
        ("root_label", 2**64),
        ("root_label", None),
        ("fingerprint", "x"),
        ("settings", {"markers": [-1]}),
        ("settings", {"markers": [2**64]}),
        ("settings", {"markers": ["case"]}),
        ("settings", {"markers": 5}),
        ("settings", {"markers": [1.5]}),
        ("settings", {"groups": [["next"]]}),
        ("settings", {"templates": [5]}),
        ("settings", {"ngram_order": 4}),
        ("settings", {"ngram_order": 0}),
        ("settings", {"direction": ["both"]}),
        ("settings", {"table_bits": 7}),
        ("settings", {"table_bits": 5}),
        ("settings", []),
    ],
)
def test_headers_that_somebody_made(small, mini, key, value):
    head, chunks = take_apart(small)
    head[key] = {**head[key], **value} if isinstance(value, dict) else value
    decodes(put_together(head, chunks), mini)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("search0.units", np.zeros(63, dtype=np.int8)),
        ("search0.units", np.zeros(65, dtype=np.int8)),
        ("search0.scale", np.zeros(0, dtype=np.float32)),
        ("search0.scale", np.ones(2, dtype=np.float32)),
        ("search0.scale", np.array([np.nan], dtype=np.float32)),
        ("search0.scale", np.array([np.inf], dtype=np.float32)),
        ("ngrams0", np.full(16, 1 << 32, dtype=np.uint64)),
        ("ngrams0", np.zeros(15, dtype=np.uint64)),
    ],
)
def test_arrays_that_do_not_fit(small, name, array):
    header, arrays = store.unpack(small)
    with pytest.raises(LinearizeError, match=r"SL032|SL022"):
        Engine.from_bytes(store.pack(header, {**arrays, name: array}))


def test_slots_that_are_no_slots(mini):
    engine = Engine(Settings(table_bits=6, attach_bits=4, groups=("next",)))
    engine.train(mini[:2], epochs=1)
    header, arrays = store.unpack(engine.to_bytes())
    slots = arrays["search0.slots"]
    for wrong in (slots.astype(np.float32), slots.astype(np.int32) - 1000):
        with pytest.raises(LinearizeError, match="SL032"):
            Engine.from_bytes(store.pack(header, {**arrays, "search0.slots": wrong}))


def test_lists_of_the_lexicon_that_are_empty(small, mini):
    header, arrays = store.unpack(small)
    lengths = arrays["lexicon.lengths"].astype(np.int32)
    lengths[0] += 1 + lengths[1]
    lengths[1] = -1
    with pytest.raises(LinearizeError, match="SL032"):
        Engine.from_bytes(store.pack(header, {**arrays, "lexicon.lengths": lengths}))
