"""The mean without bounds: what of its promise is a number, what is only asymptotic, and its previews."""

from __future__ import annotations

import streamlit as st

from dpcore.core import Dataset, Problem, exactly
from dpcore.data.domains import Line
from dpcore.experiments.robust import TRIALS, mean_errors
from dpcore.mechanisms import entry
from dpcore.mechanisms.robust.unbounded_mean import UnboundedMean, far_apart_chance, most_exceptions
from pages.robust.controls import Asked


def mean_without_bounds(asked: Asked, mechanism: UnboundedMean, dataset: Dataset, problem: Problem) -> None:
    """Explicit and asymptotic side by side, never mixed; then how far previews are off."""
    n, exceptions = dataset.n, most_exceptions(n=dataset.n, gamma=mechanism.gamma)
    st.warning("For previews only: part of its promise is known only for very large n, so it never becomes a release.")
    left, right = st.columns(2)
    with left.container(border=True):
        st.header("Proved, with a number")
        st.markdown(
            f"Except with chance **γ₂ = {far_apart_chance(n=n, exceptions=exceptions):.4g}** over random data, two "
            "people differ by no more than the noise allows for "
            f"({exceptions:,} of {n // 2:,} pairs may be further apart). :orange-badge[theory]"
        )
    with right.container(border=True):
        st.header("Only asymptotic")
        st.markdown(
            "That the width of the noise is nearly the same for neighbours (**γ₁**), and what its change gives away "
            "(**η**). Both vanish as n grows; no finite number is known for either. :gray-badge[not protected]"
        )
    domain = problem.domain
    assert isinstance(domain, Line)
    clipped = entry("clipped_mean").make(epsilon=mechanism.epsilon)
    mean, errors = mean_errors([mechanism, clipped], dataset, problem, seed=asked.seed)
    lines = ["| mechanism | 95 in 100 answers within |", "|---|---|"]
    for name, off in zip(("without bounds", "cut off at the declared bounds"), errors.tolist(), strict=True):
        lines.append(f"| mean {name} | {off:.3g} {domain.unit} |")
    st.header("How far off")
    st.markdown("\n".join(lines))
    st.caption(
        f"True mean {mean:.4g} {domain.unit}.",
        help=f"{TRIALS:,} previews each, ε = {exactly(mechanism.epsilon)}, seed {asked.seed}. Answers are rounded to a "
        "cell. People far out do not widen the noise unless they are a share of about γ₂.",
    )
