"""Decompose the error of a halfspace release, and compare it in the plane with releases of intervals of angles.

Not private: everything here compares with the true data.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Assumption, Booleans, Bound, Dataset, Floats, PointsRelease, Problem
from dpcore.data.columns import Number, is_number
from dpcore.data.sphere import BLOCK, Halfspaces
from dpcore.mechanisms import entry
from dpcore.mechanisms.halfspaces.agreement import agreement
from dpcore.mechanisms.halfspaces.noisy_counts import HalfspaceCounts
from dpcore.mechanisms.halfspaces.structure import HalfspaceRelease, SphereState, side_answers
from dpcore.queries.ranges import Intervals
from dpcore.randomness import Preview

CIRCLE = np.arange(0.0, 360.0, 5.0)
"""Directions around a circle, in degrees, at which the largest error of a release is measured."""
ANGLE_BITS = 10
"""2^10 cells of a circle: about a third of a degree each."""
ANGLE_METHODS = ("intervals-recursive", "intervals-anchored")


NINETY = 1.645
"""Standard deviations that cover 90% of a normal distribution; 1.628 cover 90% of a Laplace distribution."""


def directions_at(degrees: Floats, plane: Floats) -> Floats:
    """Return the directions (Q, d) at angles (Q,) in a plane (2, d)."""
    turn = np.radians(degrees)
    towards: Floats = np.stack([np.cos(turn), np.sin(turn)], axis=1) @ plane
    return towards


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Sides:
    """Rows on both sides of a direction.

    Attributes:
        inside: whether each row lies on the side the direction points to, (n,).
        share: share of such rows.
        near: share of the rows within a margin of the boundary.
        nearest: smallest distance of a nonzero row from the boundary; 1 where there is none.
    """

    inside: Booleans
    share: float
    near: float
    nearest: float


def sides(dataset: Dataset, direction: Floats, *, margin: float) -> Sides:
    """Return the rows on both sides of a direction (d,)."""
    height = dataset.records @ direction
    pointing = (dataset.records != 0).any(axis=1)
    return Sides(
        inside=height > 0,
        share=float((height > 0).mean()),
        near=float((np.abs(height) < margin).mean()),
        nearest=float(np.abs(height[pointing]).min(initial=1.0)),
    )


def preview_releases(mechanism: HalfspaceCounts, state: SphereState, *, seed: int, trials: int) -> HalfspaceRelease:
    """Return preview releases from a seed."""
    return mechanism.run(state, Preview(seed), trials)


def count_sides(
    mechanism: HalfspaceCounts, state: SphereState, *, seed: int, trials: int
) -> Generator[float, None, bool]:
    """Count in advance the rows on the sides that such releases measure; yields the fraction done."""
    yield from state.counting(mechanism.signs(state.problem, Preview(seed), trials), mechanism.net(state.problem))
    return True


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Parts:
    """Answers to one direction with one more source of error each: shares of n, one per release (T,).

    Attributes:
        truth: true share of the rows on the side the direction points to.
        projected: share after projection with the release's matrices.
        netted: share for the net's nearest directions.
        released: share with noise.
    """

    truth: float
    projected: Floats
    netted: Floats
    released: Floats

    def errors(self) -> dict[str, Floats]:
        """Return the signed errors of each step (T,); the first three add up to the last."""
        return {
            "projection": self.projected - self.truth,
            "net": self.netted - self.projected,
            "noise": self.released - self.netted,
            "total": self.released - self.truth,
        }


def parts(state: SphereState, release: HalfspaceRelease, direction: Floats, *, max_trials: int | None = None) -> Parts:
    """Decompose the answer to one direction (d,) in a release of this state, or in its first trials."""
    queries = state.problem.queries
    assert isinstance(queries, Halfspaces)
    towards, n = queries.sphere.unit(direction[None]), len(state.records)
    truth = float(queries.truth(state.records, towards)[0])
    counts = state.counts(release.signs, release.net)[:max_trials]
    release = release.part(0, min(max_trials or release.trials, release.trials))
    netted = side_answers(counts, release.signs, release.net, towards, n=n)[:, 0]
    projected = np.full(release.trials, truth)
    if release.signs.shape[1]:
        matrices = release.signs.astype(np.float64)
        # <Ax, Ay> = <x, A'Ay>: one vector for each matrix. In few dimensions many are the same.
        pulled = np.einsum("imtd,imt->imd", matrices, matrices @ towards[0])
        distinct, which = np.unique(pulled.reshape(-1, pulled.shape[2]), axis=0, return_inverse=True)
        shares = np.empty(len(distinct))
        step = max(1, BLOCK // n)
        for start in range(0, len(distinct), step):
            sides = distinct[start : start + step] @ state.records.T > 0
            shares[start : start + step] = np.count_nonzero(sides, axis=1) / n
        projected = shares[which.reshape(-1)].reshape(release.trials, -1).mean(axis=1)
    return Parts(
        truth=truth,
        projected=projected,
        netted=np.broadcast_to(netted, release.trials),
        released=release.answer(towards)[:, 0],
    )


def expected_after_projection(records: Floats, towards: Floats, *, dimensions: int) -> Floats:
    """Return the mean share (Q,) on the side of directions (Q, d) after Gaussian projections.

    From a table of the agreement at the middles of 4,096 ranges of cosines.
    """
    bins = 4096
    table = agreement((np.arange(bins) + 0.5) * 2 / bins - 1, dimensions=dimensions)
    shares = np.empty(len(towards))
    for place, y in enumerate(towards):
        which = np.clip(((records @ y + 1) * (bins / 2)).astype(np.int64), 0, bins - 1)
        shares[place] = np.bincount(which, minlength=bins) @ table / len(records)
    return shares


def angle_to_net(mechanism: HalfspaceCounts, problem: Problem, direction: Floats) -> float:
    """Return the angle in radians between a direction and the nearest one of the net; with a projection, the reach."""
    if mechanism.is_projected(problem):
        return mechanism.reach(problem)
    cosine = np.abs(mechanism.net(problem) @ direction).max() / np.linalg.norm(direction)
    return float(np.arccos(min(1.0, cosine)))


def predicted(
    mechanism: HalfspaceCounts, state: SphereState, direction: Floats, *, truth: float
) -> dict[str, tuple[float, float]]:
    """Return the interval that theory predicts for each part of a direction's (d,) error, shares of n.

    The noise: 90% of its distribution. The projection: its mean. The net, without a projection: its worst case.
    """
    spread = NINETY * mechanism.noise_deviation(state.problem)
    if mechanism.is_projected(state.problem):
        mean = expected_after_projection(state.records, direction[None], dimensions=mechanism.projected)[0]
        return {"noise": (-spread, spread), "projection": (mean - truth, mean - truth)}
    height, reach = state.records @ direction, np.sin(angle_to_net(mechanism, state.problem, direction))
    lost = float(((height > 0) & (height <= reach)).mean())
    gained = float(((height <= 0) & (height >= -reach)).mean())
    return {"noise": (-spread, spread), "projection": (0.0, 0.0), "net": (-lost, gained)}


def with_unmet_conditions(bound: Bound, *, margin: float, with_margin: int, without_direction: int) -> Bound:
    """Return the bound with the unmet conditions of these rows and directions added.

    Args:
        bound: the mechanism's guaranteed error for directions with the margin.
        margin: the required margin.
        with_margin: number of directions that have it.
        without_direction: number of zero rows, which lie on every boundary.
    """
    broken = []
    if not with_margin:
        broken.append(Assumption(text=f"the sampled directions must have margin {margin:g} (none has)", met=False))
    if without_direction:
        broken.append(Assumption(text=f"every row has a direction ({without_direction:,} have none)", met=False))
    return dataclasses.replace(bound, assumptions=(*bound.assumptions, *broken))


def angles(dataset: Dataset) -> Dataset:
    """Return the rows of a data set in the plane as angles in degrees, on 2^ANGLE_BITS cells; zero rows are missing."""
    domain = Number(low=0.0, high=360.0, bits=ANGLE_BITS, missing=True, unit="degrees")
    records = dataset.records
    turned = np.degrees(np.arctan2(records[:, 1], records[:, 0])) % 360.0
    turned[(records == 0).all(axis=1)] = np.nan
    return Dataset(domain, domain.encode(turned), dataset.provenance)


def half_circles(histogram: Floats, domain: Number, towards: Floats, *, n: int) -> Floats:
    """Return the shares (T, Q) of histograms (T, size) of angles in the half-circles around directions (Q, 2).

    A half-circle is an interval of angles or the complement of one; it contains a cell if it contains its midpoint.
    """
    middles = np.radians(domain.points())
    unit_vectors = np.stack([np.cos(middles), np.sin(middles)])
    inside = (towards @ unit_vectors > 0).astype(np.float64)
    shares: Floats = histogram[:, : domain.ordered] @ inside.T / n
    return shares


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Circle:
    """Errors of several releases around a circle: absolute errors as shares of n, (T, Q), by the mechanism's key."""

    degrees: Floats
    errors: dict[str, Floats]

    def worst(self, key: str) -> float:
        """Return the mean over releases of the largest error around the circle."""
        return float(self.errors[key].max(axis=1).mean())


