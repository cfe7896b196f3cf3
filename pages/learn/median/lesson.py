"""Lesson: no private median on a fine grid with δ = 0, and the effect of δ > 0."""

from __future__ import annotations

import math
import re

import numpy as np

from dpcore.core import exactly
from dpcore.limits.bounds import interior, median
from dplab.limits import medians
from pages.learn import kit, screen
from pages.learn.median import figure
from pages.shell.controls import choice, stops, whole
from pages.shell.tasks.memory import remember_call

BITS = (1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 80, 100, 144, 200, 300, 500, 800, 1000, 1500, 2000, 3000, 5000, 8000, 10_000)
WALKS = {
    "exponential": "Exponential mechanism",
    "permute-and-flip": "Permute-and-flip",
    "refusing": "Mechanism that attains the bound",
    "stable": "Stable median (with δ)",
    "search": "Released histogram + binary search (measured)",
    "interval-search": "Interval release + binary search (measured)",
}


SEARCHES = {"search": "identity", "interval-search": "intervals-anchored"}
ROOM = math.log(0.999)
"""Logarithm of a probability that is practically 1."""
VIEWS = ("Probability of the right median", "Row by row", "Each step", "If δ > 0")
"""Its pictures."""


def lesson() -> None:
    """Draw the lesson: the probability of the right median by grid size, and the walk of one mechanism."""
    kit.intro("**All n rows hold the same value**, the median. Surely a private method can say so?")
    loss = kit.epsilon("median", default=0.1)
    bits = stops("Bits of the grid", BITS, 200, key="median-bits", help_text="2^bits possible values.")
    with kit.more():
        n = whole(
            "Rows n", 1, 2001, 1001, step=2, key="median-n", help_text="n is odd, so that there is one middle row."
        )
        delta = stops("δ", (1e-12, 1e-9, 1e-6, 1e-4, 1e-2), 1e-6, key="median-delta")
        seed = kit.draws_seed()
    guess = screen.guess_stop(
        "median",
        f"{f'{n:,} equal rows' if n > 1 else 'One row'}, ε = {exactly(loss)}, δ = 0. On how fine a grid is "
        "**every** private method wrong more often than right, for some value?",
        label="Your guess, in bits of the grid",
        options=BITS,
        default=1000,
    )
    chosen = kit.pictures("median", *VIEWS)
    if chosen == VIEWS[3]:
        return _under_delta(n=n, loss=loss, delta=delta, bits=bits)
    if chosen == VIEWS[0]:
        _success(n=n, loss=loss, delta=delta, bits=bits, guess=guess, drawn=seed)
    else:
        _walk(n=n, epsilon=loss, delta=delta, bits=bits, seed=seed, steps=chosen == VIEWS[2])
    chances = medians.chances([bits], n=n, epsilon=loss, delta=delta)
    stable, able = (typeset(figure.log_chance(float(chances.mechanisms[key][0]))) for key in ("stable", "exponential"))
    best_chance = typeset(figure.log_chance(float(chances.max_chance[0]), is_bound=True))
    wall = median.wall(n=n, epsilon=loss)
    kit.show_result(
        f"The limit is at {wall:,.1f} bits; you guessed {guess:,.0f}. On $2^{{{bits:.0f}}}$ "
        + (
            f"values, below the limit, the exponential mechanism is right with probability **{able}**. {kit.THEORY}"
            if float(chances.max_chance[0]) > ROOM
            else "values, no private method with δ = 0 is right about every value with probability above "
            f"**{best_chance}**. The stable median, with δ = {exactly(delta)}, is right with probability "
            f"**{stable}**. {kit.THEORY}"
        ),
        verdict=screen.verdict(guess, wall, unit=" bits"),
    )
    bound = median.impossibility(bits=bits, n=n, epsilon=loss)
    threshold, stability = median.stable_threshold(epsilon=loss, delta=delta), (n + 1) // 2
    kit.theorem(
        r"b>\log_2\bigl(1+e^{\varepsilon n}\bigr)\Rightarrow\min_v\Pr[v]<\tfrac12",
        f"{bound.statement} {bound.note} {kit.THEORY}",
        "Change one row at a time until all rows hold *another* value. At each step the answer's "
        "probability may change only by a factor e^ε. *Row by row* shows this.",
        "With δ > 0 this bound does not apply. On **these data** the stable median mostly "
        f"{'answers' if stability >= threshold else 'refuses'}, for every grid: {stability:,} rows must "
        f"change before the median does. If fewer than about {threshold:,} rows can change it, it mostly "
        "refuses.",
        reference="Blum, Ligett and Roth (2013), Theorem 5.1 and Corollary 5.2; McKenna and Sheldon (2020) for "
        "permute-and-flip.",
        meaning="All rows hold v, one of $2^b$ values. Pr[v]: probability of the answer v. For δ = 0 only.",
    )
    kit.break_it(
        "On a coarse grid the exponential mechanism is nearly always right.", "Ten bits", {"median-bits": kit.stop(10)}
    )


