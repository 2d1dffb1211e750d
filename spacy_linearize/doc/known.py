"""The names of tags and arc labels that training saw. The search knows no others."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from spacy.attrs import DEP
from spacy.strings import StringStore, get_string_id
from spacy.tokens import Doc
from spacy.training import Example

from ..bundled import bundled_for
from ..core.records import Array, Bag, Keys
from ..errors import error
from .tags import read_tags

KINDS = ("tags", "labels")
NOUN_PHRASE = "NP"  # the tag of base noun phrases where a treebank was converted with them as units
Names = dict[str, set[str]]  # by kind
# From this number and this share of unknown names on, the Doc follows another annotation scheme.
MANY = 3
SHARE = 1 / 3
OTHER_NAMES = "Use the {kind}s of the training data, see nlp.get_pipe('{name}').label_data."
OTHER_PIPELINE = (
    "Trees with these labels are what spacy_linearize.load('{other}') was trained on: use that pipeline. No further "
    "labels will be named."
)
OTHER_SCHEME = (
    "They seem to be of another scheme, so that no further {kind}s will be named: see 'Trees of another kind' in "
    "docs/constraints.md."
)


def no_names() -> Names:
    return {kind: set() for kind in KINDS}


def add_names(names: Names, doc: Doc, tags_from: str) -> None:
    """Add the names that a Doc has.

    tags_from (str): What tags are made of, see `tags`.
    """
    strings = doc.vocab.strings
    for kind, keys in zip(KINDS, (read_tags(doc, tags_from), doc.to_array(DEP)), strict=True):
        names[kind].update(strings[key] for key in set(keys.tolist()) if key)


def new_names(
    known: Mapping[str, Iterable[str]], examples: Iterable[Example], pairs: Iterable[Iterable[tuple[Bag, Bag]]]
) -> Names:
    """The names in examples that are not known, whether they are gold or given.

    known (Mapping[str, Iterable[str]]): The known ones by kind.
    pairs (Iterable[Iterable[Tuple[Bag, Bag]]]): For each example what `gold_pairs` has made of it.
    """
    keys = {kind: {0, *map(get_string_id, known[kind])} for kind in KINDS}
    found = no_names()
    for eg, own in zip(examples, pairs, strict=True):
        for given, gold in own:
            for doc, bag in ((eg.predicted, given), (eg.reference, gold)):
                for kind in KINDS:
                    if news := set(bag.column(kind).tolist()) - keys[kind]:
                        found[kind].update(doc.vocab.strings[key] for key in news)
    return found


def check_names(names: Any) -> Names:
    """Names that a user gives, by kind.

    names (Dict[str, List[str]]): As `label_data` of the component has them. A kind may be missing.
    """
    expected = "a dict with lists of tags and labels, as label_data of the component has them"
    if not isinstance(names, dict):
        raise error("SL022", key="labels", value=names, expected=expected)
    given = {kind: names.get(kind, []) for kind in KINDS}
    if not all(isinstance(texts, (list, tuple, set)) and all(map(is_name, texts)) for texts in given.values()):
        raise error("SL022", key="labels", value=names, expected=expected)
    return {kind: set(texts) for kind, texts in given.items()}


def is_name(text: Any) -> bool:
    """Whether something can be the name of a tag or label: a string that UTF-8 can encode."""
    if type(text) is not str:
        return False
    try:
        text.encode("utf8")
    except UnicodeEncodeError:  # half of a character
        return False
    return True


def check_stored(cfg: Any, source: str) -> None:
    """Refuse what a component stores beside its model, if it is not lists of tags and labels.

    source (str): What to call it in error messages.
    """
    for kind in KINDS:
        names = cfg.get(kind) if isinstance(cfg, dict) else None
        if not isinstance(names, list) or not all(map(is_name, names)):
            raise error("SL032", source=source, what=f"its cfg has no list of {kind}")
    calibration = cfg.get("calibration")
    if calibration is not None and not isinstance(calibration, dict):
        raise error("SL032", source=source, what="the calibration of its cfg is no table")


def text_of(key: int, strings: StringStore) -> str:
    """The text of a key, or the key itself if its text is not known."""
    try:
        return str(strings[key])
    except KeyError:
        return f"#{key}"


class Known:
    """The keys of the names that training saw, and the others that were warned of."""

    def __init__(self) -> None:
        self._known: dict[str, set[int]] = {kind: set() for kind in KINDS}
        self._reported: dict[str, set[int]] = {kind: set() for kind in KINDS}
        self._foreign: set[str] = set()  # the kinds for which the warning of another scheme was given
        self._texts: list[str] = []
        self._strings: StringStore | None = None

    def know(self, names: Mapping[str, Iterable[str]], strings: StringStore) -> None:
        """Replace the known names by these.

        strings (StringStore): Of the component. It gets the names, too.
        """
        self._texts = [text for texts in names.values() for text in texts]
        self._strings = strings
        for kind, texts in names.items():
            # Any Doc may have these names for the root, and 0 for nothing.
            self._known[kind] = {0, *(strings.add(text) for text in (*texts, "ROOT", "root"))}

    @property
    def noun_phrase(self) -> int:
        """The tag of base noun phrases as units, or 0: a model that was trained on them knows them by it."""
        key: int = get_string_id(NOUN_PHRASE)
        return key if key in self._known["tags"] else 0

    def check(self, symbols: Iterable[int]) -> None:
        """Refuse tags and labels of a model that have no names. Those would turn up in Docs."""
        nameless = set(symbols) - self._known["tags"] - self._known["labels"]
        if nameless:
            raise ValueError(f"{len(nameless)} of its tags and labels have no names, such as {min(nameless)}")

    def hide(self, bag: Bag, doc: Doc, component: str) -> Bag:
        """A bag without the tags and labels that training never saw. They are kept in the Doc, but not seen by the
        search. Those that training saw may be added to the Doc: its vocabulary learns them, if it has another one.

        component (str): The name of the component that warns of them: once of each, or once of all, if there are many.
        """
        strings = doc.vocab.strings
        if strings is not self._strings:
            for text in self._texts:
                strings.add(text)
        tags = self._unknown(doc, bag.tags, "tags", component)
        labels = self._unknown(doc, bag.labels, "labels", component)
        if tags is None and labels is None:
            return bag
        kept: Array = np.zeros(len(bag), dtype=np.uint64)
        columns: dict[str, Any] = {}
        for factor, (name, mask) in enumerate((("tags", tags), ("labels", labels)), start=1):
            if mask is not None:
                values = bag.column(name)
                columns[name] = np.where(mask, np.uint64(0), values)
                kept += np.where(mask, values, np.uint64(0)) * np.uint64(2 * factor - 1)  # so that the two do not mix
        return replace(bag, kept=kept, **columns)

    def _unknown(self, doc: Doc, column: Keys | None, kind: str, component: str) -> Array | None:
        """Which entries of a column training never saw, or None if it saw all."""
        keys = np.asarray(column if column is not None else [], dtype=np.uint64)
        names = set(keys.tolist())
        unknown = names - self._known[kind]
        if not unknown:
            return None
        reported = self._reported[kind]
        news = unknown - reported
        if news and kind not in self._foreign:
            is_foreign = len(reported | news) >= MANY and len(unknown) >= SHARE * len(names)
            # The Doc may have another vocabulary than the component.
            texts = sorted(text_of(key, doc.vocab.strings) for key in news)
            other = self._other_pipeline(doc, names) if kind == "labels" else None
            is_foreign = is_foreign or other is not None
            advice = OTHER_PIPELINE if other else OTHER_SCHEME if is_foreign else OTHER_NAMES
            advice = advice.format(name=component, kind=kind[:-1], other=other)
            unknown_texts = ", ".join(map(repr, texts))
            message = error("SL058", name=component, kind=kind[:-1], unknown=unknown_texts, advice=advice)
            warnings.warn(str(message), stacklevel=2)
            reported |= news  # after the warning: if warnings are errors, every Doc raises it
            if is_foreign:
                self._foreign.add(kind)
        return np.isin(keys, np.array(sorted(unknown), dtype=np.uint64))

    def _other_pipeline(self, doc: Doc, labels: set[int]) -> str | None:
        """The bundled pipeline that knows the labels of a Doc, if it is not this one."""
        strings = doc.vocab.strings
        texts = [text_of(key, strings) for key in labels if key]
        return bundled_for(texts, (text_of(key, strings) for key in self._known["labels"] if key), doc.lang_)
