"""Any statistic of a column with noise by sampled sensitivity: what is sampled, from what, and the error it gives."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import Floats, exactly, rounded_up
from dpcore.mechanisms.robust.sampled_sensitivity import (
    PENALTY,
    TUNING,
    UNITS,
    WHY_NOT,
    SampledNoise,
    least_sensitivity,
    min_samples,
    paper_samples,
    public_distribution,
    values,
)
from dpcore.randomness import Preview
from dplab.robust import TRIALS
from pages.charts.picture import Axis, Curve, Picture, Rule
from pages.charts.words import significant
from pages.one_number.mean import MeanOutcome
from pages.shell.controls import choice
from pages.shell.tasks.memory import remember

STATISTICS = {
    "huber": "M-estimator of the middle (Huber)",
    "logistic": "Regularised logistic regression",
    "gini": "U-statistic: mean distance of two rows",
}
MEANINGS = {
    "huber": f"A row further than {TUNING:.0%} of the range from the middle pulls no harder. A share of the range.",
    "logistic": f"Log-odds that a row lies in the upper half of the range, with penalty λ = {PENALTY:g}.",
    "gini": "Gini's mean difference: the mean of |x − x′| over all pairs of rows. A share of the range.",
}
DISTRIBUTIONS = {"even": "even over the range", "bell": "a bell in the middle", "skewed": "most rows at the low end"}
MAX_CELLS = 1 << 10
"""Cells on which statistics are sampled; those of a finer column are merged."""
SAMPLES = 200
"""Pairs of data sets that are sampled, if they are enough for γ."""


def draw_statistic(outcome: MeanOutcome) -> None:
    """Draw the sampled sensitivities of a statistic, and the error of the noise that they set."""
    request, n, epsilon = outcome.request, outcome.dataset.n, outcome.mechanism.epsilon
    histogram = outcome.dataset.histogram[: outcome.domain.ordered]
    counts = np.add.reduceat(histogram, np.arange(0, len(histogram), -(-len(histogram) // MAX_CELLS)))
    cells, gamma = len(counts), outcome.mechanism.gamma
    left, right = st.columns([3, 2])
    with right:
        st.markdown("**For previews only.**")
        statistic = choice("Statistic of the column", STATISTICS, key="sampled-statistic")
        st.caption(MEANINGS[statistic])
        help_text = "Sensitivity is sampled from this distribution, never from the rows of the column."
        kind = choice("Public distribution", DISTRIBUTIONS, key="sampled-distribution", help_text=help_text)
    noise = SampledNoise(
        statistic=statistic,
        distribution=public_distribution(kind, cells),
        rows=n,
        epsilon=epsilon,
        gamma=gamma,
        samples=max(SAMPLES, min_samples(gamma)),
        seed=request.seed,
    )
    key = f"sampled|{statistic}|{kind}|{cells}|{n}|{noise.samples}|{request.seed}"
    differences, worst = remember(key, lambda: (noise.differences(), least_sensitivity(statistic, rows=n)))
    scale, least = noise.sensitivity(differences) / UNITS, worst / UNITS
    previews = noise.previews(counts, Preview(request.seed), differences=differences, trials=TRIALS)
    truth = float(values(statistic, counts[None])[0]) / UNITS
    error = float(np.quantile(np.abs(previews - truth), 0.95))
    with left:
        picture = sensitivities(differences / UNITS, scale=scale, least=least, gamma=noise.gamma)
        badge = f"simulated from public numbers, seed {request.seed}"
        request.draw(picture, key="sampled_sensitivity", title="sampled sensitivities", badge=badge)
    with right:
        st.markdown(
            f"True value **{truth:.4g}** :gray-badge[true]. In 95 of 100 previews the error is at most "
            f"**{rounded_up(error)}**. For all data the noise must be at least {significant(least / scale)} times as "
            "wide. :blue-badge[simulated]"
        )
        st.markdown(
            f"Privacy: {noise.guarantee().sentence()}, **if** rows are samples of the public distribution. "
            ":gray-badge[not protected]",
            help=WHY_NOT,
        )
        needed, order = paper_samples(noise.gamma)
        st.caption(
            f"By ranks, γ = (m + 1 − k)/(m + 1) for the k-th smallest of m samples: {min_samples(gamma):,} suffice "
            f"for γ = {exactly(noise.gamma)}. Rubinstein and Aldà (2017), Theorem 15, needs {needed:,} (k = {order:,})."
        )


def sensitivities(differences: Floats, *, scale: float, least: float, gamma: float) -> Picture:
    """Return the share of sampled differences up to each size, the one that sets the noise and the worst for all data.

    Args:
        differences: sampled, in order, (m,).
        scale: the one that sets the noise.
        least: lower bound on the global sensitivity.
        gamma: γ.
    """
    m = len(differences)
    smallest = 1 / UNITS
    return Picture(
        title="Sampled sensitivities",
        x=Axis(title="change of the statistic by one row (log)", log=True, form="~g", ticks=(1e-6, 1e-4, 0.01, 1)),
        y=Axis(title="share of the samples", low=0, high=1.08, form="~p", ticks=(0, 0.25, 0.5, 0.75, 1)),
        marks=[
            Curve(
                role="theory", name="sampled", x=np.maximum(differences, smallest), y=np.arange(1, m + 1) / m, step=True
            ),
            Rule(role="theory", x=max(scale, smallest), label="sets the noise", dash="dash", side="right"),
            Rule(role="impossible", x=max(least, smallest), label="all data, at least", side="left", line=1),
        ],
        sentence=f"Of {m:,} sampled pairs of data sets, 1 − γ = {1 - gamma:g} change the statistic by at most "
        f"{significant(scale)}: this sets the noise. Some data sets change it by {significant(least)}; noise for all "
        "data must cover that.",
        table={"rank": list(range(1, m + 1)), "change": differences.tolist()},
        height=260,
    )
