"""Error against privacy loss, for every mechanism that serves the question."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.experiment import Sweep
from dpcore.figures.figure import Figure, Records, framed, palette, percent, shortened

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
LEGEND_ROW = 19
"""Pixels a mechanism takes below the picture."""


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
    """
    colours = palette(dark=dark)
    names = [f"{titles[key]} ({weaker[key]})" if weaker[key] else titles[key] for key in sweep.keys]
    # A logarithmic axis has no zero: an error below half a row is drawn as half a row.
    floor = 0.5 / sweep.n
    others = iter(colours.others * 3)
    hues = [colours.released if key == chosen else next(others) for key in sweep.keys]
    values: list[dict[str, Any]] = []
    for row, key in enumerate(sweep.keys):
        for column, at in enumerate(sweep.epsilons):
            low, middle, high = sweep.worst[row, column]
            if not np.isfinite(middle):
                continue
            point = {"epsilon": float(at), "mechanism": names[row], "chosen": key == chosen}
            low, middle, high = (float(f"{max(value, floor):.4g}") for value in (low, middle, high))
            values.append({**point, "kind": "worst error", "error": middle, "low": low, "high": high})
            if key == chosen:
                typical = float(f"{max(sweep.typical[row, column, 1], floor):.4g}")
                values.append({**point, "kind": "typical error", "error": typical})
    x = {
        "field": "epsilon", "type": "quantitative", "title": "← more private     privacy loss ε     more accurate →",
        "scale": {"type": "log", "nice": False},
        "axis": {"values": [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10], "format": "~g", "labelOverlap": True},
    }  # fmt: skip
    y = {
        "field": "error", "type": "quantitative", "title": "error, fraction of n",
        "scale": {"type": "log", "domainMax": 1, "clamp": True},
        "axis": {"format": "~p", "tickCount": 6, "labelOverlap": True},
    }  # fmt: skip
    colour = {
        "field": "mechanism",
        "type": "nominal",
        "scale": {"domain": names, "range": hues},
        "legend": {"columns": 1},
    }
    shape = {
        "field": "mechanism",
        "type": "nominal",
        "scale": {"domain": names, "range": list(SHAPES)[: len(names)]},
        "legend": {"columns": 1},
    }
    dash = {
        "field": "kind", "type": "nominal",
        "scale": {"domain": ["worst error", "typical error"], "range": [[1, 0], [4, 3]]}, "legend": {"orient": "top"},
    }  # fmt: skip
    layers: list[dict[str, Any]] = [
        {
            "transform": [{"filter": "datum.chosen && datum.kind == 'worst error'"}],
            "mark": {"type": "area", "opacity": 0.2, "color": colours.released},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dash},
        },
        {
            "transform": [{"filter": "datum.kind == 'worst error'"}],
            "params": [
                {"name": "pick", "select": {"type": "point", "fields": ["epsilon"], "nearest": True, "toggle": False}}
            ],
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
            "encoding": {
                "x": x, "y": y, "color": colour, "shape": shape,
                "tooltip": [
                    {"field": "mechanism"}, {"field": "epsilon", "title": "ε"},
                    {"field": "error", "title": "worst error, median", "format": ".3p"},
                ],
            },
        },
    ]  # fmt: skip
    promised: Records = []
    if chosen in sweep.keys:
        promised = [
            {"epsilon": float(at), "error": float(f"{max(value, floor):.4g}")}
            for at, value in zip(sweep.epsilons, sweep.promised[sweep.keys.index(chosen)], strict=True)
            if np.isfinite(value) and value <= 1
        ]
    label = {"type": "text", "color": colours.ink, "align": "left", "dx": 5, "fontSize": 12}
    layers += [
        {
            "data": {"name": "promised"},
            "mark": {"type": "line", "color": colours.theory, "strokeWidth": 2, "strokeDash": [8, 3]},
            "encoding": {"x": x, "y": y},
        },
        {
            "data": {"name": "now"},
            "mark": {"type": "rule", "color": colours.ink, "strokeWidth": 1.5},
            "encoding": {"x": x},
        },
        {
            "data": {"name": "now"},
            "mark": label,
            "encoding": {"x": x, "text": {"field": "label"}, "y": {"value": 8}},
        },
        {
            "data": {"name": "allowed"},
            "mark": {"type": "rule", "color": colours.theory, "strokeDash": [2, 3]},
            "encoding": {"y": y},
        },
    ]
    datasets: dict[str, Records] = {
        "errors": values,
        "promised": promised,
        "now": [{"epsilon": epsilon, "label": f"ε = {epsilon:g}"}],
        "allowed": [{"error": alpha}] if alpha is not None else [],
    }
    body = {"data": {"name": "errors"}, "layer": layers}
    table: dict[str, list[Any]] = {
        "mechanism": [],
        "epsilon": [],
        "worst error": [],
        "typical error": [],
        "promised": [],
    }
    for index, name in enumerate(names):
        table["mechanism"] += [name] * len(sweep.epsilons)
        table["epsilon"] += sweep.epsilons.tolist()
        table["worst error"] += shortened(sweep.worst[index, :, 1])
        table["typical error"] += shortened(sweep.typical[index, :, 1])
        table["promised"] += shortened(sweep.promised[index])
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=360 + LEGEND_ROW * len(names), datasets=datasets),
        sentence=_sentence(sweep, names, [not weaker[key] for key in sweep.keys], epsilon=epsilon),
        table=table,
        title="Error against privacy loss for each mechanism",
    )


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
        f"promise ε and nothing weaker: {percent(float(worst[best]))} in the median. Orange, dashed: what the chosen "
        "one promises. Click a point to go to its ε."
    )
