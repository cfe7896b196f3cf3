"""Lesson: no private median on a long line, and the door that δ opens."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import Dataset, Integers, Problem, Provenance, ProvenanceKind, exactly
from dpcore.domains import Line
from dpcore.figures import limits_median as figures
from dpcore.limits import median, walk
from dpcore.mechanisms.identity import IdentityHistogram
from dpcore.queries import Thresholds
from dpcore.randomness import Preview
from pages.ui.charts import is_dark
from pages.ui.controls import choice
from pages.ui.limits_kit import SIMULATED, THEORY, epsilon, guess_stop, picture, reference, seed, slider, stops
from pages.ui.session import remembered

BITS = (1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 80, 100, 144, 200, 300, 500, 800, 1000, 1500, 2000, 3000, 5000, 8000, 10_000)
MEASURED_BITS = (1, 2, 4, 6, 8, 10)
WALK_BITS = 6
"""Of the grid on which the walk is taken by real releases: a histogram has a count for every cell."""
TRIALS, STOPS_ON_THE_WALK = 200, 21
GENERATED = Provenance(kind=ProvenanceKind.GENERATED, title="all rows at one point")
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
        "must "
        "say so. Surely that is easy? Change one row at a time until all of them hold *another* value: a private "
        "method "
        "may change its mind only a little at every step."
    )
    left, right = st.columns(2)
    with left:
        n = slider("Rows n", 1, 2001, 1001, step=2, key="median-n", help_text="Odd, so that there is one middle row.")
        loss = epsilon("median", default=0.1)
    with right:
        bits = stops("Bits of the grid", BITS, 100, key="median-bits", help_text="2^bits possible values.")
        delta = stops("Slack δ", (1e-12, 1e-9, 1e-6, 1e-4, 1e-2), 1e-6, key="median-delta")
        drawn = seed()
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
    badge = f"curves: exact theory · dots: simulated, preview sampler, seed {drawn}"
    measured = remembered(f"limits-median|{n}|{loss}|{drawn}", lambda: _measured(n=n, epsilon=loss, seed=drawn))
    picture(
        figures.success(
            n=n, epsilon=loss, delta=delta, bits=bits, guess=guess, measured=(np.array(MEASURED_BITS), measured),
            badge=badge, dark=is_dark(),
        ),
        title="Who finds the median?",
        key="median_success",
    )  # fmt: skip
    bound = median.impossibility(bits=bits, n=n, epsilon=loss)
    st.markdown(f"{bound.statement} {bound.note} {THEORY}")
    st.markdown(
        f"With δ > 0 the wall has a door: the stable median answers only if no "
        f"{median.stable_threshold(epsilon=loss, delta=delta):,} rows or so could change the answer, and it does not "
        "care "
        "how long the line is."
    )
    _walk(n=n, epsilon=loss, delta=delta, bits=bits, seed=drawn)
    reference(
        "Blum, Ligett and Roth (2013), Theorem 5.1 and Corollary 5.2; McKenna and Sheldon (2020) for permute-and-flip."
    )


def _walk(*, n: int, epsilon: float, delta: float, bits: float, seed: int) -> None:
    """The hybrid walk of the chosen mechanism: chance at every data set, factor at every step."""
    st.subheader("Why: walk from one data set to the other")
    chosen = choice("Who walks", WALKS, key="median-walk")
    if chosen == "search":
        moved = np.unique(np.linspace(0, n, STOPS_ON_THE_WALK).round().astype(np.int64))
        seen = remembered(
            f"limits-walk|{n}|{epsilon}|{seed}", lambda: _measured_walk(n=n, epsilon=epsilon, moved=moved, seed=seed)
        )
        badge = f"simulated: {TRIALS} releases of each data set, preview sampler, seed {seed}"
        picture(
            figures.measured_climb(moved=moved, n=n, cells=2**WALK_BITS, seen=seen, badge=badge, dark=is_dark()),
            title="The climb",
            key="median_measured",
        )
        st.markdown(
            f"An accurate release of thresholds would always end at v: no ε-private release is accurate on long lines. "
            f"Drawn on 2^{WALK_BITS} cells. {SIMULATED}"
        )
        return
    walks = {
        "exponential": lambda: walk.exponential_walk(bits=bits, n=n, epsilon=epsilon),
        "permute-and-flip": lambda: walk.permute_and_flip_walk(bits=bits, n=n, epsilon=epsilon),
        "refusing": lambda: walk.refusing_walk(bits=bits, n=n, epsilon=epsilon),
        "stable": lambda: walk.stable_walk(n=n, epsilon=epsilon, delta=delta),
    }
    taken = walks[chosen]()
    badge = "exact theory"
    left, right = st.columns(2)
    with left:
        picture(
            figures.climb(walk=taken, bits=bits, badge=badge, dark=is_dark()), title="The climb", key="median_climb"
        )
    with right:
        picture(figures.factors(walk=taken, badge=badge, dark=is_dark()), title="Each step", key="median_steps")


def _medians(*, bits: int, n: int, moved: Integers, target: int, epsilon: float, seed: int) -> Integers:
    """Medians that binary search finds in releases of each D_i, i in ``moved``: (len(moved), TRIALS)."""
    domain = Line(bits=bits)
    problem = Problem(domain=domain, queries=Thresholds(domain=domain), n=n)
    mechanism, sampler = IdentityHistogram(epsilon=epsilon), Preview(seed)
    found = []
    for count in moved:
        records = np.where(np.arange(n) < count, target, 0)
        state = mechanism.prepare(Dataset(domain, records, GENERATED), problem)
        found.append(walk.median_of_release(mechanism.run(state, sampler, trials=TRIALS)))
    return np.array(found)


def _measured_walk(*, n: int, epsilon: float, moved: Integers, seed: int) -> walk.MeasuredWalk:
    target = 2**WALK_BITS - 1
    medians = _medians(bits=WALK_BITS, n=n, moved=moved, target=target, epsilon=epsilon, seed=seed)
    return walk.measured_walk(medians, target=target)


def _measured(*, n: int, epsilon: float, seed: int) -> walk.MeasuredWalk:
    """How often the search ends at v on the data "all at v", at each of MEASURED_BITS.

    v lies at a third of the line: a search that hears nothing but noise still often ends in the first or last cell.
    """
    everyone, seen = np.array([n]), []
    for bits in MEASURED_BITS:
        target = 2**bits // 3
        medians = _medians(bits=bits, n=n, moved=everyone, target=target, epsilon=epsilon, seed=seed)
        seen.append(walk.measured_walk(medians, target=target))
    return walk.MeasuredWalk(
        chance=np.concatenate([one.chance for one in seen]),
        low=np.concatenate([one.low for one in seen]),
        high=np.concatenate([one.high for one in seen]),
    )
