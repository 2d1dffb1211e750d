from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

def read_arcs(deps: Array, offsets: Array, no_label: int, root_labels: tuple[int, ...]) -> tuple[Array, Array, int]: ...
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
