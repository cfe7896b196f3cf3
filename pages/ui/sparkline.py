"""Small pictures of the generated shapes, to choose by."""

from __future__ import annotations

from functools import cache

import numpy as np

from dpcore.core import Integers
from dpcore.generators import generate

BARS = 40
WIDTH, HEIGHT = 160, 48


def sparkline(counts: Integers, *, colour: str) -> str:
    """Bars as high as the counts (k,), as SVG; a bar that is not empty can always be seen."""
    step = WIDTH / len(counts)
    heights = np.where(counts > 0, np.maximum(2, HEIGHT * counts / max(1, counts.max())), 0)
    bars = "".join(
        f'<rect x="{place * step:.1f}" y="{HEIGHT - height:.1f}" width="{0.8 * step:.1f}" height="{height:.1f}"/>'
        for place, height in enumerate(heights)
    )
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" fill="{colour}">{bars}</svg>'


@cache
def shape_picture(shape: str, *, colour: str) -> str:
    """A picture of one of the shapes in generators."""
    return sparkline(np.bincount(generate(shape, n=20_000, size=BARS, seed=1), minlength=BARS), colour=colour)
