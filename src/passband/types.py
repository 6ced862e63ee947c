"""Array types shared by every layer that computes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]  # any width: counts are kept as narrow as they come
Bools = NDArray[np.bool_]
