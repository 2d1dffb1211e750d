"""The model file: a signature, a format version, a header in JSON, and arrays.

    8 bytes   signature
    4 bytes   format version, little endian
    4 bytes   length of the header
    4 bytes   CRC-32 of all that follows
    header    JSON: settings, template fingerprint, and for each array its name, type and length
    arrays    one after the other, little endian

Nothing is executed on loading, and no memory is taken before the sizes have been checked against the file.
"""

import json
import os
import struct
import threading
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import error

SIGNATURE = b"SPLINRZ\n"
FORMAT_VERSION = 1
PREFIX = struct.Struct("<8sIII")
DTYPES = ("<u8", "<u4", "<i4", "<f4")

Arrays = Mapping[str, np.ndarray[Any, Any]]


def pack(header: Mapping[str, Any], arrays: Arrays) -> bytes:
    """The bytes of a model file."""
    layout, chunks = [], []
    for name, array in arrays.items():
        dtype = array.dtype.newbyteorder("<").str
        layout.append([name, dtype, len(array)])
        chunks.append(array.astype(dtype).tobytes())
    head = json.dumps({**header, "arrays": layout}, sort_keys=True).encode("utf8")
    body = b"".join([head, *chunks])
    return PREFIX.pack(SIGNATURE, FORMAT_VERSION, len(head), zlib.crc32(body)) + body


def unpack(data: bytes, source: str = "The data") -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Header and arrays of a model file, checked.

    source (str): What to call the data in error messages.
    """
    if not data.startswith(SIGNATURE):
        raise error("SL030", source=source)
    if len(data) < PREFIX.size:
        raise error("SL032", source=source, what="it ends inside of the prefix")
    _, version, head_length, checksum = PREFIX.unpack_from(data)
    if version > FORMAT_VERSION:
        raise error("SL031", source=source, found=version, known=FORMAT_VERSION)
    body = memoryview(data)[PREFIX.size :]
    if zlib.crc32(body) != checksum:
        raise error("SL032", source=source, what="it is cut short, or its checksum is wrong")
    try:
        header = json.loads(bytes(body[:head_length]))
        arrays, start = {}, head_length
        for name, dtype, length in header.pop("arrays"):
            if dtype not in DTYPES or type(length) is not int or length < 0:
                raise ValueError(f"array {name} of type {dtype} and length {length}")
            arrays[name] = np.frombuffer(body, dtype=dtype, count=length, offset=start)
            start += arrays[name].nbytes
    except (ValueError, KeyError, TypeError, AttributeError) as broken:
        raise error("SL032", source=source, what=str(broken)) from broken
    return header, arrays


def save(path: str | Path, data: bytes) -> None:
    """Write a file so that at any moment either the old content or the new one is there, whole."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def sparse(weights: np.ndarray[Any, Any], name: str) -> dict[str, np.ndarray[Any, Any]]:
    """A table of weights as its entries that are not 0."""
    slots = np.flatnonzero(weights).astype(np.uint32)
    return {f"{name}.slots": slots, f"{name}.values": weights[slots]}


def dense(arrays: Arrays, name: str, bits: int, source: str) -> np.ndarray[Any, Any]:
    """The table that `sparse` took apart."""
    slots, values = arrays[f"{name}.slots"], arrays[f"{name}.values"]
    if len(slots) != len(values) or (len(slots) and int(slots.max()) >= 1 << bits):
        raise error("SL032", source=source, what=f"the table '{name}' does not fit {bits} bits")
    if not np.isfinite(values).all():
        raise error("SL032", source=source, what=f"the table '{name}' holds values that are not numbers")
    table = np.zeros(1 << bits, dtype=np.float32)
    table[slots] = values
    return table


def check_fingerprint(found: Any, known: int, source: str) -> None:
    """Refuse weights that were trained with other templates."""
    if found != known:
        raise error("SL033", source=source, found=found, known=known)
