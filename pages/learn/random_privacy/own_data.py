"""Random privacy with all settings: the paper's figures or any data, losses, their growth, and the warning."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dpcore.core import Guarantee, Integers, Neighbours, exactly, rounded_up
from dpcore.mechanisms import entry
from dpcore.mechanisms.histograms.sparse import lone_row_chance
from dplab.sparse import LossFigure, rows_needed
from pages.charts.component import draw_with_table
from pages.charts.picture import Picture
from pages.learn.random_privacy.charts import PRIVATE, RANDOM, growth_curves, losses, panel
from pages.learn.random_privacy.composition import plan
from pages.learn.random_privacy.controls import (
    SIMULATIONS,
    HistogramChoice,
    RandomPrivacySettings,
    choose_histogram,
    choose_settings,
)
from pages.learn.random_privacy.warning import warning
from pages.shell.controls import audit_this
from pages.shell.links import in_link
from pages.shell.presentation import is_presenting, presentation_place
from pages.shell.theorem import all_digits, lead


def own_data() -> None:
    """Read the controls, then draw the releases and what they cost."""
    lead(
        "With δ = 0 a private histogram must add noise to empty cells. **Random differential "
        "privacy** may leave them empty.",
        "If most cells are empty, noise may hide the few non-empty ones. Projecting to n rows removes much "
        "of it. Random differential privacy requires less. It assumes that rows are independent samples of "
        "one population. For a share **γ** of the samples nothing is guaranteed. Then empty cells may stay "
        "empty.",
    )
    chosen = choose_histogram()
    settings = choose_settings()
    if chosen.histogram is None:
        st.info(
            "These data are private, and errors against them would reveal them, so nothing is computed here. Take the "
            "paper's figures, a public stand-in or generated data, or, if you are the data owner, say so above."
        )
    else:
        _show_condition(chosen.histogram, settings)
        simulations = _show_histograms(chosen, chosen.histogram, settings)
        plan(chosen.histogram, settings, simulations=simulations, key=chosen.key)
    audit_this(entry("sparse_histogram"), settings.values, Neighbours.REPLACE_ONE)
    warning(settings)


def _show_condition(histogram: Integers, settings: RandomPrivacySettings) -> None:
    """Say by the paper's condition and by the sharper one if empty cells may stay empty: both are public."""
    cells, n, gamma = len(histogram), int(histogram.sum()), settings.gamma
    lines, met = [], False
    for condition, name in (
        ("paper", "The paper's condition, 2k/n for k cells and n rows"),
        ("sharper", "Sharper, the worst population"),
    ):
        bound = lone_row_chance(cells=cells, n=n, condition=condition)
        needed = rows_needed(cells=cells, gamma=gamma, condition=condition)
        chosen = condition == settings.condition
        met = met or (chosen and bound <= gamma)
        verdict = ("✓ met" if bound <= gamma else "✗ not met") + (", chosen" if chosen else "")
        lines.append(
            f"- {name}: **{verdict}**. One of two given rows is alone in its cell with probability at most "
            f"{rounded_up(min(bound, 1.0))}; γ = {exactly(gamma)} is allowed. n must be at least "
            f"{needed:,}."
        )
    st.header(f"Empty cells may {'stay empty' if met else 'not stay empty'}")
    why = st.expander("Why?")
    with presentation_place("theorem") if is_presenting() else why:
        st.latex(r"\Pr[\text{alone in a cell}]\le\frac{2k}{n}\le\gamma")
    with why:
        st.markdown("\n".join(lines))
        st.markdown(
            f"{cells:,} cells and {n:,} rows are public, so the condition is known before any release. If "
            "it is not met, every cell gets noise and the guarantee is differential privacy."
        )


def _show_histograms(chosen: HistogramChoice, histogram: Integers, settings: RandomPrivacySettings) -> LossFigure:
    """Draw the true, the private and the random-private histogram, their losses and their growth."""
    simulations = settings.simulate(chosen.key, histogram)
    truth = f"true: {chosen.provenance}"
    drawn = f"{truth} · simulated, preview sampler, seed {settings.seed}"

    def draw(picture: Picture, *, key: str, title: str, badge: str = drawn) -> None:
        draw_with_table(picture, key=f"sparse_{key}", badge=badge, title=title, download=not chosen.private)

    st.header("The three histograms")
    panels = (("true", histogram), (PRIVATE, simulations.private[0]), (RANDOM, simulations.random[0]))
    top = int(max(counts.max() for _, counts in panels))
    for place, (name, counts) in zip(st.columns(3), panels, strict=True):
        with place:
            st.subheader(name[0].upper() + name[1:])
            picture = panel(counts=counts, name=name, top=top, grid=chosen.grid)
            draw(picture, key=name.split()[0], title=name, badge=truth if name == "true" else drawn)
    projected = st.toggle(
        "After the projection",
        value=True,
        key=in_link("sparse-projected"),
        bind="query-params",
        help="Free: post-processing. Both are projected to the nearest histogram of n rows, which empties most "
        "cells again. How much this helps depends on how ties are broken; the paper leaves that open.",
    )
    left, right = st.columns(2)
    with left:
        st.subheader(f"Total error of {SIMULATIONS} simulations")
        draw(losses(simulations=simulations, projected=projected), key="loss", title="errors")
    with right:
        st.subheader("Growth of the error")
        badge = f"{drawn}, even cells" if projected else f"{truth} · exact means, nothing sampled"
        grown = settings.growth(histogram, projected=projected)
        draw(growth_curves(grown), key="growth", title="error against cells", badge=badge)
    private = Guarantee(epsilon=settings.epsilon, neighbours=Neighbours.REPLACE_ONE)
    guarantee = replace(private, gamma=settings.gamma if simulations.spared else 0.0)
    st.markdown(
        f"Privacy: {guarantee.sentence()} for random privacy, ε = {rounded_up(private.epsilon)} for the private one. "
        ":orange-badge[theory]",
        help=all_digits(guarantee),
    )
    return simulations
