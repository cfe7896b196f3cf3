"""Lesson: the lowest bits of a noisy number give the true count away."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpcore.core import Floats, exactly
from dpcore.figures import limits_lowbits as figures
from dpcore.figures.figure import percent
from dpcore.limits import low_bits, odds
from dpcore.randomness import Secure
from pages.ui.charts import is_dark
from pages.ui.limits_kit import SIMULATED, epsilon, guess_number, picture, reference, seed, stops
from pages.ui.session import with_progress

EACH = 5_000
"""Releases of each count."""
SHOWN = 8
"""Naive releases taken apart on the page."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Attacked:
    """Both verdicts, and the first naive releases of both counts."""

    naive: low_bits.Verdict
    secure: low_bits.Verdict
    outputs: Floats


def lesson() -> None:
    """Controls, the question, the two verdicts, some releases taken apart."""
    st.markdown(
        "Is there one person more in the table, or not? A count is released with Laplace noise, drawn as the textbook "
        "says: "
        "`scale * log(uniform)`. On paper this is private. In a computer the noise is one of finitely many numbers, "
        "and "
        "**adding it to another count rounds it differently**. So the attacker looks at the last bits."
    )
    left, right = st.columns(2)
    with left:
        loss = epsilon("low-bits", default=0.5, high=1.0)
    with right:
        low = int(
            stops("The counts to tell apart: this one, or one more", (0, 1, 10, 100, 1000), 0, key="low-bits-count")
        )
        drawn = seed()
    allowed = float(odds.best_guess(0.5, epsilon=loss))
    guess = guess_number(
        "low-bits",
        f"One release at ε = {exactly(loss)}; whatever the method, privacy allows at most {percent(allowed)} right "
        f"guesses between {low} and {low + 1}. How often does the attacker guess right against textbook noise?",
        label="Your guess, percent",
        low=0,
        high=100,
        default=50,
        unit="%%",
    )
    if guess is None:
        return
    found = with_progress(
        f"limits-low-bits|{loss}|{low}|{drawn}",
        lambda: attacked(low=low, epsilon=loss, seed=drawn),
        label="Drawing and attacking 20,000 releases.",
    )
    badge = f"simulated: naive noise with seed {drawn}, secure sampler from the system's entropy"
    picture(
        figures.verdicts(
            naive=found.naive, secure=found.secure, epsilon=loss, guess=guess / 100, badge=badge, dark=is_dark()
        ),
        title="One release, one guess",
        key="lowbits_verdicts",
    )
    if found.naive.broken:
        st.warning(
            f"The naive noise cannot be ε-DP with ε = {exactly(loss)}: {percent(found.naive.success)} right guesses, "
            f"at least {percent(found.naive.interval[0])} (exact interval, wrong once in a million times), where "
            f"{percent(allowed)} are allowed."
        )
    else:
        st.info(
            "At this count and ε the few lost bits are not enough for a verdict; try smaller counts or a smaller ε."
        )
    _taken_apart(found, low=low, epsilon=loss)
    st.markdown(
        f"In {percent(found.naive.certain)} of the naive releases one count is ruled out **for certain**, whatever ε "
        "was. "
        "The secure sampler draws whole-number noise exactly: every whole number can come out of every count. "
        f"{SIMULATED}"
    )
    reference("Mironov (2012), sections 4 and 5; the allowance e^ε/(1 + e^ε) is the best any attacker can do.")


def attacked(*, low: int, epsilon: float, seed: int) -> Generator[float, None, Attacked]:
    """Draw both counts with both samplers and attack; yields the fraction done."""
    high, scale = low + 1, 1 / epsilon
    noisy = [low_bits.naive_laplace(count, scale=scale, trials=EACH, seed=seed + count) for count in (low, high)]
    naive = low_bits.score(*noisy, low=low, high=high, epsilon=epsilon)
    yield 0.4
    exact = []
    for count in (low, high):
        drawn = Secure().noisy_counts(np.array([[count]]), epsilon=epsilon, sensitivity=1, trials=EACH)
        exact.append(drawn[:, 0].astype(np.float64))
        yield 0.6 + 0.2 * (count - low)
    secure = low_bits.score(*exact, low=low, high=high, epsilon=epsilon)
    outputs = np.concatenate([each[: SHOWN // 2] for each in noisy])
    return Attacked(naive=naive, secure=secure, outputs=outputs)


def _taken_apart(found: Attacked, *, low: int, epsilon: float) -> None:
    """Some naive releases, and which counts can have led to them."""
    guesses = low_bits.attack(found.outputs, low=low, high=low + 1, scale=1 / epsilon)
    possible = [low_bits.reachable(found.outputs, count, scale=1 / epsilon) for count in (low, low + 1)]
    truth = [low] * (SHOWN // 2) + [low + 1] * (SHOWN // 2)
    place = st.expander("Eight naive releases, taken apart", key="lowbits_open", on_change="rerun")
    if not place.open:
        return
    place.dataframe(
        {
            "released": [repr(float(value)) for value in found.outputs],
            "last bits": [float(value).hex().split("p")[0][-4:] for value in found.outputs],
            f"can come from {low}": ["yes" if each else "no" for each in possible[0]],
            f"can come from {low + 1}": ["yes" if each else "no" for each in possible[1]],
            "attacker says": [
                f"{low + int(high)}{', for certain' if sure else ''}"
                for high, sure in zip(guesses.high, guesses.certain, strict=True)
            ],
            "truth": truth,
        },
        hide_index=True,
    )
