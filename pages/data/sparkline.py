"""Small pictures of the generated shapes."""

from __future__ import annotations

from functools import cache

import numpy as np

from dpcore.core import Integers
from dpcore.data.generators import GENERATORS, generate

BARS = 40
COLUMNS, ROWS = 40, 12
"""Numbers of squares of a small map."""
WIDTH, HEIGHT = 160, 48


def sparkline(counts: Integers, *, colour: str) -> str:
    """Return counts (k,) as bars in SVG; a bar with rows has a minimum height."""
    step = WIDTH / len(counts)
    heights = np.where(counts > 0, np.maximum(2, HEIGHT * counts / max(1, counts.max())), 0)
    bars = "".join(
        f'<rect x="{place * step:.1f}" y="{HEIGHT - height:.1f}" width="{0.8 * step:.1f}" height="{height:.1f}"/>'
        for place, height in enumerate(heights)
    )
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" fill="{colour}">{bars}</svg>'


def small_map(counts: Integers, *, colour: str) -> str:
    """Return counts (columns, rows) as squares in SVG, shaded by their square roots."""
    wide, high = (length / cells for length, cells in zip((WIDTH, HEIGHT), counts.shape, strict=True))
    shades = np.sqrt(counts / max(1, counts.max()))
    squares = "".join(
        f'<rect x="{x * wide:.1f}" y="{HEIGHT - (y + 1) * high:.1f}" width="{wide:.1f}" height="{high:.1f}" '
        f'opacity="{shades[x, y]:.2f}"/>'
        for x, y in np.argwhere(counts > 0).tolist()
    )
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" fill="{colour}">{squares}</svg>'


@cache
def shape_picture(shape: str, *, colour: str) -> str:
    """Return the picture of a generated shape."""
    if GENERATORS[shape].in_the_plane:
        cells = generate(shape, n=20_000, size=(COLUMNS, ROWS), seed=1)
        return small_map(np.bincount(cells, minlength=COLUMNS * ROWS).reshape(COLUMNS, ROWS), colour=colour)
    return sparkline(np.bincount(generate(shape, n=20_000, size=BARS, seed=1), minlength=BARS), colour=colour)
