"""Error against ε, for every mechanism that serves the query."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Floats, exactly
from dplab.sweep import Sweep
from pages.charts.picture import Anchor, Axis, Band, Corner, Curve, Dots, Mark, Picture, Region, Rule, Wall, Words
from pages.charts.words import percent, printable_labels, rows, short_numbers, with_weaker
from pages.shell.private.charts import TICKS

VACUOUS, BEYOND = 3.0, 3.0**0.5
"""Upper end of the strip above 100% of n, and the position of all larger errors in it."""
ROOM = 3.0
"""Factor below the smallest error, where labels have room."""
FREE_LEFT = 0.3
"""Smallest ε whose rule leaves room for the strip's label at the left."""
OWN_LEFT = 0.07
"""Smallest ε whose rule leaves room for its own label at the left, where that of the strip is at the right."""


def tradeoff(
    *,
    sweep: Sweep,
    titles: dict[str, str],
    weaker: dict[str, str],
    chosen: str,
    epsilon: float,
    alpha: float | None,
    impossible: tuple[Floats, Floats] | None = None,
    every: bool = True,
) -> Picture:
    """Return the worst error of mechanisms; the chosen one also has a 90% band, its mean and its guaranteed error.

    A click on a point sends its entry's key and ε; a click in the legend hides a mechanism. Errors above 100%
    are in a strip at the upper edge; hover texts and the table have their values. A bound ends there.

    Args:
        sweep: measured errors.
        titles: name of each entry.
        weaker: the rest of an entry's guarantee besides ε ("δ = 1e-6"); empty for pure ε.
        chosen: key of the mechanism on the page.
        epsilon: current ε of the page.
        alpha: allowed error, drawn as a rule if given.
        impossible: ε (I,) and the errors (I,) that no mechanism with the chosen guarantee can guarantee.
        every: draw all mechanisms, instead of the chosen one and those with the smallest error somewhere.
    """
    pure = [not weaker[key] for key in sweep.keys]
    drawn_keys = sweep.keys if every else (*sweep.frontier(pure), chosen)
    bottom, top = _reach(sweep, [key in drawn_keys for key in sweep.keys])
    full_names = [with_weaker(titles[key], weaker[key]) for key in sweep.keys]
    # The chosen mechanism is the first in the legend.
    order = sorted(range(len(sweep.keys)), key=lambda row: sweep.keys[row] != chosen)
    names = dict(zip(order, printable_labels(full_names[row] for row in order), strict=True))
    names = {row: name for row, name in names.items() if sweep.keys[row] in drawn_keys}
    # The label is at the end without the rule of ε.
    corner: Corner = "top right" if epsilon < FREE_LEFT else "top left"
    strip = Region(role="vacuous", y=(1.0, top), label="no guarantee", corner=corner)
    marks: list[Mark] = [strip] if top > 1 else []
    marks += _wall(impossible, bottom=bottom, top=top) if impossible else []
    for row, name in names.items():
        marks += _mechanism(sweep, row, name, chosen=sweep.keys[row] == chosen, bottom=bottom)
    has_promise = False
    if chosen in sweep.keys:
        promise = _promise(sweep, order[0], bottom=bottom)
        marks, has_promise = marks + promise, bool(promise)
    if alpha:
        marks.append(Rule(role="ink", y=alpha, label=f"allowed error α = {exactly(alpha)}", dash="dot", width=1.5))
    side: Anchor = "left" if OWN_LEFT <= epsilon < FREE_LEFT else "right"
    marks.append(Rule(role="ink", x=epsilon, label=f"ε = {exactly(epsilon)}", width=1.5, side=side))
    return Picture(
        title="Error against ε for each mechanism",
        x=Axis(title="← more private · ε · more accurate →", log=True, form="~g", ticks=TICKS),
        y=Axis(title="worst error, share of n", log=True, low=bottom, high=top, form=".3~p", rows=sweep.n),
        marks=marks,
        sentence=_sentence(sweep, full_names, pure, epsilon=epsilon)
        + (
            " The picture shows the selected mechanism and those with the smallest error at some ε."
            if len(names) < len(full_names)
            else ""
        )
        + (" Orange, dashed: the guaranteed error of the chosen mechanism." if has_promise else "")
        + " Click a point to select its mechanism and ε."
        + (_wall_sentence(impossible, epsilon=epsilon) if impossible else ""),
        table=_table(sweep, full_names, impossible),
        height=400,
        about=",".join(sweep.keys),
    )


