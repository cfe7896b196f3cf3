"""Tail bounds for the worst query's noise: exact tails, sub-Gaussian noise, Chernoff's bound."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpcore.core import Floats
from dpcore.mechanisms.histograms.concentration import laplace_log_moment
from dpcore.mechanisms.marginals.plans import MarginalsPlan, kappa
from dpcore.queries.at_least import AtLeast
from dpcore.randomness.laws import laplace_quantile


def worst_noise(plan: MarginalsPlan, queries: AtLeast, *, laplace: bool, beta: float) -> float:
    """Return the rows by which the noise moves the worst query of the class, up to chance beta."""
    terms = list(zip(plan.weights, plan.parts, plan.noise, strict=True))
    if not terms:
        return 0.0
    if not laplace:
        # Discrete Gaussian noise is sub-Gaussian with its sigma (Canonne, Kamath and Steinke 2020, Lemma 20).
        return kappa(queries, beta=beta) * math.sqrt(sum(part * (w * each.scale) ** 2 for w, part, each in terms))
    if len(terms) == 1 and terms[0][1] == 1:
        # One draw an answer: its exact tail.
        weight, _, each = terms[0]
        return weight * (laplace_quantile(beta / queries.count, scale=each.scale) - 1)
    return worst_laplace([(w, part, each.scale) for w, part, each in terms], queries=queries.count, beta=beta)


def worst_laplace(terms: Sequence[tuple[float, int, float]], *, queries: int, beta: float) -> float:
    """A level that none of so many sums exceeds, up to chance beta: Chernoff's bound at the best of a grid of rates.

    Args:
        terms: each sum is of these: a weight, how many draws have it, and their discrete Laplace scale.
        queries: number of sums.
        beta: failure probability.
    """
    rates = np.logspace(-6, 0, 600, endpoint=False) / max(weight * scale for weight, _, scale in terms)
    moments = sum(draws * laplace_log_moment(scale)(weight * rates) for weight, draws, scale in terms)
    return float(((moments + math.log(2 * queries / beta)) / rates).min())


def allowances(combinations: Floats, plan: MarginalsPlan, queries: AtLeast, *, beta: float) -> Floats:
    """Rows by which no combination of released levels strays to one side on any query, up to chance beta: (V,).

    Args:
        combinations: coefficients of each released level, (V, levels).
        plan: what is released.
        queries: the class; chance beta is shared out evenly among its queries and all combinations.
        beta: failure probability.
    """
    scales = np.array([noise.scale for noise in plan.noise])
    events = queries.count * len(combinations)
    if not plan.noise[0].epsilon:
        proxies = (np.square(combinations * scales) * np.array(plan.parts)).sum(axis=1)
        strays: Floats = np.sqrt(2 * math.log(events / beta) * proxies)
        return strays
    tails = []
    for coefficients in combinations:
        terms = [
            (abs(float(c)), part, noise.scale)
            for c, part, noise in zip(coefficients, plan.parts, plan.noise, strict=True)
            if c
        ]
        tails.append(worst_laplace(terms, queries=math.ceil(events / 2), beta=beta) if terms else 0.0)
    return np.array(tails)
