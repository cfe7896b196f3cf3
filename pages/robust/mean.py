"""The mean without bounds: what of its promise is a number, what is only asymptotic, and its previews."""

from __future__ import annotations

import dataclasses

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Dataset, Floats, Problem, Queries, exactly
from dpcore.data.columns import Number, is_number
from dpcore.mechanisms import entry
from dpcore.mechanisms.robust.unbounded_mean import UnboundedMean, far_apart_chance, most_exceptions
from dplab.robust import TRIALS, mean_errors
from dplab.sweep import EPSILON_GRID as EPSILONS
from dprelease.requests.coverage import bounds
from pages.charts.picture import Axis, Curve, Dots, Mark, Picture, Rule
from pages.data.upload import plural as plural
from pages.shell.asked import Asked
from pages.shell.session import remembered

MEANS = {"unbounded_mean": "without bounds", "clipped_mean": "cut off at the declared bounds"}


def mean_without_bounds(
    asked: Asked[Queries], mechanism: UnboundedMean, dataset: Dataset, problem: Problem, *, head: DeltaGenerator
) -> None:
    """How far previews are off; beside it what is explicit and what asymptotic, never mixed."""
    n, exceptions = dataset.n, most_exceptions(n=dataset.n, gamma=mechanism.gamma)
    left, right = st.columns([3, 2])
    right.warning("For previews only.")
    with right.container(border=True):
        st.subheader("Proved, with a number")
        st.markdown(
            f"Except with chance **γ₂ = {far_apart_chance(n=n, exceptions=exceptions):.4g}** over random data, all "
            f"but {exceptions:,} of {n // 2:,} pairs of people are as near as the noise allows for. "
            ":orange-badge[theory]"
        )
    with right.container(border=True):
        st.subheader("Only asymptotic")
        st.markdown(
            "That neighbours have nearly the same noise (**γ₁**), and what its change gives away (**η**): no finite "
            "number is known. :gray-badge[not protected]"
        )
    domain = problem.domain
    assert is_number(domain)
    found = remembered(
        f"mean_errors|{asked.source.key}|{mechanism!r}|{asked.seed}",
        lambda: [
            _errors(dataclasses.replace(mechanism, epsilon=epsilon), dataset, problem, asked) for epsilon in EPSILONS
        ],
    )
    mean, errors = _errors(mechanism, dataset, problem, asked)
    head.header(f"95 in 100 answers lie within {errors[0]:.3g} {domain.unit} of the mean")
    head.markdown(f"Of the clipped one, within **{errors[1]:.3g} {domain.unit}**. :blue-badge[simulated]")
    picture = over_epsilon(np.array([each for _, each in found]), domain=domain, epsilon=mechanism.epsilon)
    with left:
        asked.draw(picture, key="robust_mean", title="how far off, over ε")
    left.caption(
        f"True mean {mean:.4g} {domain.unit} of {plural(n, 'row')} that have a number. {_left_out(asked, n)}"
        f"Numbers are cut off at {' and '.join(bounds(domain))}.",
        help=f"{TRIALS:,} previews each, ε = {exactly(mechanism.epsilon)}, seed {asked.seed}. Answers are rounded to a "
        "cell. People far out do not widen the noise unless they are a share of about γ₂.",
    )


def _left_out(asked: Asked[Queries], n: int) -> str:
    """How many rows have no number."""
    rows = asked.dataset().n - n
    return f"{plural(rows, 'row')} without one {'is' if rows == 1 else 'are'} left out. " if rows else ""


def _errors(
    mechanism: UnboundedMean, dataset: Dataset, problem: Problem, asked: Asked[Queries]
) -> tuple[float, Floats]:
    """The true mean, and what 95 in 100 answers are off by at most: without bounds, and cut off at the declared."""
    clipped = entry("clipped_mean").make(epsilon=mechanism.epsilon)
    return mean_errors([mechanism, clipped], dataset, problem, seed=asked.seed)


def over_epsilon(errors: Floats, *, domain: Number, epsilon: float) -> Picture:
    """How far off either mean is at each ε, errors (E, 2) in the data's unit; answers are rounded to a cell."""
    least = domain.width / 2
    marks: list[Mark] = [Rule(role="ink", x=epsilon, label=f"ε = {exactly(epsilon)}", width=1.5)]
    for (key, name), off in zip(MEANS.items(), errors.T, strict=True):
        placed, role = np.maximum(off, least), f"mechanism:{key}"
        said = [f"{name} at ε = {at:g}: {error:.3g} {domain.unit}" for at, error in zip(EPSILONS, off, strict=True)]
        marks += [
            Curve(role=role, name=name, legend=False, x=EPSILONS, y=placed, hover=()),
            Dots(role=role, name=name, x=EPSILONS, y=placed, size=9, hover=said),
        ]
    place = int(np.argmin(np.abs(np.log(np.array(EPSILONS) / epsilon))))
    first, second = errors[place]
    return Picture(
        title="How far off the mean is, over ε",
        x=Axis(title="← more private · ε · more accurate →", log=True, form="~g", ticks=(0.01, 0.1, 1, 10)),
        y=Axis(title=f"95% error ({domain.unit})" if domain.unit else "95% error", log=True),
        marks=marks,
        sentence=f"Near ε = {EPSILONS[place]:g}, 95 in 100 previews of the mean without bounds are off by at most "
        f"{first:.3g} {domain.unit}, of the one that is cut off by at most {second:.3g} {domain.unit}. An error below "
        "half a cell is drawn as half a cell.",
        table={"ε": list(EPSILONS), **{name: off.tolist() for name, off in zip(MEANS.values(), errors.T, strict=True)}},
        height=240,
    )
