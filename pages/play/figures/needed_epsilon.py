"""The ε that each mechanism needs for a target error: by theorem, in simulations, and by the lower bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dpcore.core import exactly
from dplab.solve import HIGHEST, LOWEST, Need
from pages.charts.picture import Axis, Dots, Mark, Picture, Region
from pages.charts.words import percent, printable_labels

TITLE = "Smallest ε for a target error"
TICKS = (0.001, 0.01, 0.1, 1.0, 10.0)
ABOVE, LINE, MAX_LINES = 76, 16, 12
"""Pixels of the picture besides its lines, pixels of a line, and maximum number of lines."""
WHERE = {"guaranteed": " for all data", "simulated": " on these data"}


def needed_epsilon(
    needs: Sequence[Need],
    *,
    titles: dict[str, str],
    target: float,
    beta: float,
    impossible: float,
    aims: set[str],
    advised: str = "",
) -> Picture:
    """Return a line for the suggested mechanism, then for each that reaches the target, by increasing ε.

    A click on a dot selects its mechanism and ε. The table also has the mechanisms without a line.

    Args:
        needs: the ε of each mechanism, in increasing order.
        titles: name of each entry.
        target: the allowed error, a fraction of n.
        beta: failure probability.
        impossible: ε below which the target is impossible for all data; 0: none.
        aims: entries with the allowed error as a parameter, which a click sets as well.
        advised: key of the suggested entry.
    """
    all_names = printable_labels(titles[need.key] for need in needs)
    sentence, numbers = (
        _sentence(needs, all_names, target=target, beta=beta, impossible=impossible),
        _table(needs, all_names),
    )
    ranked = [
        each for each in zip(needs, all_names, strict=True) if math.isfinite(each[0].least) or each[0].key == advised
    ]
    ranked = sorted(ranked or zip(needs, all_names, strict=True), key=lambda each: each[0].key != advised)[:MAX_LINES]
    needs, names = [need for need, _ in ranked], [name for _, name in ranked]
    marks: list[Mark] = []
    if impossible:
        label = "impossible"
        marks.append(Region(role="impossible", x=(LOWEST, min(impossible, HIGHEST)), label=label, corner="bottom left"))
    for role, name, shape, epsilons in (
        ("theory", "guaranteed", "line-ns-open", [need.promised for need in needs]),
        ("released", "simulated", "circle", [each.simulated and each.simulated.epsilon for each in needs]),
    ):
        points = [(row, epsilon) for row, epsilon in enumerate(epsilons) if epsilon]
        if not points:
            continue
        dots = Dots(
            role=role,
            name=name,
            shape=shape,
            size=14 if role == "theory" else 10,
            x=[epsilon for _, epsilon in points],
            y=[float(row) for row, _ in points],
            hover=[f"{names[row]}: ε = {exactly(epsilon)}, {name}{WHERE[name]}" for row, epsilon in points],
            pick=[_pick(needs[row], epsilon, target=target, aims=aims) for row, epsilon in points],
        )
        marks.append(dots)
    return Picture(
        title=TITLE,
        x=Axis(title="← private · ε needed · accurate →", log=True, low=LOWEST, high=HIGHEST, ticks=TICKS, form="~g"),
        y=Axis(labels=tuple(names), letters=40),
        marks=marks,
        sentence=sentence,
        table=numbers,
        height=ABOVE + LINE * len(names),
        about=",".join(names),
    )


def _pick(need: Need, epsilon: float, *, target: float, aims: set[str]) -> dict[str, Any]:
    """Return the value that a click sends."""
    return {"key": need.key, "epsilon": epsilon} | ({"alpha": target} if need.key in aims else {})


def _sentence(needs: Sequence[Need], names: list[str], *, target: float, beta: float, impossible: float) -> str:
    """Return the sentence on the smallest ε, the mechanisms without one, and the lower bound."""
    reaching = [(need, name) for need, name in zip(needs, names, strict=True) if math.isfinite(need.least)]
    target_words = f"a worst error of {percent(target)}, except in {percent(beta)} of releases"
    if not reaching:
        return f"No mechanism shown here reaches {target_words} up to ε = {HIGHEST:g}."
    first, name = reaching[0]
    provenance = "simulated on these data only" if first.simulated else "guaranteed"
    text = f"For {target_words}, {name} needs the smallest ε: {exactly(first.least)} (rounded up; {provenance})."
    not_reaching = [name for need, name in zip(needs, names, strict=True) if math.isinf(need.least)]
    if not_reaching:
        text += f" Do not reach it up to ε = {HIGHEST:g}: {', '.join(not_reaching)}."
    if impossible:
        text += f" Hatched: impossible (lower bound) below ε = {exactly(impossible)}, on all data."
    return text


def _table(needs: Sequence[Need], names: list[str]) -> dict[str, list[Any]]:
    """Return the table of all mechanisms, with the releases that confirmed them."""
    return {
        "mechanism": names,
        "ε simulated": [need.simulated.epsilon if need.simulated else None for need in needs],
        "ε guaranteed": [need.promised for need in needs],
        "failures": [need.simulated.failures if need.simulated else None for need in needs],
        "in simulated releases": [need.simulated.releases if need.simulated else None for need in needs],
        "too slow to simulate": [need.slow for need in needs],
    }
