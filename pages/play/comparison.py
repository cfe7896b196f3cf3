"""The comparison below the pictures: error against ε for every mechanism."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Generator, Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Dataset, Entry, ParameterError, Problem, rounded_up
from dpcore.limits.bounds.applicable import lower_curve
from dpcore.mechanisms import serving
from dplab.measure import ErrorReport
from dplab.recipe import Recipe
from dplab.sweep import Sweep, concatenate_sweeps, sweep
from pages.charts.component import EncodedCharts
from pages.charts.picture import Picture
from pages.play.details import draw_figure
from pages.play.figures.tradeoff import tradeoff
from pages.play.fragments import rerun_whole_page
from pages.play.pictures import LOWER_HEIGHT
from pages.shell.controls import SHARED, Value
from pages.shell.links import in_link
from pages.shell.session import wait_for_first_pictures
from pages.shell.state import set_controls
from pages.shell.tasks.shared import share_part, share_parts, share_with_progress

MAX_CELLS = 1 << 21
"""Maximum trials x cells of every mechanism at every ε of the trade-off."""
ABOVE_NAMES, NAME = 40, 19
"""Pixels of the trade-off above its legend, and of each legend entry."""
EPSILONS = tuple(float(f"{10 ** (power / 12):.3g}") for power in range(-24, 13))
"""Values of ε at which the lower bound is computed: twelve per factor of ten, from 0.01 to 10."""


def problem_key(recipe: Recipe, problem: Problem) -> str:
    """Return a cache key for a public problem about the same data."""
    return f"{recipe.question}|{recipe.neighbours}|{problem.n}"


def private_parameters(recipe: Recipe) -> str:
    """Return the parameters that prepare() may depend on, all except ε, as text."""
    return ",".join(f"{name}={value!r}" for name, value in recipe.values if name != "epsilon")


def shared_values(recipe: Recipe) -> dict[str, float]:
    """Return the parameters that are passed to every mechanism with a control of that name."""
    return {name: float(value) for name, value in recipe.values if name in SHARED and name != "epsilon"}


def mechanism_key(entry: Entry, values: Mapping[str, Value]) -> str:
    """Return a cache key for a mechanism at some values, except ε."""
    own_values = {name: value for name, value in values.items() if name in entry.controls() and name != "epsilon"}
    return repr(entry.make(**own_values))


def split_by_guarantee(problem: Problem) -> tuple[list[Entry], list[Entry]]:
    """Return the mechanisms that serve a query: those with a guarantee for these neighbours, and the others."""
    candidates = serving(problem.queries)
    with_guarantee = [entry for entry in candidates if _is_proved(entry, problem)]
    return with_guarantee, [entry for entry in candidates if entry not in with_guarantee]


def _is_proved(entry: Entry, problem: Problem) -> bool:
    try:
        entry.make().guarantee(problem)
    except ParameterError:
        return False
    return True


def draw_tradeoff(
    recipe: Recipe, dataset: Dataset, report: ErrorReport, *, badge: str, code: Callable[[str], None]
) -> None:
    """Draw error against ε for this mechanism and all others that serve the query."""
    problem = recipe.problem(dataset)
    data_key = f"{recipe.source.key}|{problem_key(recipe, problem)}"
    entries, unproved = share_part(recipe, f"proved|{data_key}", lambda: split_by_guarantee(problem))
    shared = shared_values(recipe)
    trials = max(20, min(60, MAX_CELLS // problem.domain.size))
    own_values = {recipe.entry_key: dict(recipe.values)}
    key = f"sweep|{data_key}|{recipe.beta}|{recipe.seed}|{trials}"

    def sweep_all() -> Generator[float, None, Sweep]:
        yield from wait_for_first_pictures()
        sweep_one = functools.partial(
            sweep, dataset=dataset, problem=problem, shared=shared, own=own_values, trials=trials, beta=recipe.beta,
            seed=recipe.seed,
        )  # fmt: skip
        # Errors are cached by mechanism, so that choosing another one reuses those of all others.
        parts = {
            f"{key}|{entry.key}|{mechanism_key(entry, own_values.get(entry.key, shared))}": functools.partial(
                sweep_one, [entry]
            )
            for entry in entries
        }
        return concatenate_sweeps((yield from share_parts(recipe, parts)))

    sweep_key = f"{key}|{recipe.entry_key}|{shared!r}|{private_parameters(recipe)}"
    curve = share_with_progress(
        recipe, sweep_key, sweep_all, label="Measuring the error of every mechanism at every ε."
    )
    epsilon = float(dict(recipe.values).get("epsilon", 1.0))
    chart = st.container()
    row_below = st.container(horizontal=True, vertical_alignment="center")
    show_all = row_below.toggle(
        "All mechanisms", key=in_link("every"), bind="query-params",
        help="If off, the picture shows only the selected mechanism and those with the smallest error at some ε.",
    )  # fmt: skip

    def build_picture() -> tuple[Picture, EncodedCharts]:
        picture = tradeoff(
            sweep=curve.with_report(report, key=recipe.entry_key, epsilon=epsilon),
            titles={entry.key: entry.title for entry in entries},
            weaker={entry.key: besides_epsilon(entry, problem, own_values.get(entry.key, shared)) for entry in entries},
            chosen=recipe.entry_key,
            epsilon=epsilon,
            alpha=shared.get("alpha"),
            impossible=share_part(
                recipe,
                f"{sweep_key}|wall",
                lambda: lower_curve(problem, recipe.mechanism(), epsilons=EPSILONS, beta=recipe.beta),
            ),
            every=show_all,
        )
        powers = dataclasses.replace(picture.y, ticks=tuple(10.0**power for power in range(-9, 1)))
        height = max(LOWER_HEIGHT, ABOVE_NAMES + NAME * len(curve.keys)) if show_all else LOWER_HEIGHT
        return dataclasses.replace(picture, y=powers, height=height, legend_right=True), {}

    picture, encoded = share_part(recipe, f"{sweep_key}|{report.trials}|{epsilon!r}|{show_all}", build_picture)
    download = not dataset.provenance.is_private
    with chart:
        draw_figure(
            picture, key="tradeoff_chart", badge=badge, caption="Click a point to select its mechanism and ε.",
            code=code, download=download, on_pick=rerun_whole_page(choose_point), encoded_charts=encoded,
        )  # fmt: skip
    _show_left_out(row_below, curve, entries, unproved)


def _show_left_out(row: DeltaGenerator, curve: Sweep, entries: list[Entry], unproved: list[Entry]) -> None:
    """Show which mechanisms are not in the picture, and why."""
    reasons = []
    if curve.left_out:
        slow = ", ".join(entry.title for entry in entries if entry.key in curve.left_out)
        reasons.append(f"slower than a second per ε: {slow}")
    if unproved:
        reasons.append(f"no proof for this neighbouring relation: {', '.join(entry.title for entry in unproved)}")
    if reasons:
        row.container().caption(f"Not shown: {'; '.join(reasons)}.")


def choose_point(point: Mapping[str, Any]) -> None:
    """Set the controls to the mechanism, ε and α of a clicked point."""
    set_controls({"mechanism": point["key"], "epsilon": float(point["epsilon"])})
    if "alpha" in point:
        set_controls({"alpha": float(point["alpha"])})


def besides_epsilon(entry: Entry, problem: Problem, values: Mapping[str, Value]) -> str:
    """Return the rest of a mechanism's guarantee besides ε, in words; empty for pure differential privacy."""
    mechanism = entry.make(**{name: value for name, value in values.items() if name in entry.controls()})
    guarantee = mechanism.guarantee(problem)
    if not guarantee.releasable:
        return "no guarantee"
    words = f"δ = {rounded_up(guarantee.delta)}" if guarantee.delta else ""
    return f"random privacy, γ = {rounded_up(guarantee.gamma)}" if guarantee.gamma else words
