"""The 64-bit hash behind every feature. Frozen: models store weights by its values, and a golden test holds it."""
from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    SET = 4     # seed of sets: a set is the sum of the hashes of its members, hashed once more


cdef inline uint64_t mix(uint64_t h, uint64_t value) noexcept nogil:
    """Take one more value into the hash. Every bit of the result depends on both. `h` must be mixed itself, or a
    constant: of two small numbers only their exclusive or would count."""
    h = (h ^ value) * <uint64_t>0x9FB21C651E98DF25
    h ^= h >> 32
    h *= <uint64_t>0xD6E8FEB86659FD93
    return h ^ (h >> 29)


cdef inline uint32_t slot_of(uint64_t state_part, uint64_t action_part, int shift) noexcept nogil:
    """The place of a feature in a table of 2 ** (64 - shift) weights. Both parts are already mixed, so that
    one multiplication is enough: this is the inner loop of the whole library."""
    return <uint32_t>(((state_part ^ action_part) * <uint64_t>0x9E3779B97F4A7C15) >> shift)
