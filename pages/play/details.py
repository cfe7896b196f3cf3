"""Popovers with the theorem, the numbers of every picture, and the code that reproduces them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from dpcore.core import Bound, State, rounded_up
from dpcore.limits.bounds.applicable import lower_bound
from dplab.measure import ErrorReport
from dplab.recipe import DEFAULT_RECIPE, Recipe
from pages.charts.component import show_numbers
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


def detail_popovers(recipe: Recipe, state: State, report: ErrorReport, pictures: Mapping[str, Picture]) -> None:
    """Draw the popovers side by side; the content of a closed one is not sent."""
    draw_popovers(
        why=lambda: _why(recipe, report), numbers=lambda: _numbers(pictures), code=lambda: _code(recipe, state)
    )


def draw_popovers(*, why: Callable[[], None], numbers: Callable[[], None], code: Callable[[], None]) -> None:
    """Draw popovers with these contents side by side; a presentation has the theorem alone."""
    if is_presenting():
        return why()
    for name, draw_content in (("Why?", why), ("Numbers", numbers), ("Code", code)):
        popover = st.popover(name, key=f"{name.removesuffix('?').lower()}_open", on_change="rerun")
        if popover.open:
            with popover:
                draw_content()


def _why(recipe: Recipe, report: ErrorReport) -> None:
    """Draw the mechanism's description, its theorem, the lower bound, and a tour for new users."""
    st.markdown(recipe.entry.story)
    if recipe.entry.weights:
        st.latex(recipe.entry.weights)
    bound, observations = report.bound, []
    if len(report.answered):
        private = recipe.source.provenance.is_private
        observations = [observed(report.failures, len(report.answered), bound, private=private)]
    target_error = dict(recipe.values).get("alpha")
    goal = (
        "Rows needed for any guarantee"
        if target_error is None
        else f"Rows needed to guarantee α = {float(target_error):g}"
    )
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


def _numbers(pictures: Mapping[str, Picture]) -> None:
    """Draw each picture's sentence and its table."""
    for key, picture in pictures.items():
        st.markdown(picture.sentence)
        show_numbers(
            picture, title=TITLES.get(key, lower_first(picture.title)), key=f"{key.removesuffix('_chart')}_numbers"
        )


def _code(recipe: Recipe, state: State) -> None:
    """Draw the code, and the download of a synthetic table if it is allowed."""
    st.code(recipe.code(), language="python")
    synthetic_table(recipe, state)
