import numpy as np
from numpy.typing import NDArray

def is_projective(heads: NDArray[np.int32]) -> bool: ...
