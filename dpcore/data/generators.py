"""Mock data sets on ordered cells, in the plane and on the sphere, for previews without records of people.

Every shape is drawn from a seed: the same key, n, size and seed give the same records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.core import Floats, Integers, ParameterError
from dpcore.core.sizes import MAX_GENERATED_CELLS, MAX_GENERATED_ROWS

SPARSE_CELLS = 12
FIRST_SIDE = 0.6
"""Share of generated vectors on the first side."""

Random = np.random.Generator


@dataclass(frozen=True, kw_only=True)
class Generator:
    """One shape of generated data.

    Attributes:
        key: what URLs and saved sessions call it.
        title: what people call it.
        sentence: what it looks like and why it is worth trying.
        draw: (random, n, size) to records on 0..size-1, shape (n,); in the plane (random, n) to places in the unit
            square, shape (n, 2), of which those outside are moved to its edge.
        in_the_plane: whether the records are cells of a grid rather than of a line.
        column: name of the number on a line.
        records: what the records are called.
        high: upper bound of the number, whose lower bound is 0.
        unit: of the number.
    """

    key: str
    title: str
    sentence: str
    draw: Callable[..., Any]
    in_the_plane: bool = False
    column: str = "value"
    records: str = "rows"
    high: float = 1.0
    unit: str = ""


def generate(key: str, *, n: int, size: int | tuple[int, ...], seed: int) -> Integers:
    """Return the records of the shape on cells 0..size-1, independent draws, shape (n,).

    In the plane ``size`` is the rows and columns of a grid, whose cells are numbered row by row.

    >>> generate("uniform", n=5, size=10, seed=1).tolist() == generate("uniform", n=5, size=10, seed=1).tolist()
    True

    Raises:
        ParameterError: unknown shape, or a number out of range.
    """
    if key not in GENERATORS:
        raise ParameterError(f"The shape must be one of {', '.join(GENERATORS)}, got {key!r}.")
    shape = GENERATORS[key]
    if shape.in_the_plane != isinstance(size, tuple):
        raise ParameterError(f"“{shape.title}” is sampled {'in the plane' if shape.in_the_plane else 'on a line'}.")
    if not isinstance(size, tuple):
        records: Integers = shape.draw(_random(n, size, seed), n, size)
        return records
    places = shape.draw(_random(n, size[0] * size[1], seed), n)
    return _cells(places[:, 0], size[0]) * size[1] + _cells(places[:, 1], size[1])


def _random(n: int, size: int, seed: int) -> Random:
    for name, value, low, high in (
        ("n", n, 1, MAX_GENERATED_ROWS),
        ("size", size, 1, MAX_GENERATED_CELLS),
        ("seed", seed, 0, 2**64 - 1),
    ):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
            raise ParameterError(f"{name} must be a whole number from {low:,} to {high:,}, got {value!r}.")
    return np.random.Generator(np.random.SFC64(int(seed)))


def _cells(places: Floats, size: int) -> Integers:
    """Cell of each place in [0, 1), places outside moved to the end cells; spends the places array, shape (n,)."""
    np.multiply(places, size, out=places)
    np.clip(places, 0, size - 1, out=places)
    return places.astype(np.int64)


def _uniform(random: Random, n: int, size: int) -> Integers:
    return random.integers(size, size=n)


def _skewed(random: Random, n: int, size: int) -> Integers:
    return _cells(random.gamma(2.0, 1 / 12, size=n), size)


def _bimodal(random: Random, n: int, size: int) -> Integers:
    places = random.normal(size=n)
    left = random.random(size=n) < 0.6
    places *= np.where(left, 0.07, 0.05)
    places += np.where(left, 0.3, 0.72)
    return _cells(places, size)


AGES = np.array([0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]) / 128
AGE_SHARES = np.array([0, 0.1, 0.2, 0.33, 0.47, 0.6, 0.75, 0.87, 0.95, 0.99, 1])
"""Decades of age as shares of 128 years, and shares of the people below them; both are made up."""


def _ages(random: Random, n: int, size: int) -> Integers:
    return _cells(np.interp(random.random(n), AGE_SHARES, AGES), size)


def _heavy_tailed(random: Random, n: int, size: int) -> Integers:
    """Cell x with probability log((x + 2) / (x + 1)) / log(size + 1): nearly Zipf's law, by inverting a power."""
    powers: Floats = np.exp(random.random(size=n) * np.log(size + 1.0))
    return np.minimum(powers.astype(np.int64) - 1, size - 1)


