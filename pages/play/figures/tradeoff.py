"""Error against privacy loss, for every mechanism that serves the question."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Floats, exactly
from dplab.sweep import Sweep
from pages.charts.picture import Axis, Band, Corner, Curve, Dots, Mark, Picture, Region, Rule, Wall, Words
from pages.charts.words import percent, printable_labels, rows, short_numbers, with_weaker

TICKS = (0.001, 0.01, 0.1, 1, 10)
VACUOUS, BEYOND = 3.0, 3.0**0.5
"""Where the strip above 100% of n ends, and where in it all larger errors stand: to answer nothing is never worse."""
ROOM = 3.0
"""Below the least error, by this factor, there is room for a word."""
FREE_LEFT = 0.3
"""From this ε on, its rule leaves room for the strip's name at the left."""


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
    """Worst error of mechanisms; of the chosen one also a 90% band, the typical error and the promise.

    A click on a point sends its entry's key and its epsilon; one in the legend hides a mechanism. Errors above 100%
    stand in a strip at the upper edge; what is pointed at and the table keep their values. A promise leaves there.

    Args:
        sweep: measured errors.
        titles: name of each entry.
        weaker: what an entry's guarantee has besides epsilon ("δ = 1e-6"), empty where nothing.
        chosen: key of the mechanism on the page.
        epsilon: where the page is now.
        alpha: allowed error, drawn as a rule where given.
        impossible: epsilons (I,), and the errors (I,) below which nobody with the chosen guarantee can promise to stay.
        every: draw all mechanisms, not only the chosen one and those that none beats everywhere; the table has all.
    """
    pure = [not weaker[key] for key in sweep.keys]
    drawn_keys = sweep.keys if every else (*sweep.frontier(pure), chosen)
    bottom, top = _reach(sweep, [key in drawn_keys for key in sweep.keys])
    full_names = [with_weaker(titles[key], weaker[key]) for key in sweep.keys]
    # The chosen one leads the legend.
    order = sorted(range(len(sweep.keys)), key=lambda row: sweep.keys[row] != chosen)
    names = dict(zip(order, printable_labels(full_names[row] for row in order), strict=True))
    names = {row: name for row, name in names.items() if sweep.keys[row] in drawn_keys}
    # At the end that the rule of ε leaves free.
    corner: Corner = "top right" if epsilon < FREE_LEFT else "top left"
    strip = Region(role="vacuous", y=(1.0, top), label="more than 100%", corner=corner)
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
    marks.append(Rule(role="ink", x=epsilon, label=f"ε = {exactly(epsilon)}", width=1.5))
    return Picture(
        title="Error against privacy loss for each mechanism",
        x=Axis(title="← more private · ε · more accurate →", log=True, form="~g", ticks=TICKS),
        y=Axis(title="worst error, share of n", log=True, low=bottom, high=top, form=".3~p", rows=sweep.n),
        marks=marks,
        sentence=_sentence(sweep, full_names, pure, epsilon=epsilon)
        + (
            " Drawn are the chosen one and those with the least error at some ε."
            if len(names) < len(full_names)
            else ""
        )
        + (" Orange, dashed: what the chosen one promises." if has_promise else "")
        + " Click a point to go to its mechanism and ε."
        + (_wall_sentence(impossible, epsilon=epsilon) if impossible else ""),
        table=_table(sweep, full_names, impossible),
        height=400,
        about=",".join(sweep.keys),
    )


def _mechanism(sweep: Sweep, row: int, name: str, *, chosen: bool, bottom: float) -> list[Mark]:
    """One mechanism's marks, in its own colour and of one name, so that the legend hides all of them."""
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
    words = hover_texts("typical error, median", sweep.typical[row, measured, 1])
    end = max(float(typical[-1]), ROOM * bottom)  # below the floor the word would hide the axis's numbers
    return [
        *marks,
        Band(**common, legend=False, x=epsilons, low=low, high=high),
        Curve(**common, legend=False, x=epsilons, y=typical, dash="dash", width=2, hover=words),
        Words(role=common["role"], text="typical", x=epsilons[-1], y=end, align="right", shift=(0, -10)),
    ]


def _clamp_errors(errors: Floats, bottom: float) -> Floats:
    """Where errors stand: none below the picture's floor, and what is above 100% in the strip of all that is."""
    placed: Floats = np.where(errors > 1, BEYOND, np.maximum(errors, bottom))
    return placed


