"""Sets of directions with one near every direction: the net U of the halfspace release.

Every set holds a direction and its opposite, and one of each pair is listed. In the plane they are evenly spaced; in
three dimensions they are corners of the icosahedron and of its subdivisions (geodesic domes), in four of the regular
polytopes, whose symmetry makes them good coverings without any search (Coxeter 1973). All are public and the same
everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, permutations, product

import numpy as np

from dpcore.core import Floats, Integers, ParameterError
from dpcore.data.sphere import STEP

MAX_NET_DIMENSIONS = 4
GOLDEN = (1 + np.sqrt(5.0)) / 2
TURNS = [(0, 1, 2), (2, 0, 1), (1, 2, 0)]
"""Orders of three coordinates that turn the icosahedron into itself."""
MAX_PAIRS = 512


def _one_of_each_pair(points: Floats) -> Floats:
    """Points (P, t) scaled to length 1, each once, and of opposite ones that whose first coordinate is positive."""
    representatives: dict[tuple[float, ...], Floats] = {}
    for point in points / np.linalg.norm(points, axis=1, keepdims=True):
        if point[np.flatnonzero(np.abs(point) > STEP)[0]] > 0:
            representatives.setdefault(tuple(np.round(point, 9) + 0.0), point)
    return np.array(list(representatives.values()))


def _orbit(seed: tuple[float, ...], *, orders: Sequence[tuple[int, ...]]) -> Floats:
    """Return a point's images under changes of signs and the given orders of coordinates."""
    signs = np.array(list(product((1.0, -1.0), repeat=len(seed))))
    return np.concatenate([(np.array(seed) * signs)[:, list(order)] for order in orders])


def _geodesic(frequency: int) -> Floats:
    """The icosahedron with each face cut into frequency^2 triangles, 10 frequency^2 + 2 points, on the sphere."""
    corners = _orbit((0, 1, GOLDEN), orders=TURNS)
    corners = np.unique(corners, axis=0)
    edge = 2.1**2  # edges have length 2, and the next distances are 2 GOLDEN and more
    faces = [c for c in combinations(corners, 3) if all(((p - q) ** 2).sum() < edge for p, q in combinations(c, 2))]
    weights = [(i, j, frequency - i - j) for i in range(frequency + 1) for j in range(frequency + 1 - i)]
    return np.concatenate([np.array(weights) @ np.array(face) for face in faces])


def _in_space(size: int) -> Floats:
    """Axes, the icosahedron, the same with its dual, then geodesic domes of 5 frequency^2 + 1 pairs."""
    if size == 3:
        return np.eye(3)
    if size == 16:
        dual = [_orbit((1, 1, 1), orders=TURNS), _orbit((0, GOLDEN, 1 / GOLDEN), orders=TURNS)]
        return np.concatenate([_geodesic(1) / np.sqrt(1 + GOLDEN**2), np.concatenate(dual) / np.sqrt(3)])
    return _geodesic(round(np.sqrt((size - 1) / 5)))


def _in_four(size: int) -> Floats:
    """Axes, the 24-cell, the same with its dual, the 600-cell."""
    orders = list(permutations(range(4)))
    parts = [np.eye(4)]
    if size > 4:
        parts.append(_orbit((1, 1, 1, 1), orders=orders[:1]) / 2)
    if size == 24:
        parts.append(_orbit((1, 1, 0, 0), orders=orders))
    if size == 60:
        even = [p for p in orders if sum(p[i] > p[j] for i, j in combinations(range(4), 2)) % 2 == 0]
        parts.append(_orbit((GOLDEN, 1, 1 / GOLDEN, 0), orders=even))
    return np.concatenate(parts)


SIZES = {3: (3, 6, 16, *(5 * frequency**2 + 1 for frequency in range(2, 11))), 4: (4, 12, 24, 60)}
"""Pairs in the sets of 3 and of 4 dimensions."""


@lru_cache(maxsize=256)
def directions(*, dimensions: int, limit: int) -> Floats:
    """One of each pair of opposite directions, at most ``limit`` pairs if a set so small exists: (k, dimensions).

    Coordinates are whole multiples of STEP, so lengths differ from 1 by less than two steps: only signs matter.
    """
    if not 1 <= dimensions <= MAX_NET_DIMENSIONS or limit < 1:
        raise ParameterError(f"Sets of directions exist in 1 to {MAX_NET_DIMENSIONS} dimensions.")
    if dimensions == 1:
        chosen = np.ones((1, 1))
    elif dimensions == 2:
        # A third of a step from the axes: rows on an axis or a diagonal then lie on no boundary.
        angles = (np.arange(limit) + 1 / 3) * np.pi / limit
        chosen = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    else:
        sizes = SIZES[dimensions]
        size = max((each for each in sizes if each <= limit), default=sizes[0])
        chosen = _one_of_each_pair(_in_space(size) if dimensions == 3 else _in_four(size))
    rounded: Floats = np.rint(chosen / STEP) * STEP
    rounded.setflags(write=False)
    return rounded


@lru_cache(maxsize=256)
def reach(*, dimensions: int, limit: int) -> float:
    """Return the largest angle between any direction and the nearest of the set or its opposites, in radians."""
    if dimensions == 1:
        return 0.0
    if dimensions == 2:
        return float(np.pi / (2 * limit))
    from scipy.spatial import ConvexHull

    half = directions(dimensions=dimensions, limit=limit)
    # The direction furthest from all points stands over the middle of the face whose plane is nearest to the centre.
    nearest = -ConvexHull(np.concatenate([half, -half])).equations[:, -1].max()
    return float(np.arccos(nearest))


def nearest(points: Floats, net: Floats) -> tuple[Integers, Integers]:
    """Place in the net (k, t) of the direction nearest to each point (..., t), and +1, or -1 where it is its opposite.

    Whatever length a point has; one of no length counts as nearest to the first.
    """
    scores = points @ net.T
    place = np.abs(scores).argmax(axis=-1)
    sign = np.where(np.take_along_axis(scores, place[..., None], axis=-1)[..., 0] < 0, -1, 1)
    return place, sign
