"""Error against privacy loss, for every mechanism that serves the question."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Floats, exactly
from dpcore.figures.figure import Figure, Records, framed, palette, percent, shortened
from dpcore.figures.labels import drawable
from dpcore.figures.tradeoff_body import tradeoff_body
from dpcore.sweep import Sweep


def tradeoff(
    *,
    sweep: Sweep,
    titles: dict[str, str],
    weaker: dict[str, str],
    chosen: str,
    epsilon: float,
    alpha: float | None,
    badge: str,
    dark: bool,
    impossible: tuple[Floats, Floats] | None = None,
) -> Figure:
    """Worst error (solid; 90% band for the chosen mechanism) and typical error (dashed) on logarithmic axes.

    A click on a point selects its epsilon; the selection is called "pick".

    Args:
        sweep: measured errors.
        titles: name of each entry.
        weaker: what an entry's guarantee has besides epsilon ("δ = 1e-6"), empty where nothing.
        chosen: key of the mechanism on the page.
        epsilon: where the page is now.
        alpha: allowed error, drawn as a rule where given.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
        impossible: epsilons (I,), and the errors (I,) below which nobody with the chosen guarantee can promise to stay.
    """
    colours = palette(dark=dark)
    # The chosen one first: it leads the legend.
    order = sorted(range(len(sweep.keys)), key=lambda row: sweep.keys[row] != chosen)
    called = [f"{titles[key]} ({weaker[key]})" if weaker[key] else titles[key] for key in sweep.keys]
    names = drawable(called[row] for row in order)
    has_chosen = chosen in sweep.keys
    bottom, top = _reach(sweep)
    values: Records = []
    for name, row in zip(names, order, strict=True):
        quantiles = np.clip(sweep.worst[row], bottom, None)
        low, middle, high = (shortened(column) for column in quantiles.T)
        typical = shortened(np.clip(sweep.typical[row, :, 1], bottom, None))
        first = has_chosen and row == order[0]
        for at, epsilon_here in enumerate(sweep.epsilons.tolist()):
            point = {"epsilon": epsilon_here, "mechanism": name, "worst": middle[at], "chosen": first}
            if middle[at] is not None:
                values.append({**point, "low": low[at], "high": high[at], "typical": typical[at]} if first else point)
    promised: Records = []
    if has_chosen:
        promise = np.maximum(sweep.promised[order[0]], bottom)
        # What is above the picture is cut off there; what no theorem promises has no point.
        promised = [
            {"epsilon": at, "promised": value}
            for at, value in zip(sweep.epsilons.tolist(), shortened(promise), strict=True)
            if value is not None
        ]
    seen = [point for point in promised if bottom <= point["promised"] <= top]
    datasets: dict[str, Records] = {
        "errors": values,
        "promised": promised,
        "named": [{**seen[0], "label": "promised"}] if seen else [],
        "now": [{"epsilon": float(epsilon), "label": f"ε = {exactly(epsilon)}"}],
        "allowed": [{"error": float(alpha), "label": f"allowed error α = {exactly(alpha)}"}] if alpha else [],
        "impossible": _wall(impossible, bottom=bottom, top=top) if impossible else [],
        "vacuous": [{"from": 1.0, "to": top, "label": "vacuous"}] if top > 1 else [],
    }
    body = tradeoff_body(colours, names=names, has_chosen=has_chosen, bottom=bottom, top=top, n=sweep.n)
    return Figure(
        # Tall enough for a plot and, on a phone, one line of the legend for each mechanism.
        spec=framed(body, badge=badge, colours=colours, height=330 + 20 * len(names), datasets=datasets),
        sentence=_sentence(sweep, called, [not weaker[key] for key in sweep.keys], epsilon=float(epsilon))
        + (" Orange, dashed: what the chosen one promises." if promised else "")
        + " Click a point to go to its ε."
        + (_wall_sentence(impossible, epsilon=float(epsilon)) if impossible else ""),
        table=_table(sweep, called, impossible),
        title="Error against privacy loss for each mechanism",
    )


def _reach(sweep: Sweep) -> tuple[float, float]:
    """Ends of the error axis: all that was observed, and 100%.

    A logarithmic axis has no zero: an error below half a row is drawn as half a row.
    """
    seen = sweep.worst[np.isfinite(sweep.worst)]
    typical = sweep.typical[:, :, 1]
    lowest = np.concatenate([seen, typical[np.isfinite(typical)], [1.0]]).min() / 1.5
    return float(f"{max(lowest, 0.5 / sweep.n):.2g}"), float(f"{max(1.0, 1.1 * seen.max(initial=0)):.2g}")


def _wall(impossible: tuple[Floats, Floats], *, bottom: float, top: float) -> Records:
    """The edge of what can be promised, from the picture's floor; its name at the first of it that is seen."""
    epsilons, errors = impossible
    seen = errors > bottom
    first = int(np.argmax(seen)) if seen.any() else None
    return [
        {"epsilon": at, "error": error, "floor": bottom, "label": "impossible to promise" if place == first else ""}
        for place, (at, error) in enumerate(
            # Below the floor the edge leaves the picture: along it, it would forbid the floor's error.
            zip(shortened(epsilons), shortened(np.minimum(errors, top)), strict=True)
        )
        if errors[place] > 0
    ]


