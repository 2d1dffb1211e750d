from typing import Any

import numpy as np
from spacy.strings import StringStore

Array = np.ndarray[Any, Any]
FORM: int
ODD_FORM: int
EVEN_FORM: int
SHAPE_: int
TAGGED: int
BEFORE: int
AFTER: int
SHAPES: int
FORM_SHAPE: int
SHAPE_FORM: int
THESE_TWO: int
ANY_TWO: int
N_TABLES: int

def read_arcs(deps: Array, offsets: Array, no_label: int, root_labels: tuple[int, ...]) -> tuple[Array, Array, int]: ...
def mark_questions(puncts: Array, forms: Array, strings: StringStore) -> None: ...
def find_spaces(
    forms: Array, shapes: Array, tags: Array, is_plain: dict[int, bool], tables: list[dict[int, float]], step: int
) -> list[bool]: ...
def move(
    values: Array,
    order: Array,
    tags: Array,
    heads: Array,
    labels: Array,
    no_label: int,
    *,
    tag: int,
    dep: int,
    head: int,
) -> tuple[Array, Array]: ...
