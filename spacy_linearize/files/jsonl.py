"""Bags as JSON objects, and the answer to each: for programs in any language.

    {"id": "s1", "words": ["barks", "dog", "the"], "heads": [0, 0, 1], "labels": ["root", "nsubj", null]}
    {"id": "s1", "words": ["the", "dog", "barks"], "tags": [...], ..., "order": [2, 1, 0], "text": "the dog barks"}

Only `words` is needed. Lists have one entry for each word:

    tags            "" or null: not given
    heads           positions from 0; a word's own position for the root; null: not given
    labels          of the arcs; "" or null: not given
    precedences     pairs of positions: the first word stands before the second
    first, last     a position: this word comes first or last
    units           pairs of positions: words from the first up to, but not including, the second stay together
    ranges          such pairs, each with a form, which is written where these words follow each other: "du" for "de le"
    id              a text or a whole number, which comes back with the answer

An answer has the same keys in the new order, and `text`, `rank` (1 for the best order), `score`, `gap` to the best one,
and `order`, the positions of its words in the bag. It can be read as a bag again. In the place of a bag that failed
stands an object with its `id` and the `error`. Words that were lifted, so that their arcs may cross others, are named
in `lifted`, each with the ancestor below which it was ordered.
"""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ..doc.precedence import BEFORE, FIRST, LAST, has_precedences, read_precedences
from ..doc.surface import RANGES, as_ranges, ranges_of, surface_text
from ..doc.units import UNITS
from ..errors import LinearizeError, error

ANSWER = ("text", "rank", "score", "gap", "order", "lifted")  # not read
KEYS = ("id", "words", "tags", "heads", "labels", "precedences", "first", "last", "units", "ranges")
PINS = {"first": FIRST, "last": LAST}
SENT_ID = "sent_id"  # in doc.user_data, as with CoNLL-U
Record = dict[str, Any]


def parse_line(line: bytes | str) -> Record:
    """The object of one line.

    RAISES (LinearizeError): With SL222, if it is not an object.
    """
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise error("SL222", problem=type(problem).__name__ if isinstance(problem, UnicodeError) else problem) from None
    if not isinstance(record, dict):
        raise error("SL222", problem=f"it is a {type(record).__name__}")
    return record


def id_of(record: Record) -> str | int | None:
    """The id of an object, if it has a usable one."""
    found = record.get("id")
    return found if type(found) in (str, int) else None


def object_to_doc(record: Record, vocab: Vocab) -> Doc:
    """A bag as a Doc.

    record (Dict[str, Any]): The object, see above.
    RAISES (LinearizeError): With SL221 or SL006, which name the key.

    Example:

        nlp(object_to_doc({"words": ["barks", "dog", "the"]}, nlp.vocab))
    """
    for key in record:
        if key not in KEYS and key not in ANSWER:
            raise error("SL221", key=key, value=record[key], expected=f"left out: the keys are {', '.join(KEYS)}")
    words = _list(record, "words", _is_word, "a list of texts, none of them empty", None)
    n = len(words)
    names = "a list of texts, with null or an empty text where nothing is given"
    tags, labels = (_list(record, key, _is_name, names, n) for key in ("tags", "labels"))
    positions = f"a list of positions from 0 to {n - 1}, with null where nothing is given"
    heads = _list(record, "heads", lambda head: head is None or _is_position(head, n), positions, n)
    for i, (head, label) in enumerate(zip(heads, labels, strict=True)):
        if head is None and label:
            raise error("SL221", key="labels", value=label, expected=f"null for word {i} '{words[i]}', without a head")
    arcs = zip(heads, labels, strict=True)
    doc = Doc(
        vocab,
        words=words,
        tags=[tag or "" for tag in tags],
        heads=heads,
        deps=[
            "" if head is None else label or ("ROOT" if head == i else "dep") for i, (head, label) in enumerate(arcs)
        ],
    )
    if record.get("id") is not None:
        if id_of(record) is None:
            raise error("SL221", key="id", value=record["id"], expected="a text or a whole number")
        doc.user_data[SENT_ID] = record["id"]
    if pairs := _pairs(record, "precedences", n):
        doc.user_data["._.", BEFORE, None, None] = tuple(pairs)
    for key, name in PINS.items():
        if record.get(key) is not None:
            if not _is_position(record[key], n):
                raise error("SL221", key=key, value=record[key], expected=f"a position from 0 to {n - 1}")
            doc.user_data["._.", name, None, None] = record[key]
    if pairs := _pairs(record, "units", n + 1):
        doc.spans[UNITS] = [Span(doc, start, end) for start, end in pairs]
    if record.get("ranges") is not None:
        ranges = as_ranges(record["ranges"], n)
        if ranges is None or not all(_is_word(one.form) for one in ranges):
            expected = f"a list of lists that do not overlap, each of two ascending positions from 0 to {n} and a form"
            raise error("SL221", key="ranges", value=record["ranges"], expected=expected)
        doc.user_data[RANGES] = tuple(map(tuple, ranges))
    return doc


