"""A target error, and the ranking of mechanisms by the ε they need for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpcore.core import Dataset, Entry, Problem, exactly
from dplab import advice
from dplab.recipe import Recipe
from dplab.solve import Need, impossible_below, make_mechanism, needed_epsilons
from pages.charts.words import mark_suggested, with_weaker
from pages.play.comparison import (
    besides_epsilon,
    choose_point,
    private_parameters,
    problem_key,
    shared_values,
    split_by_guarantee,
)
from pages.play.details import draw_figure
from pages.play.figures.needed_epsilon import MAX_LINES, needed_epsilon
from pages.play.fragments import rerun_whole_page
from pages.shell.controls import read_target
from pages.shell.links import in_link
from pages.shell.state import set_controls
from pages.shell.tasks.shared import share_with_progress


def ask_target(n: int) -> float | None:
    """Draw the control of the target error and return it as a fraction of n; None without one."""
    typed = st.text_input(
        "Target error", key=in_link("target"), bind="query-params", placeholder="1% or 50 rows", max_chars=20,
        help="All but a share β of releases should have a worst error below this. Mechanisms are then ranked by "
             "the ε they need.",
    )  # fmt: skip
    if not typed:
        return None
    target = read_target(typed, n=n)
    if target is None:
        st.error("A target error is a share (1% or 0.01) or a number of rows (50 rows).")
    return target


def weakest_delta(entries: Sequence[Entry], problem: Problem, values: Mapping[str, Mapping[str, Any]]) -> float:
    """Return the largest δ of the mechanisms: the lower bound at this δ applies to all of them."""
    deltas = (
        make_mechanism(entry, target=0.5, values=values[entry.key], epsilon=1.0).guarantee(problem).delta
        for entry in entries
    )
    return max(deltas, default=0.0)


def draw_needed(recipe: Recipe, dataset: Dataset, target: float, *, badge: str, code: Callable[[str], None]) -> None:
    """Draw the ranking of mechanisms by the ε that a target error needs."""
    problem = recipe.problem(dataset)
    entries, _ = split_by_guarantee(problem)
    shared = shared_values(recipe)
    values = {entry.key: shared for entry in entries} | {recipe.entry_key: dict(recipe.values)}
    problem_text = f"{recipe.source.key}|{problem_key(recipe, problem)}|{recipe.entry_key}|{recipe.beta}|{recipe.seed}"
    key = f"needs|{problem_text}|{target!r}"
    cancel_place = st.empty()
    cancel_place.button("Cancel", key="target_cancel", on_click=rerun_whole_page(partial(set_controls, {"target": ""})))
    ranked = share_with_progress(
        recipe,
        f"{key}|{shared!r}|{private_parameters(recipe)}",
        lambda: needed_epsilons(
            entries, dataset, problem, target=target, beta=recipe.beta, values=values, seed=recipe.seed
        ),
        label="Searching for the smallest ε of every mechanism.",
    )
    cancel_place.empty()
    delta = weakest_delta(entries, problem, values)
    advised = advice.recommended_for_target(problem, ranked, epsilon=float(dict(recipe.values).get("epsilon", 1.0)))
    picture = needed_epsilon(
        ranked,
        titles={
            entry.key: mark_suggested(entry.title)
            if entry.key == advised
            else with_weaker(entry.title, besides_epsilon(entry, problem, {**values[entry.key], "epsilon": 1.0}))
            for entry in entries
        },
        target=target,
        beta=recipe.beta,
        impossible=impossible_below(problem, target=target, beta=recipe.beta, delta=delta),
        aims={entry.key for entry in entries if "alpha" in entry.controls()},
        advised=advised,
    )
    draw_figure(
        picture, key="needed_chart", badge=badge, caption=ranking_caption(ranked, advised=advised), code=code,
        download=not dataset.provenance.is_private, on_pick=rerun_whole_page(choose_point),
    )  # fmt: skip


def ranking_caption(ranked: Sequence[Need], *, advised: str) -> str:
    """Return the caption of a ranking: the smallest ε, the effect of a click, and the number of hidden mechanisms."""
    reaching = sum(math.isfinite(need.least) for need in ranked)
    caption = f"Smallest: ε = {exactly(ranked[0].least)}, rounded up. " if reaching else ""
    caption += "Click a dot to select it. The suggested mechanism, by public numbers only, is first."
    not_reaching = [need for need in ranked if math.isinf(need.least)]
    line_count = reaching + sum(need.key == advised for need in not_reaching)
    if hidden_reaching := max(0, line_count - MAX_LINES):
        caption += f" {hidden_reaching} more reach it."
    if hidden_not_reaching := sum(need.key != advised for need in not_reaching):
        caption += f" {hidden_not_reaching} more do not reach it."
    return caption
