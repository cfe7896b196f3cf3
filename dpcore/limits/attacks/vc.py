"""Half of a shattered set, reconstructed from any accurate release.

Take d points that the queries shatter: every subset T of them is picked out by some query. Hide a random half T, and
make it the data. If a release answers all those queries within α, then the half T' that has most mass in the release
differs from T in at most 2dα points: the sets cannot be told apart only if some answer is badly wrong. So an accurate
release gives the data away; and privacy forbids that. Swap one point x of T for one outside: x was in T' nearly always,
and now must nearly never be, although one row changed. Hence a lower bound on α for every private mechanism, whatever
its cleverness: a class of VC dimension d needs a number of rows in proportion to d.

When the released data live on the d points themselves, "the half with most mass" is a sort, and 10,000 points take
milliseconds. When queries see other cells as well, or answers do not come from one data set, the sort is not the
theorem's search; then it is refused, and ``halves.search`` tries all.

Notation: d = points; r = copies of each, so n = r d/2; epsilon = ε; alpha = α; beta = β; delta = δ. A swap changes r
rows: ``steps`` = r under replace-one, 2 r under add-or-remove-one.

References:
    Blum, Ligett and Roth (2013), Theorem 3.11 with Lemmas 3.12 and 3.13; chance.py for the sharper steps.
"""

from __future__ import annotations

import math
from bisect import bisect_left

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
from dpcore.limits.chance import VACUOUS_STATEMENT, check_loss, confusion, replacement_steps, wrong_share


def reconstruct(release: DataRelease, *, shattered: Integers | None = None) -> Halves:
    """Return the half of the shattered points with most mass in each release, by a sort.

    Args:
        release: data on the shattered set, n = r d/2 rows for a whole r.
        shattered: its cells (d,); by default all fitting cells of the domain (the cell for values that do not fit is in
            no query). If it is only a part of them, the queries that shatter it may see the other cells too.

    Raises:
        ParameterError: where the sort is not the theorem's search: d odd, n no multiple of d/2, or mass outside.
    """
    domain, n = release.problem.domain, release.problem.n
    cells = np.arange(domain.ordered) if shattered is None else np.asarray(shattered, dtype=np.int64)
    check_points(len(cells))
    if len(np.unique(cells)) != len(cells) or cells.min() < 0 or cells.max() >= domain.ordered:
        raise ParameterError(f"The shattered points must be different cells from 0 to {domain.ordered - 1}.")
    if (2 * n) % len(cells):
        raise ParameterError(f"The data must hold each of {len(cells) // 2} points equally often; n is {n}.")
    histogram = release.histogram()[:, : domain.ordered]
    inside = np.where(release.refused[:, None], 0.0, histogram[:, cells])
    if len(cells) < domain.ordered:
        outside = np.delete(np.where(release.refused[:, None], 0.0, histogram), cells, axis=1)
        if outside.any():
            raise ParameterError(
                "The release has mass outside the shattered points, so the attack by sorting does not apply."
            )
    return heaviest_half(inside / n, release.refused)


def worst_half_error(release: DataRelease, truth: Booleans) -> Floats:
    """Return the score: largest error over all halves as queries, a fraction of n, shape (T,): the release's true α."""
    points, n = release.problem.domain.ordered, release.problem.n
    difference = np.sort(release.histogram()[:, :points] / n - truth * (2 / points), axis=1)
    worst: Floats = np.maximum(difference[:, points // 2 :].sum(axis=1), -difference[:, : points // 2].sum(axis=1))
    return worst


def recovery_ceiling(*, epsilon: float, repeats: int, neighbours: Neighbours, delta: float = 0.0) -> float:
    """Return the largest expected share of a *random* half that any attack can find in any (ε, δ)-private release.

    A point is found with this chance when it is in the data, and with the complementary chance when it was swapped out.
    An attack on a private release that finds more, in a test, says that the release is not private.
    """
    return 1 - confusion(epsilon=epsilon, steps=replacement_steps(neighbours, rows=repeats), delta=delta)


def printed_error(*, epsilon: float, steps: int, beta: float = 0.0) -> float:
    """The proof's α, end to end: (1 - β - βE)/(2 (1 - β)(1 + E)) with E = e^(steps ε); 0 where it says nothing."""
    check_loss(epsilon=epsilon, steps=steps)
    shrink = math.exp(-epsilon * steps)  # 1/E: E itself may overflow
    return max(0.0, ((1 - beta) * shrink - beta) / (2 * (1 - beta) * (1 + shrink)))


def error_bound(
    *,
    epsilon: float,
    repeats: int,
    neighbours: Neighbours,
    beta: float = 0.0,
    delta: float = 0.0,
    points: int | None = None,
) -> Bound:
    """Return the α of Theorem 3.11 with constants: of any (ε, δ)-private answers to all halves, up to chance β.

    With ``points``, also the bound of promises nearly sure: two halves whose data are k rows' steps apart share an
    outcome good for both as long as β is below the confusion of so many steps, and then one of them errs by (their
    difference)/2. At β = 0 that is α >= 1/2: only the trivial promise can be kept for certain.
    """
    steps = replacement_steps(neighbours, rows=repeats)
    swap = wrong_share(epsilon=epsilon, steps=steps, beta=beta, delta=delta) / 2
    far = 0.0
    if points is not None:
        check_points(points)
        far = _far_error(epsilon=epsilon, steps=steps, beta=beta, delta=delta, points=points)
    known = max(swap, far)
    chain = printed_error(epsilon=epsilon, steps=steps, beta=beta)
    # The paper adds and removes rows, and leaves out β: its proof ends before it would matter.
    paper = printed_error(epsilon=epsilon, steps=2 * repeats)
    exponent = "2ε" if repeats == 1 else f"{2 * repeats}ε"
    simple = f", or {1 / (4 + 16 * repeats * epsilon):.3g} simplified" if repeats * epsilon <= 1 else ""
    rows = repeats * points // 2 if points else 0
    size = (
        f"n = {rows:,} row{'s' if rows > 1 else ''}" if points else f"{repeats} row{'s' if repeats > 1 else ''} a point"
    )
    return Bound(
        value=known,
        kind=BoundKind.LOWER,
        statement=f"A mechanism that answers every subset of a shattered set with ε = {epsilon:g} "
        f"({neighbours.words}), from {size}, "
        + (
            f"cannot guarantee an error below {rounded_down(known)} of n with failure probability {beta:g}."
            if known > 0
            else VACUOUS_STATEMENT
        ),
        reference="Blum, Ligett and Roth (2013), Theorem 3.11, with constants",
        beta=beta,
        assumptions=(
            Assumption(text="the queries shatter the points: every subset is a query", met=True),
            Assumption(text="β is small enough for the bound to apply", met=known > 0),
        ),
        note=f"The paper treats replacing a row as one removal and one addition, with a factor e^({exponent}) "
        f"in total and β = 0: {paper:.3g}{simple}. The same proof for “{neighbours.words}” and β = "
        f"{beta:g} gives {chain:.3g}.",
    )


def _far_error(*, epsilon: float, steps: int, beta: float, delta: float, points: int) -> float:
    """Return the largest h/d, h <= d/2 swaps, whose two data sets must still be confused more often than β."""
    if beta == 0 and delta == 0:
        return 0.5  # the confusion of many steps underflows, but is never 0

    def are_distinguishable(swaps: int) -> bool:
        return confusion(epsilon=epsilon, steps=steps * swaps, delta=delta) <= beta

    return bisect_left(range(1, points // 2 + 1), True, key=are_distinguishable) / points
