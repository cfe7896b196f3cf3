"""Errors of the mechanisms as printed, where they can be run, and of those of this project, on generated data.

The literal sanitizer of Thaler, Ullman and Vadhan (2012), Theorem 3.1; Algorithm 2 of Blum, Ligett and Roth (2013) at
and around the rows of its Theorem 4.3; and their ReleaseHalfspaces with as few dimensions as can be run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpcore.core import DataRelease, Floats, HistogramState, Problem
from dpcore.data.columns import Number
from dpcore.data.product import is_yes_no
from dpcore.data.sources import generated_attributes, generated_vectors
from dpcore.data.sphere import Halfspaces
from dpcore.mechanisms import entry
from dpcore.mechanisms.halfspaces.printed import printed
from dpcore.mechanisms.halfspaces.structure import HalfspaceRelease
from dpcore.mechanisms.intervals.printed import corrected_rows, printed_rows, recommended_tie_bits
from dpcore.mechanisms.marginals.plans import Budget, direct_plan, polynomial_plan
from dpcore.mechanisms.marginals.polynomials import minimax
from dpcore.queries.at_least import AtLeast
from dpcore.queries.ranges import Intervals
from dpcore.randomness import Preview
from dplab.printed.polynomials import largest_coefficient, least_degree, literal_epsilon, moved

LEVEL = 0.95
ANSWERS, RELEASES = 4000, 30
HALFSPACE_ROWS, VECTORS, MATRICES = 10_000, 500, 3000
SMALL = (1, 2, 3, 4)
"""Dimensions T at which ReleaseHalfspaces is feasible."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatedErrors:
    """Quantile LEVEL of the errors of answers or releases, shares of n, against rows or dimensions.

    Attributes:
        at: rows or dimensions, (K,).
        errors: errors by variant, (K,) each; "printed" and "ours" among them.
        marked_places: places to mark, by label.
        claimed: the epsilon that the paper claims.
        exact_epsilons: exact epsilon of variants whose claim is false, by variant.
    """

    at: Floats
    errors: Mapping[str, Floats]
    marked_places: Mapping[str, float]
    claimed: float
    exact_epsilons: Mapping[str, float]


def _laplace_sums(generator: np.random.Generator, terms: int) -> Floats:
    """Draw sums of ``terms`` Laplace variables of scale 1, (ANSWERS,): differences of two gamma variables."""
    sums: Floats = generator.gamma(terms, size=ANSWERS) - generator.gamma(terms, size=ANSWERS)
    return sums


def sanitizer(*, attributes: int, width: int, alpha: float, epsilon: float, seed: int) -> SimulatedErrors:
    """Compute the error of one any-of-k answer against rows n: bias at most γ, and noise of the summed coefficients.

    Printed: noise 2T/(εn) each, T = d^t. Largest: T = max |a_i|. Private: the noise that ε requires for all
    coefficients together. Ours: the degree and split of ε with the smallest error at each n, direct release included.
    """
    generator, rows = np.random.Generator(np.random.SFC64(seed)), np.geomspace(1e2, 1e12, 41)
    polynomial = least_degree(width=width, gamma=alpha / 2)
    norms = {"printed": float(attributes**polynomial.degree), "largest": largest_coefficient(polynomial)}
    far = moved(polynomial, attributes=attributes)
    terms = sum(math.comb(width, level) for level in range(1, polynomial.degree + 1))
    noise = float(np.quantile(np.abs(_laplace_sums(generator, terms)), LEVEL))
    domain = generated_attributes(n=1000, attributes=attributes).domain
    assert is_yes_no(domain)
    problem = Problem(domain=domain, queries=AtLeast(domain=domain, width=width, least=1), n=1)
    budget = Budget(epsilon=epsilon)
    programs = (minimax(width=width, least=1, degree=t, basis="ones") for t in range(1, width))
    plans = [direct_plan(problem, budget), *(polynomial_plan(problem, budget, each) for each in programs)]
    ours = []
    for plan in plans:
        total = np.zeros(ANSWERS)
        for level, weight, part in zip(plan.noise, plan.weights, plan.parts, strict=True):
            total += weight * level.scale * _laplace_sums(generator, part)
        ours.append(plan.gamma + np.quantile(np.abs(total), LEVEL) / rows)
    return SimulatedErrors(
        at=rows,
        errors={
            **{key: polynomial.gamma + 2 * norm * noise / (epsilon * rows) for key, norm in norms.items()},
            "private": polynomial.gamma + far * noise / (epsilon * rows),
            "ours": np.min(ours, axis=0),
        },
        marked_places={},
        claimed=epsilon,
        exact_epsilons={
            key: literal_epsilon(polynomial, norm=norm, attributes=attributes, epsilon=epsilon)
            for key, norm in norms.items()
        },
    )