def _mechanism(sweep: Sweep, row: int, name: str, *, chosen: bool, bottom: float) -> list[Mark]:
    """Return one mechanism's marks, with one colour and one name, so that the legend toggles all of them."""
    key = sweep.keys[row]
    measured = np.isfinite(sweep.worst[row]).all(axis=1)
    epsilons = sweep.epsilons[measured]
    if not len(epsilons):
        return []
    low, middle, high = _clamp_errors(sweep.worst[row, measured], bottom).T
    common: dict[str, Any] = {"role": f"mechanism:{key}", "name": name}

    def hover_texts(quantity: str, errors: Floats) -> list[str]:
        return [
            f"{name}, {quantity} at ε = {epsilon:g}: {percent(error)} ({rows(error, sweep.n)}), simulated"
            for epsilon, error in zip(epsilons.tolist(), errors.tolist(), strict=True)
        ]

    words = hover_texts("worst error, median", sweep.worst[row, measured, 1])
    pick = [{"key": key, "epsilon": epsilon} for epsilon in epsilons.tolist()]
    marks: list[Mark] = [
        Curve(**common, legend=False, x=epsilons, y=middle, dash="solid", width=3.5 if chosen else 1.8, hover=()),
        Dots(**common, x=epsilons, y=middle, size=10 if chosen else 8, hover=words, pick=pick),
    ]
    if not chosen:
        return marks
    typical = _clamp_errors(sweep.typical[row, measured, 1], bottom)
    words = hover_texts("mean error, median of releases", sweep.typical[row, measured, 1])
    end = max(float(typical[-1]), ROOM * bottom)  # below the floor the label would hide the axis's numbers
    return [
        *marks,
        Band(**common, legend=False, x=epsilons, low=low, high=high),
        Curve(**common, legend=False, x=epsilons, y=typical, dash="dash", width=2, hover=words),
        Words(role=common["role"], text="mean error", x=epsilons[-1], y=end, align="right", shift=(0, -10)),
    ]


def _clamp_errors(errors: Floats, bottom: float) -> Floats:
    """Return the errors clamped to the picture: at least its floor, and those above 100% in the strip."""
    placed: Floats = np.where(errors > 1, BEYOND, np.maximum(errors, bottom))
    return placed


def _promise(sweep: Sweep, row: int, *, bottom: float) -> list[Mark]:
    """Return the guaranteed error of the chosen mechanism, with a label at its end."""
    promise = np.maximum(sweep.promised[row], bottom)
    finite = np.isfinite(promise)
    epsilons, promise = sweep.epsilons[finite], promise[finite]
    if not len(epsilons):
        return []
    curve = Curve(role="theory", name="guaranteed", legend=False, x=epsilons, y=promise, dash="longdash")
    not_vacuous = np.flatnonzero(promise <= 1)
    if not len(not_vacuous):
        return [curve]
    x, y = float(epsilons[not_vacuous[-1]]), float(promise[not_vacuous[-1]])
    return [curve, Words(role="theory", text="guaranteed", x=x, y=y, align="right", shift=(0, 12), bold=True)]


