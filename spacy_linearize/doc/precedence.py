"""What a Doc says about the order itself: which tokens stand before which, first, and last.

    doc._.linearize_before = [(0, 3)]       token 0 stands somewhere before token 3
    doc._.linearize_fixed = [[1, 2, 5]]     these tokens stand in this sequence, others may come between them
    doc._.linearize_first = 4               token 4 comes first ...
    doc._.linearize_last = 7                ... and token 7 last; with several sentences, one for each

All of them become pairs of tokens.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.tokens import Doc

from ..core.records import Precedence
from ..errors import LinearizeError, error

BEFORE, FIXED, FIRST, LAST = "linearize_before", "linearize_fixed", "linearize_first", "linearize_last"
EXTENSIONS = (BEFORE, FIXED, FIRST, LAST)


def has_precedences(doc: Doc) -> bool:
    """Whether a Doc says anything about the order."""
    data = doc.user_data
    return bool(data) and any(data.get(_key(name)) is not None for name in EXTENSIONS)


def read_precedences(doc: Doc, sentences: Sequence[tuple[int, int]]) -> list[list[Precedence]]:
    """The pairs of tokens of which the first stands before the second.

    sentences (Sequence[Tuple[int, int]]): The parts of the Doc that are ordered on their own: first token, and the one
        after the last.
    RETURNS (List[List[Tuple[int, int]]]): For each part its pairs, as positions in the part. Every pair once.
    """
    parts: list[list[Precedence]] = [[] for _ in sentences]
    if not has_precedences(doc):
        return parts
    for name, first, second in _all_pairs(doc, sentences):
        a, b = (_sentence_of(position, sentences) for position in (first, second))
        if a > b:
            raise error("SL060", name=name, words=[first, second], texts=[token.text for token in doc])
        if a == b:
            start = sentences[a][0]
            parts[a].append((first - start, second - start))
    return [list(dict.fromkeys(pairs)) for pairs in parts]


def _all_pairs(doc: Doc, sentences: Sequence[tuple[int, int]]) -> Iterable[tuple[str, int, int]]:
    """Every pair with the extension that it comes from."""
    for pair in _listed(doc, BEFORE):
        first, second = _positions(doc, BEFORE, pair, length=2)
        yield BEFORE, first, second
    for group in _listed(doc, FIXED):
        positions = _positions(doc, FIXED, group)
        yield from ((FIXED, a, b) for a, b in pairwise(positions))
    pinned = {name: _positions(doc, name, _listed(doc, name)) for name in (FIRST, LAST)}
    _check_pins(doc, pinned, sentences)
    for name, positions in pinned.items():
        for position in positions:
            start, end = sentences[_sentence_of(position, sentences)]
            for other in range(start, end):
                if other != position:
                    yield (name, position, other) if name == FIRST else (name, other, position)


def _check_pins(doc: Doc, pinned: dict[str, list[int]], sentences: Sequence[tuple[int, int]]) -> None:
    """Refuse two tokens for one place, and one token for two places."""
    for start, end in sentences:
        inside = {name: [k for k in positions if start <= k < end] for name, positions in pinned.items()}
        for name, words in inside.items():
            if len(words) > 1:
                raise error("SL190", name=name, words=words, texts=[token.text for token in doc])
        if inside[FIRST] and inside[FIRST] == inside[LAST] and end - start > 1:
            raise error("SL191", words=inside[FIRST], texts=[token.text for token in doc])


def _listed(doc: Doc, name: str) -> list[Any]:
    """The value of an extension as a list."""
    value = _plain(doc.user_data.get(_key(name)))
    if value is None:
        return []
    if name in (FIRST, LAST) and not isinstance(value, (list, tuple)):
        return [value]
    if not isinstance(value, (list, tuple)):
        raise _bad(doc, name, value)
    return list(value)


def _positions(doc: Doc, name: str, values: Any, length: int | None = None) -> list[int]:
    """Positions of different tokens, checked."""
    values = _plain(values)
    if not isinstance(values, (list, tuple)) or (length is not None and len(values) != length):
        raise _bad(doc, name, values)
    positions = [_plain(value) for value in values]
    are_tokens = all(type(value) is int and 0 <= value < len(doc) for value in positions)
    if not are_tokens or len(set(positions)) != len(positions):
        raise _bad(doc, name, values)
    return positions


def _bad(doc: Doc, name: str, value: Any) -> LinearizeError:
    return error("SL061", name=name, value=value, last=len(doc) - 1)


def _sentence_of(position: int, sentences: Sequence[tuple[int, int]]) -> int:
    return next(i for i, (start, end) in enumerate(sentences) if start <= position < end)


def move_precedences(doc: Doc, new: Doc, place: Sequence[int]) -> None:
    """Copy the constraints on the order to the new Doc, so that they name the same tokens there.

    place (Sequence[int]): For each position the new one.
    """
    for name in EXTENSIONS:
        value = _plain(doc.user_data.get(_key(name)))
        if value is None:
            continue
        # Tuples, because that is what lists become on the way through a DocBin.
        moved: Any
        if name in (BEFORE, FIXED):
            groups = [_positions(doc, name, group) for group in _listed(doc, name)]
            moved = tuple(tuple(int(place[k]) for k in group) for group in groups)
        else:
            moved = tuple(int(place[k]) for k in _positions(doc, name, _listed(doc, name)))
        new.user_data[_key(name)] = moved if isinstance(value, (list, tuple)) else moved[0]


def _plain(value: Any) -> Any:
    """An array as a list, and a numpy number as a plain one."""
    return value.tolist() if isinstance(value, (np.ndarray, np.integer)) else value


def _key(name: str) -> tuple[str, str, None, None]:
    return ("._.", name, None, None)
