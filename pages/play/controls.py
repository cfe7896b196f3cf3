"""Explore's controls: data, question, mechanism and its parameters, made into a recipe."""

from __future__ import annotations

import streamlit as st

from dpcore.core import Mechanism, Neighbours, Problem, Queries
from dpcore.data.sources import Uploaded
from dpcore.experiments.recipe import MOST_TRIALS, OPENING, Recipe
from dpcore.mechanisms import serving
from dpcore.mechanisms.net.choice import NetMechanism
from dpcore.mechanisms.net.linear import LinearNet
from dpcore.queries.linear import LinearQueries
from dpcore.queries.ranges import classes_for
from pages.data.picker import OWN_FILE, pick_source
from pages.play.weights import ask_weights
from pages.shell.controls import Value, choice, control, neighbours, seed, stops


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
        queries = choice("Question", questions, key="queries", default=OPENING.queries)
        weights = ask_weights(domain) if queries == LinearQueries.key else None
        if queries == LinearQueries.key and weights is None:
            return None
    asked = weights or classes[queries](domain=domain)
    entries = {entry.key: entry for entry in serving(asked)}
    with machine:
        machines = {key: entry.title for key, entry in entries.items()}
        chosen = choice("Mechanism", machines, key="mechanism", default=OPENING.entry_key)
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
            relation = neighbours()
            nominal = None
            if relation is Neighbours.ADD_REMOVE_ONE:
                # The browser is told the key, and an uploaded source's holds the digest of its file.
                about = OWN_FILE if isinstance(source.origin, Uploaded) else source.key
                nominal = int(
                    st.number_input(
                        "Public n", 1, 10**9, source.public_rows, key=f"nominal-{about}",
                        help="Here the number of rows is itself private, so shares are of a number you name: a round "
                        "figure that was public before.",
                    )
                )  # fmt: skip
            trials = stops("Previewed releases", (100, 200, 500, 1000, 2000, MOST_TRIALS), OPENING.trials, key="trials")
            beta = stops("Failure chance β (BLR write δ)", (0.001, 0.01, 0.05, 0.1, 0.2), OPENING.beta, key="beta")
            drawn = seed()
    parameters = entry.controls()
    if "epsilon" in parameters:
        with privacy:
            values["epsilon"] = control(entry, "epsilon", parameters["epsilon"])
    return Recipe(
        source=source,
        queries=queries,
        entry_key=chosen,
        values=tuple(values.items()),
        neighbours=relation,
        trials=int(trials),
        beta=beta,
        seed=drawn,
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
