"""Error against privacy loss, as far as it is known whatever the data are: promised, predicted, impossible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpcore.core import exactly
from dplab.limits.outlook import Outlook
from pages.charts.picture import Anchor, Axis, Curve, Dots, Mark, Picture, Region, Rule, Wall
from pages.charts.words import confidence, percent, percent_up, printable_labels, rows, short_numbers

TICKS = (0.001, 0.01, 0.1, 1, 10)
IF_N = "if n is as you name it"
"""The condition of a promise whose n nothing checks."""
TOP = 2.0
"""Errors up to twice n are drawn: from 1 on a promise says nothing."""


def known_before(
    found: Outlook,
    *,
    titles: Mapping[str, str],
    chosen: str,
    epsilon: float,
    promised: float,
    beta: float,
    what: str = "worst error",
    counted: bool = True,
    nobody: str = "nobody",
    tabled: bool = True,
) -> Picture:
    """Promises of every mechanism, predictions where noise is the same on all data, and what nobody can promise.

    Args:
        found: what is known before.
        titles: name of each mechanism.
        chosen: key of the one whose promise is orange.
        epsilon: where the page is now.
        promised: the chosen one's promise there; infinity for none.
        beta: its chance of failure.
        what: is drawn along y, in words.
        counted: whether errors are shares of n, and so whole rows as well.
        nobody: whom the wall is for.
        tabled: whether its numbers are wanted in a table, too.
    """
    order = sorted(range(len(found.keys)), key=lambda row: found.keys[row] != chosen)
    names = dict(zip(order, printable_labels(titles[found.keys[row]] for row in order), strict=True))
    bottom = _bottom(found, promised)
    marks: list[Mark] = [Region(role="vacuous", y=(1.0, TOP), label="vacuous", corner="top right")]
    if found.wall is not None:
        low = np.maximum(found.wall[1], bottom)
        marks.append(Wall(x=found.wall[0], y=low, end=bottom, label="impossible to promise", corner="bottom left"))
    for row, name in names.items():  # the chosen one leads the legend
        marks += _mechanism(found, row, name, chosen=found.keys[row] == chosen)
    side: Anchor = "left" if epsilon > 0.3 else "right"
    marks.append(Rule(role="ink", x=epsilon, label=f"ε = {exactly(epsilon)}", width=1.5, side=side))
    # Always there, so that the picture has the same marks at every ε.
    here = promised if bottom <= promised <= TOP else np.nan
    marks.append(
        Dots(
            role="theory", name="promised here", legend=False, x=[epsilon], y=[here], size=13,
            hover=[f"promised at ε = {exactly(epsilon)}: {percent(promised)} ({rows(promised, found.n)})"]
            if promised < np.inf else ["nothing is promised here"],
        )
    )  # fmt: skip
    said = _sentence(found, titles[chosen], chosen=chosen, epsilon=epsilon, promised=promised, beta=beta, what=what)
    return Picture(
        title="Error against privacy loss, known before anybody looks at the data",
        x=Axis(title="← more private · ε · more accurate →", log=True, form="~g", ticks=TICKS),
        y=Axis(
            title=f"{what}, share of {'n' if counted else 'the range'} (log)",
            log=True,
            low=bottom,
            high=TOP,
            form=".3~p",
            rows=found.n if counted else 0,
            ticks=tuple(10.0**power for power in range(-9, 1)),
        ),
        marks=marks,
        sentence=f"{said}{_wall(found, epsilon=epsilon, nobody=nobody)}.{_conditional(found, names, chosen=chosen)}",
        table=_table(found, names) if tabled else {},
        height=330,
        legend_right=True,
    )  # fmt: skip


def _bottom(found: Outlook, promised: float) -> float:
    """Where the picture ends below."""
    every = [*found.promised.ravel(), *found.predicted.ravel(), promised]
    seen = [each for each in every if np.isfinite(each) and each > 0]
    return float(min([*seen, 0.5])) / 1.6


def _mechanism(found: Outlook, row: int, name: str, *, chosen: bool) -> list[Mark]:
    """What one promises, and its prediction where there is one."""
    role = f"mechanism:{found.keys[row]}"
    at = found.epsilons
    marks: list[Mark] = []
    promise = found.promised[row]
    shown = np.isfinite(promise) & (promise > 0)
    if (promise[shown] <= TOP).any():
        marks.append(
            Curve(
                role="theory" if chosen else role,
                name=name,
                x=at[shown],
                y=promise[shown],
                dash="solid" if chosen else "longdash",
                width=3.5 if chosen else 1.6,
            )
        )
    predicted = found.predicted[row]
    shown = (predicted > 0) & (predicted <= TOP)  # NaN is neither
    if shown.any():
        hover = [
            f"{name}, predicted at ε = {exactly(each)}: {percent(error)} ({rows(error, found.n)})"
            for each, error in zip(at[shown].tolist(), predicted[shown].tolist(), strict=True)
        ]
        marks.append(
            Dots(
                role=role, name=name, legend=False, x=at[shown], y=predicted[shown], hollow=[True] * int(shown.sum()),
                size=10 if chosen else 7, hover=hover,
            )
        )  # fmt: skip
    return marks


def _sentence(
    found: Outlook, title: str, *, chosen: str, epsilon: float, promised: float, beta: float, what: str
) -> str:
    """The promise and the prediction at the page's loss."""
    at = f"At ε = {exactly(epsilon)}"
    if not promised < np.inf:
        text = f"{at}, {title} promises no number that holds on all data"
    elif promised >= 1:
        text = f"{at}, what {title} promises, {percent(promised)}, says nothing"
    else:
        kept = f"{confidence(beta)} of releases of {title} keep their {what} within {percent_up(promised)}"
        text = f"{at}, {IF_N}, {kept}" if chosen in found.if_n else f"{at}, whatever the data are, {kept}"
    here = int(np.argmin(np.abs(np.log(found.epsilons / epsilon))))
    predicted = found.predicted[found.keys.index(chosen), here]
    if np.isfinite(predicted):
        text += f"; near it, half of its releases keep within {percent(float(predicted))} (hollow)"
    return text


def _wall(found: Outlook, *, epsilon: float, nobody: str) -> str:
    """What is impossible there."""
    if found.wall is None:
        return ""
    place = int(np.argmin(np.abs(np.log(found.wall[0] / epsilon))))
    return f"; {nobody} can promise less than about {percent(float(found.wall[1][place]))} (hatched)"


def _conditional(found: Outlook, names: Mapping[int, str], *, chosen: str) -> str:
    """Which of the other curves are promises only if n is right."""
    others = [name for row, name in names.items() if found.keys[row] in found.if_n and found.keys[row] != chosen]
    return f" Promised only {IF_N}: {', '.join(others)}." if others else ""


def _table(found: Outlook, names: Mapping[int, str]) -> dict[str, Sequence[Any]]:
    """Promise and prediction of each, and the wall, at every loss of the grid."""
    table: dict[str, Sequence[Any]] = {"epsilon": found.epsilons.tolist()}
    for row, name in names.items():
        if np.isfinite(found.promised[row]).any():
            table[f"{name}: promised"] = short_numbers(found.promised[row])
        if np.isfinite(found.predicted[row]).any():
            table[f"{name}: predicted"] = short_numbers(found.predicted[row])
    if found.wall is not None:
        known = dict(zip(found.wall[0].tolist(), found.wall[1].tolist(), strict=True))
        table["impossible below"] = short_numbers([known.get(at, np.nan) for at in found.epsilons.tolist()])
    return table
