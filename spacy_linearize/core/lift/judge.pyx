"""Logistic regression, learned online and averaged."""
from libc.math cimport exp

from ..hashing cimport mix, slot_of
from ..weights cimport sum_weights

from ..features.templates import fingerprint
from ..hashing import hash_text

cdef double RATE = 0.2      # of learning


cdef class Judge:
    """Answers one kind of question.

    weights (Weights): A table of its own.
    name (str): Of the kind of question.
    atoms (Sequence[str]): What a question is made of.
    templates (Sequence[str]): Which of these count together.
    n_atoms (int): How many atoms those who ask fill in.
    """

    def __init__(self, Weights weights not None, str name, atoms, templates, int n_atoms):
        if len(atoms) != n_atoms:  # `ask` would read beyond them
            raise ValueError(f"{len(atoms)} atoms are named for '{name}', and {n_atoms} filled in")
        self.weights = weights
        self.is_trained = False
        self.templates = tuple(templates)
        number = {atom: i for i, atom in enumerate(atoms)}
        for template in templates:
            self.seeds.push_back(hash_text(f"{name} {template}"))
            self.atoms_of.push_back([number[atom] for atom in template.split()])
        self.slots.resize(self.seeds.size())

    @property
    def fingerprint(self):
        """One number for the templates, which the weights depend on."""
        return fingerprint(self.templates)

    cdef double ask(self, const TableC* table, const uint64_t* atoms) except? -1:
        """The logarithm of the odds that the answer is yes."""
        cdef uint64_t h
        cdef size_t t
        cdef int atom
        for t in range(self.seeds.size()):
            h = self.seeds[t]
            for atom in self.atoms_of[t]:
                h = mix(h, atoms[atom])
            self.slots[t] = slot_of(h, 0, table.shift)
        return sum_weights(table, self.slots.data(), <int>self.slots.size())

    cdef int learn(self, const uint64_t* atoms, bint right) except -1:
        """Learn the right answer to a question. `Weights.start_training` comes first, once."""
        cdef TableC table = self.weights.for_training()
        cdef double probability = 1 / (1 + exp(-self.ask(&table, atoms)))
        self.is_trained |= right
        self.weights.add(self.slots.data(), <int>self.slots.size(), <float>(RATE * (right - probability)))
        return 0
