"""The data: true histogram, released histogram, and how releases differ from each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Domain, Floats, Integers, Problem
from dpcore.domains import Line
from dpcore.figures.figure import Figure, Palette, Records, framed, palette, shortened
from dpcore.synthetic import clean_counts

MOST_BARS = 64
MOST_LABELS = 40


def _bars(domain: Domain) -> tuple[Integers, int]:
    """Bar of each fitting cell, and the number of bars: equal runs of cells on a line, or the first labels."""
    count = domain.ordered
    if isinstance(domain, Line):
        width = -(-count // MOST_BARS)
        return np.arange(count) // width, -(-count // width)
    bars = min(count, MOST_LABELS)
    return np.minimum(np.arange(count), bars - 1), bars


def binned(counts: Floats, domain: Domain) -> Floats:
    """Rows per bar, the missing cell apart in a last column: (F, size) to (F, bars + 1)."""
    bar, bars = _bars(domain)
    out = np.zeros((len(counts), bars + 1))
    for column in range(bars):
        out[:, column] = counts[:, : domain.ordered][:, bar == column].sum(axis=1)
    out[:, bars] = counts[:, domain.ordered :].sum(axis=1)
    return out


def histogram(
    *,
    problem: Problem,
    truth: Integers | None,
    frames: Floats,
    badge: str,
    dark: bool,
    brush: bool = False,
    clean: bool = False,
) -> Figure:
    """True rows per bar in dark, one release in blue; a slider in the picture steps through other releases.

    Args:
        problem: the public problem.
        truth: true rows per cell (size,), None where they may not be shown.
        frames: released rows per cell (F, size); NaN where refused.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
        brush: whether a range can be drawn on it; the selection is called "brush".
        clean: whether to post-process the releases to whole non-negative counts that add up to n.
    """
    domain, colours = problem.domain, palette(dark=dark)
    frames = frames[np.isfinite(frames).all(axis=1)]
    if clean and len(frames):
        frames = clean_counts(frames, total=problem.n).astype(np.float64)
    released = binned(frames, domain)
    true = binned(truth[None, :].astype(np.float64), domain)[0] if truth is not None else None
    _, bars = _bars(domain)
    if isinstance(domain, Line):
        body = _on_a_line(domain, colours=colours, brush=brush, frames=len(released))
        datasets = _points(domain, released, true, bars=bars)
    else:
        body = _on_labels(domain, colours=colours, frames=len(released))
        datasets = _ticks(domain, released, true, bars=bars)
    table: dict[str, list[Any]] = {"from": _names(domain, bars)}
    if true is not None:
        table["true rows"] = true.tolist()
    if len(released):
        table["release 1"] = shortened(released[0])
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=280, datasets=datasets),
        sentence=_sentence(problem, released, true, bars=bars),
        table=table,
        title="True and released data",
    )


def _names(domain: Domain, bars: int) -> list[str]:
    """One name per bar, the missing cell last."""
    if isinstance(domain, Line):
        step = -(-domain.ordered // bars)
        names = [f"{domain.low + bar * step * domain.width:g}" for bar in range(bars)]
    else:
        names = [domain.describe(cell) for cell in range(bars)]
        if domain.ordered > bars:
            names[-1] = f"{names[-1]} and {domain.ordered - bars} more"
    return [*names, "missing"]


def _sentence(problem: Problem, released: Floats, true: Floats | None, *, bars: int) -> str:
    """What the picture shows."""
    if not len(released):
        return "No release to show: every previewed run refused to answer."
    if true is None:
        return f"Release 1 of {problem.n:,} rows in {bars} bars; the true data are not shown."
    off = np.abs(released[0] - true).max()
    return f"{problem.n:,} rows in {bars} bars: release 1 is off by at most {off:,.0f} rows in a bar."


def _steps(edges: Floats, values: Floats) -> list[list[float]]:
    """Corner points of a step line, the last value held to the right end."""
    return [[float(f"{x:.6g}"), float(f"{y:.5g}")] for x, y in zip(edges, [*values, values[-1]], strict=True)]


def _frame_parameter(count: int) -> list[dict[str, Any]]:
    """The control in the picture that steps through the releases; it needs no server."""
    if count < 2:
        return [{"name": "frame", "value": 1}]
    bind = {"input": "range", "min": 1, "max": count, "step": 1, "name": "release "}
    return [{"name": "frame", "value": 1, "bind": bind}]


def _points(domain: Line, released: Floats, true: Floats | None, *, bars: int) -> dict[str, Records]:
    """Step lines: the truth, and every frame of the release."""
    step = -(-domain.ordered // bars)
    edges = np.minimum(domain.low + np.arange(bars + 1) * step * domain.width, domain.high)
    truth = [] if true is None else [{"x": x, "y": y, "series": "true"} for x, y in _steps(edges, true[:-1])]
    frames = [
        {"x": x, "y": y, "series": "released", "frame": frame}
        for frame, row in enumerate(released, 1)
        for x, y in _steps(edges, row[:-1])
    ]
    return {"truth": truth, "frames": frames}


def _on_a_line(domain: Line, *, colours: Palette, brush: bool, frames: int) -> dict[str, Any]:
    """Step lines over the data's unit."""
    title = f"value ({domain.unit})" if domain.unit else "value"
    scale = {"domain": [domain.low, domain.high], "nice": False}
    x = {"field": "x", "type": "quantitative", "title": title, "scale": scale}
    y = {"field": "y", "type": "quantitative", "title": "rows in a bar"}
    series = {"domain": ["true", "released"], "range": [colours.true, colours.released]}
    colour = {"field": "series", "type": "nominal", "scale": series}
    area = {"type": "area", "interpolate": "step-after", "opacity": 0.25, "line": {"strokeWidth": 1.5}}
    truth: dict[str, Any] = {"data": {"name": "truth"}, "mark": area, "encoding": {"x": x, "y": y, "color": colour}}
    if brush:
        truth["params"] = [{"name": "brush", "select": {"type": "interval", "encodings": ["x"]}}]
    release = {
        "data": {"name": "frames"},
        "transform": [{"filter": "datum.frame == frame"}],
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2},
        "encoding": {"x": x, "y": y, "color": colour},
    }
    return {"params": _frame_parameter(frames), "layer": [truth, release]}


def _ticks(domain: Domain, released: Floats, true: Floats | None, *, bars: int) -> dict[str, Records]:
    """Rows by label: the truth, and every frame of the release. Labels are data, never part of an expression."""
    names = _names(domain, bars)
    truth = [] if true is None else [{"label": a, "rows": float(b)} for a, b in zip(names, true, strict=True)]
    frames = [
        {"label": name, "rows": float(value), "frame": frame}
        for frame, row in enumerate(released, 1)
        for name, value in zip(names, row, strict=True)
    ]
    return {"truth": truth, "frames": frames}


def _on_labels(domain: Domain, *, colours: Palette, frames: int) -> dict[str, Any]:
    """Bars for the truth, ticks for a release."""
    y = {"field": "label", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 140}}
    x = {"field": "rows", "type": "quantitative", "title": "rows"}
    truth = {
        "data": {"name": "truth"},
        "mark": {"type": "bar", "color": colours.true, "opacity": 0.35},
        "encoding": {"y": y, "x": x},
    }
    release = {
        "data": {"name": "frames"},
        "transform": [{"filter": "datum.frame == frame"}],
        "mark": {"type": "tick", "color": colours.released, "thickness": 3},
        "encoding": {"y": y, "x": x},
    }
    return {"params": _frame_parameter(frames), "layer": [truth, release]}
