"""Whole-number contrasts: the content of a table beyond its smaller tables.

For an attribute of size s the centring matrix C = I - J/s takes the mean away (J is all ones). A contrast matrix B has
whole entries and B'B = kappa C: so B x, in whole numbers, is C x up to a rotation and the factor sqrt(kappa), and
independent noise of parameter sqrt(kappa) sigma on B x is noise of covariance sigma^2 C on C x = B'(B x)/kappa. Two
values need one row, (1, -1), kappa = 2; s values take B = s I - J, kappa = s^2. For a set T of attributes B is the
Kronecker product, kappa the product, and the contrasts of a record's own cell have squared length kappa p, p the
product of 1 - 1/s (Xiao, He, Zhang and Kifer 2023 centre with I - J/s itself and continuous noise).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Floats, Integers


def _rows(size: int) -> int:
    """Return the number of rows of one attribute's B."""
    return 1 if size == 2 else size


def kappa(sizes: tuple[int, ...]) -> int:
    """Return the factor kappa of a set of attributes."""
    return math.prod(2 if size == 2 else size * size for size in sizes)


def contrast_rows(sizes: tuple[int, ...]) -> int:
    """Return the number of contrasts of a set of attributes."""
    return math.prod(map(_rows, sizes))


def contrasts(tables: NDArray[Any], sizes: tuple[int, ...]) -> Integers:
    """Return B applied along the last axes of whole-number tables (..., *sizes): (..., rows)."""
    lead = tables.shape[: tables.ndim - len(sizes)]
    out = tables.astype(np.int64, copy=False)
    for place, size in enumerate(sizes):
        axis = len(lead) + place
        if size == 2:
            first, second = np.split(out, 2, axis=axis)
            out = first - second
        else:
            out = size * out - out.sum(axis=axis, keepdims=True)
    return out.reshape(*lead, contrast_rows(sizes))


def centred(values: NDArray[Any], sizes: tuple[int, ...]) -> Floats:
    """Return B' values / kappa: contrasts (..., rows) back to centred tables (..., *sizes)."""
    lead = values.shape[:-1]
    out = values.reshape(*lead, *map(_rows, sizes)).astype(np.float64)
    for place, size in enumerate(sizes):
        axis = len(lead) + place
        if size == 2:
            out = np.concatenate([out, -out], axis=axis) / 2
        else:
            out = (out - out.mean(axis=axis, keepdims=True)) / size
    return out


def whole_contrasts(table: Floats, sizes: tuple[int, ...]) -> Integers:
    """Return whole contrasts (rows,) whose centred table has the contrasts of this one (*sizes), if there are any.

    Centring takes the mean along each axis with more than two rows away, so that those of the first cell may be 0.
    """
    out = table
    for axis, size in enumerate(sizes):
        out = -np.diff(out, axis=axis) if size == 2 else size * (out - np.take(out, [0], axis=axis))
    return np.rint(out).astype(np.int64).reshape(-1)


def record_contrasts(cells: tuple[int, ...], sizes: tuple[int, ...]) -> Integers:
    """Return the contrasts of one record with these cells: B's column of its cell, (rows,)."""
    column = np.ones(1, dtype=np.int64)
    for cell, size in zip(cells, sizes, strict=True):
        one = np.full(_rows(size), -1, dtype=np.int64)
        if size == 2:
            one[0] = 1 - 2 * cell
        else:
            one[cell] += size
        column = np.outer(column, one).reshape(-1)
    return column
