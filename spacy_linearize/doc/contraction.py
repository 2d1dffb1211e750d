"""Which words that stand side by side are written as one token: "de le" as "du", "in dem" as "im", "gon na" as "gonna".

It is learned from the multiword tokens of a treebank. A sequence of words that was contracted is contracted again,
unless it mostly was not: with these tags ("de" and the article "le", not the pronoun), or else with any. A word that
was contracted with several others, such as a clitic, is contracted with new ones, too, if it mostly was with their
tags. What becomes of both then depends on how the first one ends. Words that stood before it in training and were not
contracted are exceptions.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

MIN_HOSTS = 5  # different words that a clitic was seen with
MAX_ENDING = 3  # letters of the first word that decide what becomes of both
ANY = ""  # for all tags together

Words = tuple[str, ...]


class Edit(NamedTuple):
    """How words become one token: `cut` letters of the first are cut off, and `added` is put there. None: nothing is
    changed, the words are written together."""

    cut: int
    added: str | None


class Range(NamedTuple):
    """Words that are written as one token.

    start, end (int): The first of them, and the one after the last.
    form (str): What is written.
    misc (str): What CoNLL-U has in the column MISC of this token, "_" for nothing.
    """

    start: int
    end: int
    form: str
    misc: str = "_"


TOGETHER = Edit(0, None)
Choice = dict[str, Edit | None]  # by tags; None: no contraction


class Contractions:
    """What is contracted.

    pairs (Dict[Tuple[str, ...], Dict[str, Optional[Edit]]]): For sequences of words in lower case.
    clitics (Dict[str, Dict[str, bool]]): For last words of pairs, by tags of both, whether they are contracted.
    edits (Dict[str, Dict[str, Edit]]): For these, by the ending of the first word, how.
    """

    def __init__(self) -> None:
        self.pairs: dict[Words, Choice] = {}
        self.clitics: dict[str, dict[str, bool]] = {}
        self.edits: dict[str, dict[str, Edit]] = {}
        self._index()

    def _index(self) -> None:
        self._starts = {words[0] for words in self.pairs}
        self._longest = max(map(len, self.pairs), default=0)

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def learn(self, sentences: Iterable[tuple[Sequence[str], Sequence[str], Sequence[Range]]]) -> None:
        """Learn anew from the words of sentences, their tags, and which of them are written as one token."""
        texts = [([word.lower() for word in words], tags, ranges) for words, tags, ranges in sentences]
        seen: dict[Words, dict[str, Counter[Edit | None]]] = {}
        hosts: dict[str, set[str]] = defaultdict(set)
        for words, _, ranges in texts:
            for start, end, *_ in ranges:
                seen[tuple(words[start:end])] = defaultdict(Counter)
                if end - start == 2:
                    hosts[words[start + 1]].add(words[start])
        clitics = {word for word, own in hosts.items() if len(own) >= MIN_HOSTS}
        met: dict[str, dict[str, Counter[bool]]] = {word: defaultdict(Counter) for word in clitics}
        endings: dict[str, dict[str, Counter[Edit]]] = {word: defaultdict(Counter) for word in clitics}
        lengths = {len(words) for words in seen}
        for words, tags, ranges in texts:
            taken = {k for start, end, *_ in ranges for k in range(start, end)}
            for start, end, form, *_ in ranges:
                edit = _edit(words[start:end], form.lower())
                for key in {" ".join(tags[start:end]), ANY}:
                    seen[tuple(words[start:end])][key][edit] += 1
                    if end - start == 2 and words[start + 1] in clitics:
                        met[words[start + 1]][key][True] += 1
                if end - start == 2 and words[start + 1] in clitics:
                    for n in range(edit.cut, MAX_ENDING + 1):
                        endings[words[start + 1]][_ending(words[start], n)][edit] += 1
            for n in lengths:
                for start in range(len(words) - n + 1):
                    own = tuple(words[start : start + n])
                    if own in seen and taken.isdisjoint(range(start, start + n)):
                        for key in {" ".join(tags[start : start + n]), ANY}:
                            seen[own][key][None] += 1
            for i, (_, second) in enumerate(pairwise(words)):
                if second in clitics and i not in taken and i + 1 not in taken:
                    for key in {f"{tags[i]} {tags[i + 1]}", ANY}:
                        met[second][key][False] += 1
        self.pairs = {words: _choice(counts) for words, counts in sorted(seen.items())}
        self.clitics = {
            word: {key: n[True] > n[False] for key, n in sorted(counts.items()) if key == ANY or n[True] > n[False]}
            for word, counts in sorted(met.items())
        }
        self.edits = {
            word: {ending: counts.most_common(1)[0][0] for ending, counts in sorted(own.items())}
            for word, own in sorted(endings.items())
        }
        # A clitic is not contracted with a word that it was not contracted with where it could have been.
        for words, tags, ranges in texts:
            taken = {k for start, end, *_ in ranges for k in range(start, end)}
            for i, pair in enumerate(pairwise(words)):
                is_free = i not in taken and i + 1 not in taken and pair not in self.pairs
                if is_free and self._joins(pair[1], tags[i], tags[i + 1]):
                    self.pairs[pair] = {ANY: None}
        self._index()

    def _joins(self, clitic: str, *tags: str) -> bool:
        """Whether a clitic is contracted with words that have these tags."""
        met = self.clitics.get(clitic)
        return met is not None and met.get(" ".join(tags), met[ANY] and not any(tags))

    def find(self, words: Sequence[str], tags: Sequence[str], given: Sequence[Range] = ()) -> list[Range]:
        """The tokens that are written for several words, from left to right.

        words, tags (Sequence[str]): The words in order.
        given (Sequence[Range]): Some that are known already.
        """
        found = sorted(given)
        if self.pairs:
            taken = {k for start, end, *_ in found for k in range(start, end)}
            lower = [word.lower() for word in words]
            at = 0
            while at < len(words) - 1:
                end, edit = self._at(lower, tags, at)
                if edit is not None and taken.isdisjoint(range(at, end)):
                    found.append(Range(at, end, apply(edit, words[at:end])))
                    at = end
                else:
                    at += 1
        return sorted(found)

    def _at(self, words: list[str], tags: Sequence[str], at: int) -> tuple[int, Edit | None]:
        """The longest contraction that begins at a word: where it ends, and how."""
        if words[at] in self._starts:
            for end in range(min(len(words), at + self._longest), at + 1, -1):
                choice = self.pairs.get(tuple(words[at:end]))
                if choice is not None:
                    return end, choice.get(" ".join(tags[at:end]), choice[ANY])
        if self._joins(words[at + 1], tags[at], tags[at + 1]):
            own = self.edits[words[at + 1]]
            for n in range(MAX_ENDING, -1, -1):
                edit = own.get(_ending(words[at], n))
                if edit is not None:
                    return at + 2, edit
        return at + 1, None

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON. An edit is a list, or true for words that are written together."""
        return {
            "pairs": {" ".join(words): {k: _stored(e) for k, e in own.items()} for words, own in self.pairs.items()},
            "clitics": self.clitics,
            "edits": {word: {k: _stored(e) for k, e in own.items()} for word, own in self.edits.items()},
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Contractions":
        """The inverse of `to_dict`, with checks."""
        new = cls()
        for words, own in stored["pairs"].items():
            new.pairs[tuple(words.split(" "))] = {key: _read_edit(edit) for key, edit in own.items()}
        for word, met in stored["clitics"].items():
            new.clitics[word] = {str(key): bool(value) for key, value in met.items()}
            edits = {key: _read_edit(edit) for key, edit in stored["edits"][word].items()}
            new.edits[word] = {key: edit for key, edit in edits.items() if edit is not None}
        if not all(ANY in own for table in (new.pairs, new.clitics) for own in table.values()):
            raise ValueError("contractions without what holds for all tags")
        new._index()
        return new


def _ending(word: str, n: int) -> str:
    """The last letters of a word; with "^" if that is all of it, or more."""
    return "" if n == 0 else word[-n:] if n < len(word) else f"^{word}"


def _choice(counts: Mapping[str, Counter[Edit | None]]) -> Choice:
    """The usual edit for all tags, and for those tags where it is another one."""
    best = {key: sorted(own.items(), key=lambda item: (-item[1], str(item[0])))[0][0] for key, own in counts.items()}
    return {key: edit for key, edit in sorted(best.items()) if key == ANY or edit != best[ANY]}


def _edit(words: list[str], form: str) -> Edit:
    """What turns words into a form."""
    if "".join(words) == form:
        return TOGETHER
    first = words[0]
    same = next((i for i, (a, b) in enumerate(zip(first, form, strict=False)) if a != b), min(len(first), len(form)))
    return Edit(len(first) - same, form[same:])


def apply(edit: Edit, words: Sequence[str]) -> str:
    """The form of some words. Capitals stay where they are."""
    if edit.added is None:
        return "".join(words)
    is_upper = all(word.isupper() for word in words) and len("".join(words)) > 2
    kept = words[0][: len(words[0]) - edit.cut]
    added = edit.added.upper() if is_upper else edit.added
    return kept + added if kept or not words[0][:1].isupper() else added[:1].upper() + added[1:]


def _stored(edit: Edit | None) -> Any:
    return edit and (True if edit == TOGETHER else list(edit))


def _read_edit(stored: Any) -> Edit | None:
    if stored is None or stored is True:
        return TOGETHER if stored else None
    cut, added = stored
    if type(cut) is not int or not isinstance(added, str) or cut < 0:
        raise ValueError("a contraction that is no edit")
    return Edit(cut, added)
