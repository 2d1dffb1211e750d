"""A slow, obvious model of states, features and scores, written from the papers and the documentation alone."""

import numpy as np

from spacy_linearize.core.hashing import hash_text
from spacy_linearize.core.templates import ACTION_ATOMS, STATE_ATOMS

FREE, ROOT = -1, -2
MASK = (1 << 64) - 1
START, UNLABELLED, NO_HEAD, SET = 1, 2, 3, 4
SHIFT, LEFTARC, RIGHTARC = 1, 2, 3
TYPES = {"SHIFT": SHIFT, "LEFTARC": LEFTARC, "RIGHTARC": RIGHTARC}


def mix(h, value):
    h = ((h ^ (value & MASK)) * 0x9FB21C651E98DF25) & MASK
    h ^= h >> 32
    h = (h * 0xD6E8FEB86659FD93) & MASK
    return h ^ (h >> 29)


def set_hash(values):
    return mix(SET, sum(mix(SET, value) for value in set(values)) & MASK)


class SlowState:
    """A state of either system. words: dicts with the keys w, p, d, lower, suffix, shape and head."""

    def __init__(self, words, system):
        self.words, self.system = words, system
        self.stack, self.order = [], []
        self.head, self.label = {}, {}
        self.tag = {}

    def copy(self):
        other = SlowState(self.words, self.system)
        other.stack, other.order = list(self.stack), list(self.order)
        other.head, other.label, other.tag = dict(self.head), dict(self.label), dict(self.tag)
        return other

    def given_children(self, k):
        return [c for c, word in enumerate(self.words) if word["head"] == k]

    def apply(self, action):
        name, word, symbol = action
        if name == "SHIFT":
            self.stack.append(word)
            self.order.append(word)
            self.tag[word] = symbol
        elif name == "LEFTARC":
            dependent = self.stack.pop(-2)
            self.head[dependent], self.label[dependent] = self.stack[-1], symbol
        else:
            dependent = self.stack.pop()
            self.head[dependent], self.label[dependent] = self.stack[-1], symbol
        if self.system == "order_first":
            self.close()

    def close(self):
        while self.stack:
            s0 = self.stack[-1]
            s1 = self.stack[-2] if len(self.stack) > 1 else None
            complete = all(c in self.head for c in self.given_children(s0))
            if s1 is not None and self.words[s1]["head"] == s0:
                del self.stack[-2]
                self.head[s1] = s0
            elif complete and s1 is not None and self.words[s0]["head"] == s1:
                self.stack.pop()
                self.head[s0] = s1
            elif complete and self.words[s0]["head"] < 0:
                self.stack.pop()
            else:
                return

    def dependents(self, k, side):
        """Attached dependents on one side, the outermost first."""
        place = {w: i for i, w in enumerate(self.order)}
        found = [d for d, h in self.head.items() if h == k and (place[d] < place[k]) == (side == "l")]
        return sorted(found, key=place.__getitem__, reverse=side == "r")

    def position(self, name):
        """The word at a position such as S0, S1l2 or W1; None if there is none."""
        if name[0] == "W":
            i = int(name[1])
            return self.order[-1 - i] if i < len(self.order) else None
        i = int(name[1])
        if i >= len(self.stack):
            return None
        word = self.stack[-1 - i]
        if len(name) == 2:
            return word
        found = self.dependents(word, name[2])
        n = 1 if name[3:] == "2" else 0
        return found[n] if n < len(found) else None

    def attribute(self, k, attribute):
        if attribute == "p":
            return self.tag[k]
        if attribute == "d":
            return self.label.get(k, self.words[k]["d"])
        return self.words[k][attribute]

    def given(self, k, name):
        """An atom of what is given around word k: cls, slns, ps, ..."""
        if all(word["head"] < 0 for word in self.words):
            return 0
        head = self.words[k]["head"]
        if name in ("ps", "lp", "pp", "wp"):
            if head == FREE:
                return 0
            if head == ROOT:
                return NO_HEAD
            return {
                "ps": 2 if head in self.order else 1,
                "lp": self.words[k]["d"] or UNLABELLED,
                "pp": self.words[head]["p"] or UNLABELLED,
                "wp": self.words[head]["w"],
            }[name]
        if name[0] == "c":
            members = self.given_children(k)
        elif head < 0:
            return 0
        else:
            members = [c for c in self.given_children(head) if c != k]
        wants_shifted = not name.endswith("ns")
        members = [c for c in members if (c in self.order) == wants_shifted]
        return set_hash(self.words[c]["d" if name[1] == "l" else "p"] for c in members)

    def anchor(self):
        """The word that has to be finished first."""
        if not self.stack:
            return None
        s0 = self.stack[-1]
        if any(c not in self.head for c in self.given_children(s0)):
            return s0
        return self.words[s0]["head"] if self.words[s0]["head"] >= 0 else None

    def path(self, k):
        """k and its given heads, upwards."""
        path = [k]
        while self.words[path[-1]]["head"] >= 0:
            path.append(self.words[path[-1]]["head"])
        return path

    def opened(self, k, atom):
        """The constituent that k opens, or the relation of k to the word before."""
        path, anchor = self.path(k), self.anchor()
        if atom == "LW0":
            if all(word["head"] < 0 for word in self.words):
                return 0
            if not self.order:
                return START
            last = self.order[-1]
            heads = self.words[k]["head"], self.words[last]["head"]
            if heads[0] == last:
                return 2
            if heads[1] == k:
                return 3
            if heads[0] >= 0 and heads[0] == heads[1]:
                return 4
            return 5 if self.path(last)[-1] == path[-1] else 6
        base = anchor if anchor in path else path[-1]
        c = k if k == base else path[path.index(base) - 1]
        if atom == "Cself":
            return 1 if k == base else 2 if k == c else 3
        if atom == "Csize":
            size = sum(c in self.path(other) for other in range(len(self.words)))
            return size if size < 4 else 4 if size < 7 else 5
        return self.words[c][atom[2:]]

    def state_atom(self, atom):
        if atom[0] == "H":
            h = self.anchor()
            if h is None:
                return 0
            if atom == "Hs":
                return 2 if h in self.order else 1
            return self.words[h][atom[2:]] if "." in atom else self.given(h, atom[1:])
        if atom == "rest":
            return min(4, len(self.words) - len(self.order))
        if "." in atom:
            position, attribute = atom.split(".")
            k = self.position(position)
            if k is None:
                return START if position[0] == "W" else 0
            return self.attribute(k, attribute)
        return self.given(self.stack[-1], atom[2:]) if self.stack else 0

    def action_atom(self, atom, action, atomic=False):
        name, k, symbol = action
        if atom == "A":
            h = mix(0, TYPES[name])
            if name != "SHIFT":
                return mix(h, symbol)
            return mix(mix(h, self.words[k]["w"]), symbol) if atomic else h
        if name != "SHIFT":
            return 0
        if atom == "SHIFT":
            return SHIFT
        if atom[0] == "C" or atom == "LW0":
            return self.opened(k, atom)
        if atom == "L.p":
            return symbol
        if "." in atom:
            return self.words[k][atom.split(".")[1]]
        return self.given(k, atom[1:])

    def features(self, templates, action, bits, atomic=False):
        """The (template, slot) pairs that fire for an action."""
        found = []
        for template in templates:
            atoms = template.split()
            state = [self.state_atom(a) for a in atoms if a in STATE_ATOMS]
            numbers = sorted(ACTION_ATOMS.index(a) for a in atoms if a in ACTION_ATOMS)
            own = [self.action_atom(ACTION_ATOMS[i], action, atomic) for i in numbers]
            if all(state) and all(own):
                state_part, action_part = hash_text(template), 0
                for value in state:
                    state_part = mix(state_part, value)
                for value in own:
                    action_part = mix(action_part, value)
                slot = (((state_part ^ action_part) * 0x9E3779B97F4A7C15) & MASK) >> (64 - bits)
                found.append((template, slot))
        return found


def slow_words(bag):
    """The words of a bag as SlowState wants them."""
    names = ("w", "p", "d", "lower", "suffix", "shape")
    columns = {name: bag.column(i).tolist() for i, name in enumerate(names)}
    heads = bag.heads.tolist()
    return [{"head": heads[k], **{name: columns[name][k] for name in names}} for k in range(len(bag))]


def random_weights(weights, seed=0):
    """Fill a table with random numbers."""
    weights.from_array(np.random.default_rng(seed).normal(size=len(weights)).astype(np.float32))
