"""Halfspace release: noisy counts on a few sides of a few random projections answer for every side of every plane.

Rows are unit vectors x in d dimensions, and a question is a direction y: how many rows have <x, y> > 0? Of m random
sign matrices A each takes the rows to T dimensions, where a net U of directions leaves none far from one of them. For
every A and every u the release holds the noisy number of rows with <Ax, u> > 0. A direction y is answered with the mean
over A of the number held for the u nearest to Ay. What comes out is no data: it answers halfspaces and nothing else.

Of each pair u, -u one is measured and the other answered by n minus its count. That halves the noise. Rows with
<Ax, u> = 0 (among them those that have no direction at all) are then counted for -u and not for u. A and -A are equally
likely, so in the mean such a row counts one half, for either. Where d <= T nothing is projected: A is the identity, m
is 1, and such a row is counted on one fixed side of each plane of the net.

Why it is private: the matrices are public coins, drawn before the data are looked at, so take them as given. One row,
replaced, added or removed, changes each of the m·k counts by at most 1 (it is in the count or it is not), so all of
them together by at most m·k in L1 (k = |U|/2); each gets noise of scale m·k/epsilon. A row's share in a count depends
on no other row: the sums behind it are exact (halfspaces.counting). Answers are computed from the release alone.

Where the error comes from: a projection to few dimensions moves rows across the plane, which no number of matrices
mends (halfspaces.agreement); the net answers for a direction up to an angle away; the noise. The paper makes T so large
that the first vanishes, and then the net is beyond all means (halfspaces.printed).

Notation: epsilon = ε, m = projections, T = dimensions after projection, U = net, margin = γ in the paper: the least
|<x, y>| over the rows.

References:
    Blum, Ligett and Roth (2013), section 6; the saving by opposite pairs and the identity are this project's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Assumption,
    Bound,
    BoundKind,
    Dataset,
    DomainType,
    Entry,
    Floats,
    Problem,
    PureMechanism,
    epsilon_param,
    param,
    rounded_up,
)
from dpcore.data.sphere import STEP, Halfspaces, is_sphere
from dpcore.mechanisms.halfspaces.agreement import agreement
from dpcore.mechanisms.halfspaces.counting import Signs
from dpcore.mechanisms.halfspaces.directions import MAX_NET_DIMENSIONS, MAX_PAIRS, directions, reach
from dpcore.mechanisms.halfspaces.structure import HalfspaceRelease, SphereState
from dpcore.randomness import NoisyCounts, PublicCoins, Sampler
from dpcore.randomness.laws import laplace_quantile


@dataclass(frozen=True, kw_only=True)
class HalfspaceCounts(PureMechanism):
    """Noisy counts on the sides of a net of planes, after random sign projections."""

    releases: ClassVar[str] = "answers"

    epsilon: float = epsilon_param()
    projected: int = param(
        3,
        1,
        MAX_NET_DIMENSIONS,
        label="Dimensions after projection",
        symbol="T",
        help="Rows with more dimensions are projected to this number. Few dimensions change the side of more "
        "rows; many need a fine net.",
    )
    projections: int = param(
        4,
        1,
        64,
        label="Projections",
        symbol="m",
        log=True,
        stops=(1, 2, 4, 8, 16, 32, 64),
        help="Random sign matrices whose answers are averaged. More matrices reduce the spread of the "
        "projection and increase the noise. Without a projection there is one.",
    )
    directions: int = param(
        16,
        1,
        MAX_PAIRS,
        label="Directions measured",
        symbol="|U|/2",
        log=True,
        stops=(1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512),
        help="Maximum number of pairs of opposite directions in the net. In 3 and 4 dimensions the largest of a "
        "few symmetric sets is used (3, 6, 16, 21, 46, 81, … or 4, 12, 24, 60 pairs). A finer net "
        "increases the noise.",
    )

    def is_projected(self, problem: Problem) -> bool:
        """Return whether rows have more dimensions than are kept."""
        return _dimensions(problem) > self.projected

    def net(self, problem: Problem) -> Floats:
        """Return the measured directions, (k, t)."""
        return directions(dimensions=min(self.projected, _dimensions(problem)), limit=self.directions)

    def matrices(self, problem: Problem) -> int:
        """Return the matrices whose answers are averaged: m, or 1 for the identity."""
        return self.projections if self.is_projected(problem) else 1

    def measured(self, problem: Problem) -> int:
        """Return the counts released, which is how far one row moves all of them together, under either relation."""
        return self.matrices(problem) * len(self.net(problem))

    def reach(self, problem: Problem) -> float:
        """Return the largest angle between a direction (after projection) and the nearest of the net, in radians."""
        return reach(dimensions=min(self.projected, _dimensions(problem)), limit=self.directions)

    def noise_deviation(self, problem: Problem) -> float:
        """Standard deviation of the noise in one answer, as a fraction of n; it is about sqrt(2 m) k/(epsilon n)."""
        p = math.exp(-self.epsilon / self.measured(problem))
        return math.sqrt(2 * p / self.matrices(problem)) / ((1 - p) * problem.n)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Without projection: the largest noise, for every direction whose margin is beyond the net's reach.

        A direction y is answered for u at an angle psi of at most the reach. A row changes sides between them only if
        its angle to the plane of y is at most psi, that is if |<x, y>| <= sin(psi); rounding adds a few steps. So with
        a larger margin the count is exact, and its noise exceeds J for one of the k counts with chance at most beta.
        """
        queries = problem.queries
        assert isinstance(queries, Halfspaces)
        k, angle, scale = len(self.net(problem)), self.reach(problem), self.measured(problem) / self.epsilon
        deviation = self.noise_deviation(problem)
        reference = "Blum, Ligett and Roth (2013), Theorem 6.9"
        if self.is_projected(problem):
            agreeing = float(agreement(queries.margin, dimensions=self.projected))
            return Bound(
                value=math.inf,
                kind=BoundKind.ORDER_ONLY,
                statement=f"Projection: a row at margin {queries.margin:g} stays on its side in {agreeing:.3g} of "
                f"Gaussian projections to {self.projected} dimensions. Net: up to "
                f"{rounded_up(math.degrees(angle))}° from a measured direction. Noise: standard deviation "
                f"{deviation:.3g} of n.",
                reference=reference,
                beta=beta,
                note="No error is guaranteed at so few dimensions: sign matrices agree with Gaussian ones only "
                "for dense vectors. The theorem's own parameters are too large to compute. Its union bound "
                "covers only directions in a net; other directions must be rounded to it.",
            )
        needed = math.sin(min(angle, math.pi / 2)) + 4 * STEP * math.sqrt(_dimensions(problem))
        noise = laplace_quantile(min(1.0, beta / k), scale=scale) - 1
        return Bound(
            value=noise / problem.n,
            kind=BoundKind.GUARANTEE,
            statement=f"Nothing is projected. Every direction is within {rounded_up(math.degrees(angle))}° of one of "
            f"{2 * k} directions of the net. So no row of margin {rounded_up(needed)} is on another side. "
            f"{k} counts have an error of at most {noise:,} rows, with confidence 1 − {beta:g}.",
            formula=r"\alpha\le\frac Jn,\quad k\,\Pr[|Z|>J]\le\beta,\quad Z\sim\mathrm{DLap}(k/\varepsilon)",
            reference=f"{reference}, without its projection: proved beside the mechanism",
            beta=beta,
            assumptions=(
                Assumption(
                    text=f"only directions of margin {rounded_up(needed)} are queried (here {queries.margin:g})",
                    met=queries.margin >= needed,
                ),
                *problem.unchecked_n,
            ),
            rows_needed=noise + 1,
            note="If rows are nearer to the plane of a direction, these rows may be miscounted, and no others.",
        )

    @override
    def prepare(self, dataset: Dataset, problem: Problem) -> SphereState:
        """The rows; counts wait for the matrices, which are drawn in run()."""
        return SphereState(problem=problem, records=dataset.records)

    @override
    def release_seconds(self, problem: Problem) -> tuple[float, float]:
        """Measured on two cores: each row is projected, and is on a side of each direction."""
        net, dimensions = self.net(problem), _dimensions(problem)
        projected = net.shape[1] * dimensions if self.is_projected(problem) else 0
        return 0.0, 1e-8 * problem.n * self.matrices(problem) * (projected + len(net))

    def signs(self, problem: Problem, sampler: Sampler, trials: int) -> Signs:
        """The matrices of so many releases, (trials, m, t, d), from public coins; m = 0 where nothing is projected."""
        shape = (trials, self.projections if self.is_projected(problem) else 0, self.projected, _dimensions(problem))
        if not shape[1]:
            return np.empty((trials, 0, shape[3], shape[3]), dtype=np.int8)
        coins = sampler.draw(PublicCoins(2, columns=math.prod(shape[1:])), trials)
        return (2 * coins - 1).astype(np.int8).reshape(shape)

    @override
    def run(self, state: SphereState, sampler: Sampler, trials: int = 1) -> HalfspaceRelease:
        problem, net = state.problem, self.net(state.problem)
        signs = self.signs(problem, sampler, trials)
        counts = state.counts(signs, net).reshape(-1, self.measured(problem))
        noisy = sampler.draw(NoisyCounts(counts, epsilon=self.epsilon, sensitivity=self.measured(problem)), trials)
        shaped = noisy.reshape(trials, self.matrices(problem), len(net))
        return self.release(HalfspaceRelease, state, sampler, trials, signs=signs, counts=shaped, net=net)


def _dimensions(problem: Problem) -> int:
    """Return the rows' dimensions, d."""
    assert is_sphere(problem.domain)
    return problem.domain.dimensions


ENTRIES = (
    Entry(
        key="halfspaces",
        mechanism=HalfspaceCounts,
        title="Halfspace release",
        story="Projects unit vectors to few dimensions and counts rows on each side of a net of planes. Every "
        "halfspace is answered by the nearest plane.",
        domains=(DomainType.VECTORS,),
        queries=(Halfspaces,),
        references=("Blum, Ligett and Roth (2013), section 6",),
        tiny={"projected": 1, "projections": 1, "directions": 1},
    ),
)
