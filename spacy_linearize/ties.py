"""What tells equal words apart that the search does not look at: lemmas, entities, extensions and the like, and heads
that are ignored.

Words that are equal to the search may take each other's places. Which one goes where is decided by these keys, so that
the new Doc is the same whatever the order of the old one.
"""

import zlib
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from spacy.attrs import DEP, ENT_ID, ENT_IOB, ENT_KB_ID, ENT_TYPE, HEAD, LEMMA, MORPH, NORM, ORTH, POS, TAG
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span

Array = np.ndarray[Any, Any]
ATTRS = [TAG, DEP, POS, LEMMA, NORM, MORPH, ENT_TYPE, ENT_IOB, ENT_KB_ID, ENT_ID]
STEP = 0x9E3779B97F4A7C15  # odd, so that nothing is lost
POWERS = np.array([pow(STEP, i + 1, 1 << 64) for i in range(len(ATTRS))], dtype=np.uint64)
PLAIN = (str, int, float, bool, type(None))  # whose texts say what they are


def read_ties(doc: Doc, *, follow_heads: bool) -> Array:
    """A key for each token.

    follow_heads (bool): Let the keys tell what tokens hang on. Where heads are given, the search sees to that.
    """
    table = doc.to_array([ORTH, HEAD, *ATTRS])
    keys: Array = table[:, 2:] @ POWERS
    if isinstance(doc.tensor, np.ndarray) and doc.tensor.shape[:1] == (len(doc),):
        keys += np.array([zlib.crc32(row.tobytes()) for row in doc.tensor], dtype=np.uint64)
    for i, text in chain(_of_spans(doc), _of_extensions(doc)):
        # A sum, since they come in any sequence.
        keys[i] = (int(keys[i]) + get_string_id(text)) % (1 << 64)
    if follow_heads:
        positions = np.arange(len(doc))
        heads = positions + table[:, 1].astype(np.int64)
        keys = _follow(keys + table[:, 0], np.where(heads == positions, -1, heads).astype(np.int32))
    return keys


def _follow(keys: Array, heads: Array) -> Array:
    """Keys that tell apart all tokens that something hangs on. Where these are equal, so is all that they hang together
    with: any of them may be called the first, but then what hangs on it comes first, too."""
    from .core.bag.bag import refine  # here, so that spaCy works without the core

    with_dependents = np.unique(heads[heads >= 0])
    while True:
        keys = refine(keys, heads)
        _, firsts, counts = np.unique(keys[with_dependents], return_index=True, return_counts=True)
        if not (counts > 1).any():
            return keys
        keys[with_dependents[firsts[counts > 1][0]]] += np.uint64(1)


def _of_spans(doc: Doc) -> Iterator[tuple[int, str]]:
    """For each token of a span, what it is in it."""
    spans: list[tuple[str, Span]] = [("", span) for span in doc.ents]
    spans += [(f"{key} ", span) for key, group in doc.spans.items() for span in group]
    for key, span in spans:
        for i in range(span.start, span.end):
            yield i, f"{key}{span.label_} {span.kb_id_} {span.id_} {span.text} {i - span.start}"


def _of_extensions(doc: Doc) -> Iterator[tuple[int, str]]:
    """The values of extensions that are plain: for a token its own, and those of the spans that it begins."""
    token_at: dict[int, int] = {}
    for key, value in doc.user_data.items():
        if isinstance(key, tuple) and len(key) == 4 and key[0] == "._." and key[2] is not None:
            token_at = token_at or {token.idx: token.i for token in doc}
            if key[2] in token_at and _is_plain(value):
                length = 0 if key[3] is None else key[3] - key[2]
                yield token_at[key[2]], f"{key[1]} {length} {value!r}"


def _is_plain(value: Any) -> bool:
    """Whether the text of a value says what it is: that of an object may say where it is in memory."""
    if isinstance(value, dict):
        return _is_plain([*value, *value.values()])
    return all(map(_is_plain, value)) if isinstance(value, (list, tuple)) else isinstance(value, PLAIN)