def _sparse(random: Random, n: int, size: int) -> Integers:
    cells = random.choice(size, min(SPARSE_CELLS, size), replace=False)
    weights = 0.75 ** np.arange(len(cells))
    return cells[random.choice(len(cells), n, p=weights / weights.sum())]


def _all_equal(random: Random, n: int, size: int) -> Integers:
    return np.full(n, random.integers(size), dtype=np.int64)


PLANE_CLOUDS = np.array([[0.25, 0.7, 0.06], [0.65, 0.35, 0.12], [0.8, 0.8, 0.035]])
"""Middles and widths of the clouds; half of the records lie in the first, 0.35 in the second."""


def _clouds(random: Random, n: int) -> Floats:
    which = np.searchsorted([0.5, 0.85], random.random(n))
    places: Floats = PLANE_CLOUDS[which, :2] + PLANE_CLOUDS[which, 2:] * random.normal(size=(n, 2))
    return places


def _diagonal(random: Random, n: int) -> Floats:
    along = random.random(n)
    return np.stack([along, along + random.normal(scale=0.03, size=n)], axis=1)


GENERATORS: dict[str, Generator] = {
    shape.key: shape
    for shape in (
        Generator(
            key="uniform",
            title="Uniform",
            sentence="Every cell is equally likely, and every interval holds about its share of the rows.",
            draw=_uniform,
        ),
        Generator(
            key="skewed",
            title="Skewed",
            sentence="One peak near the low end with a long tail, as in earnings or waiting times.",
            draw=_skewed,
        ),
        Generator(
            key="bimodal",
            title="Two humps",
            sentence="Two groups of unequal size with a gap between them.",
            draw=_bimodal,
        ),
        Generator(
            key="ages",
            title="Ages",
            sentence="A made-up population: most are between 20 and 70, and few are above 90.",
            draw=_ages,
            column="age",
            records="people",
            high=128.0,
            unit="years",
        ),
        Generator(
            key="heavy_tailed",
            title="Heavy tail",
            sentence="The first √D of the D cells hold about half of the rows; the others cover the whole range.",
            draw=_heavy_tailed,
        ),
        Generator(
            key="sparse",
            title="Sparse",
            sentence="At most a dozen scattered cells hold all rows, and all others are empty.",
            draw=_sparse,
        ),
        Generator(
            key="all_equal",
            title="All equal",
            sentence="All rows are in one cell, and all other cells are empty.",
            draw=_all_equal,
        ),
        Generator(
            key="clouds",
            title="Clouds in the plane",
            sentence="Three round groups of unequal size and width, with almost no rows between them.",
            draw=_clouds,
            in_the_plane=True,
        ),
        Generator(
            key="diagonal",
            title="Diagonal in the plane",
            sentence="Two correlated numbers: they nearly always differ by less than a tenth of the range.",
            draw=_diagonal,
            in_the_plane=True,
        ),
    )
}


def two_clouds(*, n: int, dimensions: int, margin: float, seed: int) -> Floats:
    """Unit vectors (n, dimensions) on either side of the plane of the first axis, none nearer to it than the margin.

    How far from the plane is uniform between margin and 1; where along it is any direction.

    >>> bool((np.abs(two_clouds(n=99, dimensions=3, margin=0.5, seed=1)[:, 0]) >= 0.5).all())
    True
    """
    random = _random(n, dimensions, seed)
    side = np.where(random.random(n) < FIRST_SIDE, 1.0, -1.0)
    # A thousandth more: rounding must not take a row below the margin.
    height = margin + (1 - margin) * (0.001 + 0.999 * random.random(n))
    along = random.standard_normal((n, dimensions - 1))
    along *= (np.sqrt(1 - height**2) / np.linalg.norm(along, axis=1))[:, None]
    return np.concatenate([(side * height)[:, None], along], axis=1)
