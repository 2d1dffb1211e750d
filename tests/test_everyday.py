"""The list of everyday sentences that benchmarks/everyday.py reads: its form, and that no test treebank has them."""

from pathlib import Path

import pytest
import spacy

DATA = Path(__file__).parent / "data"
LINES = (DATA / "everyday.txt").read_text(encoding="utf8").splitlines()


@pytest.fixture(scope="module")
def tokenizer():
    return spacy.blank("en").tokenizer


def test_at_least_200_different_sentences():
    sentences = [text for line in LINES for text in line.split("\t")]
    assert len(LINES) >= 200
    assert len({text.lower() for text in sentences}) == len(sentences)
    assert all(text == text.strip() and text for text in sentences)


def test_no_bag_twice(tokenizer):
    bags = {tuple(sorted(token.text for token in tokenizer(line.split("\t")[0]))) for line in LINES}
    assert len(bags) == len(LINES)


@pytest.mark.parametrize("line", LINES)
def test_3_to_9_words_and_the_same_ones_in_every_order(line, tokenizer):
    orders = [list(tokenizer(text)) for text in line.split("\t")]
    assert 3 <= sum(not token.is_punct for token in orders[0]) <= 9
    assert len({tuple(sorted(token.text for token in order)) for order in orders}) == 1


def test_kept_out_of_the_treebanks():
    texts = {
        line.removeprefix("# text = ").lower() for line in (DATA / "mini_en.conllu").read_text("utf8").splitlines()
    }
    assert not [text for line in LINES for text in line.split("\t") if text.lower() in texts]
