"""Array types and the two errors everything raises."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


class ParameterError(ValueError):
    """A parameter is out of range; the message names the parameter, the value and the range."""


class DataError(ValueError):
    """A table does not fit; the message names column, row number and what was expected, never a record's value."""
