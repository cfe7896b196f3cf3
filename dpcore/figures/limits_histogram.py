"""The histogram's risk: what nobody can beat, what mechanisms have, against ε."""

from __future__ import annotations

import numpy as np

from dpcore.core import Floats, exactly
from dpcore.figures.figure import Figure, significant
from dpcore.figures.limits_parts import Axis, Mark, Series, Wall
from dpcore.figures.limits_plot import plot
from dpcore.figures.limits_vc import EPSILON
from dpcore.limits import minimax


def risks(
    *,
    cells: int,
    occupied: int,
    rows: int,
    epsilon: float,
    guess: float,
    measured: Floats,
    badge: str,
    dark: bool,
) -> Figure:
    """Expected total error against ε, on logarithmic axes; below the wall is nobody.

    Args:
        cells: k.
        occupied: cells that hold rows at all, for the random-DP histogram.
        rows: n.
        epsilon: where the reader stands.
        guess: by which factor the reader thinks the identity histogram can be beaten there.
        measured: total errors of identity releases there, fractions of n, (T,).
        badge: provenance.
        dark: for the dark theme.
    """
    grid = np.unique(np.concatenate([np.geomspace(0.08, 12.5, 50), [epsilon]]))
    nobody = np.array([minimax.best_pairs(cells=cells, rows=rows, epsilon=float(at)).risk for at in grid])
    identity = np.array([minimax.geometric_risk(cells=cells, rows=rows, epsilon=float(at)) for at in grid])
    sparse = np.array([minimax.geometric_risk(cells=occupied, rows=rows, epsilon=float(at)) for at in grid])
    laplace = np.array([minimax.laplace_risk(cells=cells, rows=rows, epsilon=float(at)) for at in grid])
    whole = np.array([minimax.integer_risk(cells=cells, rows=rows, epsilon=float(at)) for at in grid])
    printed = np.array([minimax.printed_risk(cells=cells, rows=rows, epsilon=float(at)) for at in grid])
    here = int(np.argmin(np.abs(grid - epsilon)))
    floor, top = float(f"{identity.min() / 30:.1g}"), max(4.0, 1.5 * float(laplace.max()))
    half = 1.96 * measured.std() / np.sqrt(len(measured))
    mean = float(measured.mean())
    best = float(nobody[here])
    error = float(identity[here])
    ratio = f"{significant(error / best)} times" if best > 0 else "any factor, as far as this proof goes,"
    full = "1 full bar" if occupied == 1 else f"{occupied:,} full bars"
    exceeds = "" if printed[here] <= identity[here] else " The printed form exceeds a mechanism that exists."
    return plot(
        x=EPSILON,
        y=Axis(title="expected total error, of n", log=True, low=floor, high=top),
        series=[
            Series(name="identity (exact)", x=grid, y=identity, role="released"),
            Series(name="Laplace noise (exact)", x=grid, y=laplace),
            Series(name=f"random DP, {occupied} full bars (exact)", x=grid, y=sparse),
            Series(name="paper, whole rows", x=grid, y=whole, role="theory"),
            Series(name="paper, as printed", x=grid, y=printed),
            Series(
                name="identity, measured", x=[epsilon], y=[mean], low=[max(mean - half, floor)], high=[mean + half],
                role="released",
            ),
        ],
        wall=Wall(x=grid, y=nobody, end=floor, label="impossible for a private method", corner="bottom left"),
        marks=(
            Mark(label="your guess", y=max(float(identity[here]) / guess, floor), guess=True),
            Mark(label=f"ε = {exactly(epsilon)}", x=epsilon),
            Mark(label="2: nothing right", y=2.0),
        ),
        sentence=f"At ε = {exactly(epsilon)} the identity histogram's total error is {significant(error)} of n; "
        f"nobody can be below {significant(best)}, so it is beaten by {ratio} at the most (you guessed "
        f"{guess:g}). With only {full} and the weaker random promise it is "
        f"{significant(float(sparse[here]))}.{exceeds}",
        badge=badge,
        dark=dark,
        height=360,
    )  # fmt: skip
