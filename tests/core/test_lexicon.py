"""Tags and labels as training has seen them."""

import random

import numpy as np
import pytest
from helpers.core import make, order

from spacy_linearize.core.lexicon import Lexicon
from spacy_linearize.core.records import Bag
from spacy_linearize.trees import FREE, ROOT


def usual_tag(engine, form, **columns):
    bag = Bag(forms=[form], **{name: [value] for name, value in columns.items()})
    assert engine.pack(bag).column(1).tolist() == order(engine, bag)[0].tags.tolist()
    return int(order(engine, bag)[0].tags[0])


def test_unseen_words_get_tags_from_suffix_then_shape():
    """Words 1 to 3 are seen with a tag, suffix and shape each; a frequent word teaches nothing about unseen ones."""
    engine = make(table_bits=8, attach_bits=8)
    columns = {"suffixes": [21, 22, 22], "shapes": [31, 31, 32]}
    rare = Bag(forms=[1, 2, 3], tags=[11, 12, 13], heads=[1, ROOT, 1], labels=[0, 0, 0], **columns)
    frequent = Bag(forms=[4], tags=[14], heads=[ROOT], labels=[0], suffixes=[21], shapes=[31])
    engine.learn_lexicon([rare] + [frequent] * 50)

    def tag(form, suffix, shape):
        return usual_tag(engine, form, suffixes=suffix, shapes=shape)

    assert tag(4, 0, 0) == 14
    assert tag(99, 21, 31) == 11
    assert tag(99, 22, 32) == 13
    assert tag(99, 21, 99) == 11
    assert tag(99, 99, 32) == 13
    assert tag(99, 99, 99) in (11, 12, 13)


def test_unseen_words_get_the_tag_of_their_other_spellings_first():
    engine = make()
    engine.learn_lexicon([Bag(forms=[1, 2], tags=[11, 12], lowers=[5, 6], suffixes=[21, 22])])
    assert usual_tag(engine, 99, lowers=5, suffixes=22) == 11
    assert usual_tag(engine, 99, lowers=7, suffixes=22) == 12


def test_the_most_frequent_tag_and_of_equal_ones_the_smallest():
    engine = make()
    sentences = [Bag(forms=[1, 1, 1, 2, 2], tags=[13, 12, 13, 15, 14]), Bag(forms=[3], tags=[0])]
    engine.learn_lexicon(sentences)
    assert (usual_tag(engine, 1), usual_tag(engine, 2)) == (13, 14)
    assert engine.lexicon.knows(1)
    assert not engine.lexicon.knows(3)
    engine.learn_lexicon([Bag(forms=[1], tags=[9])])  # anew
    assert usual_tag(engine, 1) == 9
    assert not engine.lexicon.knows(2)


def test_a_given_tag_stays():
    engine = make()
    engine.learn_lexicon([Bag(forms=[1], tags=[13])])
    assert usual_tag(engine, 1, tags=7) == 7


def test_the_label_of_roots():
    engine = make()
    one = Bag(forms=[1, 2], heads=[ROOT, 0], labels=[8, 5])
    other = Bag(forms=[1, 2], heads=[ROOT, 0], labels=[7, 5])
    none = Bag(forms=[1, 2], heads=[FREE, ROOT], labels=[5, 0])
    for sentences, label in (([one, other, one, none], 8), ([one, other], 7), ([none] * 9, 0), ([], 0)):
        engine.learn_lexicon(iter(sentences))
        assert engine.root_label == label


def test_the_sequence_of_sentences_has_no_influence(mini):
    arrays = []
    for seed in range(3):
        lexicon = Lexicon()
        lexicon.learn(random.Random(seed).sample(mini, len(mini)))
        arrays.append([array.tolist() for array in lexicon.to_arrays()])
    assert arrays[0] == arrays[1] == arrays[2]


def test_arrays_and_back(mini):
    lexicon, other = Lexicon(), Lexicon()
    lexicon.learn(mini)
    other.learn(mini[:2])
    keys, lengths, symbols = lexicon.to_arrays()
    unaligned = np.frombuffer(b"x" + keys.astype("<u8").tobytes(), dtype="<u8", offset=1)
    other.from_arrays(unaligned, lengths, symbols)
    assert len(other) == len(lexicon)
    assert [a.tolist() for a in other.to_arrays()] == [a.tolist() for a in lexicon.to_arrays()]


@pytest.mark.parametrize(
    ("keys", "lengths", "symbols"), [([1], [], []), ([1], [2], [5]), ([1], [0], []), ([1, 2], [1, 1], [5, 6, 7])]
)
def test_arrays_that_do_not_add_up(keys, lengths, symbols):
    arrays = [np.array(values, dtype) for values, dtype in ((keys, "<u8"), (lengths, "<u4"), (symbols, "<u8"))]
    with pytest.raises(ValueError, match="does not add up"):
        Lexicon().from_arrays(*arrays)


def test_one_list_serves_a_word_and_its_lower_case():
    """Word 5 is in lower case, 1 is the same with a capital. Where both have the same tags in the same sequence, one
    list is stored, and every answer stays as it was."""
    engine = make()
    engine.learn_lexicon([Bag(forms=[5, 1, 5, 6], tags=[11, 11, 12, 13], lowers=[5, 5, 5, 6])])
    assert [engine.lexicon.knows(form) for form in (1, 5, 6, 7)] == [True, True, True, False]
    assert [usual_tag(engine, form, lowers=lower) for form, lower in ((1, 5), (5, 5), (6, 6))] == [11, 11, 13]
    n_before = len(engine.lexicon)
    # Now they differ: 5 is mostly 12, its lower case mostly 11.
    engine.learn_lexicon([Bag(forms=[5, 1, 1, 6, 5], tags=[12, 11, 11, 13, 12], lowers=[5, 5, 5, 6, 5])])
    assert usual_tag(engine, 5, lowers=5) == 12
    assert usual_tag(engine, 99, lowers=5) == 11
    assert len(engine.lexicon) == n_before + 1