def _reach(sweep: Sweep, drawn: list[bool]) -> tuple[float, float]:
    """Return the ends of the error axis: the drawn errors, up to 100% or to the strip above it.

    Below the smallest error there is room for a label. Errors below half a row are drawn as half a row.
    """
    worst, typical = sweep.worst[drawn], sweep.typical[drawn, :, 1]
    lowest = np.concatenate([worst[np.isfinite(worst)], typical[np.isfinite(typical)], [1.0]]).min() / ROOM
    return float(f"{max(lowest, 0.5 / sweep.n):.2g}"), VACUOUS if (worst > 1).any() else 1.0


def _wall(impossible: tuple[Floats, Floats], *, bottom: float, top: float) -> list[Mark]:
    """Return the impossible region, from the picture's floor to the lower bound, with its label."""
    positive = impossible[1] > 0
    epsilons, errors = impossible[0][positive], impossible[1][positive]
    if not len(errors):
        return []
    # Below the floor the edge is outside the picture: on the floor it would exclude the floor's error.
    marks: list[Mark] = [Wall(x=epsilons, y=np.minimum(errors, top), end=bottom, label="")]
    visible = np.flatnonzero(errors > bottom)
    if len(visible):
        at = float(epsilons[visible[0]])
        text = "impossible"  # more would lie over “mean error” on a phone
        marks.append(Words(role="ink", text=text, x=at, y=bottom, align="left", shift=(6, 12), bold=True))
    return marks


def _wall_sentence(impossible: tuple[Floats, Floats], *, epsilon: float) -> str:
    """Return the sentence on the lower bound at the current ε."""
    epsilons, errors = impossible
    place = int(np.argmin(np.abs(np.log(epsilons / epsilon))))
    there = f"ε = {epsilons[place]:.3g}"
    where_words = f"near {there}" if epsilons[0] <= epsilon <= epsilons[-1] else f"at {there}, where the curve ends,"
    return (
        f" Hatched: impossible (lower bound) for every mechanism with the same guarantee; {where_words} "
        f"errors below {percent(float(errors[place]))}."
    )


def _table(sweep: Sweep, names: list[str], impossible: tuple[Floats, Floats] | None) -> dict[str, list[Any]]:
    """Return the table of medians, guaranteed errors and lower bounds."""
    table: dict[str, list[Any]] = {
        "mechanism": [name for name in names for _ in sweep.epsilons],
        "epsilon": sweep.epsilons.tolist() * len(sweep.keys),
        "worst error": short_numbers(sweep.worst[:, :, 1].ravel()),
        "mean error": short_numbers(sweep.typical[:, :, 1].ravel()),
        "guaranteed": short_numbers(sweep.promised.ravel()),
    }
    if impossible:
        epsilons, errors = impossible
        table["mechanism"] += ["(impossible: lower bound)"] * len(epsilons)
        table["epsilon"] += short_numbers(epsilons)
        table["worst error"] += [None] * len(epsilons)
        table["mean error"] += [None] * len(epsilons)
        table["guaranteed"] += short_numbers(errors)
    return table


def _sentence(sweep: Sweep, names: list[str], pure: list[bool], *, epsilon: float) -> str:
    """Return the pure ε mechanism with the smallest error at the current ε, in a sentence."""
    column = int(np.argmin(np.abs(np.log(sweep.epsilons / epsilon))))
    worst = np.where(pure, sweep.worst[:, column, 1], np.nan)
    if not np.isfinite(worst).any():
        return "Every mechanism with a pure ε guarantee gave no answer (⊥) here."
    best = int(np.nanargmin(worst))
    low, high = sweep.epsilons[[0, -1]]
    within = low <= epsilon <= high
    at, compared = f"{sweep.epsilons[column]:g}", int(np.isfinite(worst).sum())
    return (
        f"{f'Near ε = {at}' if within else f'The curves end at ε = {at}; there'}, {names[best]} has the "
        f"smallest median of the worst error: {percent(float(worst[best]))}."
        + (f" {compared} pure ε mechanisms are compared." if compared > 1 else "")
    )
