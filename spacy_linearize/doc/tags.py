"""The tag of a token, made of the attributes that the setting `tags_from` names: "NN|NOUN|Nom" for "TAG|POS|Case".

A tag is given if all of its parts are: `token.tag`, `token.pos`, and morphology for the features. A feature that the
morphology of a token lacks is "_", as verbs have no case. A token that has only some of the parts keeps these, and gets
no others: what is added might contradict them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from spacy.attrs import MORPH, POS, TAG
from spacy.morphology import Morphology
from spacy.strings import StringStore, get_string_id
from spacy.tokens import Doc

from ..core.records import Array, Order
from ..errors import error
from ..options import SEPARATOR
from .reorder import MOVED, TAG_COLUMN

TAG_ALONE = "TAG"
NONE = "_"  # a feature that a token does not have, as in CoNLL-U
NO_FEATURES = np.uint64(get_string_id(NONE))
PARTS = [TAG, POS, MORPH]
COLUMNS = [MOVED.index(attr) for attr in PARTS]
_TAG, _POS, _MORPH = range(3)


def read_tags(doc: Doc, tags_from: str) -> Array:
    """The keys of the tags of a Doc, 0 for a token without one. Its vocabulary gets their names.

    tags_from (str): See `options.Options`.

    Example:

        doc = Doc(nlp.vocab, words=["dogs"], tags=["NNS"], pos=["NOUN"], morphs=["Number=Plur"])
        nlp.vocab.strings[read_tags(doc, "TAG|POS|Number")[0]]  # "NNS|NOUN|Plur"
    """
    if tags_from == TAG_ALONE:
        tags: Array = doc.to_array(TAG)
        return tags
    rows, which = np.unique(doc.to_array(PARTS), axis=0, return_inverse=True)
    names, strings = tags_from.split(SEPARATOR), doc.vocab.strings
    keys = np.zeros(len(rows), dtype=np.uint64)
    for i, row in enumerate(rows.tolist()):
        if all(row[_column(name)] for name in names):
            keys[i] = strings.add(SEPARATOR.join(_read(row, name, strings) for name in names))
    found: Array = keys[which.reshape(-1)]
    return found


def has_some(table: Array, tags_from: str) -> Array:
    """Which tokens have any part of a tag. Morphology without features is none: spaCy has it where some tokens have
    features and others nothing.

    table (ndarray): See `reorder.read_table`.
    """
    parts = table[:, COLUMNS]
    parts[parts[:, _MORPH] == NO_FEATURES, _MORPH] = 0
    found: Array = np.any(parts[:, [_column(name) for name in tags_from.split(SEPARATOR)]] != 0, axis=1)
    return found


def tags_alone(doc: Doc, tokens: Array, tags: Array, tags_from: str) -> Array:
    """What `token.tag` is of some tokens. It is as it was if the tag has no such part.

    tokens (ndarray): Their positions.
    tags (ndarray): Their tags.
    """
    if tags_from == TAG_ALONE:
        return tags
    found: Array = doc.to_array(TAG)[tokens]
    if tags_from.startswith(TAG_ALONE):
        strings = doc.vocab.strings
        for key in set(tags.tolist()) - {0}:
            found[tags == key] = strings.add(_split(strings[key], tags_from)[0])
    return found


def take_apart(doc: Doc, table: Array, order: Order, tags_from: str) -> tuple[Array, Order]:
    """What `reorder` takes, with the parts of tags as attributes of the tokens.

    table (ndarray): See `reorder.read_table`.
    order (Order): Its tags are what `read_tags` reads. Tokens without one keep what they have.
    """
    if tags_from == TAG_ALONE:
        return table, order
    table, names, vocab = table.copy(), tags_from.split(SEPARATOR), doc.vocab
    table[:, TAG_COLUMN] = tags_alone(doc, np.arange(len(doc)), order.tags, tags_from)
    for i in np.flatnonzero(order.tags).tolist():
        parts = dict(zip(names, _split(vocab.strings[order.tags[i]], tags_from), strict=True))
        parts.pop("TAG", None)
        if "POS" in parts:
            table[i, COLUMNS[_POS]] = vocab.strings[parts.pop("POS")]
        if parts:
            # Other features, of a token whose tags are ignored, stay.
            old = int(table[i, COLUMNS[_MORPH]])
            features = Morphology.feats_to_dict(vocab.strings[old]) if old else {}
            merged = {name: value for name, value in {**features, **parts}.items() if value != NONE}
            table[i, COLUMNS[_MORPH]] = vocab.morphology.add(merged)
    return table, replace(order, tags=table[:, TAG_COLUMN])


def check_parts(tags: Iterable[str], tags_from: str) -> None:
    """Refuse attributes that no token of the training data has.

    tags (Iterable[str]): The tags of the training data.
    """
    if tags_from == TAG_ALONE:
        return  # training without any tags is possible
    names = tags_from.split(SEPARATOR)
    seen = [set(values) - {NONE} for values in zip(*(_split(tag, tags_from) for tag in tags), strict=True)]
    missing = [name for name, values in zip(names, seen, strict=True) if not values] if seen else names
    if missing:
        raise error("SL203", names=" and ".join(missing))


def _column(name: str) -> int:
    """Which of PARTS holds an attribute."""
    return {"TAG": _TAG, "POS": _POS}.get(name, _MORPH)


def _read(row: Sequence[int], name: str, strings: StringStore) -> str:
    """One part of the tag of a token.

    row (Sequence[int]): What the token has of PARTS.
    """
    text: str = strings[row[_column(name)]]
    return text if _column(name) != _MORPH else Morphology.feats_to_dict(text).get(name, NONE)


def _split(tag: str, tags_from: str) -> list[str]:
    """The parts of a tag. The first, `token.tag`, may hold the separator itself."""
    n = tags_from.count(SEPARATOR)
    parts = tag.rsplit(SEPARATOR, n)
    if len(parts) <= n:
        raise error("SL204", tag=tag, tags_from=tags_from)
    return parts
