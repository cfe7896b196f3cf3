"""Data for the page of marginals: sampled queries, direct release's answers to them, and the better method by size."""

from __future__ import annotations

import math

import numpy as np

from dpcore.core import Floats, Integers, Problem
from dpcore.mechanisms.marginals.plans import Budget, MarginalsPlan, costs, counts_at, direct_plan, kappa, max_degree
from dpcore.mechanisms.marginals.polynomials import BASES, minimax, spread
from dpcore.queries.at_least import AtLeast
from dpcore.randomness import Sampler

MAX_PARTS = 1 << 22


def direct_answers(plan: MarginalsPlan, truth: Floats, *, n: int, sampler: Sampler) -> Floats:
    """Draw the answers of one direct release to some queries, (Q,), without the noise of all others.

    Each query's noise is its own, so this has the law of those answers in a release of every marginal. For previews
    only: it starts from true answers. Where an answer adds up several cells their noise is added up.
    """
    noise, parts = plan.noise[0], max(1, min(plan.parts[0], MAX_PARTS // max(1, len(truth))))
    zeros = np.zeros((1, len(truth) * parts), dtype=np.int64)
    added = sampler.draw(noise.draw(zeros), 1).reshape(len(truth), parts).sum(axis=1) * math.sqrt(plan.parts[0] / parts)
    answers: Floats = truth + added / n
    return answers


WINNERS = ("neither", "degree 1", "degree 2", "degree 3", "degree 4 or more", "direct")
NEITHER, DIRECT = WINNERS[0], WINNERS[-1]


Places = list[dict[str, float | str]]


def crossover(problem: Problem, budget: Budget, *, rows: Integers, widths: list[int], degree: int) -> Places:
    """Return the method with the smallest predicted error for each number of rows and attributes in a query.

    Polynomials are the minimax ones of each degree in either basis, which need no search; noise-aware ones can only
    move the borders in their favour. Where not even 1/2 for every query is beaten, neither wins.
    """
    places: Places = []
    for width in widths:
        winners, errors = best_along(_of_width(problem, width), budget, rows=rows, degree=degree)
        places += [
            {"n": float(n), "width": float(width), "winner": winner, "error": error}
            for n, winner, error in zip(rows.tolist(), winners, errors.tolist(), strict=True)
        ]
    return places


def _of_width(problem: Problem, width: int) -> Problem:
    """The same problem with queries of so many attributes: any-of and all-of stay what they are."""
    original = problem.queries
    assert isinstance(original, AtLeast)
    least = width if original.least == original.width > 1 else min(original.least, width)
    queries = AtLeast(domain=original.domain, width=width, least=least, signed=original.signed)
    return Problem(domain=original.domain, queries=queries, n=problem.n, neighbours=problem.neighbours)


def best_along(problem: Problem, budget: Budget, *, rows: Integers, degree: int) -> tuple[list[str], Floats]:
    """The winner and its predicted error for each number of rows: noise is the same in rows, whatever their number."""
    queries = problem.queries
    assert isinstance(queries, AtLeast)
    paid, wide = costs(problem, budget) * problem.n, kappa(queries)
    direct = direct_plan(problem, budget)
    names, biases, noises = [NEITHER, DIRECT], [0.5, 0.0], [0.0, wide * direct.deviation * problem.n]
    for level in range(1, max_degree(queries, degree) + 1):
        for basis in BASES:
            polynomial = minimax(width=queries.width, least=queries.least, degree=level, basis=basis)
            names.append(WINNERS[min(level, 4)])
            biases.append(polynomial.gamma)
            noises.append(wide * spread(polynomial.coefficients, paid, power=budget.power))
    predicted = np.array(biases)[:, None] + np.array(noises)[:, None] / rows
    # A polynomial of full degree may be direct release in other words: the first of equals wins.
    best = np.round(predicted, 12).argmin(axis=0)
    return [names[place] for place in best.tolist()], predicted[best, np.arange(len(rows))]


def sampled(queries: AtLeast, *, rows: int) -> Integers:
    """Queries for an error's distribution: 10,000, fewer where a million rows would make their truth slow."""
    return queries.batch(int(np.clip(3e8 / rows, 2_000, 10_000)))


def released_counts(plan: MarginalsPlan, queries: AtLeast) -> list[int]:
    """Return the counts in each level of a release."""
    return [counts_at(queries, noise.level) for noise in plan.noise]


def level_shares(plan: MarginalsPlan) -> tuple[Floats, Floats]:
    """Return each level's share of the privacy budget, and of the variance of an answer, (levels,) each."""
    spent = np.array([noise.epsilon or noise.moved / (2 * noise.scale**2) for noise in plan.noise])
    added = np.array(
        [
            part * weight**2 * noise.variance
            for part, weight, noise in zip(plan.parts, plan.weights, plan.noise, strict=True)
        ]
    )
    return spent / max(spent.sum(), 1e-300), added / max(added.sum(), 1e-300)


def error_quantiles(plan: MarginalsPlan, shares: Floats) -> Floats:
    """Return the errors that so many answers of direct release stay within, as predicted, at most 1: (S,)."""
    from scipy.special import ndtri

    laplace = bool(plan.noise[0].epsilon)
    deviations = -np.log1p(-shares) / math.sqrt(2) if laplace else ndtri((1 + shares) / 2)
    quantiles: Floats = np.minimum(deviations * plan.deviation, 1.0)
    return quantiles
