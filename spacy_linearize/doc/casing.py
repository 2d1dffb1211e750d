"""Capital letters for a new order: which are needed, and which came from standing first in another one.

Training text shows which words are written in lower case inside of a sentence, with which tags they are not (the name
"Will", the pronoun "I"), and whether sentences begin with a capital.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

LEAST_DOTLESS = 0.01  # of the words of a language that has this letter: names have it elsewhere


class Casing:
    """What is known about capitals.

    lower (Set[str]): Words that are written in lower case inside of a sentence.
    names (Dict[str, Set[str]]): Some of them, with the tags with which they are not.
    tags (Set[str]): Tags whose words mostly have a capital, as those of names.
    capitalises (bool): Whether a sentence begins with a capital.
    dotless (bool): Whether the capital of "i" has a dot, as in Turkish, where "I" is that of "ı".
    """

    def __init__(self) -> None:
        self.lower: set[str] = set()
        self.names: dict[str, set[str]] = {}
        self.tags: set[str] = set()
        self.capitalises = False
        self.dotless = False

    def learn(self, texts: Iterable[tuple[Sequence[str], Sequence[str]]]) -> None:
        """Learn anew from the words and tags of sentences."""
        counts: dict[str, dict[str, Counter[bool]]] = defaultdict(lambda: defaultdict(Counter))
        n_capital = 0
        texts = list(texts)
        n_dotless = sum("ı" in word for words, _ in texts for word in words)
        self.dotless = n_dotless > LEAST_DOTLESS * sum(len(words) for words, _ in texts)
        for words, tags in texts:
            first = _first_word(words)
            if first is None:
                continue
            n_capital += words[first][:1].isupper() - words[first][:1].islower()
            for word, tag in zip(words[first + 1 :], tags[first + 1 :], strict=True):
                if word[:1].isupper() or word.islower():
                    counts[self._lower(word)][tag][word.islower()] += 1
        self.capitalises = n_capital > 0
        by_tags: dict[str, Counter[bool]] = defaultdict(Counter)
        for own in counts.values():
            for tag, n in own.items():
                by_tags[tag] += n
        self.tags = {tag for tag, n in by_tags.items() if tag and n[False] > n[True]}
        self.lower, self.names = set(), {}
        for word, by_tag in counts.items():
            total = sum(by_tag.values(), Counter())
            if total[True] > total[False]:
                self.lower.add(word)
                if names := {tag for tag, own in by_tag.items() if own[False] > own[True]} - {""} - self.tags:
                    self.names[word] = names

    def apply(self, words: Sequence[str], tags: Sequence[str]) -> list[str]:
        """The words of a sentence with its capitals."""
        first = _first_word(words) if self.capitalises else None
        cased = [self._inside(word, tag) for word, tag in zip(words, tags, strict=True)]
        if first is not None:
            word = cased[first]
            if word.islower():  # a word like "iPhone" stays
                cased[first] = self._upper(word[:1]) + word[1:]
            elif words[first][:1].isupper():
                cased[first] = words[first]
        return cased

    def as_changed(self, form: str, before: str, after: str) -> str:
        """What is written for several words, when the first of them has another capital than before."""
        if before[:1].islower() and after[:1].isupper():
            return self._upper(form[:1]) + form[1:]
        if before[:1].isupper() and after[:1].islower():
            return self._lower(form[:1]) + form[1:]
        return form

    def _inside(self, word: str, tag: str) -> str:
        """A word inside of a sentence: without its capital, if it is not usual there."""
        small = self._lower(word)
        is_capital = word[:1].isupper() and word[1:] == small[1:] and small in self.lower
        is_name = tag in self.tags or tag in self.names.get(small, ())
        return small if is_capital and not is_name else word

    def _lower(self, word: str) -> str:
        return (word.replace("I", "ı").replace("İ", "i") if self.dotless else word).lower()

    def _upper(self, letter: str) -> str:
        return "İ" if self.dotless and letter == "i" else letter.upper()

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        names = {word: sorted(tags) for word, tags in sorted(self.names.items())}
        return {
            "dotless": self.dotless,
            "capitalises": self.capitalises,
            "lower": " ".join(sorted(self.lower)),
            "names": names,
            "tags": sorted(self.tags),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Casing":
        """The inverse of `to_dict`."""
        casing = cls()
        casing.capitalises = bool(stored["capitalises"])
        casing.dotless = bool(stored["dotless"])
        casing.lower = set(stored["lower"].split())
        casing.tags = set(map(str, stored["tags"]))
        casing.names = {word: set(map(str, tags)) for word, tags in stored["names"].items()}
        return casing


def _first_word(words: Sequence[str]) -> int | None:
    """The first word that begins with a letter, behind quotes and brackets, but not behind a number."""
    for i, word in enumerate(words):
        if word[:1].isalnum():
            return i if word[:1].isalpha() else None
    return None
