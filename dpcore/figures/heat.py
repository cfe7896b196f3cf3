"""Two numbers of each row as maps: how many rows lie where, in the true data and in what is released."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Booleans, Floats, Integers, Problem
from dpcore.domains import Grid, Line
from dpcore.figures.data_body import playback
from dpcore.figures.figure import Figure, Records, framed, palette, shortened, significant
from dpcore.figures.heat_body import map_body
from dpcore.synthetic import clean_counts

MOST_SIDE = 32
"""Cells along a side of a map; finer grids are drawn in blocks."""
MOST_FRAMES = 8
"""Releases that can be played: each is a number for every cell."""
HEIGHT = 360
GREYS = {False: ("#f1f2f5", "#8b919b", "#16191d"), True: ("#12151b", "#737a86", "#f2f4f7")}
BLUES = {False: ("#eef3fb", "#5b9be6", "#0d2f63"), True: ("#0d1622", "#3f7fcb", "#e3effd")}
"""Few to many rows, by whether the theme is dark: the background's side is always the empty one."""


def blocks(counts: NDArray[Any], domain: Grid) -> Floats:
    """Rows per block of cells, row by row, the reserved cell apart in a last column: (F, size) to (F, blocks + 1)."""
    places = [np.arange(0, cells, -(-cells // MOST_SIDE)) for cells in domain.shape]
    plane = counts[:, : domain.ordered].astype(np.float64).reshape(-1, *domain.shape)
    for axis, starts in enumerate(places, start=1):
        if len(starts) < plane.shape[axis]:
            plane = np.add.reduceat(plane, starts, axis=axis)
    rest = counts[:, domain.ordered :].sum(axis=1, keepdims=True)
    return np.concatenate([plane.reshape(len(counts), -1), rest], axis=1)


def true_map(*, domain: Grid, truth: Integers, most: float | None = None, badge: str, dark: bool) -> Figure:
    """Rows in each block of cells; the darkest shade is ``most`` rows. A rectangle can be drawn: selection "brush".

    Args:
        domain: the grid.
        truth: true rows per cell (size,); not private.
        most: rows of the darkest shade, by default those of the fullest block.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    rows = blocks(truth[None, :], domain)[0]
    inside, missing = rows[:-1].astype(int), int(rows[-1])
    said = f"{missing:,} missing or out of bounds" if domain.missing else ""
    datasets: dict[str, Records] = {
        "cells": [{"i": place, "f1": count} for place, count in enumerate(inside.tolist())],
        "said": [{"frame": 1, "text": said}],
        "reach": [{"shade": 0.0}, {"shade": float(most if most is not None else max(1, inside.max()))}],
    }
    body = map_body(domain, sides=_sides(domain), shades=GREYS[dark], colours=palette(dark=dark), brush=True)
    body["params"] = playback(1)
    half = int(np.searchsorted(np.cumsum(-np.sort(-inside)), inside.sum() / 2) + 1)
    empty = int((inside == 0).sum())
    sentence = (
        f"{int(truth.sum()):,} rows in {_called(domain, len(inside))}: half of them lie in the {half:,} fullest, "
        f"{empty:,} {'is' if empty == 1 else 'are'} empty"
    )
    sentence += f"; {missing:,} {'is' if missing == 1 else 'are'} missing or out of bounds." if domain.missing else "."
    return Figure(
        spec=framed(body, badge=badge, colours=palette(dark=dark), height=HEIGHT, datasets=datasets),
        sentence=sentence,
        table=_table(domain, {"true rows": rows.astype(int).tolist()}),
        title="Map of the true data",
    )


def released_map(
    *,
    problem: Problem,
    truth: Integers | None,
    frames: Floats,
    asked: tuple[int, int, int, int] | None = None,
    badge: str,
    dark: bool,
) -> Figure:
    """Released rows in each block of cells; controls in the picture step through or play other releases.

    Args:
        problem: the public problem, on a grid.
        truth: true rows per cell (size,), None where they may not be shown.
        frames: released rows per cell (F, size), as shown_frames gives them; NaN where refused.
        asked: first and last cell across and up of a rectangle to be outlined.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    domain, colours = grid_of(problem), palette(dark=dark)
    refused = np.asarray(np.isnan(frames).any(axis=1))
    rows = blocks(frames, domain)
    columns = {f"f{number}": _short(each) for number, each in enumerate(rows[:, :-1], start=1)}
    of = f"of {len(frames)}" if len(frames) > 1 else "shown"
    said: Records = []
    for number, (no, rest) in enumerate(zip(refused.tolist(), rows[:, -1].tolist(), strict=True), start=1):
        text = f"release {number} {of}" + (": refused to answer" if no else "")
        if domain.missing and not no:
            text += f" · {significant(rest)} missing"
        said.append({"frame": number, "text": text})
    datasets: dict[str, Records] = {
        "cells": [
            {"i": place, **dict(zip(columns, each, strict=True))}
            for place, each in enumerate(zip(*columns.values(), strict=True))
        ],
        "said": said,
        "reach": [{"shade": 0.0}, {"shade": most_rows(domain, truth, frames)}],
        "asked": [] if asked is None else [_outline(domain, asked)],
    }
    body = map_body(domain, sides=_sides(domain), shades=BLUES[dark], colours=colours, brush=False)
    body["params"] = playback(len(frames))
    first = int(np.argmin(refused))
    table = {f"release {first + 1}": [] if refused.all() else _short(rows[first])}
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=HEIGHT, datasets=datasets),
        sentence=_sentence(problem, rows, truth, refused),
        table={"outcome": ["refused"]} if refused.all() else _table(domain, table),
        title="Map of released data",
    )


def shown_frames(problem: Problem, frames: Floats, *, clean: bool) -> Floats:
    """The releases that can be played, post-processed to whole counts that add up to n where asked: (F, size)."""
    frames = frames[:MOST_FRAMES].astype(np.float64)
    refused = ~np.isfinite(frames).all(axis=1)
    frames[refused] = np.nan
    if clean and not refused.all():
        frames[~refused] = clean_counts(frames[~refused], total=problem.n)
    return frames


def most_rows(domain: Grid, truth: Integers | None, frames: Floats) -> float:
    """Rows of the darkest shade of maps that can be compared: the fullest block of the truth or of any release."""
    seen = blocks(frames if truth is None else np.concatenate([frames, truth[None, :]]), domain)[:, :-1]
    return float(max(1.0, np.nanmax(seen, initial=1.0)))


def grid_of(problem: Problem) -> Grid:
    """The problem's domain, which must be a grid."""
    assert isinstance(problem.domain, Grid), "a map is drawn of pairs of numbers"
    return problem.domain


def _short(values: Floats) -> list[Any]:
    """Whole counts exact, so that they still add up; fractions of synthetic rows with four digits."""
    return values.astype(int).tolist() if np.array_equal(values, np.rint(values)) else shortened(values)


def _edges(line: Line) -> Floats:
    """Edges of the blocks along a side, (k + 1,)."""
    step = -(-line.ordered // MOST_SIDE)
    edges: Floats = np.minimum(line.low + np.arange(0, line.ordered + step, step) * line.width, line.high)
    return edges


def _sides(domain: Grid) -> tuple[tuple[float, float, int], tuple[float, float, int]]:
    """Where the blocks of either side start, how wide they are, and how many there are."""
    first, second = (_edges(line) for line in (domain.first, domain.second))
    return (
        (float(first[0]), float(first[1] - first[0]), len(first) - 1),
        (float(second[0]), float(second[1] - second[0]), len(second) - 1),
    )


def _called(domain: Grid, count: int) -> str:
    """So many cells, or blocks of them where a grid is too fine to be drawn."""
    return f"{count:,} cells" if count == domain.ordered else f"{count:,} blocks of {domain.ordered // count} cells"


def _outline(domain: Grid, asked: tuple[int, int, int, int]) -> dict[str, Any]:
    """A rectangle of cells in the data's units."""
    left, right, low, high = asked
    return {
        "x": domain.first.low + left * domain.first.width, "x2": domain.first.low + (right + 1) * domain.first.width,
        "y": domain.second.low + low * domain.second.width, "y2": domain.second.low + (high + 1) * domain.second.width,
    }  # fmt: skip


def _table(domain: Grid, columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Where each block lies, then the numbers."""
    first, second = (
        [f"{start:.5g} to {end:.5g}" for start, end in itertools.pairwise(_edges(line).tolist())]
        for line in (domain.first, domain.second)
    )
    places = list(itertools.product(first, second))
    rest = domain.describe(domain.ordered)
    table: dict[str, list[Any]] = {
        "across": [*(place[0] for place in places), rest],
        "up": [*(place[1] for place in places), rest],
        **columns,
    }
    return table if domain.missing else {name: values[: len(places)] for name, values in table.items()}


def _sentence(problem: Problem, rows: Floats, truth: Integers | None, refused: Booleans) -> str:
    """What the picture shows, without anybody's names of columns: a sentence is printed where markup is read."""
    if refused.all():
        return "No release to show: every previewed run refused to answer."
    first = int(np.argmin(refused))
    cells = f"{problem.n:,} rows in {_called(grid_of(problem), rows.shape[1] - 1)}"
    if truth is None:
        return f"Release {first + 1} of {cells}; the true data are not shown."
    apart = np.abs(rows[first] - blocks(truth[None, :], grid_of(problem))[0])[:-1]
    text = (
        f"Release {first + 1} of {cells} is off by at most {significant(float(apart.max()))} rows in one, "
        f"by {significant(float(apart.mean()))} on average"
    )
    return f"{text}; {refused.sum()} of {len(refused)} shown refused to answer." if refused.any() else f"{text}."
