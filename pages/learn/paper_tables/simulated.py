"""Pictures of the papers' algorithms, run where they are finite, with the corrected ones."""

from __future__ import annotations

import numpy as np

from dpcore.core import Floats, exactly
from dplab.printed.population import PopulationErrors
from dplab.printed.simulated import HALFSPACE_ROWS, LEVEL, MATRICES, VECTORS, SimulatedErrors
from pages.charts.picture import Axis, Curve, Dots, Mark, Picture, Rule
from pages.charts.words import percent, significant
from pages.learn.pictures import OTHERS, lesson_picture

FLOOR = 1e-3
ERROR = Axis(title=f"error of {LEVEL:.0%}, share of n", log=True, low=FLOOR, high=10.0, form="~p")
ROWS = "rows n"


def _within(values: Floats) -> Floats:
    """Return errors clamped to the axis."""
    shown: Floats = np.clip(values, 1.05 * FLOOR, 9.5)
    return shown


def _curve(run: SimulatedErrors, key: str, name: str, role: str, dash: str = "") -> Curve:
    return Curve(role=role, name=name, x=run.at, y=_within(run.errors[key]), dash=dash)


def sanitizer(run: SimulatedErrors, *, alpha: float) -> Picture:
    """Return the error of the sanitizer with two norms, and of two that have the ε they claim."""
    printed, largest = (significant(run.exact_epsilons[key]) for key in ("printed", "largest"))
    return lesson_picture(
        title="The sanitizer at two norms T",
        x=Axis(title=ROWS, log=True, form="~s"),
        y=ERROR,
        marks=[
            _curve(run, "printed", f"T = dᵗ, as printed: has ε = {printed}", OTHERS[0], "dash"),
            _curve(run, "largest", f"T = max |aᵢ|: has ε = {largest}", OTHERS[2], "dashdot"),
            _curve(run, "private", "noise for all coefficients", OTHERS[1], "longdash"),
            _curve(run, "ours", "ours", "mechanism:marginals-polynomial"),
            Rule(role="theory", y=alpha, label=f"α = {alpha:g}"),
        ],
        sentence=f"The sanitizer claims ε = {exactly(run.claimed)}. With T = dᵗ, as printed, it has {printed} and "
        f"an error below α = {alpha:g} from {_first(run, 'printed', alpha)} rows. With T = max |aᵢ| it has "
        f"{largest}, from {_first(run, 'largest', alpha)} rows. With the noise that ε needs it takes "
        f"{_first(run, 'private', alpha)} rows; our version takes {_first(run, 'ours', alpha)}.",
    )


def intervals(run: SimulatedErrors, *, alpha: float) -> Picture:
    """Return the error of Algorithm 2 around the rows of its theorem, with the guaranteed error."""
    at = int(np.argmin(np.abs(run.at - run.marked_places["rows printed"])))
    return lesson_picture(
        title="Theorem 4.3 at its own n",
        x=Axis(title=ROWS, log=True, form="~s"),
        y=ERROR,
        marks=[
            _curve(run, "printed", "Algorithm 2, repaired", "mechanism:intervals-printed", "dash"),
            _curve(run, "ours", "anchored", "mechanism:intervals-anchored"),
            _curve(run, "recursive", "recursive quantiles", "mechanism:intervals-recursive", "dot"),
            Rule(role="theory", y=alpha, label=f"guaranteed: α = {alpha:g}"),
            *(Rule(role="ink", x=place, label=words, dash="dot") for words, place in run.marked_places.items()),
        ],
        sentence=f"At the printed n = {run.at[at]:,.0f}, {LEVEL:.0%} of releases have a worst error of at most "
        f"{percent(float(run.errors['printed'][at]))}; the theorem guarantees {percent(alpha)}. Anchored: "
        f"{percent(float(run.errors['ours'][at]))}; recursive: "
        f"{percent(float(run.errors['recursive'][at]))}.",
    )


def population(errors: PopulationErrors, *, alpha: float) -> Picture:
    """Return the error about a population against the rows, without privacy and with it."""
    sample, private = errors.needed
    series = (
        ("a sample, no privacy", OTHERS[1], errors.sampled, ""),
        ("private net, about the sample", "mechanism:net", errors.private, "dash"),
        ("private net, about the population", "theory", errors.both, ""),
        ("by the order of the line", OTHERS[0], errors.ordered, "dot"),
    )
    return lesson_picture(
        title="From a sample to its population",
        x=Axis(title=ROWS, log=True, form="~s"),
        y=Axis(title="guaranteed error, share of n", log=True, low=FLOOR, high=10.0, form="~p"),
        marks=[
            *(
                Curve(role=role, name=name, x=errors.rows, y=_within(values), dash=dash)
                for name, role, values, dash in series
                if values is not None
            ),
            Rule(role="theory", y=alpha, label=f"α = {alpha:g}"),
            Rule(role="ink", x=sample, label=f"{sample:,} rows", dash="dot"),
            Rule(role="ink", x=private, label=f"{private:,} rows", dash="dot"),
        ],
        sentence=f"A sample of {sample:,} rows is within α = {alpha:g} of its population in every query. With privacy, "
        f"any class of this size takes {private:,} rows: {significant(private / sample)} times as many.",
    )


def halfspaces(run: SimulatedErrors, *, alpha: float) -> Picture:
    """Return the errors of ReleaseHalfspaces with and without its noise, and ours."""
    printed, without_noise, ours = (run.errors[key] for key in ("printed", "kept", "ours"))
    series = (
        ("printed", printed, OTHERS[0], "square", "as printed, with its noise"),
        ("kept", without_noise, OTHERS[1], "diamond", "as printed, without noise"),
        ("ours", ours, "mechanism:halfspaces", "circle", "ours"),
    )
    marks: list[Mark] = [
        Dots(
            role=role,
            name=name,
            x=run.at,
            y=_within(values),
            shape=shape,
            hover=[f"{name}, T = {t:g}: {percent(error)}" for t, error in zip(run.at, values.tolist(), strict=True)],
        )
        for _, values, role, shape, name in series
    ]
    return lesson_picture(
        title="ReleaseHalfspaces, at settings that can be run",
        x=Axis(title="dimensions T after projection", log=True, low=0.8, high=1.5 * run.marked_places["T as printed"]),
        y=ERROR,
        marks=[
            *marks,
            Rule(role="theory", y=alpha, label=f"α = {alpha:g}"),
            *(Rule(role="ink", x=place, label=words, dash="dot") for words, place in run.marked_places.items()),
        ],
        sentence=f"One direction with the margin, {HALFSPACE_ROWS:,} rows (printed version: votes on the first "
        f"{VECTORS:,} rows, at most {MATRICES:,} matrices). At T = 1 the error of the printed release is "
        f"{percent(float(printed[0]))}. At T = 4 its noise alone is {significant(float(printed[-1]))}·n; "
        f"without noise {percent(float(without_noise[-1]))}; our version {percent(float(ours[-1]))}. The "
        f"paper prints T = {run.marked_places['T as printed']:,.0f}. Errors above 950% are shown at the "
        "top.",
    )


def _first(run: SimulatedErrors, key: str, alpha: float) -> str:
    """Return the rows from which the error is at most alpha, rounded to the grid."""
    within = np.flatnonzero(run.errors[key] <= alpha)
    return f"{significant(float(run.at[within[0]]))}" if len(within) else "more than any table's"
