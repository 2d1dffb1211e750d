"""The same for Docs of several sentences, see benchmarks/fuzz_docs.py."""

import random

import fuzz
import fuzz_docs
import pytest

from spacy_linearize.core.records import Order

pytestmark = pytest.mark.slow


def docs_campaign(n_docs, seed):
    kinds = {"make": fuzz_docs.random_doc_case, "verify": fuzz_docs.check, "simplify": fuzz_docs.simpler}
    return fuzz.campaign(n_docs, seed=seed, **kinds)


def test_random_docs_keep_the_promises():
    report = docs_campaign(150, seed=3)
    assert not report.violations, report.violations
    assert report.counts["ordered"] > 100


def test_every_kind_of_doc_is_made():
    cases = [fuzz_docs.random_doc_case(random.Random(i)) for i in range(300)]
    assert {len(case.sentences) for case in cases} == {1, 2, 3, 4, 5}
    for name in ("spans", "ents", "span_values", "units", "pairs", "overwrite", "keeps_heads"):
        assert any(getattr(case, name) for case in cases), name
    for name in ("use_tags", "use_heads", "use_deps"):
        assert not all(getattr(case, name) for case in cases), name
    assert any(case.first.n_best > 1 and len(case.sentences) > 1 for case in cases)


def test_what_would_break_a_promise_for_docs_is_noticed(monkeypatch):
    """Each sentence of the n-th order in its n-th best one, and spans whose tokens met by chance, as it once was."""

    def by_rank(lists, n_best):
        n_found = min(n_best, max(map(len, lists)))
        return [Order.concat([orders[min(rank, len(orders) - 1)] for orders in lists]) for rank in range(n_found)]

    def find(self, start, end):
        places = self.place[start:end].tolist() or [0, 2]
        low, high = min(places), max(places) + 1
        return (low, high) if high - low == len(places) else None

    monkeypatch.setattr(fuzz, "SHRINK_SECONDS", 0)
    with monkeypatch.context() as patch:
        patch.setattr("spacy_linearize.linearizer.best_combinations", by_rank)
        assert docs_campaign(60, seed=3).counts["VIOLATION: n-best"]
    with monkeypatch.context() as patch:
        patch.setattr("spacy_linearize.doc.reorder._Mover.find", find)
        assert docs_campaign(60, seed=3).counts["VIOLATION: span"]
