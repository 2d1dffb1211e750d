"""An n-gram language model in KenLM's format as a second opinion."""

import pickle

import pytest
from helpers.docs import bag

from spacy_linearize.errors import LinearizeError
from spacy_linearize.registered import make_ngram_lm

ARPA = """\\data\\
ngram 1=6
ngram 2=3

\\1-grams:
-1.0\t<unk>
-99\t<s>\t-0.5
-1.0\t</s>
-1.0\tcat\t-0.5
-1.0\tsees\t-0.5
-1.0\tdog\t-0.5

\\2-grams:
-0.1\t<s> cat
-0.1\tcat sees
-0.1\tsees dog

\\end\\
"""


def test_it_likes_what_it_has_seen(nlp, component, tmp_path):
    pytest.importorskip("kenlm", reason="needs kenlm")
    (tmp_path / "lm.arpa").write_text(ARPA)
    kinds = ("partial", "tree", "free")
    component.reranker = make_ngram_lm(
        str(tmp_path / "lm.arpa"), weights=dict.fromkeys(kinds, 1e4), n_candidates=dict.fromkeys(kinds, 6), strict=True
    )
    assert [token.text for token in component(bag(nlp, "dog sees cat"))] == ["cat", "sees", "dog"]
    assert pickle.loads(pickle.dumps(component.reranker))._model is None


def test_a_file_that_is_not_there(nlp, component, tmp_path):
    component.reranker = make_ngram_lm(str(tmp_path / "nothing"), strict=True)
    with pytest.raises(LinearizeError, match=r"SL234.*nothing"):
        component(bag(nlp, "dog sees cat"))
