"""Sentences with one word or phrase moved: `score_order` tells them from right ones, and says what to move back."""

import math
import random
from pathlib import Path

import moved
import numpy as np
import pytest
import spacy
from helpers.commands import run
from helpers.docs import read_docs
from spacy.tokens import Doc, DocBin

import spacy_linearize
from spacy_linearize.errors import LinearizeError
from spacy_linearize.insight.calibration import Calibration, fit
from spacy_linearize.insight.moves import find_moves
from spacy_linearize.training.calibrate import calibrate

LINES = (Path(moved.DATA) / "moved.tsv").read_text(encoding="utf8").splitlines()


@pytest.fixture(scope="module")
def web():
    return spacy_linearize.load("en_core_web").get_pipe("linearizer")


def test_200_pairs_of_the_same_words(web):
    pairs = moved.read_pairs(web)
    assert len(pairs) == len(LINES) == len({line.split("\t")[0] for line in LINES}) == 200
    for line, pair in zip(LINES, pairs, strict=True):
        assert line.split("\t") == [doc.text for doc in pair]
        right, other = ([token.text for token in doc] for doc in pair)
        assert sorted(right) == sorted(other)
        assert right != other


@pytest.mark.slow
@pytest.mark.parametrize(
    ("condition", "least"),
    [("words alone", 0.9), ("parsed as they stand", 0.95), ("the tree of the right sentence", 0.95)],
)
def test_right_ones_are_likelier(web, condition, least):
    pairs = list(map(moved.CONDITIONS[condition], moved.read_pairs(web)))
    right, other = np.array(list(moved.probabilities(web, pairs))).T
    assert moved.auc(right, other) >= least
    assert (right < 0.5).mean() < 0.1


def test_the_words_in_the_wrong_place(web):
    doc = Doc(web.vocab, words=["He", "gave", "his", "a", "new", "bicycle", "daughter", "."])
    result = web.score_order(doc)
    assert result.best.text == "He gave his daughter a new bicycle."
    assert [span.text for span in result.misplaced] == ["daughter"]
    assert [str(move) for move in result.moves] == ["'daughter' before 'a'"]
    right = web.score_order(result.best)
    assert (right.misplaced, right.moves) == ([], [])
    assert right.probability > 0.6 > result.probability


def apply(moves, n):
    """The order after the moves."""
    moving = {token.i for move in moves for token in move.span}
    found = []
    for k in (*range(n), None):
        found += [token.i for move in moves if move.before == k for token in move.span]
        found += [k] if k is not None and k not in moving else []
    return found


def test_moves_bring_about_any_order():
    vocab, rng = spacy.blank("en").vocab, random.Random(3)
    for _ in range(300):
        n = rng.randint(0, 9)
        doc = Doc(vocab, words=[rng.choice("abcdefghijkl") for _ in range(n)])
        order = rng.sample(range(n), n)
        moves = find_moves(doc, order)
        assert [doc[k].text for k in apply(moves, n)] == [doc[k].text for k in order]
        assert sum(len(move.span) for move in moves) < max(1, n)


def test_no_more_words_move_than_have_to():
    doc = Doc(spacy.blank("en").vocab, words=list("abcdef"))
    assert [str(move) for move in find_moves(doc, [0, 3, 4, 1, 2, 5])] in (["'d e' before 'b'"], ["'b c' before 'f'"])
    assert [str(move) for move in find_moves(doc, [1, 2, 3, 4, 5, 0])] == ["'a' to the end"]


def test_a_pipeline_that_is_not_calibrated(component, nlp):
    assert component.score_order(Doc(nlp.vocab, words=["the", "dog"])).probability is None


def test_fit():
    rng = random.Random(0)
    gaps = [rng.uniform(0, 40) for _ in range(4000)]
    true = Calibration(bias=2.0, given=0.0, words=0.1)
    is_gold = [rng.random() < true.probability(0, gap) for gap in gaps]
    n_gold = sum(is_gold)
    found = fit([(0.0, gap) for gap in gaps], is_gold)
    assert found.words == pytest.approx(0.1, abs=0.02)
    # Both kinds count the same.
    assert found.bias == pytest.approx(2.0 - math.log(n_gold / (4000 - n_gold)), abs=0.3)
    with pytest.raises(LinearizeError, match="SL251"):
        Calibration.from_dict({"bias": 1})


@pytest.mark.slow
def test_calibrate(trained_path, tmp_path):
    docs = read_docs()[:40]
    odd = [Doc(doc.vocab, words=[token.text for token in reversed(doc)]) for doc in docs[:20]]  # others are better
    DocBin(docs=[*docs, *odd]).to_disk(tmp_path / "corpus.spacy")
    code, _, err = run("calibrate", trained_path, tmp_path / "corpus.spacy", tmp_path / "model")
    assert code == 0, err
    calibrated = spacy.load(tmp_path / "model")
    result = calibrated.get_pipe("linearizer").score_order(Doc(calibrated.vocab, words=["The", "dog", "sleeps", "."]))
    assert 0 < result.probability < 1
    before, after = (path / "linearizer" / "model" for path in (trained_path, tmp_path / "model"))
    assert before.read_bytes() == after.read_bytes()


def test_nothing_to_calibrate_with(component, nlp):
    with pytest.raises(LinearizeError, match="SL252"):
        calibrate(component, [Doc(nlp.vocab, words=["one", "two"])])
    with pytest.raises(LinearizeError, match="SL252"):  # it comes back in another order: nothing to compare that with
        calibrate(component, [Doc(nlp.vocab, words=["closed", ".", "opened", "The", "the", "door", "and"])])
