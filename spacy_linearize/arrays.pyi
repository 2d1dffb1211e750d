from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

def read_heads(deps: Array, offsets: Array, root_labels: tuple[int, ...]) -> tuple[Array, int]: ...
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
