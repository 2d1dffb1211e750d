"""A slow, obvious model of states, features and scores, written from the papers and the documentation alone."""

import numpy as np

from spacy_linearize.core.features.templates import ACTION_ATOMS, PAIR_ATOMS, STATE_ATOMS
from spacy_linearize.core.hashing import hash_text

FREE, ROOT = -1, -2
MASK = (1 << 64) - 1
START, UNLABELLED, NO_HEAD, SET, ITSELF = 1, 2, 3, 4, 5
SHIFT, LEFTARC, RIGHTARC = 1, 2, 3
TYPES = {"SHIFT": SHIFT, "LEFTARC": LEFTARC, "RIGHTARC": RIGHTARC}


def mix(h, value):
    h = ((h ^ (value & MASK)) * 0x9FB21C651E98DF25) & MASK
    h ^= h >> 32
    h = (h * 0xD6E8FEB86659FD93) & MASK
    return h ^ (h >> 29)


def set_hash(values):
    return mix(SET, sum(mix(SET, value) for value in set(values)) & MASK)


def steps(count, *limits):
    """1 for a count up to the first limit, 2 up to the second, ...: counts as the atoms give them, never 0."""
    return 1 + sum(count > limit for limit in limits)


class SlowState:
    """A state of either system. words: dicts as `slow_words` makes them."""

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

    def neighbours(self):
        """P and P2: what was placed last, and before that, of the anchor and its dependents."""
        if not self.stack:
            return None, None
        s0, anchor = self.stack[-1], self.anchor()
        if anchor == s0:
            # To the left of the anchor it is the outermost dependent that counts.
            right, left = self.dependents(s0, "r"), self.dependents(s0, "l")
            return [*right[:2], s0, *left[:1], None][:2]
        # Below a head that is still to come, or with none: S0, and a sibling before it.
        s1 = self.stack[-2] if len(self.stack) > 1 else None
        return s0, s1 if s1 is not None and self.words[s1]["head"] == self.words[s0]["head"] else None

    def position(self, name):
        """The word at a position such as S0, S1l2, P2 or W1; None if there is none."""
        if name[0] == "P":
            return self.neighbours()[len(name) - 1]
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

    def has_arcs(self):
        return any(word["head"] >= 0 for word in self.words)

    def tops(self):
        """The words without a given head, one for each component."""
        return [k for k, word in enumerate(self.words) if word["head"] < 0]

    def given(self, k, name):
        """An atom of what is given around word k: cls, slns, ps, ..."""
        if not self.has_arcs():
            return 0
        head = self.words[k]["head"]
        if name == "fp":
            return self.words[head]["frame"] if head >= 0 else 0
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

    def size(self, k):
        """The number of words of a constituent."""
        return sum(k in self.path(other) for other in range(len(self.words)))

    def relation(self, k):
        """How k is related to the word before."""
        if not self.has_arcs():
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
        return 5 if self.path(last)[-1] == self.path(k)[-1] else 6

    def opened(self, k, atom):
        """The constituent that k opens."""
        path, anchor = self.path(k), self.anchor()
        base = anchor if anchor in path else path[-1]
        below = path[: path.index(base)][::-1]  # from the dependent of the base down to k
        c = below[0] if below else k
        if atom == "Cself":
            outside = anchor is None or self.path(anchor)[-1] != path[-1]
            return 3 * outside + (1 if k == base else 2 if k == c else 3)
        if atom == "Csize":
            return steps(self.size(c), 1, 2, 3, 6)
        if atom == "Cheavy":
            # Punctuation has no weight.
            siblings = [s for s in self.given_children(base) if s != c and s not in self.order]
            sizes = [self.size(s) for s in siblings if not self.words[s]["punct"]]
            if k == base:
                return 1
            if not sizes:
                return 2
            return 3 if self.size(c) > max(sizes) else 4 if self.size(c) < min(sizes) else 5
        if atom.startswith("C2"):
            if not self.has_arcs():
                return 0
            return self.words[below[1]][atom[3:]] if len(below) > 1 else NO_HEAD
        return self.words[c][atom[2:]]

    def of_components(self, atom):
        """T, depth and tops: only where some arcs are given and some are missing."""
        if not self.is_partial():
            return 0
        if atom == "depth":
            return steps(len(self.stack), 0, 1, 2)
        if atom == "tops":
            return steps(sum(top not in self.order for top in self.tops()), 0, 1, 2, 3, 6)
        return self.words[self.path(self.order[-1])[-1]][atom[2:]] if self.order else START

    def is_partial(self):
        return self.has_arcs() and len(self.tops()) > 1

    def punctuation(self, atom):
        """The sets of punctuation, and whether there is a question mark."""
        if atom == "ask":
            return 2 if any(word["punct"] == 2 for word in self.words) else 1
        marks = [k for k, word in enumerate(self.words) if word["punct"]]
        return set_hash(self.words[k]["w"] for k in marks if atom == "allmarks" or k not in self.order)

    def state_atom(self, atom):
        if atom[0] == "H":
            h = self.anchor()
            if h is None:
                return 0
            if atom == "Hs":
                return 2 if h in self.order else 1
            if atom == "Hrest":
                return steps(sum(c not in self.order for c in self.given_children(h)), 0, 1, 2)
            return self.words[h][atom[2:]] if "." in atom else self.given(h, atom[1:])
        if atom == "rest":
            return min(4, len(self.words) - len(self.order))
        if atom in ("marks", "allmarks", "ask"):
            return self.punctuation(atom)
        if atom[0] == "T" or atom in ("depth", "tops"):
            return self.of_components(atom)
        if "." in atom:
            position, attribute = atom.split(".")
            k = self.position(position)
            if k is None:
                return START if position[0] == "W" else 0
            if position[0] == "P" and attribute == "d" and k == self.anchor():
                return ITSELF
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
        if atom == "LW0":
            return self.relation(k)
        if atom[0] == "C":
            return self.opened(k, atom)
        if atom[0] == "U":
            return self.words[self.path(k)[-1]][atom[2:]] if self.is_partial() else 0
        if atom == "L.p":
            return symbol
        if "." in atom:
            return self.words[k][atom.split(".")[1]]
        return self.given(k, atom[1:])

    def features(self, templates, action, bits, atomic=False):
        """The (template, slot) pairs that fire for an action."""
        found = []
        of_state = {atom: self.state_atom(atom) for atom in STATE_ATOMS}
        of_action = {atom: self.action_atom(atom, action, atomic) for atom in ACTION_ATOMS}
        for template in templates:
            atoms = template.split()
            if atoms[0] in PAIR_ATOMS:
                found += [(template, slot) for slot in self.pair_slots(atoms, action, bits)]
                continue
            state = [of_state[a] for a in atoms if a in of_state]
            own = [of_action[a] for a in sorted(set(atoms) & set(of_action), key=ACTION_ATOMS.index)]
            if all(state) and all(own):
                state_part, action_part = hash_text(template), 0
                for value in state:
                    state_part = mix(state_part, value)
                for value in own:
                    action_part = mix(action_part, value)
                if own and not action_part:
                    action_part = 1  # 0 is kept for parts that do not fire
                found.append((template, slot_of(state_part, action_part, bits)))
        return found

    def is_opened(self, member, family):
        """Whether a member of a family has begun: the head with itself, a dependent with any word of its subtree."""
        return member in self.order if member == family else any(member in self.path(k) for k in self.order)

    def decided_pairs(self, k):
        """(family, first, second) for all pairs that are open before word k is shifted, and not after."""
        pairs = []
        for family in range(len(self.words)):
            members = [family, *self.given_children(family)]
            firsts = [m for m in members if (m == k if m == family else m in self.path(k))]
            for first in firsts:
                rest = [m for m in members if m != first and not self.is_opened(m, family)]
                if not self.is_opened(first, family):
                    pairs += [(family, first, second) for second in rest]
        return pairs

    def member_atom(self, family, k, attribute, as_head):
        if attribute == "d":
            return ITSELF if as_head else self.words[k]["d"] or (UNLABELLED if self.words[k]["head"] >= 0 else 0)
        if attribute == "size":
            return 1 if as_head else steps(self.size(k), 1, 2, 3, 6)
        if attribute == "ask":
            return 3 if any(self.words[c]["punct"] == 2 for c in self.given_children(k)) else self.punctuation("ask")
        return self.words[k][attribute]

    def pair_slots(self, atoms, action, bits):
        """The slots of a template of pairs, one for each pair that a SHIFT decides and that has all of its atoms."""
        if action[0] != "SHIFT":
            return
        for family, first, second in self.decided_pairs(action[1]):
            members = {"X": first, "Y": second, "Z": family}
            values = {
                m: [self.member_atom(family, k, a[2:], m != "Z" and k == family) for a in atoms if a[0] == m]
                for m, k in members.items()
            }
            if not all(value for own in values.values() for value in own):
                continue
            first_part = mix(hash_text(" ".join(atoms)), 2 if first == family else 1)
            for value in values["Z"] + values["X"]:
                first_part = mix(first_part, value) or 1
            second_part = mix(0, 2 if second == family else 1)
            for value in values["Y"]:
                second_part = mix(second_part, value) or 1
            yield slot_of(first_part, second_part, bits)


