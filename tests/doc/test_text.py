"""Sentences for the language model, from text and from Docs."""

import spacy
from helpers.components import SMALL
from helpers.docs import bag
from spacy.training import Example


def test_text_teaches_the_language_model(tmp_path):
    """Its lines count beside the words of the examples, in the tokenization of the pipeline."""
    (tmp_path / "text").write_text("\nthe cat saw the dog.\n\n  the dog saw me\n", encoding="utf8")

    def ngrams(text):
        nlp = spacy.blank("en")
        component = nlp.add_pipe("linearizer", config=SMALL)
        gold = bag(nlp, "John left .")
        component.initialize(lambda: [Example(gold.copy(), gold)], nlp=nlp, text=text)
        return nlp, component.engine.experts.ngrams

    nlp, (forth, back) = ngrams(tmp_path / "text")
    _, (bare, _) = ngrams(None)
    seen, unseen = ([nlp.vocab.strings.add(word) for word in text.split()] for text in ("the dog .", "dog the ."))
    assert forth.score(seen) > forth.score(unseen)
    assert forth.score(seen) > bare.score(seen)
    assert back.score(seen[::-1]) > back.score(unseen[::-1])
