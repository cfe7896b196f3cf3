"""Error against privacy loss, for every mechanism that serves the question."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import exactly
from dpcore.experiment import Sweep
from dpcore.figures.figure import Figure, Palette, Records, framed, haloed, palette, percent, rows_axis, shortened
from dpcore.figures.labels import drawable

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")

Spec = dict[str, Any]


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
        "vacuous": [{"from": 1.0, "to": top, "label": "vacuous"}] if top > 1 else [],
    }
    body = _body(colours, names=names, has_chosen=has_chosen, bottom=bottom, top=top, n=sweep.n)
    return Figure(
        # Tall enough for a plot and, on a phone, one line of the legend for each mechanism.
        spec=framed(body, badge=badge, colours=colours, height=330 + 20 * len(names), datasets=datasets),
        sentence=_sentence(sweep, called, [not weaker[key] for key in sweep.keys], epsilon=float(epsilon)),
        table=_table(sweep, called),
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


def _body(colours: Palette, *, names: list[str], has_chosen: bool, bottom: float, top: float, n: int) -> Spec:
    """Regions, band, lines, points, rules. Only the data sets change with epsilon."""
    x: Spec = {
        "field": "epsilon", "type": "quantitative", "title": "← more private   privacy loss ε   more accurate →",
        "scale": {"type": "log", "nice": False},
        "axis": {"values": [0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20], "format": "~g",
                 "labelOverlap": True, "grid": False},
    }  # fmt: skip
    powers = [10.0**power for power in range(int(np.floor(np.log10(bottom))), 4) if bottom <= 10.0**power <= top]
    y: Spec = {
        "type": "quantitative", "scale": {"type": "log", "nice": False, "domain": [bottom, top]},
        "axis": None,
    }  # fmt: skip
    left = {"title": "error, share of n", "axis": {"format": ".3~p", "values": powers}}
    hues = [colours.released if has_chosen else colours.others[0], *(colours.others * 3)[: len(names) - 1]]
    legend = {"orient": "bottom", "columns": {"expr": "width > 480 ? 2 : 1"}, "symbolSize": 90, "symbolOpacity": 1}
    colour = {
        "field": "mechanism", "type": "nominal", "legend": legend, "scale": {"domain": names, "range": hues},
    }  # fmt: skip
    shape = {**colour, "scale": {"domain": names, "range": [SHAPES[i % len(SHAPES)] for i in range(len(names))]}}
    worst = [
        {
            "transform": [{"filter": which}, _named("worst error")],
            "mark": {"type": "line", "strokeWidth": width, "clip": True, "aria": False},
            "encoding": {
                "x": x, "y": {"field": "worst", **y}, "color": colour, "strokeDash": _dash(),
            },
        }
        for which, width in (("!datum.chosen", 1.8), ("datum.chosen", 3.5))
    ]  # fmt: skip
    band = {"type": "area", "opacity": 0.2, "color": colours.released, "clip": True, "aria": False}
    return {
        "data": {"name": "errors"},
        "layer": [
            {
                "data": {"name": "vacuous"},
                "mark": {"type": "rect", "color": colours.quiet, "opacity": 0.16, "aria": False},
                "encoding": {"y": {"field": "from", **y}, "y2": {"field": "to"}},
            },
            {"mark": band, "encoding": {"x": x, "y": {"field": "low", **y, **left}, "y2": {"field": "high"}}},
            {
                "transform": [{"filter": "datum.chosen"}, _named("typical error")],
                "mark": {"type": "line", "strokeWidth": 2, "clip": True, "aria": False},
                "encoding": {
                    "x": x, "y": {"field": "typical", **y}, "color": colour, "strokeDash": _dash(),
                },
            },
            *worst,
            {
                "params": [{
                    "name": "pick",
                    "select": {"type": "point", "fields": ["epsilon"], "nearest": True, "toggle": False},
                }],
                "mark": {"type": "point", "filled": True, "size": 64, "opacity": 1, "cursor": "pointer", "aria": False},
                "encoding": {
                    "x": x, "y": {"field": "worst", **y}, "color": colour, "shape": shape,
                    "tooltip": [
                        {"field": "mechanism"}, {"field": "epsilon", "title": "ε"},
                        {"field": "worst", "title": "worst error, median", "format": ".3~p"},
                                            ],
                },
            },
            *_rules(colours, x=x, y=y, n=n, powers=powers),
        ],
        "resolve": {"axis": {"y": "independent"}},
    }  # fmt: skip


def _named(kind: str) -> Spec:
    """A column that says which error a layer draws, for the legend."""
    return {"calculate": f"'{kind}'", "as": "kind"}


def _dash() -> Spec:
    """Solid for the worst error, dashed for the typical one."""
    return {
        "field": "kind", "type": "nominal",
        "scale": {"domain": ["worst error", "typical error"], "range": [[1, 0], [4, 3]]},
        "legend": {"orient": "top", "columns": 2, "symbolStrokeWidth": 2, "symbolSize": 300},
    }  # fmt: skip


def _rules(colours: Palette, *, x: Spec, y: Spec, n: int, powers: list[float]) -> list[Spec]:
    """What the chosen one promises, where the page is, what is allowed, and an axis in rows."""
    text = {"type": "text", "fontSize": 13, "aria": False}
    orange = {"color": colours.theory, "clip": True, "aria": False}
    end = {"value": {"expr": "width - 4"}}
    rule = {"type": "rule", "strokeWidth": 1.5, "color": colours.ink, "aria": False}
    now, allowed = {"data": {"name": "now"}}, {"data": {"name": "allowed"}}
    side = {**y, "axis": {**rows_axis(n, orient="right"), "values": powers}}
    return [
        {
            "data": {"name": "promised"}, "mark": {"type": "line", "strokeWidth": 2.5, "strokeDash": [9, 3], **orange},
            "encoding": {"x": x, "y": {"field": "promised", **y}},
        },
        *haloed({
            "data": {"name": "named"},
            "mark": {**text, "align": "left", "baseline": "middle", "dx": 10, "fontWeight": 600,
                     "color": colours.theory},
            "encoding": {"x": x, "y": {"field": "promised", **y}, "text": {"field": "label"}},
        }, colours),
        {
            **allowed, "mark": {**rule, "strokeDash": [2, 3], "clip": True},
            "encoding": {"y": {"field": "error", **side}},
        },
        *haloed({
            **allowed, "mark": {**text, "fontSize": 12, "align": "right", "baseline": "bottom", "dy": -2,
                                "color": colours.ink, "clip": True},
            "encoding": {"x": end, "y": {"field": "error", **y}, "text": {"field": "label"}},
        }, colours),
        {
            "data": {"name": "vacuous"},
            "mark": {**text, "fontSize": 12, "align": "right", "baseline": "bottom", "dy": -2, "color": colours.quiet},
            "encoding": {"x": end, "y": {"field": "from", **y}, "text": {"field": "label"}},
        },
        {**now, "mark": rule, "encoding": {"x": x}},
        {
            **now, "mark": {**text, "baseline": "bottom", "color": colours.ink, "fontWeight": 600},
            "encoding": {"x": x, "y": {"value": -4}, "text": {"field": "label"}},
        },
    ]  # fmt: skip


def _table(sweep: Sweep, names: list[str]) -> dict[str, list[Any]]:
    """All medians and promises."""
    return {
        "mechanism": [name for name in names for _ in sweep.epsilons],
        "epsilon": sweep.epsilons.tolist() * len(sweep.keys),
        "worst error": shortened(sweep.worst[:, :, 1].ravel()),
        "typical error": shortened(sweep.typical[:, :, 1].ravel()),
        "promised": shortened(sweep.promised.ravel()),
    }


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