def slot_of(state_part, action_part, bits):
    return (((state_part ^ action_part) * 0x9E3779B97F4A7C15) & MASK) >> (64 - bits)


def slow_words(bag, puncts=None, markers=()):
    """The words of a bag as SlowState wants them.

    puncts: By input position: 1 for punctuation, 2 for a question mark.
    markers: Labels of words that mark the constituent of their head.
    """
    names = ("w", "p", "d", "lower", "suffix", "shape")
    columns = {name: bag.column(i).tolist() for i, name in enumerate(names)}
    heads = bag.heads.tolist()
    words = [{"head": heads[k], **{name: columns[name][k] for name in names}} for k in range(len(bag))]
    for k, word in enumerate(words):
        children = [other for other in words if other["head"] == k]
        word["punct"] = puncts[k] if puncts is not None else 0
        # Markers count as often as they occur, and without their capitals.
        word["mark"] = sum(mix(SET, other["lower"]) for other in children if other["d"] in markers) & MASK
        has_arcs = max(heads) >= 0
        word["frame"] = set_hash(other["d"] for other in children) if has_arcs else 0
        word["company"] = set_hash(other["p"] for other in children) if has_arcs else 0
    return words


def random_weights(weights, seed=0):
    """Fill a table with random numbers."""
    weights.from_array(np.random.default_rng(seed).normal(size=len(weights)).astype(np.float32))
