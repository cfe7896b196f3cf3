"""Lesson: answers that are accurate for every subset give the data away."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import Neighbours, exactly
from dpcore.figures import limits_halves as closely
from dpcore.figures import limits_vc as figures
from dpcore.limits import halves, vc
from dpcore.randomness import Preview
from pages.ui.charts import is_dark
from pages.ui.controls import choice
from pages.ui.limits_kit import SIMULATED, THEORY, epsilon, guess_number, picture, reference, seed, slider, stops
from pages.ui.limits_runs import EPSILONS, NOISE_FREE, fitting, recovery, release_half, swap_worlds
from pages.ui.session import remembered, with_progress

POINTS = (8, 16, 32, 64, 128, 256, 1024, 10_000)
ALL_COMPARED = 256
"""Points up to which every mechanism that fits can be attacked at once."""


def lesson() -> None:
    """Controls, the question, one run, many runs, the two worlds."""
    st.markdown(
        "Take d different people. A coin decided who is in the table: half of them, **nobody else knows which half**. "
        "Then "
        "counts are released that answer *every* question “how many of this group are in the table?” well. An attacker "
        "picks the half to which the release gives most rows."
    )
    left, right = st.columns(2)
    with left:
        points = int(stops("People d, a secret half of them in the table", POINTS, 64, key="vc-points"))
        repeats = slider("Rows for each of them", 1, 10, 1, key="vc-repeats")
        loss = epsilon("vc", default=1.0)
    entries = fitting(points)
    with right:
        titles = {key: entry.title for key, entry in entries.items()} | {NOISE_FREE: "No noise at all (not private)"}
        chosen = choice("Mechanism", titles, key="vc-mechanism", default="identity")
        drawn = seed()
    question = (
        f"What share of the secret half does the attacker find at ε = {exactly(loss)}, on average? A blind guess "
        "finds 50%."
    )
    guess = guess_number("vc", question, label="Your guess, percent", low=0, high=100, default=90, unit="%%")
    if guess is None:
        return
    badge = f"true: generated secret · released: simulated, preview sampler, seed {drawn}"
    entry = entries.get(chosen)
    truth = halves.random_half(Preview(drawn), points=points)[0]
    release = release_half(entry, truth, repeats=repeats, epsilon=loss, sampler=Preview(drawn + 1), trials=1)
    found = vc.reconstruct(release)
    picture(
        closely.one_run(
            truth=truth, released=np.nan_to_num(release.histogram()[0, :points]), chosen=found.chosen[0],
            refused=bool(found.refused[0]), badge=badge, dark=is_dark(),
        ),
        title="One release, one attack",
        key="vc_run",
    )  # fmt: skip
    everyone = points <= ALL_COMPARED and st.toggle(
        "Attack every mechanism that fits (up to a minute)", key="vc-all", bind="query-params"
    )
    keys = [chosen] + [key for key in (*entries, NOISE_FREE) if key != chosen and (everyone or key == NOISE_FREE)]
    seen = with_progress(
        f"limits-vc|{keys}|{points}|{repeats}|{drawn}",
        lambda: recovery(keys, points=points, repeats=repeats, seed=drawn),
        label="Attacking releases.",
    )
    names = [titles[key] for key in seen.keys]
    left, right = st.columns(2)
    with left:
        picture(
            figures.recovered(
                epsilons=EPSILONS, shares=dict(zip(names, seen.shares, strict=True)), repeats=repeats, delta=seen.delta,
                epsilon=loss, guess=guess / 100, badge=badge, dark=is_dark(),
            ),
            title="How much is found",
            key="vc_recovered",
        )  # fmt: skip
    with right:
        picture(
            figures.accuracy(
                epsilons=EPSILONS, errors=dict(zip(names, seen.errors, strict=True)), repeats=repeats, points=points,
                delta=seen.delta, badge=badge, dark=is_dark(),
            ),
            title="How accurate it was",
            key="vc_accuracy",
        )  # fmt: skip
    bound = vc.error_bound(
        epsilon=loss, repeats=repeats, neighbours=Neighbours.REPLACE_ONE, beta=figures.BETA, points=points
    )
    st.markdown(f"{bound.statement} {bound.note} {THEORY}")
    _worlds(chosen, points=points, repeats=repeats, loss=loss, drawn=drawn, badge=badge)
    reference(f"{bound.reference}; Lemmas 3.12 and 3.13 for the attack.")


def _worlds(chosen: str, *, points: int, repeats: int, loss: float, drawn: int, badge: str) -> None:
    """The swap behind the proof, for one person."""
    entry = fitting(points).get(chosen)
    trials = 1000 if points <= 1024 else 100
    truth = halves.random_half(Preview(drawn), points=points)[0]
    told = remembered(
        f"limits-worlds|{chosen}|{points}|{repeats}|{loss}|{drawn}",
        lambda: swap_worlds(entry, truth, repeats=repeats, epsilon=loss, seed=drawn + 2, trials=trials),
    )
    picture(
        closely.worlds(told=told, epsilon=loss, claimed=entry is not None, badge=badge, dark=is_dark()),
        title="Why: swap one person for another",
        key="vc_worlds",
    )
    if told.impossible:
        st.warning(f"This cannot be ε-DP with ε = {exactly(loss)}: the two worlds differ by more than e^ε allows.")
    st.markdown(
        f"{trials:,} releases of each world; intervals hold with 95% together. {SIMULATED} The attacker must mostly "
        "say yes "
        f"in one and no in the other, though only {repeats} row{'s' if repeats > 1 else ''} changed."
    )
