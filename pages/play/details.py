"""What opens on demand: the theorem, the numbers of every picture, and the code that makes them again."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dpcore.core import State
from dpcore.limits.bounds.applicable import lower_bound
from dplab.measure import ErrorReport
from dplab.recipe import OPENING, Recipe
from pages.charts.component import show_numbers
from pages.charts.picture import Picture
from pages.charts.words import lower_first
from pages.play.pictures import TITLES
from pages.shell.downloads import synthetic_table
from pages.shell.present import presenting
from pages.shell.theorem import observed, theorem_card

TOUR = (
    f"**Two histograms.** The grey one is the truth; at first, {OPENING.source.public_rows:,} made-up people. The blue "
    "line may be published: randomness hides what any one of them said.",
    "**One slider.** ε is what privacy is paid in. Move it left: everybody is better hidden, and the blue line strays "
    "from the grey.",
    "**How wrong, and how sure.** The dots are releases, each by its worst answer. The promise is where all but a "
    "share β of them end, where there is a theorem; hatched is what nobody can promise.",
)


def detail_popovers(recipe: Recipe, state: State, report: ErrorReport, pictures: Mapping[str, Picture]) -> None:
    """The doors to all of it, side by side; what is behind a closed one is not sent."""
    if presenting():
        return _why(recipe, report)
    why_popover, numbers_popover, code_popover = (
        st.popover(name, key=f"{key}_open", on_change="rerun")
        for name, key in (("Why?", "why"), ("Numbers", "numbers"), ("Code", "code"))
    )
    if why_popover.open:
        with why_popover:
            _why(recipe, report)
    if numbers_popover.open:
        with numbers_popover:
            _numbers(pictures)
    if code_popover.open:
        with code_popover:
            _code(recipe, state)


def _why(recipe: Recipe, report: ErrorReport) -> None:
    """The mechanism, the theorem with the error that was aimed at, what is impossible, and a tour for newcomers."""
    st.markdown(recipe.entry.story)
    bound, observations = report.bound, []
    if len(report.answered):
        private = recipe.source.provenance.is_private
        observations = [observed(report.failures, len(report.answered), bound, private=private)]
    target_error = dict(recipe.values).get("alpha")
    goal = "To say anything" if target_error is None else f"To promise α = {float(target_error):g}"
    theorem_card(
        bound,
        report.guarantee,
        n=report.problem.n,
        seen=observations,
        needs=goal,
        mechanism=recipe.entry.references,
        covers="for each single release",
        opened=True,
    )
    lower = lower_bound(report.problem, report.guarantee, beta=recipe.beta)
    if lower is not None:
        st.markdown(f"Hatched: impossible to promise. {lower.statement}")
    for step in TOUR:
        st.markdown(step)


def _numbers(pictures: Mapping[str, Picture]) -> None:
    """Each picture in one sentence, and its table."""
    for key, picture in pictures.items():
        st.markdown(picture.sentence)
        show_numbers(
            picture, title=TITLES.get(key, lower_first(picture.title)), key=f"{key.removesuffix('_chart')}_numbers"
        )


def _code(recipe: Recipe, state: State) -> None:
    """The snippet, copyable, and a synthetic table where one may leave the page."""
    st.code(recipe.code(), language="python")
    synthetic_table(recipe, state)
