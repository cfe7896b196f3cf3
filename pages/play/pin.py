"""A second mechanism or a second ε, pinned beside the one that the slider moves."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import streamlit as st

from dpcore.core import Queries
from dpcore.mechanisms import serving
from dplab.measure import ErrorReport
from dplab.recipe import Recipe
from pages.play.fragments import rerun_whole_page
from pages.shell.controls import check_link, choice, control, link_key
from pages.shell.links import control_value, in_link
from pages.shell.state import set_controls

KEY, EPSILON, NOTHING = "pin", "pin-epsilon", "none"
"""Link parameters of the pinned mechanism and of its ε, and the choice of no mechanism."""


@dataclass(frozen=True, kw_only=True)
class Pinned:
    """What is pinned.

    Attributes:
        key: cache key of the releases.
        title: of the mechanism.
        beside: title of the mechanism that the slider moves.
        report: its releases and their errors.
    """

    key: str
    title: str
    beside: str
    report: ErrorReport = field(repr=False, compare=False)


def pin_button(recipe: Recipe) -> None:
    """Draw the button that pins what is shown, or removes what is pinned."""
    pinned = control_value(KEY, NOTHING) != NOTHING

    def toggle() -> None:
        if pinned:
            st.query_params.pop(KEY, None)
        epsilon = control_value("epsilon", dict(recipe.values)["epsilon"])
        set_controls({KEY: NOTHING} if pinned else {KEY: recipe.entry_key, EPSILON: epsilon})

    st.button(
        "Unpin" if pinned else "Pin", key="pin_button", on_click=rerun_whole_page(toggle),
        help="Keeps what is shown, so that you can compare it with another ε or mechanism.",
    )  # fmt: skip


def ask_pinned(recipe: Recipe, queries: Queries) -> Recipe | None:
    """Draw the controls of the pinned mechanism and return its recipe; None without one."""
    if KEY not in st.query_params and control_value(KEY, NOTHING) == NOTHING:
        return None
    entries = {entry.key: entry for entry in serving(queries) if "epsilon" in entry.controls()}
    titles = {NOTHING: "—"} | {key: entry.title for key, entry in entries.items()}
    left, right = st.columns([5, 3])
    with left:
        chosen = choice("Compare with", titles, key=KEY, default=NOTHING)
    if chosen == NOTHING:
        return None
    entry, values = entries[chosen], dict(recipe.values)
    parameter, default = entry.controls()["epsilon"], float(values["epsilon"])
    check_link(EPSILON, parameter=parameter)
    epsilon = right.number_input(
        "at ε", value=default, min_value=float(parameter.low), max_value=float(parameter.high), step=None,
        format="%g", key=in_link(EPSILON), bind="query-params",
    )  # fmt: skip
    shown = {link_key(recipe.entry, name): value for name, value in values.items()} | {"epsilon": float(epsilon)}
    own = {name: each for name, each in entry.controls().items() if link_key(entry, name) not in shown}
    if own:
        with st.popover("Its settings", width="stretch"):
            shown |= {link_key(entry, name): control(entry, name, each) for name, each in own.items()}
    pinned_values = tuple((name, shown[link_key(entry, name)]) for name in entry.controls())
    return dataclasses.replace(recipe, entry_key=chosen, values=pinned_values)