def _wall_sentence(impossible: tuple[Floats, Floats], *, epsilon: float) -> str:
    """What nobody can promise where the page is."""
    epsilons, errors = impossible
    place = int(np.argmin(np.abs(np.log(epsilons / epsilon))))
    there = f"ε = {epsilons[place]:.3g}"
    where = f"near {there}" if epsilons[0] <= epsilon <= epsilons[-1] else f"at {there}, where the curve ends,"
    return (
        f" Hatched: no mechanism with the chosen one's guarantee can promise so little; {where} less than "
        f"{percent(float(errors[place]))}."
    )


def _table(sweep: Sweep, names: list[str], impossible: tuple[Floats, Floats] | None) -> dict[str, list[Any]]:
    """All medians and promises, and what nobody can promise."""
    table: dict[str, list[Any]] = {
        "mechanism": [name for name in names for _ in sweep.epsilons],
        "epsilon": sweep.epsilons.tolist() * len(sweep.keys),
        "worst error": shortened(sweep.worst[:, :, 1].ravel()),
        "typical error": shortened(sweep.typical[:, :, 1].ravel()),
        "promised": shortened(sweep.promised.ravel()),
    }
    if impossible:
        epsilons, errors = impossible
        table["mechanism"] += ["(impossible to promise less)"] * len(epsilons)
        table["epsilon"] += shortened(epsilons)
        table["worst error"] += [None] * len(epsilons)
        table["typical error"] += [None] * len(epsilons)
        table["promised"] += shortened(errors)
    return table


def _sentence(sweep: Sweep, names: list[str], pure: list[bool], *, epsilon: float) -> str:
    """Which mechanism errs least here, among those whose guarantee is epsilon alone."""
    column = int(np.argmin(np.abs(np.log(sweep.epsilons / epsilon))))
    worst = np.where(pure, sweep.worst[:, column, 1], np.nan)
    if not np.isfinite(worst).any():
        return "No mechanism with a pure ε guarantee answered here."
    best = int(np.nanargmin(worst))
    low, high = sweep.epsilons[[0, -1]]
    place = (
        f"Near ε = {sweep.epsilons[column]:g}" if low <= epsilon <= high else f"The curves end at ε = {low:g}; there"
    )
    if epsilon > high:
        place = f"The curves end at ε = {high:g}; there"
    return (
        f"{place}, {names[best]} has the smallest worst error of the {int(np.isfinite(worst).sum())} mechanisms that "
        f"promise ε and nothing weaker: {percent(float(worst[best]))} in the median."
    )
