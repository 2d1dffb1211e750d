"""From texts to the language model of a search: vocabulary, counts, smoothing, mixing, pruning."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import error
from ..records import Array, Bag
from .backoff import Backoff, interpolate
from .counts import Text, count, split
from .kneser_ney import smooth
from .prune import prune
from .table import BEGIN_KEY, END_KEY, HIGHEST_ORDER, UNKNOWN_KEY, Ngrams, class_keys

UNKNOWN_WORD, FIRST_WORD = 3, 4  # numbers, see `grams.pxd`
MAX_WORDS = 1 << 20  # of a vocabulary: rarer words of a huge text go into classes
MIN_CLASS = 20  # how often the words of a class were seen at least
HELD_OUT = 10  # one sentence in this many is held out to find the weights of sources
EM_STEPS = 100
MIN_MEMORY = 1_000_000  # bytes
BYTES_OF_NGRAM = 3.8  # in a model file, about


@dataclass(frozen=True, kw_only=True)
class Estimation:
    """How to make language models.

    order (int): Length of the longest n-grams.
    min_counts (Sequence[int]): By length, how often an n-gram must be seen to be kept. The last one counts for all
        greater lengths, too.
    min_word (int): Words that were seen less often share n-grams with others of their class.
    size (Optional[int]): How many bytes the model may take in a file. The least valuable n-grams are pruned. None to
        prune nothing.
    weights (Optional[Sequence[float]]): How much each source counts. None for what suits the first one.
    memory (int): How many bytes to take at most, about.
    """

    order: int = 3
    min_counts: Sequence[int] = (1,)
    min_word: int = 1
    size: int | None = None
    weights: Sequence[float] | None = None
    memory: int = 2 << 30

    def __post_init__(self) -> None:
        if type(self.order) is not int or not 1 <= self.order <= HIGHEST_ORDER:
            raise error("SL022", key="order", value=self.order, expected=f"1 to {HIGHEST_ORDER}")
        for key, least in (("min_word", 1), ("memory", MIN_MEMORY), ("size", 1)):
            value = getattr(self, key)
            if value is not None and (type(value) is not int or value < least):
                raise error("SL022", key=key, value=value, expected=f"a whole number from {least:,}")
        if not _is_list(self.min_counts) or any(type(least) is not int or least < 1 for least in self.min_counts):
            raise error("SL022", key="min_counts", value=self.min_counts, expected="a list of whole numbers from 1")
        if self.weights is not None and not (
            _is_list(self.weights) and all(type(weight) in (int, float) and 0 <= weight <= 1 for weight in self.weights)
        ):
            raise error("SL022", key="weights", value=self.weights, expected="a list of shares from 0 to 1")

    def least(self, length: int) -> int:
        """How often an n-gram of this length must be seen."""
        return 1 if length == 1 else max(self.min_counts[1:length] or self.min_counts[-1:])

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Estimation":
        """From a config. The order is not among the keys: a model has its own."""
        known = [key for key in cls.__dataclass_fields__ if key != "order"]
        for key in values:
            if key not in known:
                raise error("SL022", key=key, value=values[key], expected=f"one of {', '.join(known)}")
        return cls(**values)


def _is_list(values: object) -> bool:
    return isinstance(values, (list, tuple)) and len(values) > 0


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Words by number.

    keys (ndarray): The key of each word or class.
    classes (Dict[int, Tuple[int, int]]): For each key of a class, those of the suffix (0 for any) and of the shape.
    numbers (List[ndarray]): For each text, the numbers of its words, in the sequence of `Text.words`.
    """

    keys: Array
    classes: dict[int, tuple[int, int]]
    numbers: list[Array]

    @classmethod
    def choose(cls, texts: Sequence[Text], min_word: int) -> "Vocabulary":
        """The words that were seen often enough in all texts together, and classes for the others: by suffix and shape
        or, where these are too rare themselves, by shape alone. The sequence of the texts does not matter."""
        listed = [text.words() for text in texts]
        words = np.concatenate(listed)
        keys, inverse = np.unique(words[:, 0], return_inverse=True)
        seen = np.bincount(inverse, weights=words[:, 3].astype(np.float64), minlength=len(keys))
        if len(seen) > MAX_WORDS:
            min_word = max(min_word, int(np.sort(seen)[-MAX_WORDS]) + 1)
        # The suffix and shape of a word may be known from any of the texts.
        suffixes, shapes = np.zeros_like(keys), np.zeros_like(keys)
        has_form = words[:, 2] != 0
        suffixes[inverse[has_form]], shapes[inverse[has_form]] = words[has_form, 1], words[has_form, 2]
        chosen = keys.copy()  # what stands for each word
        classes: dict[int, tuple[int, int]] = {}
        rare = np.flatnonzero(seen < min_word)
        for column in (suffixes, np.zeros_like(suffixes)):
            names = class_keys(column[rare], shapes[rare])
            found, members = np.unique(names, return_inverse=True)
            is_frequent = np.bincount(members, weights=seen[rare], minlength=len(found))[members] >= MIN_CLASS
            is_frequent &= shapes[rare] != 0  # else its suffix and shape are not known
            chosen[rare] = np.where(is_frequent, names, UNKNOWN_KEY)
            own = rare[is_frequent]
            classes.update((int(chosen[i]), (int(column[i]), int(shapes[i]))) for i in own)
            rare = rare[~is_frequent]
        names, members = np.unique(chosen, return_inverse=True)
        totals = np.bincount(members, weights=seen, minlength=len(names))
        sequence = np.lexsort((names, -totals))  # frequent words first; ties go to the smaller key
        sequence = sequence[names[sequence] != UNKNOWN_KEY]
        number = np.full(len(names), UNKNOWN_WORD, dtype=np.uint32)
        number[sequence] = FIRST_WORD + np.arange(len(sequence), dtype=np.uint32)
        beside = np.array([0, BEGIN_KEY, END_KEY, UNKNOWN_KEY], dtype=np.uint64)
        numbers = np.split(number[members][inverse], np.cumsum([len(own) for own in listed])[:-1])
        return cls(keys=np.concatenate([beside, names[sequence]]), classes=classes, numbers=numbers)


