"""What came out: a hundred runs with refusals drawn apart, and where one that always answers would have erred."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Integers
from dpcore.domains import Line
from dpcore.figures.figure import Figure, Palette, Records, framed, palette, shortened

MOST_BARS = 60
CROSS = "M-.7,-.7L.7,.7M-.7,.7L.7,-.7"


def in_100(chance: float) -> str:
    """A chance as so many in 100, never rounded to none or to all."""
    if chance <= 0:
        return "none of 100"
    if chance >= 1:
        return "all of 100"
    if chance < 0.01:
        return "fewer than 1 in 100"
    if chance > 0.99:
        return "more than 99 in 100"
    return f"about {100 * chance:.0f} in 100"


def nearly(chance: float, *, digits: int = 3, certain: bool = False) -> str:
    """A chance with so many digits, rounded to certainty only where a proof says that it is certain."""
    text = f"{chance:.{digits}g}"
    return text if certain or float(text) < 1 else f"above {1 - 10.0**-digits:g}"


def nearly_percent(share: float, *, digits: int = 3) -> str:
    """The same for a share in percent, never rounded to all."""
    text = f"{100 * share:.{digits}g}"
    return f"{text}%" if float(text) < 100 else f"above {100 - 10.0 ** (2 - digits):.{digits}g}%"


def outcomes(*, refused: float, wrong: float, badge: str, dark: bool) -> Figure:
    """A hundred runs as a hundred dots: the right answer, no answer, another one.

    Args:
        refused: share of runs without an answer.
        wrong: share of runs with another answer than the whole data give.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours = palette(dark=dark)
    shares = {"the right answer": 1 - refused - wrong, "no answer": refused, "another answer": wrong}
    exact = 100 * np.array(list(shares.values()))
    dots = np.floor(exact + 1e-9).astype(int)
    dots[np.argsort(-(exact - dots), kind="stable")[: 100 - dots.sum()]] += 1  # to the largest remainders
    kinds = np.repeat(list(shares), dots)
    values: Records = [{"x": i // 5, "y": i % 5, "outcome": str(kind)} for i, kind in enumerate(kinds)]
    hues = [colours.released, colours.impossible, colours.others[1]]
    place: dict[str, Any] = {"axis": None, "type": "quantitative"}
    kind = {"field": "outcome", "type": "nominal"}

    def scale(values: list[str]) -> dict[str, Any]:
        return {**kind, "scale": {"domain": list(shares), "range": values}}

    body = {
        "data": {"name": "runs"},
        "mark": {"type": "point", "size": 75, "strokeWidth": 2, "opacity": 1},
        "encoding": {
            "x": {"field": "x", "scale": {"domain": [-0.6, 19.6]}, **place},
            "y": {"field": "y", "scale": {"domain": [-0.6, 4.6]}, **place},
            "color": scale(hues),
            "fill": scale([hues[0], "transparent", hues[2]]),
            "shape": scale(["circle", CROSS, "triangle-up"]),
            "tooltip": [{"field": "outcome"}],
        },
    }  # fmt: skip
    sentence = "All runs on these data refuse to answer."
    if refused < 1:
        sentence = f"On these data {in_100(refused)} runs refuse to answer"
        right = "; all others are right." if refused else "; all are right."
        sentence += f" and {in_100(wrong)} give another answer than the whole data." if wrong else right
    table: dict[str, list[Any]] = {
        "outcome": list(shares),
        "chance": [round(float(share), 6) for share in shares.values()],
    }
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=170, datasets={"runs": values}),
        sentence=sentence,
        table=table,
        title="Outcomes of a hundred runs",
    )


def answers(*, domain: Line, truth: int, values: Integers, badge: str, dark: bool) -> Figure:
    """Where a mechanism that always answers would have answered, beside the exact quantile.

    Args:
        domain: the ordered cells.
        truth: the exact quantile's cell.
        values: released cells, (T,).
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours, unit = palette(dark=dark), f" {domain.unit}" if domain.unit else ""
    low, high = (int(edge) for edge in np.quantile(values, [0.005, 0.995], method="nearest"))
    low, high = min(low, truth), max(high, truth)
    step = -(-(high - low + 1) // MOST_BARS)
    starts = np.arange(low, high + 1, step)
    shares = np.bincount(np.clip((values - low) // step, 0, len(starts) - 1), minlength=len(starts)) / len(values)
    edges = domain.low + np.append(starts, starts[-1] + step) * domain.width
    exact = float(domain.points()[truth])
    on_right = exact > (edges[0] + edges[-1]) / 2
    # Air on both sides, so that one cell alone is not as wide as the picture.
    air = 0.15 * max(edges[-1] - edges[0], 6 * domain.width)
    datasets: dict[str, Records] = {
        "answers": [
            {"from": start, "to": end, "share": share}
            for start, end, share in zip(shortened(edges[:-1]), shortened(edges[1:]), shortened(shares), strict=True)
        ],
        "exact": [
            {"from": exact, "name": "exact", "side": "right" if on_right else "left", "shift": -6 if on_right else 6}
        ],
        "reach": [{"from": float(edge)} for edge in (edges[0] - air, edges[-1] + air)],
    }
    right = float((values == truth).mean())
    off = float(np.quantile(np.abs(values - truth), 0.95)) * domain.width
    return Figure(
        spec=framed(
            _answers_body(f"answer ({domain.unit})" if unit else "answer", colours),
            badge=badge, colours=colours, height=220, datasets=datasets,
        ),
        sentence=f"The exponential median never refuses: at the same ε, {in_100(right)} of its answers are the exact "
        f"cell, and 95 in 100 lie {f'within {off:.3g}{unit} of' if off else 'in'} it.",
        table={"from": shortened(edges[:-1]), "to": shortened(edges[1:]), "share of runs": shortened(shares)},
        title="Answers of a mechanism that never refuses",
    )  # fmt: skip


def _answers_body(title: str, colours: Palette) -> dict[str, Any]:
    """Bars, and a rule at the exact answer; the axis reaches as far as the data sets say."""
    x = {"field": "from", "type": "quantitative", "title": title, "scale": {"zero": False, "nice": False}}
    y = {"field": "share", "type": "quantitative", "title": "share of runs", "axis": {"format": "~p", "tickCount": 5}}
    return {
        "layer": [
            {"data": {"name": "reach"}, "mark": {"type": "rule", "opacity": 0}, "encoding": {"x": x}},
            {
                "data": {"name": "answers"},
                "mark": {"type": "rect", "color": colours.others[1], "opacity": 0.6},
                "encoding": {
                    "x": x, "x2": {"field": "to"}, "y": y, "y2": {"datum": 0},
                    "tooltip": [{"field": "from"}, {"field": "to"}, {"field": "share", "format": ".3p"}],
                },
            },
            {
                "data": {"name": "exact"},
                "layer": [
                    {"mark": {"type": "rule", "color": colours.true, "strokeWidth": 2}},
                    {
                        "mark": {
                            "type": "text", "align": {"expr": "datum.side"}, "dx": {"expr": "datum.shift"},
                            "fontSize": 12, "color": colours.true,
                        },
                        "encoding": {"text": {"field": "name"}, "y": {"value": 8}},
                    },
                ],
                "encoding": {"x": x},
            },
        ]
    }  # fmt: skip
