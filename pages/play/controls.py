"""The controls of data, query, mechanism and its parameters, and of ε, read into a recipe."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Entry, Mechanism, Neighbours, Parameter, Problem, Queries
from dpcore.data.sources import Source
from dpcore.mechanisms import serving
from dpcore.mechanisms.net.choice import NetMechanism
from dpcore.mechanisms.net.linear import LinearNet
from dpcore.mechanisms.net.resolution import NetOfResolution
from dpcore.queries.groups import GroupStatistics
from dpcore.queries.linear import LinearQueries
from dpcore.queries.ranges import classes_for
from dplab.recipe import DEFAULT_RECIPE, MAX_TRIALS, Recipe
from pages.charts.live import live_slider
from pages.data.picker import HOME, OWN_FILE, is_data_chosen, pick_source
from pages.play.groups.form import TITLE as GROUP_TITLE
from pages.play.groups.form import GroupRequest, ask_groups, group_columns
from pages.play.weights import ask_weights
from pages.shell.controls import Value, check_link, choice, control, exact_entry, log_stops, neighbours, seed, stops
from pages.shell.links import in_link
from pages.shell.presentation import KEY as PRESENT
from pages.shell.private.twin import drawn, registered_rows
from pages.shell.session import DATA
from pages.shell.state import set_controls

OPENING_EPSILON = 0.1
"""ε at which the page opens: small enough that the noise is seen."""


def read_recipe() -> Recipe | GroupRequest | None:
    """Draw all controls except ε and return their recipe, or request of means by group; None if an input is missing."""
    if not ({*st.query_params} - {PRESENT} or is_data_chosen()):
        set_controls(HOME)
        st.query_params.update({key: str(value) for key, value in HOME.items()})
    source = pick_source(pairs=True, persons=True, is_home=True)
    domain = source.domain
    classes = {kind.key: kind for kind in classes_for(domain)}
    questions = {key: kind.title for key, kind in classes.items()}
    if LinearQueries.fits(domain):
        questions[LinearQueries.key] = LinearQueries.title
    groupable = group_columns(source)
    if groupable is not None:
        questions[GroupStatistics.key] = GROUP_TITLE
    queries = choice(
        "Query", {key: title.partition(":")[0] for key, title in questions.items()}, key="queries",
        default=DEFAULT_RECIPE.queries, help_text="\n\n".join(questions.values()),
    )  # fmt: skip
    weights = ask_weights(domain) if queries == LinearQueries.key else None
    if queries == LinearQueries.key and weights is None:
        return None
    groups = ask_groups(groupable) if groupable is not None and queries == GroupStatistics.key else None
    query_class = groups[1] if groups else weights or classes[queries](domain=domain)
    entries = {entry.key: entry for entry in serving(query_class, releases="groups" if groups else "data")}
    mechanism_titles = {key: entry.title for key, entry in entries.items()}
    chosen = choice("Mechanism", mechanism_titles, key="mechanism", default=DEFAULT_RECIPE.entry_key)
    entry = entries[chosen]
    st.caption(entry.story)
    values = _parameters(entry, query_class)
    relation, nominal, trials, beta, seed_value = _more_settings(source)
    if groups is not None:
        rows, statistics, hide_below = groups
        return GroupRequest(
            rows=rows, source=drawn(rows), queries=statistics, entry=entry, values=values, neighbours=relation,
            seed=seed_value, beta=beta, trials=trials, nominal=nominal, hide_below=hide_below,
        )  # fmt: skip
    return Recipe(
        source=source,
        queries=queries,
        entry_key=chosen,
        values=tuple(values.items()),
        neighbours=relation,
        trials=trials,
        beta=beta,
        seed=seed_value,
        weights=weights,
        nominal=nominal,
    )


def _parameters(entry: Entry, query_class: Queries) -> dict[str, Value]:
    """Draw a mechanism's controls and return their values; ε has its control above the pictures."""
    values: dict[str, Value] = {}
    for name, parameter in entry.controls().items():
        if name == "epsilon":
            values[name] = OPENING_EPSILON
            continue
        values[name] = control(entry, name, parameter)
        if name in ("points", "sizing"):
            _show_fewer_points(entry.make(**values), query_class)
    return values


