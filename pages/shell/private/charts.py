"""The chart of error against ε that holds for all data: guaranteed, expected, impossible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpcore.core import exactly
from dplab.limits.data_independent_summary import DataIndependentSummary
from pages.charts.picture import Anchor, Axis, Curve, Dots, Mark, Picture, Region, Rule, Wall
from pages.charts.words import confidence, percent, percent_up, printable_labels, rows, short_numbers

TICKS = (0.001, 0.01, 0.1, 1, 10)
IF_N = "if your n is correct"
"""Condition of a guaranteed error whose n is not checked."""
TOP = 2.0
"""Largest error drawn, as a share of n: from 1 on there is no guarantee."""


def draw_outlook(
    summary: DataIndependentSummary,
    *,
    titles: Mapping[str, str],
    chosen: str,
    epsilon: float,
    promised: float,
    beta: float,
    what: str = "worst error",
    counted: bool = True,
    wall_subject: str = "no mechanism",
    tabled: bool = True,
) -> Picture:
    """Return the picture of guaranteed errors, of expected errors where noise is data-independent, and of the wall.

    Args:
        summary: the errors at each ε.
        titles: name of each mechanism.
        chosen: key of the mechanism whose guaranteed error is orange.
        epsilon: the page's.
        promised: the guaranteed error there; infinity for none.
        beta: its failure probability.
        what: the quantity along y, in words.
        counted: whether errors are shares of n, and so numbers of rows as well.
        wall_subject: subject of the sentence about the lower bound.
        tabled: whether to add a table of the numbers.
    """
    order = sorted(range(len(summary.keys)), key=lambda row: summary.keys[row] != chosen)
    names = dict(zip(order, printable_labels(titles[summary.keys[row]] for row in order), strict=True))
    bottom = _bottom(summary, promised)
    marks: list[Mark] = [Region(role="vacuous", y=(1.0, TOP), label="no guarantee", corner="top right")]
    if summary.lower_bound is not None:
        low = np.maximum(summary.lower_bound[1], bottom)
        wall = Wall(x=summary.lower_bound[0], y=low, end=bottom, label="impossible (lower bound)", corner="bottom left")
        marks.append(wall)
    for row, name in names.items():  # the chosen one leads the legend
        marks += _mechanism(summary, row, name, chosen=summary.keys[row] == chosen)
    side: Anchor = "left" if epsilon > 0.3 else "right"
    marks.append(Rule(role="ink", x=epsilon, label=f"ε = {exactly(epsilon)}", width=1.5, side=side))
    # Always there, so that the picture has the same marks at every ε.
    here = promised if bottom <= promised <= TOP else np.nan
    dots = Dots(
        role="theory", name="guaranteed here", legend=False, x=[epsilon], y=[here], size=13,
        hover=[f"guaranteed at ε = {exactly(epsilon)}: {percent(promised)} ({rows(promised, summary.n)})"]
        if promised < np.inf else ["no error is guaranteed here"],
    )  # fmt: skip
    marks.append(dots)
    sentence = _sentence(
        summary, titles[chosen], chosen=chosen, epsilon=epsilon, promised=promised, beta=beta, what=what
    )
    return Picture(
        title="Error against privacy budget ε, computed without your data",
        x=Axis(title="← more private · ε · more accurate →", log=True, form="~g", ticks=TICKS),
        y=Axis(
            title=f"{what}, share of {'n' if counted else 'the range'} (log)",
            log=True,
            low=bottom,
            high=TOP,
            form=".3~p",
            rows=summary.n if counted else 0,
            ticks=tuple(10.0**power for power in range(-9, 1)),
        ),
        marks=marks,
        sentence=f"{sentence}{_wall(summary, epsilon=epsilon, subject=wall_subject)}."
        f"{_conditional(summary, names, chosen=chosen)}",
        table=_table(summary, names) if tabled else {},
        height=330,
        legend_right=True,
    )  # fmt: skip


def _bottom(summary: DataIndependentSummary, promised: float) -> float:
    """Return the lower end of the axis of errors."""
    every = [*summary.promised.ravel(), *summary.predicted.ravel(), promised]
    positive = [each for each in every if np.isfinite(each) and each > 0]
    return float(min([*positive, 0.5])) / 1.6


def _mechanism(summary: DataIndependentSummary, row: int, name: str, *, chosen: bool) -> list[Mark]:
    """Return the marks of a mechanism: its guaranteed error, and its expected error where there is one."""
    role = f"mechanism:{summary.keys[row]}"
    at = summary.epsilons
    marks: list[Mark] = []
    promise = summary.promised[row]
    shown = np.isfinite(promise) & (promise > 0)
    if (promise[shown] <= TOP).any():
        curve = Curve(
            role="theory" if chosen else role,
            name=name,
            x=at[shown],
            y=promise[shown],
            dash="solid" if chosen else "longdash",
            width=3.5 if chosen else 1.6,
        )
        marks.append(curve)
    predicted = summary.predicted[row]
    shown = (predicted > 0) & (predicted <= TOP)  # NaN is neither
    if shown.any():
        hover = [
            f"{name}, predicted at ε = {exactly(each)}: {percent(error)} ({rows(error, summary.n)})"
            for each, error in zip(at[shown].tolist(), predicted[shown].tolist(), strict=True)
        ]
        dots = Dots(
            role=role, name=name, legend=False, x=at[shown], y=predicted[shown], hollow=[True] * int(shown.sum()),
            size=10 if chosen else 7, hover=hover,
        )  # fmt: skip
        marks.append(dots)
    return marks


def _sentence(
    summary: DataIndependentSummary, title: str, *, chosen: str, epsilon: float, promised: float, beta: float, what: str
) -> str:
    """Return the sentence on the guaranteed and the expected error at the page's ε."""
    at = f"At ε = {exactly(epsilon)}"
    if not promised < np.inf:
        text = f"{at}, {title} guarantees no error on all data"
    elif promised >= 1:
        text = f"{at}, the guaranteed error of {title}, {percent(promised)}, is no guarantee (100% or more)"
    else:
        within = f"{confidence(beta)} of releases of {title} have {what} of at most {percent_up(promised)}"
        text = f"{at}, {IF_N}, {within}" if chosen in summary.if_n else f"{at}, whatever the data are, {within}"
    here = int(np.argmin(np.abs(np.log(summary.epsilons / epsilon))))
    predicted = summary.predicted[summary.keys.index(chosen), here]
    if np.isfinite(predicted):
        text += f"; near it, half of its releases have at most {percent(float(predicted))} (hollow)"
    return text


