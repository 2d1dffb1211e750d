"""A slow, obvious tagger, written from the documentation alone: it counts tags itself, and scores one tag at a time."""

from collections import Counter, defaultdict

from spacy_linearize.core.features.templates import TAG_TEMPLATES
from spacy_linearize.core.hashing import hash_text

from .slow import MASK, NO_HEAD, ROOT, SET, UNLABELLED, mix, set_hash, slot_of

OUTSIDE = 1
RARE = 10  # words seen less often than this teach the tags of suffixes and shapes
COLUMNS = {"w": "forms", "p": "tags", "d": "labels", "lower": "lowers", "suffix": "suffixes", "shape": "shapes"}


class SlowTagger:
    """Tags words over an order.

    sentences: What the lexicon has learned from.
    weights: Those of the tagger.
    markers: Labels of words that mark their head.
    """

    def __init__(self, sentences, weights, markers=()):
        self.weights = weights
        self.markers = markers
        words = [word for sentence in sentences for word in words_of(sentence)]
        n_seen = Counter(word["w"] for word in words)
        self.counts = defaultdict(Counter)
        for word in words:
            for context in contexts(word)[: None if n_seen[word["w"]] < RARE else 2]:
                self.counts[context][word["p"]] += 1

    def possible(self, word):
        """All tags that a word may have, the likeliest of its form first."""
        found = {}
        for context in contexts(word)[:-1]:
            found.update(dict.fromkeys(self.ranked(context)))
        return list(found) or self.ranked("all")

    def ranked(self, context):
        counter = self.counts[context]
        return sorted(counter, key=lambda tag: (-counter[tag], tag))

    def usual(self, word):
        return next((self.ranked(context)[0] for context in contexts(word) if self.ranked(context)), 0)

    def tag(self, bag, order):
        """The tags by input position."""
        words = words_of(bag)
        tags = [word["p"] or self.usual(word) for word in words]
        for place in range(len(order)):
            word = words[order[place]]
            if not word["p"]:
                atoms = self.atoms(words, tags, order, place)
                possible = self.possible(word)
                scores = [self.score(atoms, tag, rank) for rank, tag in enumerate(possible)]
                if possible:
                    tags[order[place]] = possible[scores.index(max(scores))]
        return tags

    def atoms(self, words, tags, order, place):
        """What templates look at, without what is not there."""
        word, k = words[order[place]], order[place]
        atoms = {name: word[name] for name in ("w", "lower", "suffix", "shape")}
        for step in (-2, -1, 1, 2):
            inside = 0 <= place + step < len(order)
            other = words[order[place + step]] if inside else None
            atoms[f"{step:+}.p"] = tags[order[place + step]] if inside else OUTSIDE
            for name in ("lower", "suffix"):
                atoms[f"{step:+}.{name}"] = other[name] if inside else OUTSIDE
        head, children = word["head"], [other for other in words if other["head"] == k]
        if head >= 0:
            side = 2 if list(order).index(head) > place else 1
            atoms |= {"d": word["d"] or UNLABELLED, "h.lower": words[head]["lower"], "h.p": tags[head], "side": side}
        elif head == ROOT:
            atoms["d"] = NO_HEAD
        if any(other["head"] >= 0 for other in words):
            atoms["frame"] = set_hash(other["d"] for other in children)
        atoms["mark"] = sum(mix(SET, other["lower"]) for other in children if other["d"] in self.markers) & MASK
        return {name: value for name, value in atoms.items() if value}

    def score(self, atoms, tag, rank):
        slots = [slot_of(hash_text("tag rank"), mix(0, 1 + min(rank, 3)), self.weights.bits)]
        for template in TAG_TEMPLATES:
            if all(atom in atoms for atom in template.split()):
                h = hash_text("tag " + template)
                for atom in template.split():
                    h = mix(h, atoms[atom])
                slots.append(slot_of(h, mix(0, tag), self.weights.bits))
        return sum(self.weights.at(slots))


def words_of(bag):
    columns = {name: bag.column(column).tolist() for name, column in COLUMNS.items()}
    heads = bag.column("heads").tolist()
    return [{"head": heads[k], **{name: columns[name][k] for name in COLUMNS}} for k in range(len(bag))]


def contexts(word):
    """Where to look for the tags of a word, the closest first."""
    suffix, shape = word["suffix"], word["shape"]
    return [("w", word["w"]), ("lower", word["lower"]), (suffix, shape), ("suffix", suffix), ("shape", shape), "all"]