def _under_delta(*, n: int, loss: float, delta: float, bits: float) -> None:
    """Draw what becomes of the limit with δ > 0."""
    picture = figure.under_delta(n=n, epsilon=loss, delta=delta, bits=bits)
    kit.picture(picture, key="median_delta", badge="exact theory; log*: order only")
    star = int(interior.log_star_of_grid(bits)[0])
    rows = int(interior.rows_without_delta(bits, epsilon=loss))
    kit.show_result(
        f"On $2^{{{bits:.0f}}}$ values, δ = 0 needs at least **{rows:,}** rows. With δ > 0 the need is of order log\\* "
        f"= **{star}**, but it never goes away. {kit.THEORY}"
    )
    kit.theorem(
        r"\delta>0:\quad n\ge\Omega(\log^*|X|)",
        "An *interior point* is any value between the smallest and the largest row. A median is one. For all "
        "data, even this needs n of order log\\*, if δ is below about 1/n². Methods of that order exist, up to "
        "logarithmic factors.",
        "Learning *thresholds* (x ≥ t) is as hard. With δ > 0, a class can be learned privately if and only if "
        f"its Littlestone dimension is finite. For thresholds on $2^{{{bits:.0f}}}$ values it is {bits:.0f}, and "
        "their VC dimension is 1. On an infinite line it is infinite.",
        "The stable median does not contradict this: on data that are not stable it mostly refuses.",
        reference="Bun, Nissim, Stemmer and Vadhan (2015); Alon, Livni, Malliaris and Moran (2019); Bun, Livni and "
        "Moran (2020); Cohen, Lyu, Nelson, Sarlós and Stemmer (2023).",
        meaning="log\\*|X|: how often log₂ is taken until 1 is left. An order: its constant is not known.",
    )


def typeset(chance: str) -> str:
    """Return a power of ten as a LaTeX formula.

    >>> typeset("1.8·10^−17")
    '1.8·$10^{-17}$'
    """
    return re.sub(r"10\^−(\d+)", r"$10^{-\1}$", chance)


def _success(*, n: int, loss: float, delta: float, bits: float, guess: float, drawn: int) -> None:
    """Draw the probability of the right median by grid size."""
    grid = np.unique(np.append(np.geomspace(1, 10_000, 160), bits))
    chances = medians.chances(grid, n=n, epsilon=loss, delta=delta)
    measured = {
        key: remember_call(medians.measured_chances, n=n, epsilon=loss, seed=drawn, key=key)
        for key in medians.SEARCHED_ENTRIES
    }
    shown = figure.success(chances=chances, n=n, epsilon=loss, delta=delta, bits=bits, guess=guess, measured=measured)
    badge = f"curves: exact theory · dots: simulated, preview sampler, seed {drawn}"
    roles = {"mechanism:exponential_median", "mechanism:stable_median"}
    kit.picture(shown, key="median_success", badge=badge, presented_roles=roles)


def _walk(*, n: int, epsilon: float, delta: float, bits: float, seed: int, steps: bool) -> None:
    """Draw the walk of the selected mechanism: probability at each data set, or factor at each step."""
    chosen = choice("Mechanism", WALKS, key="median-walk")
    if chosen in SEARCHES:
        key = SEARCHES[chosen]
        walk_measured = remember_call(medians.measured_walk, n=n, epsilon=epsilon, seed=seed, key=key)
        shown = figure.measured_walk(n=n, walk=walk_measured, key=key)
        badge = f"simulated: {medians.TRIALS} releases of each data set, preview sampler, seed {seed}"
        kit.picture(shown, key="median_measured", badge=badge)
        return kit.show_result(
            "Corollary 5.2: a binary search in an accurate release of intervals always ends at v. So on "
            f"grids too fine for n and ε, no ε-private release is accurate. Shown on 2^{medians.WALK_BITS} "
            f"cells. {kit.SIMULATED}"
        )
    walk = medians.exact_walk(chosen, bits=bits, n=n, epsilon=epsilon, delta=delta)
    if steps:
        kit.picture(figure.walk_factors(key=chosen, walk=walk), key="median_steps", badge="exact theory")
    else:
        kit.picture(figure.walk_chances(key=chosen, walk=walk, bits=bits), key="median_climb", badge="exact theory")


LESSON = kit.Lesson(
    key="median",
    question="Can a private method find the median?",
    place=310,
    minutes=8,
    needs="differential privacy with δ = 0; the exponential mechanism",
    class_questions=(
        "All rows are equal. Why is it hard to release their value privately?",
        "By which factor may the probability of an answer change when one row changes, and after n rows?",
        "What does the stable median give up so that the limit does not apply?",
    ),
    point=((1, 10), (10, 10), (11, 100), (99.9, 99.9)),  # 10 to a power below −10, for any with δ = 0
    show=lesson,
)
