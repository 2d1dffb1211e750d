"""Tags and labels that training never saw: kept, unseen by the search, and named once."""

import warnings

import pytest
import spacy
from helpers.docs import bag
from spacy.tokens import Doc
from spacy.training import Example

import spacy_linearize
from spacy_linearize.bundled import bundled_for
from spacy_linearize.doc.known import Known
from spacy_linearize.doc.read import read_bags
from spacy_linearize.options import Options


def test_unknown_tag_and_label_are_kept(nlp):
    out = nlp(bag(nlp, "dog the", tags=["TAGS", "TAGT"], heads=[0, 0], deps=["ROOT", "strange"]))
    assert {t.text: (t.tag_, t.dep_) for t in out} == {"dog": ("TAGS", "ROOT"), "the": ("TAGT", "strange")}


def test_warnings_as_errors(trained_path):
    """Every Doc says it, alone or among others."""
    nlp = spacy.load(trained_path)
    docs = [bag(nlp, "dog the", tags=["TAGX", ""]), bag(nlp, "dog the")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(UserWarning, match="SL058"):
                list(nlp.pipe(docs))
    with pytest.warns(UserWarning, match="SL058"):
        nlp(docs[0])


def test_a_tag_learned_later_is_known():
    nlp = spacy.blank("en")
    component = nlp.add_pipe("linearizer", config={"model": {"table_bits": 10, "attach_bits": 8}})
    first, later = (Doc(nlp.vocab, words=["dogs", "bark"], tags=[tag, "VBP"]) for tag in ("NNS", "NEW"))
    nlp.initialize(lambda: [Example(first, first)])
    nlp.update([Example(later, later)])
    assert "NEW" in component.label_data["tags"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp(later)


def test_labels_of_another_scheme_are_named_once(nlp):
    """Each Doc with further ones had a warning of its own."""
    names = Known()
    names.know({"tags": ["NN"], "labels": ["nsubj", "det"]}, nlp.vocab.strings)

    def warned(*labels):
        doc = bag(nlp, "a " * len(labels), heads=[0] * len(labels), deps=labels)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            names.hide(next(read_bags(doc, [(0, len(doc))], Options())), doc, "linearizer")
        return [str(one.message) for one in caught]

    assert "labels 'x': they are kept" in warned("ROOT", "x", "nsubj", "det")[0]
    assert warned("ROOT", "x") == []
    (message,) = warned("ROOT", "nsubj", "OBJ", "PMOD")
    assert "[SL058]" in message
    assert "'OBJ', 'PMOD'" in message
    assert "'Trees of another kind' in docs/constraints.md" in message
    assert warned("ROOT", "SBJ", "NMOD", "ADV", "LOC") == []


@pytest.mark.parametrize(
    ("lang", "known", "labels", "other"),
    [
        ("en", "nsubj det obj obl", "ROOT nsubj prep pobj dobj mine", "en_core_web"),
        ("en", "nsubj det dobj prep", "ROOT nsubj obj obl:tmod", "en_ud"),
        ("fr", "nsubj det obj", "ROOT nsubj vocative", None),
        ("en", "nsubj det obj", "ROOT nsubj strange", None),
    ],
)
def test_the_pipeline_that_fits(lang, known, labels, other):
    assert bundled_for(labels.split(), known.split(), lang) == other


def test_a_model_of_the_same_scheme_is_no_other():
    known = spacy_linearize.load().get_pipe("linearizer").labels
    assert bundled_for(["vocative", "root"], set(known) - {"vocative"}, "en") is None


def test_words_that_differ_in_unknown_names_read_the_same(nlp, component):
    doc = Doc(nlp.vocab, words=["dog", "sees", "dog"], tags=["?A", "", "?B"])
    with pytest.warns(UserWarning, match="SL058"):
        assert len(component.alternatives(doc, 10)) == 3
