"""Lesson: noise in every bar is nearly optimal."""

from __future__ import annotations

from functools import partial

import numpy as np

from dpcore.core import Floats, exactly, rounded_down, rounded_up
from dpcore.limits.bounds import minimax
from dpcore.mechanisms.histograms.sparse import lone_row_chance
from dplab.limits.histogram_risk import total_errors
from pages.charts.words import significant
from pages.learn import kit, screen
from pages.learn.histogram import figure
from pages.learn.pictures import epsilon_grid
from pages.shell.controls import stops
from pages.shell.tasks.memory import remember, remember_call

RELEASES = 200


def lesson() -> None:
    """Draw the lesson: the total errors against ε."""
    kit.intro(
        "A histogram has noise in every bar. Its **total error** is the sum over all bars, as a share of n. Is there a "
        "better method?"
    )
    loss = kit.epsilon("histogram", default=0.5)
    cells = int(stops("Bars k", (2, 8, 16, 25, 32, 64, 128, 256, 1024), 64, key="histogram-cells"))
    with kit.more():
        rows = int(stops("Rows n", (50, 100, 500, 1000, 5000, 20_000, 100_000), 1000, key="histogram-rows"))
        full_bars = stops("Non-empty bars", (1, 2, 4, 8, 16, 32, 64, 128, 256, 1024), 8, key="histogram-held")
        occupied = min(int(full_bars), cells, rows)
        seed = kit.draws_seed()
    guess = screen.guess_stop(
        "histogram",
        f"{rows:,} rows in {cells} bars, ε = {exactly(loss)}. On the worst data, by which factor could the "
        "best private method reduce the error?",
        label="Your guess, a factor",
        options=(1, 2, 5, 10, 20, 50, 100, 1000),
        default=100,
    )

    def errors(key: str, *, full: int) -> Floats:
        settings = {"cells": cells, "occupied": full, "rows": rows, "seed": seed, "trials": RELEASES}
        return remember_call(total_errors, key=key, epsilon=loss, **settings)

    work = partial(minimax.risks, cells=cells, occupied=occupied, rows=rows, epsilons=epsilon_grid(loss))
    exact = remember(f"limits-risks|{cells}|{occupied}|{rows}|{loss}", work)
    measured = errors("identity", full=cells)
    shown = figure.risks(exact=exact, occupied=occupied, epsilon=loss, guess=guess, measured=measured)
    badge = f"curves: exact theory · dot: simulated, {RELEASES} releases, preview sampler, seed {seed}"
    kit.picture(shown, key="histogram_risks", badge=badge, presented_roles={"mechanism:identity"})
    projected = errors("projected_histogram", full=occupied)
    at = int(np.argmin(np.abs(exact.epsilons - loss)))
    error, best = float(exact.identity[at]), float(exact.lower_bound[at])
    kit.show_result(
        f"Noise in every bar has an expected total error of {significant(error)} of n. On the worst data "
        f"every private method has at least {rounded_down(best)}: a factor of at most "
        f"**{rounded_up(error / best)}**; you guessed {guess:g}. {kit.THEORY} "
        f"{'With' if occupied < cells else 'With all'} {occupied:,} "
        f"{'non-empty bars' if occupied > 1 else 'non-empty bar'}: {significant(float(projected.mean()))} "
        f"by projecting to the nearest histogram. {kit.SIMULATED}",
        verdict=screen.verdict(guess, error / best, near=0),
    )
    bound = minimax.risk_bound(cells=cells, rows=rows, epsilon=loss)
    kit.theorem(
        r"\inf_M\sup_D\;\mathbb{E}\,\bigl\lVert\hat h-h\bigr\rVert_1\;\ge\;c\,\frac{k}{\varepsilon n}",
        f"{bound.statement} {bound.note} {kit.THEORY}",
        what_helps(cells=cells, occupied=occupied, rows=rows, epsilon=loss, projected=projected),
        reference=f"{bound.reference}; their equation 5 for the random-DP histogram.",
        meaning="For ε up to about 1, k up to about εn, a constant c and every ε-private method M, on its worst data "
        "D.",
    )
    kit.break_it(
        "Projecting helps most if few bars are non-empty.", "One non-empty bar", {"histogram-held": kit.stop(1)}
    )


def what_helps(*, cells: int, occupied: int, rows: int, epsilon: float, projected: Floats) -> str:
    """Return which methods are better on data with few full bars, and their disadvantages.

    Args:
        cells: k.
        occupied: bars that hold rows.
        rows: n.
        epsilon: privacy budget.
        projected: total errors of projected releases of such data, fractions of n, (T,).
    """
    plain, spared = (minimax.geometric_risk(cells=size, rows=rows, epsilon=epsilon) for size in (cells, occupied))
    gamma = min(1.0, lone_row_chance(cells=cells, n=rows))
    if occupied == cells:
        return f"All {cells:,} bars hold rows here. Choose fewer non-empty bars to see what helps on easier data."
    return (
        f"**On easier data**, only {occupied:,} of {cells:,} bars hold rows, and three things help. "
        "**Project** the noisy bars to the nearest histogram of n rows; the guarantee stays the same. The "
        f"total error is then {significant(float(projected.mean()))} instead of {significant(plain)}. "
        f"(Mean of {len(projected)} releases; rows are spread evenly over these bars.) {kit.SIMULATED}\n\n"
        "**Or the guarantee is weaker**: *random* differential privacy holds for randomly sampled data, "
        f"not for all data. Empty bars may stay empty: {significant(spared)}, before any projection. For "
        f"{cells:,} bars and {rows:,} rows "
        + (
            f"the guarantee may fail for a share γ = {rounded_up(gamma)} of the data sets. {kit.THEORY}"
            if gamma < 1
            else f"no such guarantee is proved: there are too few rows. {kit.THEORY}"
        )
        + "\n"
        "\n"
        "**Or δ is above 0**: add noise to non-empty bars only and publish those above a threshold. If "
        "non-empty bars hold many rows, this has about the same error. Its guarantee holds for *all* data "
        "(Bun, Nissim and Stemmer 2016). It is not run here."
    )


LESSON = kit.Lesson(
    key="histogram",
    question="Is noise in every bar necessary?",
    place=320,
    minutes=6,
    needs="the Laplace mechanism; expected error",
    class_questions=(
        "On the worst data, by which factor can a private method have less error than noise in every bar?",
        "What helps when most bars are empty, and how does it weaken the guarantee?",
        "Where does the error of k/(εn) come from?",
    ),
    point=((1.1, 10),),
    show=lesson,
)
