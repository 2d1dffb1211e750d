"""Model files: compact tables, compressed arrays, and whatever can be wrong with them."""

import json
import os
import random
import subprocess
import sys
import tracemalloc
import zlib

import numpy as np
import pytest
from helpers.core import from_bytes, hide, make, order, to_bytes, train

from spacy_linearize.core import store
from spacy_linearize.errors import LinearizeError


@pytest.fixture(scope="module")
def small(mini):
    """A compact model with everything in it."""
    experts = dict.fromkeys(("partial", "tree", "free"), ("next",))
    engine = make(direction="both", table_bits=6, attach_bits=4, markers=(7, 8), ngram_order=2, experts=experts)
    train(engine, mini[:3], epochs=2)
    engine.compact(0.01)
    return to_bytes(engine)


@pytest.fixture(scope="module")
def uncompressed(mini):
    """A model with weights as fractions."""
    engine = make(table_bits=6, attach_bits=4, groups=("next",))
    train(engine, mini[:2], epochs=1)
    return to_bytes(engine)


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
        engine = from_bytes(data)
        for s in mini[:2]:
            for tags, heads in ((0, 0), (1, 1)):
                result = order(engine, hide(s, tags, heads), beam_width=2)[0]
                assert sorted(result.order.tolist()) == list(range(len(s)))
    except LinearizeError:
        return False
    return True


def test_the_pieces_of_a_file(small, mini):
    assert put_together(*take_apart(small)) == small
    assert decodes(small, mini)


def test_without_threads(small, monkeypatch):
    """There may be too many already, and there are none when the interpreter shuts down."""

    def fail(*args, **kwargs):
        raise RuntimeError("can't start new thread")

    _, expected = store.unpack(small)
    monkeypatch.setattr(store.ThreadPoolExecutor, "submit", fail)
    _, found = store.unpack(small)
    assert {name: array.tolist() for name, array in found.items()} == {
        name: array.tolist() for name, array in expected.items()
    }
    with pytest.raises(LinearizeError, match="SL032"):
        store.unpack(small[:-1])


def test_arrays_round_trip():
    """Of every type, empty and not, whether or not they can be compressed."""
    rng = np.random.default_rng(0)
    for length in (0, 1, 2, 7, 100, 1000):
        for high in (1, 2, 100):
            arrays = {
                "u8": rng.integers(0, high, length, dtype=np.uint64),
                "u4": rng.integers(0, high, length, dtype=np.uint32),
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


@pytest.mark.parametrize("model", ["small", "uncompressed"])
def test_every_truncation(model, request):
    data = request.getfixturevalue(model)
    for length in range(len(data)):
        with pytest.raises(LinearizeError, match="SL030" if length < 8 else "SL032"):
            from_bytes(data[:length])


@pytest.mark.parametrize("model", ["small", "uncompressed"])
def test_every_byte_flipped(model, request):
    data = request.getfixturevalue(model)
    rng = random.Random(0)
    for i in range(len(data)):
        broken = bytearray(data)
        broken[i] ^= rng.randrange(1, 256)
        with pytest.raises(LinearizeError, match=r"SL03[012]"):
            from_bytes(bytes(broken))


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
        ("settings", {"experts": {"partial": [["next"]]}}),
        ("settings", {"experts": {"partial": ["next"]}}),
        ("settings", {"experts": ["partial"]}),
        ("settings", {"experts": None}),
        ("settings", {"ngram_weights": {"tree": "x"}}),
        ("settings", {"ngram_weights": None}),
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
        ("partial.0.units", np.zeros(63, dtype=np.int8)),
        ("partial.0.units", np.zeros(65, dtype=np.int8)),
        ("partial.0.scale", np.zeros(0, dtype=np.float32)),
        ("partial.0.scale", np.ones(2, dtype=np.float32)),
        ("partial.0.scale", np.array([np.nan], dtype=np.float32)),
        ("partial.0.scale", np.array([np.inf], dtype=np.float32)),
        ("ngrams.checks", np.full(16, 1, dtype=np.uint16)),
        ("ngrams.checks", np.zeros(15, dtype=np.uint16)),
        ("ngrams.homes", np.array([1 << 63], dtype=np.uint64)),
        ("ngrams.books", np.full(1536, np.nan, dtype=np.float32)),
        ("ngrams.backoffs", np.zeros(3, dtype=np.uint8)),
    ],
)
def test_arrays_that_do_not_fit(small, name, array):
    header, arrays = store.unpack(small)
    with pytest.raises(LinearizeError, match=r"SL032|SL022"):
        from_bytes(store.pack(header, {**arrays, name: array}))


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("partial.0.values", np.array([1.0], dtype=np.float32)),
        ("partial.0.slots", np.array([2**31], dtype=np.uint32)),
        ("lexicon.lengths", np.array([7], dtype=np.uint32)),
        ("lexicon.keys", np.array([7, 8], dtype=np.uint64)),
    ],
)
def test_lists_that_do_not_fit(uncompressed, name, array):
    header, arrays = store.unpack(uncompressed)
    with pytest.raises(LinearizeError, match="SL032"):
        from_bytes(store.pack(header, {**arrays, name: array}))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_numbers(uncompressed, value):
    header, arrays = store.unpack(uncompressed)
    values = arrays["partial.0.values"].copy()
    values[0] = value
    with pytest.raises(LinearizeError, match=r"SL032.*not numbers"):
        from_bytes(store.pack(header, {**arrays, "partial.0.values": values}))


