"""The model file: a signature, a format version, a header in JSON, and arrays.

    8 bytes   signature
    4 bytes   format version, little endian
    4 bytes   length of the header
    4 bytes   CRC-32 of all that follows
    header    JSON: settings, fingerprint of the templates, and for each array its name, type, length and stored size
    arrays    one after the other, little endian; compressed where the stored size is smaller

Loading executes nothing, and allocates no memory before the sizes have been checked against the file: an array is at
most MAX_RATIO times as large as what is stored of it, and so is a table, unless it is a small one. Therefore floats are
not compressed, and of a large table at least one weight in MIN_SHARE is stored, in a slot of its own.
"""

import json
import struct
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from typing import Any

import numpy as np

from ..errors import error
from .records import Array
from .weights import Weights

SIGNATURE = b"SPLINRZ\n"
FORMAT_VERSION = 1
MAX_LENGTH = 1 << 31
MAX_RATIO = 1032  # zlib makes nothing smaller than this
SMALL_BITS = 24  # tables up to this size may be all but empty
MAX_GAP = 255
MIN_SHARE = 1024  # of larger ones, at least one weight in this many is stored, even if it is 0
PREFIX = struct.Struct("<8sIII")
DTYPES = ("<u8", "<u4", "<u2", "|u1", "<i2", "<f4", "<f8", "|i1")

Arrays = Mapping[str, Array]


def pack(header: Mapping[str, Any], arrays: Arrays) -> bytes:
    """The bytes of a model file."""
    layout, chunks = [], []
    for name, array in arrays.items():
        dtype = array.dtype.newbyteorder("<").str
        chunk = array.astype(dtype, copy=False).tobytes()
        stored = _compressed(chunk, array.dtype)
        chunks.append(stored if len(stored) < len(chunk) else chunk)
        layout.append([name, dtype, len(array), len(chunks[-1])])
    head = json.dumps({**header, "arrays": layout}, sort_keys=True).encode("utf8")
    body = b"".join([head, *chunks])
    return PREFIX.pack(SIGNATURE, FORMAT_VERSION, len(head), zlib.crc32(body)) + body


def _compressed(chunk: bytes, dtype: np.dtype[Any]) -> bytes:
    """An array made small, by what it holds: its type."""
    if dtype.kind == "f":  # fractions of weights hardly get smaller
        return chunk
    if dtype.kind == "u" and dtype.itemsize > 2:
        return zlib.compress(chunk)
    # A table of weights or n-grams: there the search for repetitions takes long, and only gets in the way.
    encoder = zlib.compressobj(strategy=zlib.Z_HUFFMAN_ONLY)
    return encoder.compress(chunk) + encoder.flush()


def unpack(data: bytes, source: str = "The data") -> tuple[dict[str, Any], dict[str, Array]]:
    """Header and arrays of a model file, checked.

    source (str): What to call the data in error messages.
    """
    if not data.startswith(SIGNATURE):
        raise error("SL030", source=source)
    if len(data) < PREFIX.size:
        raise error("SL032", source=source, what="it ends inside the prefix")
    _, version, head_length, checksum = PREFIX.unpack_from(data)
    if version != FORMAT_VERSION:
        raise error("SL031", source=source, found=version, known=FORMAT_VERSION)
    body = memoryview(data)[PREFIX.size :]
    if zlib.crc32(body) != checksum:
        raise error("SL032", source=source, what="it is cut short, or its checksum is wrong")
    try:
        header = json.loads(bytes(body[:head_length]))
        layout = header.pop("arrays")
        _check_layout(layout, len(body) - head_length)
        starts = accumulate((stored for *_, stored in layout), initial=head_length)
        chunks = [body[start : start + stored] for start, (*_, stored) in zip(starts, layout, strict=False)]
        sizes = [length * np.dtype(dtype).itemsize for _, dtype, length, _ in layout]
        arrays = {
            name: np.frombuffer(chunk, dtype=dtype, count=length)
            for chunk, (name, dtype, length, _) in zip(_inflate_all(chunks, sizes), layout, strict=True)
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, zlib.error) as broken:
        raise error("SL032", source=source, what=str(broken)) from broken
    return header, arrays


def _inflate_all(chunks: list[memoryview], sizes: list[int]) -> list[bytes | memoryview]:
    """Chunks as they were before they were compressed: most of the time of loading, and done without the GIL."""
    try:
        with ThreadPoolExecutor() as pool:
            return list(pool.map(_inflated, chunks, sizes))
    except RuntimeError:  # there are too many threads already, or the interpreter is shutting down
        return list(map(_inflated, chunks, sizes))


def _check_layout(layout: Any, n_bytes: int) -> None:
    """Refuse arrays that do not fit into this many bytes, before any of them is read."""
    end = 0
    for name, dtype, length, stored in layout:
        if dtype not in DTYPES or type(length) is not int or not 0 <= length <= MAX_LENGTH:
            raise ValueError(f"an array of type {dtype} and length {length} ({name})")
        if type(stored) is not int or not 0 <= stored <= n_bytes - end:
            raise ValueError(f"an array of {stored} bytes, which are not there ({name})")
        ratio = 1 if np.dtype(dtype).kind == "f" else MAX_RATIO
        if length * np.dtype(dtype).itemsize > ratio * stored:
            raise ValueError(f"an array of {length} entries in {stored} bytes ({name})")
        end += stored
    if end != n_bytes:
        raise ValueError(f"{n_bytes - end} bytes that belong to no array")


