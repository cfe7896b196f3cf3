"""Synthetic rows from a release: post-processing, which costs no privacy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpcore.core import DataRelease, Floats, Integers, ParameterError
from dpcore.core.safe_csv import rows_csv
from dpcore.data.columns import is_labels, is_number
from dpcore.data.product import is_map


def clean_counts(counts: Floats, *, total: int) -> Integers:
    """Return the nearest whole, non-negative counts with a given total, trial by trial: (T, size) to (T, size).

    Least-squares projection onto {c >= 0, sum c = total} (Held, Wolfe and Crowder 1974), then largest remainders.
    """
    if not np.isfinite(counts).all():
        raise ParameterError("A release without an answer has no counts.")
    descending = -np.sort(-counts, axis=1)
    excess = (np.cumsum(descending, axis=1) - total) / np.arange(1, counts.shape[1] + 1)
    positive = (descending > excess).sum(axis=1)
    shift = excess[np.arange(len(counts)), positive - 1]
    smooth = np.maximum(counts - shift[:, None], 0)
    whole = np.floor(smooth)
    left = np.rint(total - whole.sum(axis=1)).astype(np.int64)
    order = np.argsort(whole - smooth, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(counts.shape[1])[None, :], axis=1)
    cleaned: Integers = whole.astype(np.int64) + (rank < left[:, None])
    return cleaned


def synthetic_cells(release: DataRelease, *, trial: int = 0) -> Integers:
    """Return the sorted cells of n synthetic rows from one trial."""
    one = release.part(trial, trial + 1)
    counts = clean_counts(one.histogram(), total=release.problem.n)[0]
    return np.repeat(np.arange(len(counts)), counts)


def synthetic_csv(release: DataRelease, *, columns: Sequence[str], trial: int = 0) -> str:
    """Return a CSV of n synthetic rows: midpoints of cells for numbers, labels for categories, empty where missing.

    Names and labels that a spreadsheet would run as a formula are escaped (``core.safe_csv``).
    """
    domain = release.problem.domain
    cells = synthetic_cells(release, trial=trial)
    names: list[tuple[str, ...]]
    if is_number(domain):
        names = [(f"{value:.10g}",) for value in domain.points()]
    elif is_map(domain):
        names = [(_cell_text(first), _cell_text(second)) for first, second in domain.points()]
    elif is_labels(domain):
        names = [(_cell_text(text),) for text in domain.points()]
    else:
        raise ParameterError(f"No table can be written for {domain.title}.")
    names += [("",) * len(columns)] * (domain.size - len(names))
    return rows_csv(columns, (names[cell] for cell in cells.tolist()))


def _cell_text(value: float | str) -> str:
    """Return a midpoint or a label as text."""
    return value if isinstance(value, str) else f"{value:.10g}"
