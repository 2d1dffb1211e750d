r"""Language models that other programs have estimated, from ARPA files.

    \data\
    ngram 1=2000
    ngram 2=30000

    \1-grams:
    -2.5    word    -0.3

    \2-grams:
    -1.2    another word

    \end\

Each n-gram stands between the logarithms (base 10) of its probability and of its backoff; the latter may be missing.
What comes before the line `\data\` is a comment.
"""

import re
from collections.abc import Callable, Iterator
from math import isfinite, log
from pathlib import Path

import numpy as np

from ..atomic import save
from ..core.ngrams.backoff import Backoff
from ..core.ngrams.estimate import Vocabulary
from ..core.ngrams.table import BEGIN_KEY, END_KEY, HIGHEST_ORDER, UNKNOWN_KEY, class_keys
from ..errors import LinearizeError, error

Gram = tuple[int, ...]
Entry = tuple[Gram, float, float]  # an n-gram, and the natural logarithms of its probability and of its backoff

MARKS = {"<s>": BEGIN_KEY, "</s>": END_KEY, "<unk>": UNKNOWN_KEY, "<UNK>": UNKNOWN_KEY}
CLASS = re.compile(r"<class:(.*):(.+)>")  # words of one suffix, or of any, and one shape
ANNOUNCEMENT = re.compile(rb"ngram\s+(\d{1,9})\s*=\s*(\d{1,18})")


def read_arpa(path: str | Path, key: Callable[[str], int]) -> tuple[int, list[Entry]]:
    """Read a language model for `Ngrams.fill_grams`. N-grams of more than five words are not read.

    path (Union[str, Path]): An ARPA file, in UTF-8.
    key (Callable[[str], int]): Gives the key of a word.
    RETURNS (Tuple[int, List[Entry]]): The order of the model, and its n-grams.
    """
    with Path(path).open("rb") as file:
        return Reader(str(path), file, key).read()


class Reader:
    """One pass over the lines of a file.

    path (str): What to call the file in error messages.
    lines (Iterator[bytes]): Its lines.
    key (Callable[[str], int]): Gives the key of a word.
    """

    def __init__(self, path: str, lines: Iterator[bytes], key: Callable[[str], int]) -> None:
        self.path = path
        self.lines = lines
        self.key = key
        self.number = 0  # of the line that was read last, from 1
        self.keys: dict[bytes, int] = {}  # of the words that the model knows
        self.entries: dict[Gram, tuple[float, float]] = {}

    def read(self) -> tuple[int, list[Entry]]:
        counts, line = self.read_counts()
        order = min(len(counts), HIGHEST_ORDER)
        for n, expected in enumerate(counts[:order], start=1):
            if line != b"\\%d-grams:" % n:
                raise self.bad(f"'\\{n}-grams:' is expected here")
            known = len(self.entries)
            line = self.read_section(n)
            if len(self.entries) - known != expected:
                raise self.bad(
                    f"the {n}-grams end here, and are {len(self.entries) - known} instead of the {expected} that the "
                    "head of the file announces"
                )
        after = b"\\end\\" if order == len(counts) else b"\\%d-grams:" % (order + 1)
        if line != after:
            raise self.bad(f"'{after.decode()}' is expected here")
        return order, [(gram, probability, backoff) for gram, (probability, backoff) in self.entries.items()]

    def next_line(self) -> bytes:
        """The next line that is not blank."""
        for line in self.lines:
            self.number += 1
            if stripped := line.strip():
                return stripped
        raise self.bad("the file ends here, before the line '\\end\\'")

    def read_counts(self) -> tuple[list[int], bytes]:
        """How many n-grams of 1, 2, ... words there are, and the line that follows."""
        for line in self.lines:
            self.number += 1
            if line.removeprefix(b"\xef\xbb\xbf").strip() == b"\\data\\":
                break
        else:
            raise error("SL055", path=self.path)
        counts: list[int] = []
        while announced := ANNOUNCEMENT.fullmatch(line := self.next_line()):
            if int(announced[1]) != len(counts) + 1:
                raise self.bad(f"'ngram {len(counts) + 1}=...' is expected here")
            counts.append(int(announced[2]))
        if not counts or not counts[0]:
            raise self.bad("no words are announced before it, as in 'ngram 1=2000'")
        return counts, line

    def read_section(self, n: int) -> bytes:
        """Take the n-grams of n words. Returns the line that follows."""
        begins_or_ends = re.compile(rb"\\(\d+-grams:|end\\)")
        while not begins_or_ends.fullmatch(line := self.next_line()):
            # Bytes are split at ASCII spaces only: a word may hold one of the others.
            fields = line.split()
            if not n + 1 <= len(fields) <= n + 2:
                raise self.bad(f"it has {len(fields)} columns instead of {n + 1} or {n + 2}")
            probability = self.logarithm(fields[0])
            backoff = self.logarithm(fields[n + 1]) if len(fields) == n + 2 else 0.0
            if probability > 0:
                raise self.bad("a probability is above 1, its logarithm above 0")
            gram = tuple([self.key_of(word, n) for word in fields[1 : n + 1]])
            if gram in self.entries:
                raise self.bad("its n-gram was listed before")
            self.entries[gram] = probability, backoff
        return line

    def key_of(self, word: bytes, n: int) -> int:
        if word not in self.keys:
            try:
                text = word.decode("utf8")
            except UnicodeDecodeError:
                raise self.bad("it is not UTF-8") from None
            if n > 1:
                raise self.bad(f"'{text}' is not among the 1-grams")
            self.keys[word] = self.key_of_text(text)
        return self.keys[word]

    def key_of_text(self, text: str) -> int:
        if text in MARKS:
            return MARKS[text]
        if found := CLASS.fullmatch(text):
            suffix, shape = (np.array([self.key(part) if part else 0], dtype=np.uint64) for part in found.groups())
            return int(class_keys(suffix, shape)[0])
        return self.key(text)

    def logarithm(self, text: bytes) -> float:
        """A logarithm of base 10 as a natural one."""
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not isfinite(value):
            raise self.bad(f"'{text.decode('utf8', 'replace')}' is not a finite number")
        return value * log(10)

    def bad(self, problem: str) -> LinearizeError:
        return error("SL056", path=self.path, line=self.number, problem=problem)