def name_data_alone() -> None:
    """Name the data in a link that is empty after the controls: an empty link opens other data."""
    if not st.query_params:
        st.query_params[str(DATA)] = DATA.value


def at_epsilon(recipe: Recipe, bar: DeltaGenerator, *, beside: Callable[[], None] = lambda: None) -> Recipe:
    """Draw the control of ε in a container, with another one beside it, and return the recipe at its value."""
    values = dict(recipe.values)
    if "epsilon" in values:
        with bar:
            default = float(values["epsilon"])
            values["epsilon"] = ask_epsilon(recipe.entry.controls()["epsilon"], default=default, beside=beside)
    name_data_alone()
    return dataclasses.replace(recipe, values=tuple(values.items()))


def ask_epsilon(parameter: Parameter, *, default: float, beside: Callable[[], None] = lambda: None) -> float:
    """Draw ε as a number, which the link holds, and as a slider that updates the pictures, with a control beside."""
    check_link("epsilon", parameter=parameter)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        slider = st.container(width="stretch", key="epsilon_track")
        with st.container(width=110):
            value = exact_entry(parameter, key="epsilon", default=default, help_text=parameter.help)
        with slider:
            live_slider(
                key="epsilon_slider",
                label="Privacy budget ε",
                symbol="ε",
                value=value,
                stops=log_stops(parameter),
                ends=("← more private", "more accurate →"),
                on_rest=lambda stop: set_controls({"epsilon": stop}),
            )
        beside()
    return value


def _more_settings(source: Source) -> tuple[Neighbours, int | None, int, float, int]:
    """Draw the advanced settings: relation, public n, number of previewed releases, β and seed."""
    with st.popover("More settings", width="stretch"):
        relation = neighbours(source.person_rows)
        nominal = None
        registered = registered_rows(source.origin)
        if relation is Neighbours.ADD_REMOVE_ONE and registered is not None:
            nominal = registered
            st.caption(f"n = {nominal:,}, as registered.")
        elif relation is Neighbours.ADD_REMOVE_ONE:
            # Each data set has its own n. The key contains no source key, which may hold a file's digest.
            data_key = DATA.value
            ask_n = partial(
                st.number_input, "Public n", 1, 10**9, source.public_rows,
                help="The number of rows is private here. Name a round number that is already public: errors are "
                "shares of it.",
            )  # fmt: skip
            if data_key == OWN_FILE:  # not in the link: it is dropped with the file
                nominal = int(ask_n(key="nominal-my-file"))
            else:
                nominal = int(ask_n(key=in_link(f"public-n-{data_key}-{source.public_rows}"), bind="query-params"))
        trials = stops(
            "Previewed releases", (100, 200, 500, 1000, 2000, MAX_TRIALS), DEFAULT_RECIPE.trials, key="trials"
        )
        beta = stops(
            "Failure probability β (δ in Blum, Ligett and Roth)",
            (0.001, 0.01, 0.05, 0.1, 0.2),
            DEFAULT_RECIPE.beta,
            key="beta",
        )
        seed_value = seed()
    return relation, nominal, int(trials), beta, seed_value


def _show_fewer_points(mechanism: Mechanism, queries: Queries) -> None:
    """Show that a net mechanism uses fewer points than its slider requests."""
    if not isinstance(mechanism, NetMechanism | LinearNet):
        return
    problem = Problem(domain=queries.domain, queries=queries, n=1)  # independent of n
    used, requested = mechanism.size(problem), mechanism.requested_points(problem)
    if used < requested:
        reason = (
            f"the mechanism enumerates every database, and with {used + 1} points on "
            f"{queries.domain.size:,} cells there are too many"
        )
        if isinstance(mechanism, NetOfResolution):
            reason = "exact sampling from larger databases is slow, and these achieve α"
        st.caption(f"Uses {used:,} of {requested:,} points: {reason}.")