class Estimator:
    """Makes a language model from texts.

    texts (Sequence[Text]): The sources. The first one is of the kind that the model is for: the weights of all suit a
        part of it that is held out.
    how (Estimation): How to make it.
    """

    def __init__(self, texts: Sequence[Text], how: Estimation) -> None:
        if how.weights is not None and (len(how.weights) != len(texts) or abs(sum(how.weights) - 1) > 1e-6):
            raise error("SL022", key="weights", value=how.weights, expected=f"{len(texts)} shares whose sum is 1")
        self.texts = texts
        self.how = how
        self.vocabulary = Vocabulary.choose(texts, how.min_word)

    @cached_property
    def weights(self) -> list[float]:
        """The weights of the sources."""
        if self.how.weights is not None:
            return list(self.how.weights)
        if len(self.texts) == 1:
            return [1.0]
        most, held_out = split(self.texts[0], HELD_OUT)
        sources = [most, *self.texts[1:]]
        # Words that only the held-out part has count as well: a model is not better because it does not know them.
        vocabulary = Vocabulary.choose([*sources, held_out], self.how.min_word)
        *numbers, unseen = vocabulary.numbers
        found = [
            self._model_of(text, own, vocabulary).probabilities(held_out.read(), unseen)
            for text, own in zip(sources, numbers, strict=True)
        ]
        weights: list[float] = mixture_weights(np.array(found)).tolist()
        return weights

    def model(self) -> Backoff:
        """The mixture, pruned."""
        numbers = self.vocabulary.numbers
        models = [self._model_of(text, own, self.vocabulary) for text, own in zip(self.texts, numbers, strict=True)]
        model = interpolate(models, self.weights)
        del models
        return model if self.how.size is None else prune(model, int(self.how.size / BYTES_OF_NGRAM))

    def _model_of(self, text: Text, numbers: Array, vocabulary: Vocabulary) -> Backoff:
        """The model of one source."""
        how = self.how
        run = count(text, numbers, how.order, memory=how.memory // 2)
        model, least = smooth(run, how.order, len(vocabulary.keys), min_counts=how.min_counts, memory=how.memory)
        if any(n > how.least(length) for length, n in enumerate(least, start=1)):
            counts = ", ".join(map(str, least))
            warnings.warn(str(error("SL225", memory=how.memory >> 20, counts=counts)), stacklevel=2)
        return model


def mixture_weights(probabilities: Array) -> Array:
    """The weights with which a mixture of models makes held-out words most probable: expectation maximisation.

    probabilities (ndarray): A row for each model, of what it gives each word.
    RETURNS (ndarray): A weight for each model. Their sum is 1.
    """
    weights = np.full(len(probabilities), 1 / len(probabilities))
    for _ in range(EM_STEPS):
        shares = weights[:, None] * probabilities
        weights = (shares / shares.sum(axis=0)).mean(axis=1)
    return weights


def add_sentence(text: Text, sentence: Bag) -> None:
    """Add a gold sentence to a source."""
    forms = sentence.column("forms")
    text.add(forms, np.array([len(forms)]))
    text.add_forms(np.stack([forms, sentence.column("suffixes"), sentence.column("shapes")], axis=1))


def text_of(sentences: Iterable[Bag]) -> Text:
    """Gold sentences as a source."""
    text = Text()
    for sentence in sentences:
        add_sentence(text, sentence)
    return text


def fill_table(table: Ngrams, model: Backoff, keys: Array) -> None:
    """Put a model into the table that the search reads.

    keys (ndarray): Of the words by number.
    """
    levels = []
    for n in range(1, model.order + 1):
        start = 1 if n == 1 else 0  # there is no word 0
        probabilities, backoffs = model.columns(n)
        levels.append((model.hashes(n, keys)[start:], np.log(probabilities[start:]), np.log(backoffs[start:])))
    table.fill(levels)
