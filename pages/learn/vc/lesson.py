"""Lesson: answers that are accurate for every subset give the data away."""

from __future__ import annotations

import streamlit as st

from dpcore.core import Entry, Neighbours, exactly
from dpcore.experiments.limits.reconstruction import BETA, NOISE_FREE, fitting, one_attack, recovery, swap_worlds, walls
from dpcore.limits.attacks import vc
from pages.learn.kit import SIMULATED, THEORY, draws_seed, epsilon, guess_number, picture, relation, why
from pages.learn.pictures import epsilon_grid
from pages.learn.vc import figure
from pages.shell.controls import choice, stops, whole
from pages.shell.session import in_link, remembered, with_progress

POINTS = (8, 16, 32, 64, 128, 256, 1024, 10_000)
ALL_COMPARED = 256
"""Points up to which every mechanism that fits can be attacked at once."""


def lesson() -> None:
    """Controls, the question, one run, many runs, the two worlds."""
    st.markdown(
        "Take d different people. A coin decided who is in the table: half of them, **nobody else knows which half**. "
        "Then counts are released that answer *every* question “how many of this group are in the table?” well. An "
        "attacker picks the half to which the release gives most rows."
    )
    left, right = st.columns(2)
    with left:
        points = int(stops("People d, a secret half of them in the table", POINTS, 64, key="vc-points"))
        repeats = whole("Rows for each of them", 1, 10, 1, key="vc-repeats")
        loss = epsilon("vc", default=1.0)
    with right:
        neighbours = relation(
            "vc",
            default=Neighbours.REPLACE_ONE,
            help_text="The paper counts a swap as one row gone and one new: e^(2ε) under “add or remove one row”.",
        )
        entries = fitting(points, neighbours)
        titles = {key: entry.title for key, entry in entries.items()} | {NOISE_FREE: "No noise at all (not private)"}
        chosen = choice("Mechanism", titles, key="vc-mechanism", default="identity")
        drawn = draws_seed()
    question = (
        f"What share of the secret half does the attacker find at ε = {exactly(loss)}, on average? A blind guess "
        "finds 50%."
    )
    guess = guess_number("vc", question, label="Your guess, percent", low=0, high=100, default=90, unit="%%")
    if guess is None:
        return
    badge = f"true: generated secret · released: simulated, preview sampler, seed {drawn}"
    entry = entries.get(chosen)
    attack = one_attack(entry, points=points, repeats=repeats, epsilon=loss, neighbours=neighbours, seed=drawn)
    picture(figure.one_run(attack), key="vc_run", badge=badge)
    everyone = points <= ALL_COMPARED and st.toggle(
        "Attack every mechanism that fits (up to a minute)", key=in_link("vc-all"), bind="query-params"
    )
    keys = [chosen] + [key for key in (*entries, NOISE_FREE) if key != chosen and (everyone or key == NOISE_FREE)]
    seen = with_progress(
        f"limits-vc|{keys}|{points}|{repeats}|{neighbours}|{drawn}",
        lambda: recovery(keys, points=points, repeats=repeats, neighbours=neighbours, seed=drawn),
        label="Attacking releases.",
    )
    forbidden = walls(epsilon_grid(loss), points=points, repeats=repeats, neighbours=neighbours, delta=seen.delta)
    left, right = st.columns(2)
    with left:
        picture(
            figure.recovered(seen=seen, titles=titles, walls=forbidden, epsilon=loss, guess=guess / 100),
            key="vc_recovered",
            badge=badge,
        )
    with right:
        n = points * repeats // 2
        picture(
            figure.accuracy(seen=seen, titles=titles, walls=forbidden, epsilon=loss, n=n),
            key="vc_accuracy",
            badge=badge,
        )
    bound = vc.error_bound(epsilon=loss, repeats=repeats, neighbours=neighbours, beta=BETA, points=points)
    _worlds(entry, points=points, repeats=repeats, loss=loss, neighbours=neighbours, drawn=drawn, badge=badge)
    why(
        r"|T\,\triangle\,T'|\le2d\alpha",
        "Answers within α give a half T' that differs from the secret half T in few of the d people.",
        f"{bound.statement} {bound.note} {THEORY}",
        "Where releases are accurate, the attacker must mostly say yes in one world and no in the other, though only "
        f"{repeats} row{'s' if repeats > 1 else ''} changed value.",
        proved=f"{bound.reference}; Lemmas 3.12 and 3.13 for the attack.",
    )


def _worlds(
    entry: Entry | None, *, points: int, repeats: int, loss: float, neighbours: Neighbours, drawn: int, badge: str
) -> None:
    """The swap behind the proof, for one person."""
    trials = 1000 if points <= 1024 else 100
    told = remembered(
        f"limits-worlds|{entry.key if entry else NOISE_FREE}|{points}|{repeats}|{loss}|{neighbours}|{drawn}",
        lambda: swap_worlds(
            entry, points=points, repeats=repeats, epsilon=loss, neighbours=neighbours, seed=drawn, trials=trials
        ),
    )
    picture(figure.worlds(told=told, epsilon=loss, claimed=entry is not None), key="vc_worlds", badge=badge)
    if told.impossible:
        st.warning(f"This cannot be ε-DP with ε = {exactly(loss)}: the two worlds differ by more than e^ε allows.")
    st.markdown(f"{trials:,} releases of each world; intervals hold with 95% together. {SIMULATED}")