def _promise(sweep: Sweep, row: int, *, bottom: float) -> list[Mark]:
    """What the chosen mechanism promises, and its name at its end; what nobody promises has no point."""
    promise = np.maximum(sweep.promised[row], bottom)
    finite = np.isfinite(promise)
    epsilons, promise = sweep.epsilons[finite], promise[finite]
    if not len(epsilons):
        return []
    curve = Curve(role="theory", name="promised", legend=False, x=epsilons, y=promise, dash="longdash")
    not_vacuous = np.flatnonzero(promise <= 1)
    if not len(not_vacuous):
        return [curve]
    x, y = float(epsilons[not_vacuous[-1]]), float(promise[not_vacuous[-1]])
    return [curve, Words(role="theory", text="promised", x=x, y=y, align="right", shift=(0, 12), bold=True)]


def _reach(sweep: Sweep, drawn: list[bool]) -> tuple[float, float]:
    """Ends of the error axis: all that was observed of what is drawn, and 100%, or the strip above it.

    Below the least there is room for a word. A logarithmic axis has no zero: less than half a row is drawn as half.
    """
    worst, typical = sweep.worst[drawn], sweep.typical[drawn, :, 1]
    lowest = np.concatenate([worst[np.isfinite(worst)], typical[np.isfinite(typical)], [1.0]]).min() / ROOM
    return float(f"{max(lowest, 0.5 / sweep.n):.2g}"), VACUOUS if (worst > 1).any() else 1.0


def _wall(impossible: tuple[Floats, Floats], *, bottom: float, top: float) -> list[Mark]:
    """What nobody can promise, from the picture's floor, and its name at the first of it that is seen."""
    positive = impossible[1] > 0
    epsilons, errors = impossible[0][positive], impossible[1][positive]
    if not len(errors):
        return []
    # Below the floor the edge leaves the picture: along it, it would forbid the floor's error.
    marks: list[Mark] = [Wall(x=epsilons, y=np.minimum(errors, top), end=bottom, label="")]
    visible = np.flatnonzero(errors > bottom)
    if len(visible):
        at = float(epsilons[visible[0]])
        text = "impossible"  # more would lie over “typical” on a phone
        marks.append(Words(role="ink", text=text, x=at, y=bottom, align="left", shift=(6, 12), bold=True))
    return marks


def _wall_sentence(impossible: tuple[Floats, Floats], *, epsilon: float) -> str:
    """What nobody can promise where the page is."""
    epsilons, errors = impossible
    place = int(np.argmin(np.abs(np.log(epsilons / epsilon))))
    there = f"ε = {epsilons[place]:.3g}"
    where_words = f"near {there}" if epsilons[0] <= epsilon <= epsilons[-1] else f"at {there}, where the curve ends,"
    return (
        f" Hatched: no mechanism with the chosen one's guarantee can promise so little; {where_words} less than "
        f"{percent(float(errors[place]))}."
    )


def _table(sweep: Sweep, names: list[str], impossible: tuple[Floats, Floats] | None) -> dict[str, list[Any]]:
    """All medians and promises, and what nobody can promise."""
    table: dict[str, list[Any]] = {
        "mechanism": [name for name in names for _ in sweep.epsilons],
        "epsilon": sweep.epsilons.tolist() * len(sweep.keys),
        "worst error": short_numbers(sweep.worst[:, :, 1].ravel()),
        "typical error": short_numbers(sweep.typical[:, :, 1].ravel()),
        "promised": short_numbers(sweep.promised.ravel()),
    }
    if impossible:
        epsilons, errors = impossible
        table["mechanism"] += ["(impossible to promise less)"] * len(epsilons)
        table["epsilon"] += short_numbers(epsilons)
        table["worst error"] += [None] * len(epsilons)
        table["typical error"] += [None] * len(epsilons)
        table["promised"] += short_numbers(errors)
    return table


def _sentence(sweep: Sweep, names: list[str], pure: list[bool], *, epsilon: float) -> str:
    """Which mechanism errs least here, among those whose guarantee is epsilon alone."""
    column = int(np.argmin(np.abs(np.log(sweep.epsilons / epsilon))))
    worst = np.where(pure, sweep.worst[:, column, 1], np.nan)
    if not np.isfinite(worst).any():
        return "No mechanism with a pure ε guarantee answered here."
    best = int(np.nanargmin(worst))
    low, high = sweep.epsilons[[0, -1]]
    within = low <= epsilon <= high
    at = f"{sweep.epsilons[column]:g}"
    return (
        f"{f'Near ε = {at}' if within else f'The curves end at ε = {at}; there'}, {names[best]} has the smallest worst "
        f"error of the {int(np.isfinite(worst).sum())} mechanisms that "
        f"promise ε and nothing weaker: {percent(float(worst[best]))} in the median."
    )
