"""Rows of a Doc in a new order: what does not fit together is refused, and nothing is read beyond the end."""

import numpy as np
import pytest

from spacy_linearize.doc.arrays import move
from spacy_linearize.trees import FREE, ROOT

NO_LABEL = 9


def moved(order=(2, 0, 1), tags=(1, 2, 3), heads=(1, ROOT, FREE), labels=(4, 5, 0)):
    """Three rows of four columns: the form, and the tag, label and head."""
    values = np.arange(12, dtype=np.uint64).reshape(3, 4)
    keys = [np.array(column, dtype=np.uint64) for column in (tags, labels)]
    positions = [np.array(column, dtype=np.int32) for column in (order, heads)]
    return move(values, positions[0], keys[0], positions[1], keys[1], NO_LABEL, tag=1, dep=2, head=3)


def test_rows_move_with_their_heads():
    values, place = moved()
    assert place.tolist() == [1, 2, 0]
    assert values.astype(np.int64).tolist() == [[8, 3, 0, 0], [0, 1, 4, 1], [4, 2, 5, 0]]


@pytest.mark.parametrize("name", ["order", "tags", "heads", "labels"])
@pytest.mark.parametrize("column", [(), (0, 1), (0, 1, 2, 0), range(5000)])
def test_columns_of_other_lengths(name, column):
    with pytest.raises(ValueError, match=rf"SL006.*'{name}' has {len(column)} entries for 3 words"):
        moved(**{name: column})


@pytest.mark.parametrize("order", [(0, 1, 3), (0, 1, -1), (0, 1, 2**30), (0, 1, 1)])
def test_an_order_that_is_no_permutation(order):
    with pytest.raises(ValueError, match="'order' does not hold each of the positions 0 to 2 once"):
        moved(order=order)


@pytest.mark.parametrize("head", [3, 2**30, -3])
def test_heads_that_are_not_there(head):
    with pytest.raises(ValueError, match=rf"SL003.*word 1 has head {head}"):
        moved(heads=(FREE, head, FREE))
