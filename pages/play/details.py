"""The theorem of Play, and one menu for each picture: files, numbers, and the code that reproduces it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dpcore.core import Bound, State, rounded_up
from dpcore.core.safe_csv import escape_frame
from dpcore.limits.bounds.applicable import lower_bound
from dplab.measure import ErrorReport
from dplab.recipe import DEFAULT_RECIPE, Recipe
from pages.charts.component import draw, picture_files
from pages.charts.picture import Picture
from pages.charts.words import lower_first
from pages.play.pictures import TITLES
from pages.shell.downloads import synthetic_table
from pages.shell.presentation import is_presenting
from pages.shell.theorem import observed, theorem_card

TOUR = (
    f"**Two histograms.** The grey bars are the true data, at first {DEFAULT_RECIPE.source.public_rows:,} "
    "synthetic people. The blue line is a release, which may be published: noise hides each person's value.",
    "**One slider.** ε is the privacy budget. Move it left: each person is protected more, and the error "
    "of the blue line grows.",
    "**How large is the error, and how sure is that?** Each dot stands for 2 in 100 releases, at the error "
    "of their worst query. A theorem guarantees that all but a share β stay below the guaranteed error. "
    "The hatched region is impossible (lower bound).",
)


def why_popover(draw_content: Callable[[], None]) -> None:
    """Draw the popover of the theorem; a presentation has its content at once."""
    if is_presenting():
        return draw_content()
    popover = st.popover("Why?", key="why_open", on_change="rerun")
    if popover.open:
        with popover:
            draw_content()


def draw_figure(
    picture: Picture, *, key: str, code: Callable[[str], None], download: bool, title: str = "", **options: Any
) -> None:
    """Draw a picture with its menu “⋯”: its sentence, files, numbers and code; a closed menu sends nothing.

    Args:
        picture: what to draw.
        key: of the chart on the page; the menu's is the same with ``_more``.
        code: draws the code that reproduces it, given a key that no other menu has.
        download: whether it can be downloaded; never with private values in it.
        title: of its numbers.
        options: as of `draw`.
    """
    with st.container(key=f"figure_{key}"):
        draw(picture, key=key, download=download, **options)
        if is_presenting():
            return
        menu = st.popover(
            "⋯", key=f"{key}_more", type="tertiary", on_change="rerun",
            help="Picture files, numbers, and code with seed and sampler.",
        )  # fmt: skip
        if not menu.open:
            return
        with menu:
            st.markdown(picture.sentence)
            if download:
                picture_files(key)
            st.caption(f"Numbers: {title or TITLES.get(key, lower_first(picture.title))}")
            st.dataframe(escape_frame(picture.frame()), hide_index=True)  # it offers itself as a CSV
            code(key)


def draw_why(recipe: Recipe, report: ErrorReport) -> None:
    """Draw the mechanism's description, its theorem, the lower bound, and a tour for new users."""
    st.markdown(recipe.entry.story)
    if recipe.entry.weights:
        st.latex(recipe.entry.weights)
    bound, observations = report.bound, []
    if len(report.answered):
        private = recipe.source.provenance.is_private
        observations = [observed(report.failures, len(report.answered), bound, private=private)]
    target_error = dict(recipe.values).get("alpha")
    goal = "Rows needed for any guarantee"
    if target_error is not None:
        goal = f"Rows needed to guarantee α = {float(target_error):g}"
    theorem_card(
        bound,
        report.guarantee,
        n=report.problem.n,
        seen=observations,
        needs=goal,
        mechanism=recipe.entry.references,
        covers="for each release",
        opened=True,
    )
    st.markdown(field_terms(bound, linear=recipe.weights is not None))
    lower = lower_bound(report.problem, report.guarantee, beta=recipe.beta)
    if lower is not None:
        st.markdown(f"Hatched: impossible (lower bound). {lower.statement} {lower.note}")
        st.caption(f"Reference: {lower.reference}.")
    for step in TOUR:
        st.markdown(step)


def field_terms(bound: Bound, *, linear: bool) -> str:
    """Return what the papers call the queries, their change by one row, and the guaranteed error."""
    kind = "**linear query** adds up weights from 0 to 1" if linear else "**counting query** counts the rows in a set"
    terms = f"A {kind}, as a share of n. Its **sensitivity** is 1/n: one row changes the answer by at most that."
    if bound.guaranteed:
        terms += f" The release is (α, β)-**useful** with α = {rounded_up(bound.value)} and β = {bound.beta:g}."
    return terms


def draw_code(recipe: Recipe, state: State, key: str) -> None:
    """Draw the code, and the download of a synthetic table if it is allowed."""
    st.code(recipe.code(), language="python")
    synthetic_table(recipe, state, key=key)