def test_slots_that_are_no_slots(uncompressed):
    header, arrays = store.unpack(uncompressed)
    slots = arrays["partial.0.slots"]
    for wrong in (slots.astype(np.float32), slots.astype(np.int32) - 1000):
        with pytest.raises(LinearizeError, match="SL032"):
            from_bytes(store.pack(header, {**arrays, "partial.0.slots": wrong}))


def test_lists_of_the_lexicon_that_are_empty(small, mini):
    header, arrays = store.unpack(small)
    lengths = arrays["lexicon.lengths"].astype(np.int32)
    lengths[0] += 1 + lengths[1]
    lengths[1] = -1
    with pytest.raises(LinearizeError, match="SL032"):
        from_bytes(store.pack(header, {**arrays, "lexicon.lengths": lengths}))


@pytest.mark.parametrize("version", [0, 2, 99, 2**32 - 1])
def test_another_format_says_so(small, version):
    other = small[:8] + version.to_bytes(4, "little") + small[12:]
    with pytest.raises(LinearizeError, match=f"SL031.*has model format {version}, and this version reads"):
        from_bytes(other)


def test_foreign_bytes_are_called_by_the_name_of_their_file():
    with pytest.raises(LinearizeError, match=r"SL030.*somewhere/x is not a spacy_linearize model"):
        from_bytes(b"PK\x03\x04 something else", "somewhere/x")


def test_other_templates(small):
    header, arrays = store.unpack(small)
    header["settings"]["experts"]["tree"] = ["unigram"]
    with pytest.raises(LinearizeError, match=r"SL033.*Use the version .* or train the model again"):
        from_bytes(store.pack(header, arrays))


def test_bytes_that_belong_to_no_array(small):
    head, chunks = take_apart(small)
    with pytest.raises(LinearizeError, match=r"SL032.*3 bytes that belong to no array"):
        from_bytes(put_together(head, chunks + b"abc"))


def test_a_header_that_is_nested_too_deep(small):
    with pytest.raises(LinearizeError, match="SL032"):
        from_bytes(put_together(b"[" * 100_000, b""))


@pytest.mark.parametrize(
    "name",
    ["lexicon.keys", "lexicon.symbols", "lexicon.lengths", "ngrams.checks", "ngrams.backoffs", "attach.units"],
)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, None])
def test_arrays_of_another_type_or_none(small, name, dtype):
    header, arrays = store.unpack(small)
    array = arrays.pop(name)
    with pytest.raises(LinearizeError, match=f"SL032.*'?{name.split('.')[0]}"):
        from_bytes(store.pack(header, arrays if dtype is None else {**arrays, name: array.astype(dtype)}))


