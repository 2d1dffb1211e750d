"""A derivation that Python can step through: for tests and explanations, never inside the search."""
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ..bag.bag cimport PackedBag
from ..features.families cimport PairC, PairsC, decided_pairs, find_pair_slots, member_of
from ..features.plan cimport N_SCOPES, NOT_THERE, ExtractionC, FiredC, extract, extract_action, find_slots
from ..systems.dead_ends cimport legal_actions
from ..systems.derivation cimport TargetC, make_target
from ..systems.state cimport LEFTARC, NONE, RIGHTARC, SHIFT, ActionC, NodeC, StateC, copy_state, n_blocks, start
from .beam cimport Decoder, Workspace, start_search
from .scores cimport score_action
from .workspace cimport SearchC

from ..features.atom_table import ACTION_ATOMS, STATE_ATOMS

NAMES = {SHIFT: "SHIFT", LEFTARC: "LEFTARC", RIGHTARC: "RIGHTARC"}


cdef class Stepper:
    """The state that some actions lead to. Words are identified by input position.

    Example:

        state = Stepper(decoder, bag)
        while not state.is_final:
            state = state.step(0)
        state.order
    """
    cdef readonly Decoder decoder
    cdef readonly PackedBag bag
    cdef readonly tuple order       # words shifted so far, in the direction of the search
    cdef readonly dict arcs         # dependent -> head, as far as the system's own actions built them
    cdef readonly int n_actions
    cdef Workspace workspace
    cdef SearchC search
    cdef StateC state
    cdef vector[uint64_t] bits
    cdef vector[ActionC] actions

    def __init__(self, Decoder decoder not None, PackedBag bag not None, *, double ngram_weight=0):
        self.decoder = decoder
        self.bag = bag
        self.order = ()
        self.arcs = {}
        self.workspace = Workspace()
        self.search = decoder.prepare(bag, self.workspace, decoder.weights.for_decoding(), 1)
        self.search.ngram_weight = ngram_weight if decoder.ngrams.order else 0
        start_search(&self.search, &self.workspace.c)
        self.bits.resize(n_blocks(bag.c.forest.n) + 1)
        start(&self.state, self.bits.data(), bag.c.forest.n)
        self._find_legal()

    cdef int _find_legal(self) except -1:
        self.actions.clear()
        if not self.is_final:
            legal_actions(&self.search.context, self.search.system, &self.state, &self.actions)
        return 0

    @property
    def is_final(self):
        return self.n_actions == self.search.system.n_steps(self.bag.c.forest.n)

    @property
    def stack(self):
        """The words on the stack, the top last."""
        words = []
        cdef int node = self.state.top
        while node != NONE:
            words.append(self.bag.layout.position[self.workspace.c.nodes[node].word])
            node = self.workspace.c.nodes[node].below
        return tuple(reversed(words))

    @property
    def legal(self):
        """The legal actions: name, word (None for arcs), and tag or label."""
        return [self._show(action) for action in self.actions]

    def _show(self, ActionC action):
        word = self.bag.layout.position[action.word] if action.type == SHIFT else None
        return NAMES[action.type], word, action.symbol

    def step(self, size_t i):
        """The state after the i-th legal action. This one stays as it is."""
        if i >= self.actions.size():
            raise IndexError(i)
        cdef Stepper after = Stepper.__new__(Stepper)
        after.decoder = self.decoder
        after.bag = self.bag
        after.workspace = self.workspace
        after.search = self.search
        after.bits.resize(self.bits.size())
        copy_state(&after.state, &self.state, after.bits.data(), self.bag.c.forest.n)
        name, word, _ = self._show(self.actions[i])
        after.order = self.order + ((word,) if name == "SHIFT" else ())
        after.arcs = dict(self.arcs)
        if name != "SHIFT":
            stack = list(self.stack)
            s0, s1 = stack.pop(), stack.pop()
            after.arcs[s1 if name == "LEFTARC" else s0] = s0 if name == "LEFTARC" else s1
        after.n_actions = self.n_actions + 1
        after.state.score += self.score(i)
        after.search.system.apply(&after.search.context, &after.state, &self.actions[i])
        after._find_legal()
        return after

    def score(self, size_t i) -> float:
        """What the i-th legal action adds to the score."""
        if i >= self.actions.size():
            raise IndexError(i)
        return score_action(&self.search, &self.workspace.c, &self.state, &self.actions[i])

    @property
    def total(self):
        """The score of the derivation so far."""
        return self.state.score

    def features(self, size_t i):
        """The templates that fire for the i-th legal action, each with its slot in the table of weights; those of pairs
        once for every pair."""
        return [(template, slot) for template, _, slot in self.instances(i)]

    def instances(self, size_t i):
        """As `features`, each with what it looks at between template and slot: a dict of the values of its atoms, or for
        pairs a tuple: the head of the family, the word that comes first, and the other, as input positions."""
        if i >= self.actions.size():
            raise IndexError(i)
        cdef ExtractionC* extraction = &self.workspace.c.extraction
        cdef int scope, k, at
        cdef FiredC fired
        found = []
        extract(self.search.plan, self.search.context.bag, self.search.context.nodes, &self.state, extraction)
        extract_action(self.search.plan, self.search.context.bag, self.search.context.nodes, &self.state,
                       &self.actions[i], extraction)
        for scope in range(N_SCOPES):
            find_slots(self.search.plan, extraction, scope, self.search.table.shift)
            at = 0
            for k in range(extraction.n_fired[scope]):
                fired = extraction.fired[self.search.plan.scope_start[scope] + k]
                if extraction.row[fired.part] != NOT_THERE:
                    template = self.decoder.features.templates[fired.template]
                    found.append((template, self._values(template), extraction.slots[at]))
                    at += 1
        if self.actions[i].type == SHIFT:
            found += self._pair_instances(self.actions[i].word)
        return found

    def _values(self, template):
        """The values of a template's atoms in the state and the action that were extracted last."""
        values = {}
        for atom in template.split():
            if atom in STATE_ATOMS:
                values[atom] = self.workspace.c.extraction.atoms.state[<int>STATE_ATOMS.index(atom)]
            else:
                values[atom] = self.workspace.c.extraction.atoms.action[<int>ACTION_ATOMS.index(atom)]
        return values

    def _pair_instances(self, int word):
        cdef vector[PairC] pairs
        cdef PairsC* all_pairs = &self.workspace.c.pairs
        cdef size_t p
        cdef int k
        found = []
        decided_pairs(all_pairs, self.search.context.bag, &self.state, word, &pairs)
        for p in range(pairs.size()):
            words = tuple(self.bag.layout.position[k] for k in (
                pairs[p].family,
                member_of(self.search.context.bag, pairs[p].family, pairs[p].first),
                member_of(self.search.context.bag, pairs[p].family, pairs[p].second),
            ))
            for k in range(find_pair_slots(all_pairs, self.search.pair_plan, &pairs[p], self.search.table.shift)):
                template = self.decoder.features.pair_templates[all_pairs.fired[k]]
                found.append((template, words, all_pairs.slots[k]))
        return found

    def gold(self, order, heads, tags, labels) -> int:
        """The number of the legal action that leads to a gold order and tree, or -1 if none does."""
        cdef TargetC gold = make_target(self.bag, order, heads, tags, labels, self.decoder.mirrored,
                                    self.decoder.system.builds_trees)
        cdef ActionC action
        self.search.system.oracle(&self.search.context, &self.state, &gold, &action)
        for i in range(self.actions.size()):
            if self._show(self.actions[i]) == self._show(action):
                return i
        return -1
