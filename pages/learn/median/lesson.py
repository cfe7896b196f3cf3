"""Lesson: no private median on a long line, and the door that δ opens."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import exactly
from dpcore.experiments.limits import medians
from dpcore.limits.bounds import median
from pages.learn.kit import SIMULATED, THEORY, draws_seed, epsilon, guess_stop, picture, why
from pages.learn.median import figure
from pages.shell.controls import choice, stops, whole
from pages.shell.session import remembered

BITS = (1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 80, 100, 144, 200, 300, 500, 800, 1000, 1500, 2000, 3000, 5000, 8000, 10_000)
WALKS = {
    "exponential": "Exponential mechanism",
    "permute-and-flip": "Permute-and-flip",
    "refusing": "The one that reaches the wall",
    "stable": "Stable median (with slack δ)",
    "search": "Released histogram + binary search (measured)",
}


def lesson() -> None:
    """Controls, the question, success against bits, and the walk of one mechanism."""
    st.markdown(
        "A table has n rows, and **all of them hold the same value**. Any sensible median is that value, and a method "
        "must say so. Surely that is easy? Change one row at a time until all of them hold *another* value: a private "
        "method may change its mind only a little at every step."
    )
    left, right = st.columns(2)
    with left:
        n = whole("Rows n", 1, 2001, 1001, step=2, key="median-n", help_text="Odd, so that there is one middle row.")
        loss = epsilon("median", default=0.1)
    with right:
        bits = stops("Bits of the grid", BITS, 100, key="median-bits", help_text="2^bits possible values.")
        delta = stops("Slack δ", (1e-12, 1e-9, 1e-6, 1e-4, 1e-2), 1e-6, key="median-delta")
        drawn = draws_seed()
    guess = guess_stop(
        "median",
        f"{f'{n:,} equal rows' if n > 1 else 'One row'}, privacy loss {exactly(loss)}. How fine may the grid be before "
        "**every** private method is wrong more often than right?",
        label="Your guess, in bits of the grid",
        options=BITS,
        default=1000,
    )
    if guess is None:
        return
    grid = np.unique(np.append(np.geomspace(1, 10_000, 160), bits))
    picture(
        figure.success(
            chances=medians.chances(grid, n=n, epsilon=loss, delta=delta),
            n=n,
            epsilon=loss,
            delta=delta,
            bits=bits,
            guess=guess,
            measured=remembered(
                f"limits-median|{n}|{loss}|{drawn}",
                lambda: medians.measured_chances(n=n, epsilon=loss, seed=drawn),
            ),
        ),
        key="median_success",
        badge=f"curves: exact theory · dots: simulated, preview sampler, seed {drawn}",
    )
    bound = median.impossibility(bits=bits, n=n, epsilon=loss)
    why(
        r"b>\log_2\bigl(1+e^{\varepsilon n}\bigr)\;\Longrightarrow\;\Pr[\text{right}]<\tfrac12\qquad(\delta=0)",
        f"{bound.statement} {bound.note} {THEORY}",
        "With δ > 0 the wall has a door: the stable median answers only if no "
        f"{median.stable_threshold(epsilon=loss, delta=delta):,} rows or so could change the answer, and it does not "
        "care how long the line is.",
        proved="Blum, Ligett and Roth (2013), Theorem 5.1 and Corollary 5.2; McKenna and Sheldon (2020) for "
        "permute-and-flip.",
    )
    _walk(n=n, epsilon=loss, delta=delta, bits=bits, seed=drawn)


def _walk(*, n: int, epsilon: float, delta: float, bits: float, seed: int) -> None:
    """The hybrid walk of the chosen mechanism: chance at every data set, factor at every step."""
    st.subheader("Why: walk from one data set to the other")
    chosen = choice("Who walks", WALKS, key="median-walk")
    if chosen == "search":
        seen = remembered(
            f"limits-walk|{n}|{epsilon}|{seed}", lambda: medians.measured_walk(n=n, epsilon=epsilon, seed=seed)
        )
        picture(
            figure.measured_climb(n=n, seen=seen),
            key="median_measured",
            badge=f"simulated: {medians.TRIALS} releases of each data set, preview sampler, seed {seed}",
        )
        st.markdown(
            "An accurate release of thresholds would always end at v: on lines too long for n and ε no ε-private "
            f"release is accurate. Drawn on 2^{medians.WALK_BITS} cells. {SIMULATED}"
        )
        return
    walk = medians.exact_walk(chosen, bits=bits, n=n, epsilon=epsilon, delta=delta)
    left, right = st.columns(2)
    with left:
        picture(figure.climb(key=chosen, walk=walk, bits=bits), key="median_climb", badge="exact theory")
    with right:
        picture(figure.factors(key=chosen, walk=walk), key="median_steps", badge="exact theory")
