"""Explore's controls: data, question, mechanism and its parameters, made into a recipe."""

from __future__ import annotations

import streamlit as st

from dpcore.core import Mechanism, Neighbours, Problem, Queries
from dpcore.linear_queries import LinearQueries
from dpcore.mechanisms import serving
from dpcore.mechanisms.linear_net import LinearNet
from dpcore.mechanisms.net import NetMechanism
from dpcore.queries import classes_for
from dpcore.recipe import MOST_TRIALS, Recipe
from pages.ui.controls import Value, choice, control
from pages.ui.picker import pick_source
from pages.ui.weights import ask_weights


def controls() -> Recipe | None:
    """Everything that is asked, from the link and the controls; the privacy loss stands first. None: not yet enough."""
    privacy = st.container()
    data, question, machine = st.columns(3)
    with data:
        source = pick_source(pairs=True)
    domain = source.domain
    with question:
        classes = {kind.key: kind for kind in classes_for(domain)}
        questions = {key: kind.title for key, kind in classes.items()}
        if isinstance(domain, LinearQueries.domains):
            questions[LinearQueries.key] = LinearQueries.title
        queries = choice("Question", questions, key="queries", default="intervals")
        weights = ask_weights(domain) if queries == LinearQueries.key else None
        if queries == LinearQueries.key and weights is None:
            return None
    asked = weights or classes[queries](domain=domain)
    entries = {entry.key: entry for entry in serving(asked)}
    with machine:
        machines = {key: entry.title for key, entry in entries.items()}
        chosen = choice("Mechanism", machines, key="mechanism", default="identity")
        st.caption(entries[chosen].story)
    entry = entries[chosen]
    values: dict[str, Value] = {}
    with question:
        for name, parameter in entry.controls().items():
            if name != "epsilon":
                values[name] = control(entry, name, parameter)
            if name == "points":
                _fewer_points(entry.make(points=values[name]), asked)
        with st.popover("More settings"):
            neighbours = Neighbours(
                st.radio(
                    "Neighbours",
                    [str(each) for each in Neighbours],
                    format_func=lambda each: Neighbours(each).words,
                    key="neighbours",
                    bind="query-params",
                    help="The unit of privacy is a row: what a guarantee says is that one row more, less or other "
                    "cannot be told.",
                )
            )
            nominal = None
            if neighbours is Neighbours.ADD_REMOVE_ONE:
                nominal = int(
                    st.number_input(
                        "Public n", 1, 10**9, source.public_rows, key=f"nominal-{source.key}",
                        help="Here the number of rows is itself private, so shares are of a number you name: a round "
                        "figure that was public before.",
                    )
                )  # fmt: skip
            trials = st.select_slider(
                "Previewed releases", [100, 200, 500, 1000, 2000, MOST_TRIALS], value=1000, key="trials",
                bind="query-params",
            )  # fmt: skip
            beta = st.select_slider(
                "Failure chance β (BLR write δ)", [0.001, 0.01, 0.05, 0.1, 0.2], value=0.05, key="beta",
                bind="query-params",
            )  # fmt: skip
            seed = st.number_input("Preview seed", 0, 999_999, 1, key="seed", bind="query-params")
    parameters = entry.controls()
    if "epsilon" in parameters:
        with privacy:
            values["epsilon"] = control(entry, "epsilon", parameters["epsilon"])
    return Recipe(
        source=source,
        queries=queries,
        entry_key=chosen,
        values=tuple(values.items()),
        neighbours=neighbours,
        trials=int(trials),
        beta=float(beta),
        seed=int(seed),
        weights=weights,
        nominal=nominal,
    )


def _fewer_points(mechanism: Mechanism, queries: Queries) -> None:
    """Say so where a net that is listed makes do with fewer points than its slider asks for."""
    if not isinstance(mechanism, NetMechanism | LinearNet):
        return
    used = mechanism.size(Problem(domain=queries.domain, queries=queries, n=1))  # n has no part in it
    if used < mechanism.points:
        st.caption(
            f"Uses {used} of {mechanism.points} points: every database is listed, and there are too many of "
            f"{used + 1} points on {queries.domain.size:,} cells."
        )
