"""The metrics of the Surface Realisation shared tasks (2018 to 2020), to compare with their published tables.

All three look at lower-cased words. They are not the BLEU of `scorer`, which looks at words as they are written and
smooths nothing that a corpus needs: never compare one with the other.
"""

from collections import Counter
from collections.abc import Sequence
from math import exp, log, log2

import sacrebleu

NIST_ORDER = 4
_BETA = log(0.5) / log(1.5) ** 2  # outputs of two thirds of the length get half of the score

Words = Sequence[str]


def sr_scores(pairs: Sequence[tuple[Words, Words]]) -> dict[str, float]:
    """The scores of outputs beside gold sentences, each as a list of words.

    RETURNS (Dict[str, float]): sr_bleu (0 to 1, as NLTK computes it with `method2`: one is added to the counts of
        n-grams of two words and more), sr_nist (from 0 on) and sr_dist (0 to 1, the larger the better).

    Example:

        sr_scores([(["She", "left", "."], ["She", "left", "."])])
    """
    lowered = [([word.lower() for word in output], [word.lower() for word in gold]) for output, gold in pairs]
    outputs, golds = [" ".join(output) for output, _ in lowered], [" ".join(gold) for _, gold in lowered]
    bleu = sacrebleu.corpus_bleu(
        outputs, [golds], tokenize="none", force=True, smooth_method="add-k", smooth_value=1
    ).score
    return {"sr_bleu": bleu / 100, "sr_nist": nist(lowered), "sr_dist": closeness(lowered)}


def nist(pairs: Sequence[tuple[Words, Words]], order: int = NIST_ORDER) -> float:
    """The NIST score (Doddington 2002): n-grams that are right, each by how much it tells, with a penalty for outputs
    that are too short."""
    counts: Counter[Words] = Counter()
    for _, gold in pairs:
        for n in range(1, order + 1):
            counts.update(_ngrams(gold, n))
    n_words, n_output = (sum(len(pair[side]) for pair in pairs) for side in (1, 0))
    if not n_output:
        return 0.0
    total = 0.0
    for n in range(1, order + 1):
        told, found = 0.0, 0
        for output, gold in pairs:
            ours = Counter(_ngrams(output, n))
            found += ours.total()
            for ngram, count in (ours & Counter(_ngrams(gold, n))).items():
                told += count * log2((counts[ngram[:-1]] if n > 1 else n_words) / counts[ngram])
        total += told / found if found else 0.0
    ratio = n_output / n_words
    return total * (exp(_BETA * log(ratio) ** 2) if ratio < 1 else 1.0)


def _ngrams(words: Words, n: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def closeness(pairs: Sequence[tuple[Words, Words]]) -> float:
    """One minus the edit distance in words, divided by the length of the longer one of each pair, over all pairs."""
    longest = sum(max(len(output), len(gold)) for output, gold in pairs)
    return 1 - sum(edit_distance(output, gold) for output, gold in pairs) / max(1, longest)


def edit_distance(first: Words, second: Words) -> int:
    """How many words have to be inserted, removed or replaced (Levenshtein)."""
    row = list(range(len(second) + 1))
    for i, word in enumerate(first, start=1):
        before, row[0] = row[0], i
        for j, other in enumerate(second, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (word != other))
    return row[-1]
