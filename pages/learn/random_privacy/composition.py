"""Several releases of one data set: those fixed in advance compose; one chosen after seeing others is refused."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dpcore.core import Guarantee, Integers, Neighbours, ParameterError
from dpcore.mechanisms.histograms.sparse import lone_row_chance
from dpcore.privacy.composition import compose
from dplab.sparse import LossFigure
from pages.charts.words import percent
from pages.learn.random_privacy.controls import RandomPrivacySettings
from pages.shell.links import in_link
from pages.shell.state import SessionKey
from pages.shell.theorem import lead

MAX_PLANNED = 6
SHOWN_PLAN, EXTENDED_PLAN = SessionKey("sparse_seen", ""), SessionKey("sparse_more", "")
"""The plan whose releases are on the screen, and the plan to which one more release is requested."""


def plan(histogram: Integers, settings: RandomPrivacySettings, *, simulations: LossFigure, key: str) -> None:
    """Let the user plan several releases, draw them, and request one more."""
    st.header("More than one release")
    lead(
        "Each release adds to ε and γ. Fix their number first.",
        "Both histograms may be released more than once. γ is a share of all data sets that could have "
        "been sampled. The shares add up.",
    )
    n, relation = int(histogram.sum()), Neighbours.REPLACE_ONE
    spared = lone_row_chance(cells=len(histogram), n=n, condition=settings.condition) <= settings.gamma
    one = Guarantee(epsilon=settings.epsilon, gamma=settings.gamma if spared else 0.0, neighbours=relation)
    planned = st.slider("Releases planned", 1, MAX_PLANNED, 2, key=in_link("planned"), bind="query-params")
    try:
        together = compose([one] * planned)
    except ParameterError as problem:
        st.warning(f"{planned} releases at {one.sentence()} each: {problem}")
        return
    st.markdown(
        f"**{planned}** random-private, fixed in advance: {one.sentence()} each, together "
        f"**{_sum_in_words(together)}**. :orange-badge[theory]"
    )
    # A changed plan is a new plan: these are previews, and nothing has been spent.
    plan_key = f"{key}|{one!r}|{planned}"
    if st.button("Sample the planned releases", key="sparse_draw"):
        SHOWN_PLAN.value = plan_key
    if SHOWN_PLAN.value != plan_key:
        EXTENDED_PLAN.value = ""
        return
    lines = ["| release | cells shown with rows | L1 error, share of n |", "|---|---|---|"]
    for place in range(planned):
        cells = int((simulations.random[place] > 0).sum())
        lines.append(f"| {place + 1} | {cells:,} | {percent(float(simulations.random_loss[place]))} |")
    st.markdown("\n".join(lines))
    st.markdown("You have seen the planned releases. Would one more help? :blue-badge[simulated]")
    if st.button("Choose one more, now that these are seen", key="sparse_again"):
        EXTENDED_PLAN.value = plan_key
    if EXTENDED_PLAN.value == plan_key:
        _show_one_more(one, planned=planned)


def _show_one_more(one: Guarantee, *, planned: int) -> None:
    """Add a release chosen after others were seen: refused if γ > 0."""
    try:
        together = compose([one] * (planned + 1), fixed_in_advance=False)
    except ParameterError as problem:
        plain = Guarantee(epsilon=one.epsilon, neighbours=one.neighbours)
        adding = compose([plain] * (planned + 1), fixed_in_advance=False)
        st.error(
            f"Refused. {problem} Before any release, the proof bounds the share γ of data sets without "
            "guarantee. After a release you know more about which data set this is. A further release "
            f"chosen then may fail for exactly this one, so no sum of γ holds. Plan {planned + 1} releases "
            "from the start instead."
        )
        st.caption(
            f"A differentially private histogram may be chosen after seeing others: its {plain.sentence()} "
            f"holds for all data. So {planned + 1} of them add up to {_sum_in_words(adding)} in any order."
        )
    else:
        st.success(
            "Allowed: every cell gets noise here, so there is no γ. ε adds up even for releases chosen "
            f"after seeing others: {_sum_in_words(together)}."
        )


def _sum_in_words(guarantee: Guarantee) -> str:
    """Return the guarantee in words, rounded to 12 digits: a sum of decimals in binary has rounding errors."""
    epsilon, gamma = (float(f"{sum_:.12g}") for sum_ in (guarantee.epsilon, guarantee.gamma))
    return replace(guarantee, epsilon=epsilon, gamma=gamma).sentence()
