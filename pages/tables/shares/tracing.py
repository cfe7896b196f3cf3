"""The tracing attack on the page's own rows: who is in the data, from the shares of single attributes."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import Booleans, exactly, rounded_up
from dpcore.limits.attacks.tracing import ceiling, rows_wall
from dplab.limits import tracing
from pages.charts.histogram import traced_scores
from pages.charts.picture import Axis, Curve, Dots, Picture, Rule, Wall, budget_axis
from pages.charts.words import percent
from pages.shell.controls import choice, stops
from pages.shell.tasks.memory import with_progress
from pages.tables.shares.compute import ShareResult

MEMBERS = (20, 50, 100, 200, 500, 1000)
MAX_JUDGED = 3000
"""Rows that take part, drawn at random: more would only make the shares sharper."""
SIZES = (2, 4, 8, 16, 32)


def _rows(result: ShareResult) -> Booleans:
    """Return rows of the page's data, at most MAX_JUDGED of them, always the same."""
    records: Booleans = result.request.dataset().records
    if len(records) <= MAX_JUDGED:
        return records
    return records[np.random.Generator(np.random.SFC64(len(records))).choice(len(records), MAX_JUDGED, replace=False)]


def who_is_in_the_data(result: ShareResult) -> None:
    """Draw the scores of one attack on the released shares of all attributes, and how often attacks succeed."""
    request, mechanism = result.request, result.answers.mechanism
    rows = _rows(result)
    attributes = rows.shape[1]
    st.header("Who is in the data?")
    st.markdown(
        "Some of the rows are drawn as *members*. Only the members' **share of each attribute** is published. The "
        "attacker scores every row by how much it is like these shares. [The lesson](./learn?lesson=tracing)"
    )
    left, right = st.columns(2)
    with left:
        members = int(stops("Members", MEMBERS, 50, key="traced-members"))
    with right:
        noisy = choice("Their shares are", {"exact": "exact", "noisy": "private"}, key="traced-shares") == "noisy"
    epsilon, delta = mechanism.epsilon, mechanism.delta
    traced = tracing.attack(
        tracing.people_of(rows, members=members, seed=request.seed),
        epsilon=epsilon if noisy else None,
        delta=delta,
        seed=request.seed,
    )
    request.draw(traced_scores(traced), key="traced_scores", title="scores")
    shares = with_progress(
        f"traced|{request.source.key}|{members}|{epsilon}|{delta}|{request.seed}",
        lambda: tracing.sweep(
            lambda run: tracing.people_of(rows, members=members, seed=request.seed + run),
            attributes=[*(size for size in SIZES if size < attributes), attributes],
            epsilon=epsilon,
            delta=delta,
            seed=request.seed,
        ),
        label="Attacking shares.",
    )
    request.draw(over_epsilon(shares, delta=delta), key="traced_epsilon", title="share found by ε")
    limit = ceiling(accused=tracing.ACCUSED, epsilon=epsilon, delta=delta)
    st.caption(
        f"At ε = {exactly(epsilon)} and δ = {exactly(delta)}, no attack that accuses {percent(tracing.ACCUSED)} of the "
        f"others finds more than {rounded_up(100 * limit)}% of the members on average. "
        f"{rows_wall(attributes=attributes, epsilon=epsilon, delta=delta).statement} (Bun, Ullman and Vadhan 2014)"
    )


def over_epsilon(shares: tracing.TracedShares, *, delta: float) -> Picture:
    """Return the share of members found against ε, with the most that any attack finds, and from exact shares."""
    losses, exact = np.array(tracing.LOSSES), shares.exact.mean(axis=1)
    grid = np.geomspace(losses[0], losses[-1], 80)
    limits, means = tracing.ceilings(grid, delta=delta), shares.losses.mean(axis=1)
    low, high = np.quantile(shares.losses, (0.05, 0.95), axis=1)
    return Picture(
        title="Share of members found",
        x=budget_axis(
            tracing.LOSSES, title="← more private · ε of all shares · more accurate →", ticks=(0.1, 1, 10, 100)
        ),
        y=Axis(title="share of members found", low=0, high=1.05, form=".0%", ticks=(0, 0.25, 0.5, 0.75, 1)),
        marks=[
            Wall(x=grid, y=limits, end=1.05, label="impossible on average", corner="top left"),
            Curve(role="theory", name="the best attacker, at most", x=grid, y=limits),
            Dots(role="released", name="this attacker, middle 90% of runs", x=losses, y=means, low=low, high=high),
            Rule(role="ink", y=float(exact[-1]), label="from exact shares", dash="dash"),
            Rule(role="quiet", y=tracing.ACCUSED, label=f"others accused: {percent(tracing.ACCUSED)}"),
        ],
        sentence=f"From exact shares of {shares.attributes[0]:,.0f} attributes the attack finds "
        f"{percent(float(exact[0]))} of the members on average, of all {shares.attributes[-1]:,.0f} it finds "
        f"{percent(float(exact[-1]))}.",
        table={"ε": losses.tolist(), "share found": means.tolist(), "others accused": shares.strangers.mean(1).tolist()}
        | {"largest share possible": tracing.ceilings(losses, delta=delta).tolist()},
        height=320,
    )