def circle_of_errors(
    dataset: Dataset,
    release: HalfspaceRelease,
    *,
    epsilon: float,
    alpha: float,
    seed: int,
) -> Circle:
    """Compare a halfspace release in the plane with releases of the angle at the same epsilon.

    Args:
        dataset: rows in the plane.
        release: a release of these rows without projection.
        epsilon: ε of all releases.
        alpha: allowed error of the interval releases.
        seed: seed of the interval releases.
    """
    towards = directions_at(CIRCLE, np.eye(2))
    queries = release.problem.queries
    assert isinstance(queries, Halfspaces)
    truth = queries.truth(dataset.records, towards)
    errors = {"halfspaces": np.abs(release.answer(towards) - truth)}
    turned = angles(dataset)
    assert is_number(turned.domain)
    problem = Problem(domain=turned.domain, queries=Intervals(domain=turned.domain), n=turned.n)
    for method in map(entry, ANGLE_METHODS):
        mechanism = method.make(epsilon=epsilon, alpha=alpha)
        drawn = mechanism.run(mechanism.prepare(turned, problem), Preview(seed), release.trials)
        assert isinstance(drawn, PointsRelease)
        answers = half_circles(drawn.histogram(), turned.domain, towards, n=turned.n)
        errors[method.key] = np.abs(answers - truth)
    return Circle(degrees=CIRCLE, errors=errors)