def doc_to_object(doc: Doc, *, rank: int = 1, identity: str | int | None = None) -> Record:
    """A Doc as an answer, or, if no linearizer has made it, as a bag.

    rank (int): 1 for the best order of its bag.
    identity (Optional[Union[str, int]]): The id, if the Doc has none of its own.
    """
    has_tree = any(token.has_head() for token in doc)
    own = id_of({"id": doc.user_data.get(SENT_ID)})
    record: Record = {"id": identity if own is None else own, "words": [token.text for token in doc]}
    if any(token.tag for token in doc):
        record["tags"] = [token.tag_ for token in doc]
    if has_tree:
        record["heads"] = [token.head.i if token.has_head() else None for token in doc]
        record["labels"] = [token.dep_ or None for token in doc]
    if has_precedences(doc):
        bounds = [(sent.start, sent.end) for sent in doc.sents] if has_tree else [(0, len(doc))]
        found = zip(bounds, read_precedences(doc, bounds), strict=True)
        pairs = [[start + a, start + b] for (start, _), own in found for a, b in own]
        pins = {key: doc.user_data.get(("._.", name, None, None)) for key, name in PINS.items()}
        record |= {key: int(pin) for key, pin in pins.items() if np.ndim(pin) == 0 and pin is not None}
        # A pin says as much as its pairs.
        pairs = [[a, b] for a, b in pairs if a != record.get("first") and b != record.get("last")]
        record |= {"precedences": pairs} if pairs else {}
    if UNITS in doc.spans:
        record["units"] = [[span.start, span.end] for span in doc.spans[UNITS]]
    done = doc.user_data.get(("._.", "linearization", None, None))
    if done is not None or not len(doc):
        done = done or {"score": 0.0, "gap": 0.0, "order": ()}
        record |= {"rank": rank, "score": done["score"], "gap": done["gap"], "order": list(done["order"])}
        record |= {"lifted": [list(pair) for pair in done["lifted"]]} if done.get("lifted") else {}
    if done is not None or not doc.has_unknown_spaces:
        record["text"] = surface_text(doc)
    if ranges := ranges_of(doc):
        record["ranges"] = [[start, end, form] for start, end, form, _ in ranges]
    if record["id"] is None:
        del record["id"]
    return record


def error_to_object(problem: LinearizeError, identity: str | int | None = None) -> Record:
    """What stands in the place of a bag that failed."""
    return {**({} if identity is None else {"id": identity}), "error": str(problem)}


def to_line(record: Record) -> str:
    """An object as a line."""
    return json.dumps(record, ensure_ascii=False) + "\n"


def _list(record: Record, key: str, is_right: Callable[[Any], bool], expected: str, n: int | None) -> list[Any]:
    """The list under a key, checked. If it is missing, nothing is given.

    n (Optional[int]): How many entries it must have. None if it must be there.
    """
    values = record.get(key)
    if values is None and n is not None:
        return [None] * n
    if not isinstance(values, list):
        raise error("SL221", key=key, value=values, expected=expected)
    for value in values:
        if not is_right(value):
            raise error("SL221", key=key, value=value, expected=expected)
    if n is not None and len(values) != n:
        raise error("SL006", name=key, got=len(values), n=n)
    return values


def _pairs(record: Record, key: str, n: int) -> list[tuple[int, int]]:
    """The pairs of different positions under a key, below `n`; those of units ascend."""
    ascend = key == "units"
    expected = (
        f"a list of pairs of two different positions from 0 to {n - 1}{', the lower one first' if ascend else ''}"
    )

    def is_pair(pair: Any) -> bool:
        if not isinstance(pair, list) or len(pair) != 2 or not all(_is_position(k, n) for k in pair):
            return False
        first, second = pair
        return bool(first < second if ascend else first != second)

    if record.get(key) is None:
        return []
    return [(first, second) for first, second in _list(record, key, is_pair, expected, None)]


def _is_position(value: Any, n: int) -> bool:
    return type(value) is int and 0 <= value < n


def _is_name(value: Any) -> bool:
    return value is None or value == "" or _is_word(value)


def _is_word(value: Any) -> bool:
    """Whether a value is a text that a Doc can hold: JSON may have halves of characters, such as "\\ud800"."""
    try:
        return isinstance(value, str) and bool(value.encode("utf8"))
    except UnicodeEncodeError:
        return False
