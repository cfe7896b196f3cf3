"""Error against the number of rows, for every mechanism that can release a statistic."""

from __future__ import annotations

import numpy as np

from dpcore.core import exactly
from dplab.sweep import Sweep
from pages.charts.picture import Axis, Band, Curve, Dots, Mark, Picture, Rule
from pages.charts.words import percent, printable_labels, short_numbers


def errors_by_rows(
    *,
    sweep: Sweep,
    titles: dict[str, str],
    pure: list[bool],
    chosen: str,
    epsilon: float,
    target: float | None,
    every: bool = True,
) -> Picture:
    """Return a curve for each mechanism; the chosen one also has a 90% band and its guaranteed error.

    Args:
        sweep: errors along an axis of n.
        titles: name of each entry.
        pure: for each entry of the sweep, whether its guarantee is pure ε.
        chosen: key of the statistic's mechanism.
        epsilon: of every mechanism.
        target: the target error, drawn as a rule if given.
        every: draw all mechanisms, instead of the chosen one and those with the smallest error somewhere.
    """
    drawn = sweep.keys if every else (*sweep.frontier(pure), chosen)
    names = dict(zip(sweep.keys, printable_labels(titles[key] for key in sweep.keys), strict=True))
    lowest = np.nanmin(np.append(sweep.worst[sweep.worst > 0], 1.0)) / 2
    marks: list[Mark] = []
    for row, key in enumerate(sweep.keys):
        measured = np.isfinite(sweep.worst[row]).all(axis=1)
        if key not in drawn or not measured.any():
            continue
        x, (low, middle, high) = sweep.epsilons[measured], np.maximum(sweep.worst[row, measured], lowest).T
        role, hover = f"mechanism:{key}", []
        for n, error in zip(x.tolist(), middle.tolist(), strict=True):
            hover.append(f"{names[key]}, worst error, median at n = {n:,.0f}: {percent(error)}, simulated")
        marks += [
            Curve(
                role=role, name=names[key], legend=False, x=x, y=middle, width=3.5 if key == chosen else 1.8, hover=()
            ),
            Dots(
                role=role, name=names[key], x=x, y=middle, size=10 if key == chosen else 8, hover=hover,
                pick=[{"key": key, "epsilon": epsilon}] * len(x),
            ),
        ]  # fmt: skip
        if key == chosen:
            marks.append(Band(role=role, name=names[key], legend=False, x=x, low=low, high=high))
            promise = sweep.promised[row]
            finite = np.isfinite(promise)
            if finite.any():
                curve = Curve(
                    role="theory", name="guaranteed", legend=False, x=sweep.epsilons[finite],
                    y=np.maximum(promise[finite], lowest), dash="longdash",
                )  # fmt: skip
                marks.append(curve)
    if target:
        marks.append(Rule(role="ink", y=target, label=f"target {percent(target)}", dash="dot", width=1.5))
    marks.append(Rule(role="ink", x=float(sweep.n), label=f"n = {sweep.n:,}", width=1.5))
    return Picture(
        title="Error against the number of rows for each mechanism",
        x=Axis(title="number of rows n", log=True, form="~s", ticks=(100, 1_000, 10_000, 100_000, 1_000_000)),
        y=Axis(title="worst error, share of n", log=True, low=float(lowest), high=1.0, form=".3~p"),
        marks=marks,
        sentence=_sentence(
            sweep,
            names,
            epsilon=epsilon,
            promises=any(mark.name == "guaranteed" for mark in marks if isinstance(mark, Curve)),
        ),
        table={
            "mechanism": [names[key] for key in sweep.keys for _ in sweep.epsilons],
            "n": sweep.epsilons.tolist() * len(sweep.keys),
            "worst error": short_numbers(sweep.worst[:, :, 1].ravel()),
            "mean error": short_numbers(sweep.typical[:, :, 1].ravel()),
            "guaranteed": short_numbers(sweep.promised.ravel()),
        },
        height=400,
        about=",".join(sweep.keys),
    )


def _sentence(sweep: Sweep, names: dict[str, str], *, epsilon: float, promises: bool) -> str:
    """Return the mechanism with the smallest error at the planned n, in a sentence."""
    column = int(np.argmin(np.abs(np.log(sweep.epsilons / sweep.n))))
    worst = sweep.worst[:, column, 1]
    if not np.isfinite(worst).any():
        return "Every mechanism gave no answer (⊥) here."
    best = int(np.nanargmin(worst))
    return (
        f"At ε = {exactly(epsilon)}, near n = {sweep.epsilons[column]:,.0f}, {names[sweep.keys[best]]} has the "
        f"smallest worst error: {percent(float(worst[best]))} in the median."
        + (" Orange: the guaranteed error of the chosen one." if promises else "")
    )