def _wall(summary: DataIndependentSummary, *, epsilon: float, subject: str) -> str:
    """Return the sentence on what is impossible there."""
    if summary.lower_bound is None:
        return ""
    place = int(np.argmin(np.abs(np.log(summary.lower_bound[0] / epsilon))))
    return f"; {subject} can guarantee less than about {percent(float(summary.lower_bound[1][place]))} (hatched)"


def _conditional(summary: DataIndependentSummary, names: Mapping[int, str], *, chosen: str) -> str:
    """Return the sentence on the other errors that are guaranteed only if n is right."""
    others = [name for row, name in names.items() if summary.keys[row] in summary.if_n and summary.keys[row] != chosen]
    return f" Guaranteed only {IF_N}: {', '.join(others)}." if others else ""


def _table(summary: DataIndependentSummary, names: Mapping[int, str]) -> dict[str, Sequence[Any]]:
    """Return the guaranteed and expected errors, and the wall, at every ε of the grid."""
    table: dict[str, Sequence[Any]] = {"epsilon": summary.epsilons.tolist()}
    for row, name in names.items():
        if np.isfinite(summary.promised[row]).any():
            table[f"{name}: guaranteed"] = short_numbers(summary.promised[row])
        if np.isfinite(summary.predicted[row]).any():
            table[f"{name}: expected"] = short_numbers(summary.predicted[row])
    if summary.lower_bound is not None:
        walls = dict(zip(summary.lower_bound[0].tolist(), summary.lower_bound[1].tolist(), strict=True))
        table["impossible below"] = short_numbers([walls.get(at, np.nan) for at in summary.epsilons.tolist()])
    return table
