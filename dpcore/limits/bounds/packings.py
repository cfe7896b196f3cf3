"""Packings: places for a few rows that answers distinguish, from which every lower bound of applicable.py starts.

A packing is a list of records such that for any two of them some query of the class holds the one and not the other.
Move τ rows to one of these records and leave the other rows alone: answers within less than τ/(2n) reveal where the τ
rows are. The more places there are, the larger is the error of a private mechanism.

References:
    Hardt and Talwar (2010), section 3; Blum, Ligett and Roth (2013), proof of Theorem 5.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.core import ParameterError, Queries
from dpcore.data.sphere import STEP, Halfspaces
from dpcore.queries.at_least import AtLeast
from dpcore.queries.boxes import RangeBoxes
from dpcore.queries.linear import UNITS, LinearQueries
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import Cells, Intervals, Rectangles, Thresholds

COMPARED = 64
"""Cells of a class of weights that are compared with one another; some of the cells are as valid as all."""
DISTANCES = 32
"""Distances tried between their weights."""


@dataclass(frozen=True, kw_only=True)
class Packing:
    """Places for a row.

    Attributes:
        bits: log2 of how many, at least 1.
        gap: how far apart, at least, some query's answers for one row are in any two places: 1 where queries count.
        words: where: "on 1,024 cells".
    """

    bits: float
    words: str
    gap: float = 1.0


def packings(queries: Queries, *, questions: int | None = None) -> list[Packing]:
    """Return the packings of a class, those of larger gap first; empty where none of two places is known.

    Args:
        queries: the class.
        questions: how many of its queries may be asked, each after the last answer; None for all of them.

    Raises:
        ParameterError: fewer than one question.
    """
    if questions is not None and questions < 1:
        raise ParameterError(f"There must be at least one query, got {questions}.")
    if isinstance(queries, LinearQueries):
        # Which places differ how much is known for the class as a whole, not for so many questions.
        return _weighted(queries) if questions is None else []
    places = _places(queries)
    if places is None:
        return []
    bits, words = places
    if questions is not None:
        # Prefixes can be searched by halving, one question a bit; of single cells each question rules out one.
        halving = isinstance(queries, Thresholds | Intervals)
        bits = min(bits, float(questions) if halving else math.log2(questions + 1))
    return [Packing(bits=bits, words=words)] if bits >= 1 else []


def _places(queries: Queries) -> tuple[float, str] | None:
    """Return log2 of the number of places and where they are, for classes that count rows."""
    if isinstance(queries, Cells | Thresholds | Intervals | Rectangles):
        # The cell itself, the threshold at the lower one, the interval up to it, the rectangle that is the cell.
        return math.log2(queries.domain.ordered), f"on {queries.domain.ordered:,} cells"
    if isinstance(queries, Marginals):
        # Two rows differ in some attribute, and so in every table that has it.
        names = len(queries.domain.names)
        return sum(math.log2(size) for size in queries.domain.sizes), f"about {names:,} attributes"
    if isinstance(queries, RangeBoxes):
        # The stretches between neighbouring places: each is a box with one of each other column.
        stretches = math.prod(len(places) - 1 for places in queries.places)
        return math.log2(stretches), f"on {stretches:,} smallest boxes"
    if isinstance(queries, AtLeast):
        return math.log2(_patterns(queries)), f"about {queries.domain.attributes:,} attributes"
    if isinstance(queries, Halfspaces):
        return _arrows(queries), f"in {queries.sphere.dimensions:,} dimensions"
    return None


def _patterns(queries: AtLeast) -> int:
    """Return the number of patterns of d attributes that "at least r of these k" distinguishes.

    Of two different patterns let x have an attribute j that y lacks. Ask about j, about r - 1 more that x has, and
    about k - r more that y lacks: x has r of them, y at most r - 1. With negations there are always such attributes,
    so all 2^d patterns are apart. Without them, x must have r attributes, y must lack k - r + 1, and besides j there
    must be k - 1 outside the part of y that x lacks. Take patterns of r to d - k + r - 1 attributes, and the larger of
    two as x: then that part has at most min(|y|, d - |x|) attributes, and that must be at most d - k. The patterns with
    no attribute and with all of them are apart from all these.
    """
    d, k, r = queries.domain.attributes, queries.width, queries.least
    if queries.signed:
        return 1 << d
    sizes = [size for size in range(max(r, 1), min(d - k + r - 1, d - 1) + 1) if min(size, d - size) <= d - k]
    return 2 + sum(math.comb(d, size) for size in sizes)


def _arrows(queries: Halfspaces) -> float:
    """log2 of how many unit vectors are told apart by halfspaces that keep the margin γ to every row; at least 1.

    Opposite vectors e and -e are two places for any margin, by the direction e. For more, let n - τ rows be the vector
    e, and τ rows one of many vectors u at right angles to it. For u and u' the direction
    γ e + sqrt(1 - γ²) (u - u')/|u - u'| has margin γ to e, and to both if |u - u'| >= 2γ/sqrt(1 - γ²). Vectors u so far
    apart, as many as fit, leave no gap on the sphere of their dimensions: caps around them cover it, so there are at
    least as many as the sphere is larger than one cap (Li 2011, for its area). A hair is added to the margin for the
    grid on which rows lie.
    """
    from scipy.special import betainc

    d = queries.sphere.dimensions
    margin = queries.margin + 2 * math.sqrt(d) * STEP
    if d < 3 or 2 * margin**2 > 1:  # a chord of the sphere is at most 2
        return 1.0
    angle = 2 * math.asin(min(1.0, margin / math.sqrt(1 - margin**2)))
    half = float(betainc((d - 2) / 2, 0.5, min(1.0, math.sin(angle) ** 2))) / 2
    cap = half if angle <= math.pi / 2 else 1 - half
    # A cap too small for floating point is as small as one can say.
    return max(1.0, -math.log2(max(cap, 2.0**-1000)))


def _weighted(queries: LinearQueries) -> list[Packing]:
    """Cells picked greedily so that any two have weights at least so far apart in some query, for several distances."""
    cells = np.unique(np.linspace(0, queries.domain.ordered - 1, COMPARED).round().astype(np.int64))
    weights = queries.units[:, cells].T
    gap_matrix = np.array([np.abs(weights - row).max(axis=1) for row in weights])
    gaps = np.unique(gap_matrix[gap_matrix > 0])[::-1]
    result: list[Packing] = []
    for gap in gaps[np.unique(np.linspace(0, len(gaps) - 1, DISTANCES).round().astype(np.int64))] if len(gaps) else []:
        # The two cells that are furthest apart come first: any gap has them.
        chosen = [int(place) for place in np.unravel_index(gap_matrix.argmax(), gap_matrix.shape)]
        for cell in range(len(cells)):
            if (gap_matrix[cell, chosen] >= gap).all():
                chosen.append(cell)
        if not result or math.log2(len(chosen)) > result[-1].bits:
            words = f"on {queries.domain.ordered:,} cells"
            result.append(Packing(bits=math.log2(len(chosen)), words=words, gap=float(gap) / UNITS))
    return result
