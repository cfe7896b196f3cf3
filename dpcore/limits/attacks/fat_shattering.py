"""The lower bound for real-valued queries: fat-shattering reconstruction.

A real-valued query weighs each record with a number between 0 and 1 and adds up. A class fat-shatters a set of points
at scale γ if every point has a level r, and for every subset T some query weighs the points of T by at least r + γ
and the others by at most r - γ. Hide a half T, one row a point. The query of the true half is larger on its own data
than on any other half's, by (2γ - spread) for each point that differs, spread being the difference between the
largest and the smallest level. So an accurate release gives T away, as with yes-or-no questions (vc.py), and privacy
forbids it: the error grows with the number of points. With all levels and the scale at one half it *is* the yes-or-no
bound.

Two constants are shown. The paper's proof uses the factor e^ε between the two data sets of the swap, but they differ in
two rows, one gone and one new; under add-or-remove-one the factor is e^(2ε). Following the walk step by step instead of
end to end (chance.py) and using the levels' real spread instead of its largest allowed value, γ, gives more.

Notation (paper): scale = γ; levels = r; points = d; error in rows; epsilon = ε (the paper's α), beta = β (its δ).

References:
    Roth (2010), Differential Privacy and the Fat-Shattering Dimension of Linear Queries, Theorem 2, Lemmas 1 and 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.core import (
    Assumption,
    Booleans,
    Bound,
    BoundKind,
    DataRelease,
    Floats,
    Integers,
    Neighbours,
    ParameterError,
    rounded_down,
)
from dpcore.limits.attacks.halves import Halves, check_points, heaviest_half
from dpcore.limits.chance import VACUOUS_STATEMENT, check_loss, replacement_steps, wrong_share


def check_levels(*, levels: Floats, scale: float) -> float:
    """The levels' spread; raises ParameterError unless level ± scale stay within [0, 1] and spread below 2 scale."""
    if not 0 < scale <= 0.5:
        raise ParameterError(f"The scale must lie above 0 and be at most 1/2, got {scale!r}.")
    check_points(len(levels))
    if (levels < scale - 1e-12).any() or (levels > 1 - scale + 1e-12).any():
        raise ParameterError(f"Levels must lie between {scale:g} and {1 - scale:g}: weights are between 0 and 1.")
    spread = float(levels.max() - levels.min())
    if spread >= 2 * scale:
        raise ParameterError(f"The levels' spread must stay below twice the scale, {2 * scale:g}, got {spread:g}.")
    return spread


def alike(*, levels: Floats, scale: float) -> Integers:
    """Return the most points whose levels differ by at most the scale, an even number of them, as sorted indices.

    A window slid over the sorted levels; the paper's fixed pieces can cut through the best one.
    """
    order = np.argsort(levels, kind="stable")
    ends = np.searchsorted(levels[order], levels[order] + scale + 1e-12, side="right")
    start = int(np.argmax(ends - np.arange(len(levels))))
    stop = int(ends[start]) - (int(ends[start]) - start) % 2
    return np.sort(order[start:stop])


def guaranteed_points(*, dimension: int, scale: float) -> int:
    """Return the points that alike() finds at least, among as many as the fat-shattering dimension: an even number.

    Levels lie in [γ, 1 - γ], which ⌈(1 - 2γ)/γ⌉ windows of length γ cover; the paper counts 1/γ windows.
    """
    if dimension < 0 or not 0 < scale <= 0.5:
        raise ParameterError("The dimension must be at least 0 and the scale above 0 and at most 1/2.")
    windows = max(1, math.ceil((1 - 2 * scale) / scale - 1e-12))
    points = math.ceil(dimension / windows)
    return points - points % 2


def weights(*, half: Booleans, levels: Floats, scale: float) -> Floats:
    """Weights of the queries of halves (Q, d), level + scale inside and level - scale outside: shape (Q, d)."""
    chosen: Floats = levels + scale * (2.0 * half - 1)
    return chosen


