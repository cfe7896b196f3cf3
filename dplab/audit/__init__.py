"""Whether a claim of privacy holds: exactly on a tiny universe (exact), or by sampling two data sets (sampled)."""

from dplab.audit.exact import (
    ROUNDING,
    Finding,
    Law,
    Loss,
    Pair,
    aligned,
    datasets,
    divergences,
    exact_delta,
    exact_epsilon,
    exact_gamma,
    hockey_stick,
    least_epsilon,
    neighbouring_pairs,
)

__all__ = [
    "ROUNDING", "Finding", "Law", "Loss", "Pair", "aligned", "datasets", "divergences", "exact_delta", "exact_epsilon",
    "exact_gamma", "hockey_stick", "least_epsilon", "neighbouring_pairs",
]  # fmt: skip
