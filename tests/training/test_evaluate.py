"""Evaluation: figures, and no printing."""

import pytest
import spacy
from spacy.tokens import Doc

from spacy_linearize.training.evaluate import analyse, evaluate, span_scores, spans


def test_spans_by_hand():
    vocab = spacy.blank("en").vocab
    deps = ["x", "x", "ROOT", "x", "x"]
    gold = Doc(vocab, words=["the", "dog", "saw", "a", "cat"], heads=[1, 2, 2, 4, 2], deps=deps)
    other = Doc(vocab, words=["a", "cat", "saw", "dog", "the"], heads=[1, 2, 2, 2, 3], deps=deps)
    assert spans(gold) == [("the", "dog"), ("the", "dog", "saw", "a", "cat"), ("a", "cat")]
    rows = span_scores([(other, gold)])
    assert rows[0] == {"shorter_than": 5, "precision": 50.0, "recall": 50.0, "f": 50.0}  # of two, "a cat" is right
    assert rows[1]["precision"] == pytest.approx(100 / 3)  # and the whole sentence is wrong


def test_settings_of_the_pipeline_stay(trained_path, corpus_path, capsys):
    """And nothing is printed."""
    nlp = spacy.load(trained_path)
    component = nlp.get_pipe("linearizer")
    component.sentences, component.units = "sents", "names"  # of which the corpus has none
    before = component.options
    run = evaluate(nlp, corpus_path, tags=0, heads=0, beam_width=2, limit=4)
    assert (run.beam_width, len(run.pairs)) == (2, 4)
    assert component.options == before
    assert analyse(run.pairs).keys() == {"spans", "span_lengths"}
    assert capsys.readouterr() == ("", "")
