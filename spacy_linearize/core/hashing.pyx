"""The hash as Python sees it: for symbols that come as text, and for tests."""
from libc.stdint cimport uint64_t


def hash_text(str text not None) -> int:
    """A 64-bit key for a piece of text: FNV-1a over its UTF-8 bytes, mixed once more. Never 0, which means
    "missing" in every array of the core."""
    cdef uint64_t h = 0xCBF29CE484222325
    cdef bytes data = text.encode("utf8", "surrogatepass")
    cdef unsigned char byte
    for byte in data:
        h = (h ^ byte) * <uint64_t>0x100000001B3
    h = mix(h, <uint64_t>len(data))
    return h if h != 0 else 1


def mix_values(values) -> int:
    """Mix a sequence of 64-bit values, starting from 0."""
    cdef uint64_t h = 0
    for value in values:
        h = mix(h, <uint64_t>value)
    return h


def slot(state_part, action_part, int bits) -> int:
    """Where a feature of these two parts stands in a table of 2 ** bits weights."""
    return slot_of(<uint64_t>state_part, <uint64_t>action_part, 64 - bits)
