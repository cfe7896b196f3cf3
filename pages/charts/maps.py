"""Maps of the rows over a grid of two columns: the true data and the releases."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Floats, Integers
from dpcore.data.columns import Labels, Number
from dpcore.data.product import Product
from pages.charts.histogram import axis_along, block_names, blocks_of, extent, release_frames
from pages.charts.picture import Frame, Heat, Mark, Outline, Picture
from pages.charts.words import printable_labels, short_numbers, significant

MAX_SIDE = 32
"""Maximum number of cells along a side of a map; finer grids are drawn in blocks."""
MAX_FRAMES = 8
"""Maximum number of releases that can be played: each has a number for every cell."""
HEIGHT, MAX_UP = 360, 8
CellRectangle = tuple[int, int, int, int]
"""First and last cell along x, then along y."""


def blocks(counts: NDArray[Any], domain: Product) -> Floats:
    """Return rows per block of cells (F, blocks + 1) from rows per cell (F, size); the last is the reserved cell."""
    plane = counts[:, : domain.ordered].astype(np.float64).reshape(-1, *domain.shape)
    for axis, line in enumerate(domain.columns, start=1):
        plane = np.add.reduceat(plane, blocks_of(line, MAX_SIDE)[0], axis=axis)
    rest = counts[:, domain.ordered :].sum(axis=1, keepdims=True)
    return np.concatenate([plane.reshape(len(counts), -1), rest], axis=1)


def darkest_count(domain: Product, truth: Integers, frames: Floats) -> float:
    """Return the rows of the darkest shade: those of the fullest block of the true data or of any release."""
    block_counts = blocks(np.concatenate([frames, truth[None, :]]), domain)[:, :-1]
    return float(max(1.0, np.nanmax(block_counts)))


def true_map(*, domain: Product, truth: Integers, darkest: float | None = None, brush: bool = True) -> Picture:
    """Return a map of the true rows in each block of cells.

    Args:
        domain: the grid.
        truth: true rows per cell (size,); not private.
        darkest: rows of the darkest shade; by default those of the fullest block.
        brush: whether a rectangle can be selected.
    """
    counts = blocks(truth[None, :], domain)[0]
    inside, missing = counts[:-1].astype(int), int(counts[-1])
    half = int(np.searchsorted(np.cumsum(-np.sort(-inside)), inside.sum() / 2) + 1)
    empty = int((inside == 0).sum())
    sentence = (
        f"{int(truth.sum()):,} rows in {_cells_words(domain, len(inside))}: "
        + (f"half of those inside lie in the {half:,} fullest, " if inside.any() else "")
        + f"{empty:,} {'is' if empty == 1 else 'are'} empty"
    )
    sentence += f"; {missing:,} {'is' if missing == 1 else 'are'} missing or out of bounds." if domain.missing else "."
    shades = _heat("true", domain, counts, darkest=darkest if darkest is not None else float(max(1, inside.max())))
    return _map(
        "Map of the true data", domain, [shades], sentence, {"true rows": counts.astype(int).tolist()}, brush=brush
    )


def released_map(
    *,
    domain: Product,
    n: int,
    truth: Integers,
    frames: Floats,
    outlined: CellRectangle | None = None,
    darkest: float | None = None,
) -> Picture:
    """Return a map of the released rows in each block of cells; further releases are frames.

    Args:
        domain: the grid.
        n: rows.
        truth: true rows per cell (size,); not private.
        frames: released rows per cell (F, size), see playable_releases; NaN if refused.
        outlined: a rectangle with an outline.
        darkest: rows of the darkest shade; by default those of the fullest block.
    """
    counts, highest = blocks(frames, domain), darkest or darkest_count(domain, truth, frames)
    inside = counts[:, :-1]
    map_frames, sentence = release_frames(
        inside,
        blocks(truth[None, :], domain)[0, :-1],
        about=f"{n:,} rows in {_cells_words(domain, inside.shape[1])}",
        where="one",
        name="released",
        mark=lambda row: _heat("released", domain, row, darkest=highest),
        also=lambda place: f" · {significant(float(counts[place, -1]))} missing" if domain.missing else "",
    )
    refused = np.isnan(inside).any(axis=1)
    first = int(np.argmin(refused))
    columns = {} if refused.all() else {f"release {first + 1}": [*short_numbers(counts[first])]}
    marks: list[Mark] = [*map_frames[0].marks.values()]
    if outlined is not None:
        left, right, low, high = outlined
        outline = Outline(role="theory", x=_ends(domain.columns[0], left, right), y=_ends(domain.columns[1], low, high))
        marks.append(outline)
    return _map("Map of released data", domain, marks, sentence, columns, frames=map_frames)


def _map(
    title: str,
    domain: Product,
    marks: list[Mark],
    sentence: str,
    columns: dict[str, list[Any]],
    *,
    frames: list[Frame] | None = None,
    brush: bool = False,
) -> Picture:
    """Return a picture over both columns, with a table of the blocks."""
    across_name, up_name = printable_labels(domain.names)
    x = axis_along(domain.columns[0], across_name)
    y = axis_along(domain.columns[1], up_name, max_names=MAX_UP, upright=True)
    names = (block_names(line, MAX_SIDE) for line in domain.columns)
    places = [*itertools.product(*names)] + [(domain.describe(domain.ordered),) * 2] * domain.missing
    across, up = zip(*places, strict=True)
    return Picture(
        title=title,
        x=x,
        y=y,
        marks=marks,
        sentence=sentence,
        table={"across": across, "up": up, **{name: values[: len(places)] for name, values in columns.items()}}
        if columns
        else {"outcome": ["refused"]},
        height=HEIGHT,
        frames=frames or (),
        brush="xy" if brush else "",
        about=extent(domain),
    )


def _heat(role: str, domain: Product, counts: Floats, *, darkest: float) -> Heat:
    """Return the rows of each block (blocks or blocks + 1) as shades; negative counts have the shade of 0."""
    edges = [blocks_of(line, MAX_SIDE)[1] for line in domain.columns]
    plane = counts[: (len(edges[0]) - 1) * (len(edges[1]) - 1)].reshape(len(edges[0]) - 1, len(edges[1]) - 1)
    return Heat(
        role=role,
        name=role,
        x=edges[0],
        y=edges[1],
        value=plane.T,
        low=0,
        high=darkest,
        unit="rows in a cell",
        form=",.4~r",
        root=True,
    )


def _ends(line: Number | Labels, first: int, last: int) -> tuple[float, float]:
    """Return the edges of a run of cells, in the data's unit."""
    edges = line.edges
    return float(edges[first]), float(edges[last + 1])


def _cells_words(domain: Product, count: int) -> str:
    """Return the number of cells, or of blocks of cells, in words."""
    return f"{count:,} cells" if count == domain.ordered else f"{count:,} blocks of {domain.ordered // count} cells"