def write_arpa(path: str | Path, model: Backoff, vocabulary: Vocabulary, text: Callable[[int], str]) -> None:
    """Write a language model. A class of words stands there as `<class:suffix:shape>`. Words that the format has no
    room for are left out with all their n-grams: those with spaces in them, and those that look like a mark.

    path (Union[str, Path]): The file to write.
    vocabulary (Vocabulary): The words of the model.
    text (Callable[[int], str]): Gives the text of a key.
    """
    texts = texts_of(vocabulary, text)
    is_written = np.array([is_word(word) for word in texts])
    counts, sections = [], []
    for n in range(1, model.order + 1):
        grams = model.grams(n)
        own = is_written[grams].all(axis=1)
        columns = [np.log10(column[own]) for column in model.columns(n)]
        lines = [f"\\{n}-grams:"]
        for words, probability, backoff in zip(grams[own].tolist(), *columns, strict=True):
            gram = " ".join([texts[word] for word in words])
            lines.append(f"{probability:.7g}\t{gram}" + (f"\t{backoff:.7g}" if backoff else ""))
        counts.append(f"ngram {n}={len(lines) - 1}")
        sections += [*lines, ""]
    save(path, "\n".join(["\\data\\", *counts, "", *sections, "\\end\\", ""]).encode("utf8"))


def texts_of(vocabulary: Vocabulary, text: Callable[[int], str]) -> list[str]:
    """What stands in a file for each word, by number; nothing for those that cannot be told from marks."""
    marks = {key: mark for mark, key in reversed(MARKS.items())}
    texts = []
    for key in vocabulary.keys.tolist():
        if key in marks:
            texts.append(marks[key])
        elif key in vocabulary.classes:
            suffix, shape = vocabulary.classes[key]
            texts.append(f"<class:{text(suffix) if suffix else ''}:{text(shape)}>")
        else:
            word = text(key) if key else ""
            texts.append("" if word in MARKS or CLASS.fullmatch(word) else word)
    return texts


def is_word(text: str) -> bool:
    """Whether a line can hold this as one word, in UTF-8."""
    encoded = text.encode("utf8", "surrogatepass")
    return encoded.split() == [encoded] and encoded == text.encode("utf8", "replace")