def intervals(*, bits: int, alpha: float, epsilon: float, beta: float, seed: int) -> SimulatedErrors:
    """Measure the worst interval error on uniform data against rows n, by Algorithm 2 (repaired) and by ours."""
    printed_n, corrected_n = (
        rows(depth=bits, epsilon=epsilon, alpha=alpha, beta=beta) for rows in (printed_rows, corrected_rows)
    )
    domain = Number(bits=bits)
    sizes = np.geomspace(printed_n / 10, corrected_n * 2, 6).round().astype(np.int64)
    sizes = np.unique(np.append(sizes, [printed_n, corrected_n]))
    ties = min(24, recommended_tie_bits(alpha))
    machines = {
        "printed": entry("intervals-printed").make(epsilon=epsilon, alpha=alpha, tie_bits=ties),
        "ours": entry("intervals-anchored").make(epsilon=epsilon, alpha=alpha),
        "recursive": entry("intervals-recursive").make(epsilon=epsilon, alpha=alpha),
    }
    errors: dict[str, list[float]] = {key: [] for key in machines}
    for n in sizes.tolist():
        problem = Problem(domain=domain, queries=Intervals(domain=domain), n=n)
        edges = np.linspace(0, n, domain.size + 1).astype(np.int64)
        histogram = edges[1:] - edges[:-1]
        for key, machine in machines.items():
            state = HistogramState(problem=problem, histogram=histogram)
            release = machine.run(state, Preview(seed), RELEASES)
            assert isinstance(release, DataRelease)
            worst = problem.queries.max_error(release.histogram() - histogram) / n
            errors[key].append(float(np.quantile(worst, LEVEL)))
    return SimulatedErrors(
        at=sizes.astype(np.float64),
        errors={key: np.array(each) for key, each in errors.items()},
        marked_places={"rows printed": float(printed_n), "rows that the proof needs": float(corrected_n)},
        claimed=epsilon,
        exact_epsilons={},
    )


def halfspaces(
    *, dimensions: int, margin: float, alpha: float, epsilon: float, beta: float, seed: int
) -> SimulatedErrors:
    """Measure the error for one direction with the margin on HALFSPACE_ROWS rows, at T = 1 to 4.

    Printed: ReleaseHalfspaces with its m and its net, except T; its noise is the mean of m draws of scale m·|U|/(εn).
    Kept: the same without noise. Ours: 4 matrices, few directions, one of each opposite pair. At most MATRICES of the
    paper's m matrices are drawn, on the first VECTORS rows; the noise is that of all m.
    """
    printed_plan = printed(margin=margin, alpha=alpha, dimensions=dimensions, beta=beta, epsilon=epsilon)
    source = generated_vectors(n=HALFSPACE_ROWS, dimensions=dimensions, margin=margin, seed=seed)
    dataset, y = source.dataset(), np.eye(dimensions)[:1]
    problem = Problem(domain=source.domain, queries=Halfspaces(domain=source.domain, margin=margin), n=dataset.n)
    records = dataset.records[:VECTORS]
    truth, share = float((records @ y[0] > 0).mean()), float((dataset.records @ y[0] > 0).mean())
    generator = np.random.Generator(np.random.SFC64(seed))
    errors: dict[str, list[float]] = {"printed": [], "kept": [], "ours": []}
    for small in SMALL:
        drawn = min(printed_plan.projections, MATRICES)
        bias = _mean_vote(records, y[0], dimensions=small, step=margin / 4, matrices=drawn, generator=generator) - truth
        log_net = small * math.log(2 * math.sqrt(small) / (margin / 4)) if small > 1 else math.log(2)
        draws = generator.gamma(printed_plan.projections, size=ANSWERS) - generator.gamma(
            printed_plan.projections, size=ANSWERS
        )
        noise = draws * math.exp(log_net) / (epsilon * dataset.n)
        errors["printed"].append(float(np.quantile(np.abs(bias + noise), LEVEL)))
        errors["kept"].append(abs(bias))
        ours = entry("halfspaces").make(epsilon=epsilon, projected=small, projections=4, directions=4)
        release = ours.run(ours.prepare(dataset, problem), Preview(seed), RELEASES)
        assert isinstance(release, HalfspaceRelease)
        errors["ours"].append(float(np.quantile(np.abs(release.answer(y)[:, 0] - share), LEVEL)))
    return SimulatedErrors(
        at=np.array(SMALL, dtype=np.float64),
        errors={key: np.array(each) for key, each in errors.items()},
        marked_places={"T as printed": float(printed_plan.dimensions)},
        claimed=epsilon,
        exact_epsilons={},
    )


def _mean_vote(
    records: Floats, y: Floats, *, dimensions: int, step: float, matrices: int, generator: np.random.Generator
) -> float:
    """Return the mean over sign matrices A of the share of rows with <Ax, u> > 0, u the net's nearest point to Ay.

    The net of Claim 6.7 for a radius has the vectors whose coordinates are multiples of radius/√T.
    """
    grid, total = step / math.sqrt(dimensions), 0.0
    for _ in range(matrices):
        signs = (2.0 * generator.integers(2, size=(dimensions, len(y))) - 1) / math.sqrt(dimensions)
        projected = signs @ y
        length = float(np.linalg.norm(projected))
        near = np.round(projected / length / grid) * grid if length > 0 else np.full(dimensions, grid)
        total += float((records @ (signs.T @ near) > 0).mean())
    return total / matrices
