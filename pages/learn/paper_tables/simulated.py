"""What the papers print, run where it is finite, beside what is here: one picture for each system."""

from __future__ import annotations

import numpy as np

from dpcore.core import Floats, exactly
from dplab.printed.simulated import HALFSPACE_ROWS, LEVEL, MATRICES, VECTORS, Simulated
from pages.charts.picture import Axis, Curve, Dots, Mark, Picture, Rule
from pages.charts.words import percent, significant
from pages.learn.pictures import OTHERS, lesson_picture

FLOOR = 1e-3
ERROR = Axis(title=f"error of {LEVEL:.0%}, share of n", log=True, low=FLOOR, high=10.0, form="~p")
ROWS = "rows n"


def _within(values: Floats) -> Floats:
    """No error below the axis is lost, and none above 1,000% says more than that."""
    shown: Floats = np.clip(values, 1.05 * FLOOR, 9.5)
    return shown


def _curve(found: Simulated, key: str, name: str, role: str, dash: str = "") -> Curve:
    return Curve(role=role, name=name, x=found.at, y=_within(found.errors[key]), dash=dash)


def sanitizer(found: Simulated, *, alpha: float) -> Picture:
    """The sanitizer with the printed norm and with the largest coefficient, beside two that have the ε they claim."""
    printed, largest = (significant(found.has[key]) for key in ("printed", "largest"))
    return lesson_picture(
        title="The sanitizer at two norms T",
        x=Axis(title=ROWS, log=True, form="~s"),
        y=ERROR,
        marks=[
            _curve(found, "printed", f"T = dᵗ, as printed: has ε = {printed}", OTHERS[0], "dash"),
            _curve(found, "largest", f"T = max |aᵢ|: has ε = {largest}", OTHERS[2], "dashdot"),
            _curve(found, "private", "noise for all coefficients", OTHERS[1], "longdash"),
            _curve(found, "ours", "ours", "mechanism:marginals-polynomial"),
            Rule(role="theory", y=alpha, label=f"α = {alpha:g}"),
        ],
        sentence=f"The sanitizer claims ε = {exactly(found.claimed)}. With T = dᵗ, as printed, it has {printed} and is "
        f"within α = {alpha:g} from {_first(found, 'printed', alpha)} rows; with T = max |aᵢ| it has {largest}, from "
        f"{_first(found, 'largest', alpha)} rows. With the noise that ε takes, it is from "
        f"{_first(found, 'private', alpha)}; ours from {_first(found, 'ours', alpha)}.",
    )


def intervals(found: Simulated, *, alpha: float) -> Picture:
    """Algorithm 2 around the rows of its theorem, and what is promised there."""
    at = int(np.argmin(np.abs(found.at - found.marked["rows printed"])))
    return lesson_picture(
        title="Theorem 4.3 at its own n",
        x=Axis(title=ROWS, log=True, form="~s"),
        y=ERROR,
        marks=[
            _curve(found, "printed", "Algorithm 2, repaired", "mechanism:intervals-printed", "dash"),
            _curve(found, "ours", "anchored", "mechanism:intervals-anchored"),
            _curve(found, "recursive", "recursive quantiles", "mechanism:intervals-recursive", "dot"),
            Rule(role="theory", y=alpha, label=f"promised: α = {alpha:g}"),
            *(Rule(role="ink", x=place, label=words, dash="dot") for words, place in found.marked.items()),
        ],
        sentence=f"At the printed n = {found.at[at]:,.0f} the worst interval of {LEVEL:.0%} of the releases is within "
        f"{percent(float(found.errors['printed'][at]))}, where {percent(alpha)} is promised; anchored: "
        f"{percent(float(found.errors['ours'][at]))}, recursive: {percent(float(found.errors['recursive'][at]))}.",
    )


def halfspaces(found: Simulated, *, alpha: float) -> Picture:
    """ReleaseHalfspaces where it can be run: its noise, what is left without it, and ours."""
    printed, kept, ours = (found.errors[key] for key in ("printed", "kept", "ours"))
    looks = (
        ("printed", printed, OTHERS[0], "square", "as printed, with its noise"),
        ("kept", kept, OTHERS[1], "diamond", "as printed, without noise"),
        ("ours", ours, "mechanism:halfspaces", "circle", "ours"),
    )
    marks: list[Mark] = [
        Dots(
            role=role,
            name=name,
            x=found.at,
            y=_within(values),
            shape=shape,
            hover=[f"{name}, T = {t:g}: {percent(error)}" for t, error in zip(found.at, values.tolist(), strict=True)],
        )
        for _, values, role, shape, name in looks
    ]
    return lesson_picture(
        title="ReleaseHalfspaces, where it can be run",
        x=Axis(title="dimensions T kept", log=True, low=0.8, high=1.5 * found.marked["T as printed"]),
        y=ERROR,
        marks=[
            *marks,
            Rule(role="theory", y=alpha, label=f"α = {alpha:g}"),
            *(Rule(role="ink", x=place, label=words, dash="dot") for words, place in found.marked.items()),
        ],
        sentence=f"For one direction with the margin and {HALFSPACE_ROWS:,} rows (printed: votes counted on the first "
        f"{VECTORS:,} rows, with at most {MATRICES:,} matrices): at T = 1 the printed release errs by "
        f"{percent(float(printed[0]))}, at T = 4 its noise alone is {significant(float(printed[-1]))} times n; without "
        f"noise {percent(float(kept[-1]))}, ours {percent(float(ours[-1]))}. Printed is T = "
        f"{found.marked['T as printed']:,.0f}. Errors above 950% stand at the top.",
    )


def _first(found: Simulated, key: str, alpha: float) -> str:
    """The rows from which the error stays within alpha, rounded as the grid is."""
    within = np.flatnonzero(found.errors[key] <= alpha)
    return f"{significant(float(found.at[within[0]]))}" if len(within) else "more than any table's"
