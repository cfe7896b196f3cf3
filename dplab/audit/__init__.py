"""Test privacy claims: exactly on a tiny universe (exact), or by sampling from two neighbouring data sets (sampled)."""

from dplab.audit.exact import (
    ROUNDING,
    ExactDelta,
    ExactEpsilon,
    Law,
    Pair,
    aligned,
    datasets,
    divergences,
    exact_delta,
    exact_epsilon,
    exact_gamma,
    hockey_stick,
    neighbouring_pairs,
    smallest_epsilon,
)

__all__ = [
    "ROUNDING",
    "ExactDelta",
    "ExactEpsilon",
    "Law",
    "Pair",
    "aligned",
    "datasets",
    "divergences",
    "exact_delta",
    "exact_epsilon",
    "exact_gamma",
    "hockey_stick",
    "neighbouring_pairs",
    "smallest_epsilon",
]  # fmt: skip
