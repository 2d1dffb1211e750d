"""Pruning by relative entropy, slow and from the formula (Stolcke 1998, equation 2), to compare the compiled one with.

    D = -P(h) * (p(w|h) * (log p(w|h') + log a'(h) - log p(w|h)) + (log a'(h) - log a(h)) * (1 - sum of p(v|h)))

where the sum is over the words v that were seen after h, a(h) is the backoff of h and a'(h) that without the n-gram hw.
"""

from collections import defaultdict
from math import log


def worth_of(entries, shares):
    """What each n-gram of two words and more is worth on its own, and at least what those are that need it.

    entries (Dict[Tuple[int, ...], Tuple[float, float]]): Probability and backoff by n-gram.
    shares (Dict[Tuple[int, ...], float]): How often each context was seen, as a share of all words.
    """
    followers = defaultdict(list)
    for gram in entries:
        if len(gram) > 1:
            followers[gram[:-1]].append(gram)
    worth = {}
    for context, grams in followers.items():
        left = 1 - sum(entries[gram][0] for gram in grams)
        shorter_left = 1 - sum(entries[gram[1:]][0] for gram in grams)
        for gram in grams:
            p, shorter = entries[gram][0], entries[gram[1:]][0]
            backoff, new = left / shorter_left, (left + p) / (shorter_left + shorter)
            change = p * (log(shorter) + log(new) - log(p)) + (log(new) - log(backoff)) * left
            worth[gram] = max(0.0, -shares[context] * change)
    for gram in sorted(worth, key=len, reverse=True):
        for part in (gram[:-1], gram[1:]):
            if len(part) > 1:
                worth[part] = max(worth[part], worth[gram])
    return worth