def reconstruct(release: DataRelease, *, levels: Floats, scale: float) -> Halves:
    """Return the half whose own query falls least short of its value on the half itself, in each release, by a sort.

    With weights exactly level ± scale, and a release on the points, the shortfall of a half is a constant plus the sum
    of level - 2 scale (released rows) over it: the d/2 smallest are taken. ``mass`` is minus that sum.

    Raises:
        ParameterError: where the sort is not the theorem's search: levels that do not fit, or another number of cells.
    """
    check_levels(levels=levels, scale=scale)
    if release.problem.domain.ordered != len(levels):
        raise ParameterError(f"The release must be data on the {len(levels)} shattered points alone.")
    rows = np.where(release.refused[:, None], 0.0, release.histogram()[:, : len(levels)])
    return heaviest_half(2 * scale * rows - levels, release.refused)


@dataclass(frozen=True, kw_only=True)
class Constants:
    """The error in rows that cannot be avoided, by three proofs.

    Attributes:
        paper: γ d/(4 (1 + e^ε)), as the paper's chain has it: too large under add-or-remove-one.
        corrected: γ d/(4 (1 + e^(2ε))), two rows apart.
        best: (2γ - spread) d/4 times the share that must be wrong, step by step.
    """

    paper: float
    corrected: float
    best: float


def constants(
    *,
    points: int,
    scale: float,
    spread: float,
    epsilon: float,
    neighbours: Neighbours,
    beta: float = 0.0,
    delta: float = 0.0,
    repeats: int = 1,
) -> Constants:
    """Return all three constants, for d points; the first two are for β = δ = 0 and the largest spread, γ.

    With ``repeats`` rows for each point errors grow by that factor, and so does the distance of the two data sets.
    """
    check_loss(epsilon=epsilon, delta=delta)
    check_points(points)
    if not (0 < scale <= 0.5 and 0 <= spread < 2 * scale):
        raise ParameterError("The scale must lie in (0, 1/2] and the spread from 0 to below twice the scale.")
    steps, loss = replacement_steps(neighbours, rows=repeats), repeats * epsilon
    share = wrong_share(epsilon=epsilon, steps=steps, beta=beta, delta=delta)
    rows = repeats * points / 4
    return Constants(
        paper=scale * rows * math.exp(-loss) / (1 + math.exp(-loss)),
        corrected=scale * rows * math.exp(-steps * epsilon) / (1 + math.exp(-steps * epsilon)),
        best=(2 * scale - spread) * rows * share,
    )


def error_bound(
    *,
    points: int,
    scale: float,
    spread: float,
    epsilon: float,
    neighbours: Neighbours,
    beta: float = 0.0,
    delta: float = 0.0,
    repeats: int = 1,
) -> Bound:
    """Return the bound of Theorem 2 with a proved constant, as a fraction of the n = repeats · d/2 rows."""
    known = constants(
        points=points, scale=scale, spread=spread, epsilon=epsilon, neighbours=neighbours, beta=beta, delta=delta,
        repeats=repeats,
    )  # fmt: skip
    rows = repeats * points // 2
    return Bound(
        value=known.best / rows,
        kind=BoundKind.LOWER,
        statement=f"A mechanism that answers queries that shatter {points:,} points at scale {scale:g}, with ε = "
        f"{epsilon:g} ({neighbours.words}), "
        + (
            f"cannot guarantee all of them within less than {rounded_down(known.best)} of {rows:,} "
            f"row{'s' if rows > 1 else ''} "
            f"with failure probability {beta:g}."
            if known.best > 0
            else VACUOUS_STATEMENT
        ),
        reference="Roth (2010), Theorem 2, with constants",
        beta=beta,
        assumptions=(
            Assumption(text=f"the levels of the points differ by at most {spread:g}", met=True),
            Assumption(text="β is small enough for the bound to apply", met=known.best > 0),
        ),
        note="The proof in the paper uses a factor e^ε. But its data sets differ in two rows (one removed, one "
        f"added). The paper's factor gives {known.paper:.3g} rows; the correct one gives "
        f"{known.corrected:.3g} rows.",
    )
