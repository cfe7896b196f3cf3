"""Picture of the histogram's total error against ε: the lower bound and the mechanisms."""

from __future__ import annotations

import numpy as np

from dpcore.core import Floats, exactly, rounded_down, rounded_up
from dpcore.limits.bounds.minimax import Risks
from pages.charts.picture import Axis, Curve, Dots, Picture, Rule
from pages.charts.words import significant
from pages.learn.pictures import curves, epsilon_axis, epsilon_rule, guess_rule, impossible_side, lesson_picture


def risks(*, exact: Risks, occupied: int, epsilon: float, guess: float, measured: Floats) -> Picture:
    """Return the expected total error against ε, on logarithmic axes, with the lower bound.

    Args:
        exact: the risks on a grid of ε with ``epsilon`` in it.
        occupied: cells that hold rows at all.
        epsilon: the current ε.
        guess: the user's factor by which the identity histogram can be beaten.
        measured: total errors of identity releases there, fractions of n, (T,).
    """
    index = int(np.argmin(np.abs(exact.epsilons - epsilon)))
    error, best, mean = float(exact.identity[index]), float(exact.lower_bound[index]), float(measured.mean())
    half = 1.96 * float(measured.std()) / np.sqrt(len(measured))
    known = np.concatenate([exact.lower_bound, exact.identity, exact.spared, exact.whole, exact.printed, exact.laplace])
    floor = min(float(known[known > 0].min()), error / guess) / 1.5
    other_curves = curves(
        exact.epsilons, {"Laplace noise (exact)": exact.laplace, "paper, as printed (wrong for large ε)": exact.printed}
    )
    full = "1 full bar" if occupied == 1 else f"{occupied:,} non-empty bars"
    marks = [
        impossible_side(
            exact.epsilons,
            exact.lower_bound,
            end=floor,
            corner="bottom left",
            label="impossible under differential privacy",
        ),
        Curve(role="mechanism:identity", name="noise in every bar (exact)", x=exact.epsilons, y=exact.identity),
        Curve(
            role="mechanism:sparse_histogram",
            name=f"weaker guarantee, {full} (exact)",
            x=exact.epsilons,
            y=exact.spared,
            dash="dashdot",
        ),
        *other_curves,
        Curve(
            role="theory", name="paper, whole rows", x=exact.epsilons, y=np.where(exact.whole > 0, exact.whole, np.nan)
        ),
        # A mean of 0 has no position on a logarithmic axis; only the sentence has it.
        *([_dot(epsilon, mean, half, floor)] if mean else []),
        epsilon_rule(epsilon),
        guess_rule(y=error / guess),
        Rule(role="quiet", y=2.0, label="2: no row in its bar", below=True),
    ]
    factor = f"is at most {rounded_up(error / best)}" if best > 0 else "is not bounded by this proof"
    exceeds = "" if exact.printed[index] <= error else " The printed bound is above the error of an existing mechanism."
    return lesson_picture(
        title="Total error, and the lower bound",
        x=epsilon_axis(epsilon),
        # Room above the highest curve for the label at ε.
        y=Axis(title="expected total error, of n", log=True, low=floor, high=4 * max(2.0, float(exact.laplace.max()))),
        marks=marks,
        sentence=f"At ε = {exactly(epsilon)} the expected total error of the identity histogram is "
        f"{significant(error)} of n ({significant(mean)} in {len(measured):,} releases). On the worst data "
        f"every private method has at least {rounded_down(best)}, so the factor {factor} (you "
        f"guessed {guess:g}). With only {full} and the weaker random guarantee, if its condition is met, "
        f"it is {significant(float(exact.spared[index]))}.{exceeds}",
    )


def _dot(epsilon: float, mean: float, half: float, floor: float) -> Dots:
    """Return the measured error with its 95% interval."""
    return Dots(
        role="mechanism:identity",
        name="noise in every bar, measured",
        x=[epsilon],
        y=[mean],
        low=[max(mean - half, floor)],
        high=[mean + half],
    )