def test_values_of_another_type(uncompressed):
    header, arrays = store.unpack(uncompressed)
    for dtype in (np.uint64, np.int8):
        changed = {**arrays, "partial.0.values": arrays["partial.0.values"].astype(dtype)}
        with pytest.raises(LinearizeError, match=r"SL032.*partial\.0\.values"):
            from_bytes(store.pack(header, changed))


def test_a_scale_whose_multiples_are_no_numbers(small):
    header, arrays = store.unpack(small)
    changed = {**arrays, "partial.0.scale": np.array([3e38], dtype=np.float32)}
    with pytest.raises(LinearizeError, match=r"SL032.*not numbers"):
        from_bytes(store.pack(header, changed))


def test_slots_that_do_not_rise(uncompressed):
    """One that comes up again and again would take hardly any place in a file, and stand for a table of any size."""
    header, arrays = store.unpack(uncompressed)
    slots = arrays["partial.0.slots"]
    for changed in (slots[::-1], np.zeros_like(slots), np.concatenate([slots[:1], slots[:-1]])):
        with pytest.raises(LinearizeError, match=r"SL032.*'partial.0' does not fit"):
            from_bytes(store.pack(header, {**arrays, "partial.0.slots": np.ascontiguousarray(changed)}))


def test_fractions_are_stored_as_they_are():
    """So that a table is not larger than its bytes allow."""
    values = np.zeros(1 << 16, dtype=np.float32)
    assert len(store.pack({}, {"values": values})) > values.nbytes
    head, _ = take_apart(store.pack({}, {"values": values}))
    chunk = zlib.compress(values.tobytes())
    head["arrays"][0][3] = len(chunk)
    with pytest.raises(LinearizeError, match=r"SL032.*an array of 65536 entries"):
        store.unpack(put_together(head, chunk))


# Loads files with little memory to spare: what each gives is printed. Linux says how much memory is in use.
LOAD = """
import resource, sys
sys.path[:0] = {paths}
from pathlib import Path
from helpers.core import from_bytes
from_bytes(Path(sys.argv[1]).read_bytes())
in_use = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (in_use + (64 << 20),) * 2)
for path in sys.argv[1:]:
    try:
        from_bytes(Path(path).read_bytes())
        print("loaded")
    except Exception as problem:
        print(getattr(problem, "code", repr(problem)))
"""


@pytest.mark.skipif(
    not os.path.exists("/proc/self/statm") or "libasan" in os.environ.get("LD_PRELOAD", ""),
    reason="needs /proc, and memory that a sanitizer does not take",
)
def test_sizes_are_checked_before_memory_is_taken(small, uncompressed, tmp_path):
    """A file that claims gigabytes is refused as damaged, not for want of memory. One that has them says how much."""
    files = [small]
    for model in (small, uncompressed):
        head, chunks = take_apart(model)
        for key in ("table_bits", "attach_bits"):
            files.append(put_together({**head, "settings": {**head["settings"], key: 30}}, chunks))
        for length in (store.MAX_LENGTH, 2**60, -1, 10**30):
            for i, (name, dtype, _, stored) in enumerate(head["arrays"]):
                arrays = [*head["arrays"][:i], [name, dtype, length, stored], *head["arrays"][i + 1 :]]
                files.append(put_together({**head, "arrays": arrays}, chunks))
    # As large as it says, and more than there is.
    header, arrays = store.unpack(uncompressed)
    slots = np.arange(0, 1 << 26, store.MIN_SHARE, dtype=np.uint32)
    large = {**arrays, "partial.0.slots": slots, "partial.0.values": np.zeros(len(slots), dtype=np.float32)}
    files.append(store.pack({**header, "settings": {**header["settings"], "table_bits": 26}}, large))
    paths = [tmp_path / str(i) for i in range(len(files))]
    for path, data in zip(paths, files, strict=True):
        path.write_bytes(data)
    program = LOAD.format(paths=[path for path in sys.path if path])
    result = subprocess.run([sys.executable, "-c", program, *paths], capture_output=True, text=True, check=True)
    found = result.stdout.split()
    assert found[0] == "loaded"
    assert found[-1] == "SL034"
    assert found[1:-1] == ["SL032"] * (len(files) - 2)
