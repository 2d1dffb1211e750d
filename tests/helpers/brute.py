"""Everything by enumeration: the forests, trees and orders of a few words. Slow and obvious on purpose.

A forest is a tuple with the head of each word, FREE or ROOT.
"""

import itertools
import random
from functools import cache

FREE, ROOT = -1, -2


def chain(heads, k):
    """k, its head, the head of that, ...; None if this never ends."""
    path = [k]
    while heads[path[-1]] >= 0:
        path.append(heads[path[-1]])
        if len(path) > len(heads):
            return None
    return path


def is_forest(heads):
    return list(heads).count(ROOT) <= 1 and all(chain(heads, k) for k in range(len(heads)))


def forests(n):
    """Every forest of n words with at most one given root."""
    choices = [[FREE, ROOT, *(h for h in range(n) if h != k)] for k in range(n)]
    return [heads for heads in itertools.product(*choices) if is_forest(heads)]


def random_forest(rng, n, share=0.5):
    """A random forest, not uniform but with every forest possible."""
    while True:
        heads = [FREE] * n
        for k in range(n):
            if rng.random() < share:
                heads[k] = rng.choice([h for h in range(n) if h != k] or [ROOT])
        if rng.random() < 0.3:
            heads[rng.randrange(n)] = ROOT
        # Break cycles where they close.
        for k in range(n):
            seen = [k]
            while heads[seen[-1]] >= 0:
                if heads[seen[-1]] in seen:
                    heads[seen[-1]] = FREE
                else:
                    seen.append(heads[seen[-1]])
        if is_forest(heads):
            return tuple(heads)


def is_projective(heads, order=None):
    """Whether the words between a head and its dependent all hang, in the end, on that head."""
    order = list(range(len(heads))) if order is None else order
    place = {k: i for i, k in enumerate(order)}
    for d, h in enumerate(heads):
        if h >= 0:
            low, high = sorted((place[d], place[h]))
            if any(h not in (chain(heads, order[i]) or ()) for i in range(low + 1, high)):
                return False
    return True


def keeps(heads, given):
    return all(g in (FREE, h) for h, g in zip(heads, given, strict=True))


def trees(given):
    """Every tree that keeps the given arcs."""
    n = len(given)
    choices = [[ROOT, *(h for h in range(n) if h != k)] if g == FREE else [g] for k, g in enumerate(given)]
    return [heads for heads in itertools.product(*choices) if heads.count(ROOT) == 1 and is_forest(heads)]


def projective_orders(tree):
    """Every order in which a tree is projective: a head and the blocks of its dependents are permuted as wholes."""

    def arrange(k):
        blocks = [[(k,)], *(arrange(c) for c in range(len(tree)) if tree[c] == k)]
        return [
            tuple(itertools.chain.from_iterable(parts))
            for permutation in itertools.permutations(blocks)
            for parts in itertools.product(*permutation)
        ]

    return arrange(tree.index(ROOT))


@cache
def expected(given):
    """Every (order, tree) that keeps the given arcs."""
    return frozenset((order, tree) for tree in trees(given) for order in projective_orders(tree))


def sample(n, count, seed=0, shares=(0.3, 0.6, 0.8, 1.0)):
    """Different random forests of n words, with about these shares of the arcs given."""
    rng = random.Random(seed)
    found = set()
    while len(found) < count:
        found.add(random_forest(rng, n, rng.choice(shares)))
    return sorted(found)
