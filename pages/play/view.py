"""The Explore page: controls, pictures, the theorem, the trade-off, and the code that does it again."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Mapping
from typing import Any

import streamlit as st

from dpcore.core import Dataset, Entry, ParameterError, Problem, State, rounded_up
from dpcore.experiments.measure import ErrorReport, measure
from dpcore.experiments.recipe import Recipe
from dpcore.experiments.sweep import sweep
from dpcore.limits.bounds.applicable import lower_curve
from dpcore.mechanisms import serving
from dpcore.randomness import Preview
from pages.charts.component import draw, table
from pages.play.controls import controls
from pages.play.figures.tradeoff import tradeoff
from pages.play.pictures import pictures
from pages.play.weights import draw_weights
from pages.shell.code import show_code
from pages.shell.controls import SHARED, Value
from pages.shell.downloads import synthetic_table
from pages.shell.session import remembered, with_progress
from pages.shell.status import badge, may_show

MOST_CELLS = 1 << 21
"""Trials x cells of every mechanism at every privacy loss of the trade-off."""
MOST_SECONDS = 10.0
"""Time for the previewed releases."""
EPSILONS = tuple(float(f"{10 ** (power / 12):.3g}") for power in range(-24, 13))
"""Where the edge of the impossible is worked out: twelve places in every factor of ten, 0.01 to 10."""


def explore() -> None:
    """Read the controls, then show what they do."""
    recipe = controls()
    if recipe is None:
        return
    source = recipe.source
    if not may_show(source):
        st.info(
            "These data are private. Errors against them would reveal them, so nothing is computed here. Preview on a "
            "public stand-in or on generated data of the same size, or, if you are their steward, say so above."
        )
        return
    dataset = remembered(f"dataset|{source.key}", source.dataset)
    problem = recipe.problem(dataset)
    state = remembered(
        f"state|{source.key}|{_asked(recipe, problem)}|{recipe.entry_key}|{_private_parameters(recipe)}",
        lambda: recipe.mechanism().prepare(dataset, problem),
    )
    report = with_progress(
        f"report|{source.key}|{recipe!r}", lambda: _drawn(recipe, dataset, state), label="Drawing releases."
    )
    if report.trials < recipe.trials:
        st.caption(
            f"The first {report.trials:,} of {recipe.trials:,} releases, as many as this computer draws in about "
            f"{MOST_SECONDS:.0f} seconds. Another draws the same ones, perhaps more of them."
        )
    told = badge(source, "released: ", seed=recipe.seed, sampler=report.sampler)
    pictures(recipe, dataset, state, report, badge=told)
    if recipe.weights is not None:
        draw_weights(recipe.weights, download=not source.provenance.is_private)
    _tradeoff(recipe, dataset, report, badge=told)
    drawn = dataclasses.replace(recipe, trials=report.trials)
    show_code("The code that reproduces this page", key="code_open", write=drawn.code)
    synthetic_table(recipe, state)


def _asked(recipe: Recipe, problem: Problem) -> str:
    """What tells one public problem about the same data from another, for the keys of remembered things."""
    return f"{recipe.question}|{recipe.neighbours}|{problem.n}"


def _private_parameters(recipe: Recipe) -> str:
    """Parameters that prepare() may depend on: all but the privacy loss."""
    return ",".join(f"{name}={value!r}" for name, value in recipe.values if name != "epsilon")


def _drawn(recipe: Recipe, dataset: Dataset, state: State) -> Generator[float, None, ErrorReport]:
    """The releases asked for, or as many of them as there is time for."""
    return measure(
        recipe.mechanism(), dataset, state, Preview(recipe.seed), trials=recipe.trials, beta=recipe.beta,
        seconds=MOST_SECONDS,
    )  # fmt: skip


def _tradeoff(recipe: Recipe, dataset: Dataset, report: ErrorReport, *, badge: str) -> None:
    """Error against epsilon for this mechanism and every other that serves the question."""
    st.header("The trade-off: error against privacy")
    problem = recipe.problem(dataset)
    serve = serving(problem.queries)
    entries = [entry for entry in serve if _is_proved(entry, problem)]
    shared = {name: float(value) for name, value in recipe.values if name in SHARED and name != "epsilon"}
    trials = max(20, min(60, MOST_CELLS // problem.domain.size))
    own = {recipe.entry_key: dict(recipe.values)}
    fixed = _private_parameters(recipe)
    key = f"sweep|{recipe.source.key}|{_asked(recipe, problem)}|{recipe.beta}|{recipe.seed}"
    curve = with_progress(
        f"{key}|{shared!r}|{fixed}",
        lambda: sweep(
            entries, dataset, problem, shared=shared, own=own, trials=trials, beta=recipe.beta, seed=recipe.seed
        ),
        label="Measuring every mechanism at every ε.",
    )
    epsilon = float(dict(recipe.values).get("epsilon", 1.0))
    picture = tradeoff(
        sweep=curve.told_by(report, key=recipe.entry_key, epsilon=epsilon),
        titles={entry.key: entry.title for entry in entries},
        weaker={entry.key: _besides_epsilon(entry, problem, own.get(entry.key, shared)) for entry in entries},
        chosen=recipe.entry_key,
        epsilon=epsilon,
        alpha=shared.get("alpha"),
        impossible=lower_curve(problem, recipe.mechanism(), epsilons=EPSILONS, beta=recipe.beta),
    )
    download = not dataset.provenance.is_private
    draw(picture, key="tradeoff_chart", badge=badge, download=download, on_pick=choose_point)
    table(picture, title="trade-off", key="tradeoff_numbers")
    if curve.left_out:
        slow = ", ".join(entry.title for entry in entries if entry.key in curve.left_out)
        st.caption(f"Left out, because it takes more than a second at each ε here: {slow}.")
    if len(entries) < len(serve):
        unproved = ", ".join(entry.title for entry in serve if entry not in entries)
        st.caption(f"Left out, because it is not proved for these neighbours: {unproved}.")


def _is_proved(entry: Entry, problem: Problem) -> bool:
    """Whether the mechanism says anything of privacy for these neighbours; some refuse to."""
    try:
        entry.make().guarantee(problem)
    except ParameterError:
        return False
    return True


def choose_point(point: Mapping[str, Any]) -> None:
    """Set the controls to a point of the trade-off that was clicked."""
    st.session_state["mechanism"] = point["key"]
    st.session_state["epsilon"] = float(point["epsilon"])


def _besides_epsilon(entry: Entry, problem: Problem, values: Mapping[str, Value]) -> str:
    """What a mechanism's guarantee has besides epsilon, in words; nothing for pure differential privacy."""
    mechanism = entry.make(**{name: value for name, value in values.items() if name in entry.controls()})
    guarantee = mechanism.guarantee(problem)
    if not guarantee.releasable:
        return "no guarantee"
    words = f"δ = {rounded_up(guarantee.delta)}" if guarantee.delta else ""
    return f"random privacy, γ = {rounded_up(guarantee.gamma)}" if guarantee.gamma else words