def _inflated(chunk: memoryview, size: int) -> bytes | memoryview:
    """Decompress an array. Never takes more memory than the header promises."""
    if len(chunk) == size:
        return chunk
    decoder = zlib.decompressobj()
    inflated = decoder.decompress(chunk, size + 1)
    if len(inflated) != size or not decoder.eof:
        raise ValueError(f"an array of {len(inflated)} bytes instead of {size}")
    return inflated


def pack_table(weights: Weights, name: str) -> dict[str, Array]:
    """A table of weights as arrays: whole multiples of its scale, if it has one, or fractions."""
    if not weights.scale:
        table = weights.to_array()
        is_stored = table != 0
        if len(table) > 1 << SMALL_BITS:
            is_stored[::MIN_SHARE] = True  # so that the file bounds the size of the table
        slots = np.flatnonzero(is_stored).astype(np.uint32)
        return {f"{name}.slots": slots, f"{name}.values": table[slots]}
    units, scale = weights.to_units(), np.array([weights.scale], dtype=np.float32)
    slots = np.flatnonzero(units).astype(np.uint32)
    if 2 * len(slots) >= len(units) or len(units) > 1 << SMALL_BITS:
        return {f"{name}.units": units, f"{name}.scale": scale}
    # Where most are 0, Huffman codes spend more than half of their bits on that: a 0 takes one bit.
    return {f"{name}.gaps": gaps_of(slots), f"{name}.units": units[slots], f"{name}.scale": scale}


def unpack_table(arrays: Arrays, name: str, weights: Weights) -> None:
    """Fill a table with what `pack_table` took apart. After `check_table`."""
    if f"{name}.units" not in arrays:
        weights.from_array(_spread(arrays[f"{name}.values"], arrays[f"{name}.slots"], len(weights)))
        return
    units = arrays[f"{name}.units"]
    if f"{name}.gaps" in arrays:
        units = _spread(units, slots_of(arrays[f"{name}.gaps"]), len(weights))
    weights.from_units(units, float(arrays[f"{name}.scale"][0]))


def _spread(values: Array, slots: Array, size: int) -> Array:
    """A table that has these values, and otherwise 0."""
    table: Array = np.zeros(size, dtype=values.dtype)
    table[slots] = values
    return table


def gaps_of(slots: Array) -> Array:
    """How many slots are left out before each of these, in bytes: MAX_GAP says so many, and that more follows."""
    more, rest = np.divmod(np.diff(slots.astype(np.int64), prepend=-1) - 1, MAX_GAP)
    gaps = np.full(len(slots) + int(more.sum()), MAX_GAP, dtype=np.uint8)
    gaps[np.arange(len(slots)) + np.cumsum(more)] = rest
    return gaps


def slots_of(gaps: Array) -> Array:
    """The slots that `gaps_of` was given."""
    is_last = gaps < MAX_GAP
    slots: Array = np.cumsum(gaps + is_last, dtype=np.int64)[is_last] - 1
    return slots


def check_table(arrays: Arrays, name: str, bits: int, source: str) -> None:
    """Refuse a table that is not one of 2 ** bits numbers, without taking memory for it."""
    if f"{name}.units" in arrays:
        scale = take(arrays, f"{name}.scale", "<f4", source=source)
        units = take(arrays, f"{name}.units", "|i1", "<i2", source=source)
        fits = len(scale) == 1
        if f"{name}.gaps" in arrays:
            gaps = take(arrays, f"{name}.gaps", "|u1", source=source)
            n_slots = int((gaps < MAX_GAP).sum())
            fits = fits and bits <= SMALL_BITS and len(units) == n_slots
            fits = fits and int(gaps.sum(dtype=np.int64)) + n_slots <= 1 << bits
        else:
            fits = fits and len(units) == 1 << bits
        # The largest multiple of the scale, too, is to be a number.
        is_finite = not fits or 0 < float(scale[0]) * (1 << 15) <= float(np.finfo(np.float32).max)
    else:
        slots = take(arrays, f"{name}.slots", "<u4", source=source)
        values = take(arrays, f"{name}.values", "<f4", source=source)
        fits = len(slots) == len(values) <= 1 << bits and (not len(slots) or int(slots[-1]) < 1 << bits)
        fits = fits and bool((slots[1:] > slots[:-1]).all())
        fits = fits and (bits <= SMALL_BITS or len(slots) >= (1 << bits) // MIN_SHARE)
        is_finite = bool(np.isfinite(values).all())
    if not fits:
        raise error("SL032", source=source, what=f"the table '{name}' does not fit {bits} bits")
    if not is_finite:
        raise error("SL032", source=source, what=f"the table '{name}' holds values that are not numbers")


def take(arrays: Arrays, name: str, *dtypes: str, source: str) -> Array:
    """An array that has to be there, of one of these types."""
    if name not in arrays:
        raise error("SL032", source=source, what=f"it has no array '{name}'")
    if arrays[name].dtype.str not in dtypes:
        raise error("SL032", source=source, what=f"the array '{name}' is of type {arrays[name].dtype.str}")
    return arrays[name]
