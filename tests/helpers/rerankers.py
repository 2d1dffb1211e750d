"""Rerankers for tests: at the top of a module, so that they can be pickled."""

import math
from dataclasses import replace

from spacy.util import registry

from spacy_linearize.rerank.reranker import RerankOptions


class Fake:
    """Likes orders whose words are in the sequence of the alphabet. Remembers what it was asked."""

    def __init__(self, weight=1000.0, n_candidates=6, margin=None, **more):
        self.options = RerankOptions.same(n_candidates, weight, margin, **more)
        self.questions = []

    def score(self, questions):
        self.questions += questions
        return [[-float(inversions(words)) for words in question.words] for question in questions]


def inversions(words):
    """How many pairs of words are not in the sequence of the alphabet."""
    return sum(b < a for i, a in enumerate(words) for b in words[i + 1 :])


class Malicious(Fake):
    """Tries to get something else than a legal order out of the component."""

    def __init__(self, how, **more):
        super().__init__(**more)
        self.how = how

    def score(self, questions):
        return getattr(self, f"_{self.how}")(questions)

    def _nan(self, questions):
        return [[math.nan for _ in question.texts] for question in questions]

    def _infinite(self, questions):
        return [[math.inf, *(-math.inf for _ in question.texts[1:])] for question in questions]

    def _huge(self, questions):
        return [[10.0 ** (300 + i % 8) for i, _ in enumerate(question.texts)] for question in questions]

    def _few(self, questions):
        return [[1.0] for _ in questions]

    def _many(self, questions):
        return [[float(i) for i in range(1000)] for _ in questions]

    def _texts(self, questions):
        return [list(question.texts) for question in questions]

    def _nothing(self, questions):
        return None

    def _no_answers(self, questions):
        return []

    def _raises(self, questions):
        raise RuntimeError("no reason")

    def _changes(self, questions):
        for question in questions:
            object.__setattr__(question, "texts", ("dropped",) * len(question.texts))
            object.__setattr__(question, "words", (("dropped",),) * len(question.texts))
        return [[float(i) for i, _ in enumerate(question.texts)] for question in questions]

    def _empties(self, questions):
        for question in questions:
            object.__setattr__(question, "texts", ())
        return [[] for _ in questions]


FAILURES = {
    "empties": "SL231",
    "nan": "SL232",
    "infinite": "SL232",
    "huge": "SL232",
    "few": "SL231",
    "many": "SL231",
    "texts": "SL230",
    "nothing": "SL230",
    "no_answers": "SL231",
    "raises": "SL230.*RuntimeError: no reason",
}


@registry.misc("fake_reranker.v1")
def make_fake(weight: float = 1000.0, n_candidates: int = 6, weights: dict[str, float] | None = None):
    fake = Fake(weight, n_candidates)
    if weights is not None:
        fake.options = replace(fake.options, weights=weights)
    return fake


CONFIG = {"@misc": "fake_reranker.v1", "weight": 500.0}
