"""Fourier coefficients of yes/no attributes with the same noise on each (Barak et al. 2007).

The contrast of a set of yes/no attributes is its Fourier coefficient: rows with an even number of the set's attributes
less rows with an odd number. Every record is +1 or -1 on every set.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dpcore.core import Booleans, Neighbours, ParameterError
from dpcore.mechanisms.tables.cliques import CliqueTypes
from dpcore.mechanisms.tables.plan import ResidualPlan, build_parts, clique_types_of, gaussian_plan


def _are_drawn(cliques: CliqueTypes, neighbours: Neighbours) -> Booleans:
    if set(cliques.sizes) != {2}:
        raise ParameterError("Fourier coefficients are for attributes of two values each; use the residual planner.")
    drawn: Booleans = cliques.squared_shifts(neighbours).max(axis=0) > 0
    return drawn


@lru_cache(maxsize=64)
def fourier_gaussian(
    *, sizes: tuple[int, ...], ways: int, neighbours: Neighbours, epsilon: float, delta: float
) -> ResidualPlan:
    """Return the plan with Gaussian noise of one sigma on all coefficients.

    Raises:
        ParameterError: an attribute has more than two cells.
    """
    cliques = clique_types_of(sizes, ways)
    drawn = _are_drawn(cliques, neighbours)
    relative = np.ones(int(drawn.sum()))
    return gaussian_plan(cliques, neighbours, drawn=drawn, relative=relative, epsilon=epsilon, delta=delta)


@lru_cache(maxsize=64)
def fourier_laplace(
    *, sizes: tuple[int, ...], ways: int, neighbours: Neighbours, epsilon: float
) -> tuple[ResidualPlan, int]:
    """Return the plan with Laplace noise, and the L1 sensitivity of all coefficients together.

    A record moves each coefficient by 1; replacing one moves by 2 those with an odd number of differing attributes.

    Raises:
        ParameterError: an attribute has more than two cells.
    """
    cliques = clique_types_of(sizes, ways)
    drawn = _are_drawn(cliques, neighbours)
    step = 1 if neighbours is Neighbours.ADD_REMOVE_ONE else 2
    sensitivity = round(cliques.squared_shifts(neighbours).sum(axis=1).max() / step)
    share = np.exp(-epsilon / sensitivity)
    sigma = np.sqrt(2 * share) / (1 - share)  # of discrete Laplace noise
    parts = build_parts(cliques, drawn=drawn, sigmas=np.full(int(drawn.sum()), sigma))
    return ResidualPlan(cliques=cliques, neighbours=neighbours, parts=parts, delta=0.0), sensitivity
