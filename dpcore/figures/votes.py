"""The votes of subsamples: how many answer what, half of them, and how many it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcore.core import Floats
from dpcore.figures.figure import Figure, Records, framed, palette, percent, shortened

MOST_ANSWERS = 12
"""Answers with a bar of their own; the rest share one."""


def votes(*, names: Sequence[str], law: Floats, truth: int, needed: float, badge: str, dark: bool) -> Figure:
    """Share of subsamples that give each answer, the whole data's answer in dark, the others where they would be wrong.

    Args:
        names: of the answers, in order.
        law: chance of each answer on one subsample, (answers,).
        truth: the data's answer.
        needed: share of votes, noise included, from which on the answer is given.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours = palette(dark=dark)
    shown = np.sort(np.argsort(-law, kind="stable")[:MOST_ANSWERS])
    labels = [names[i] for i in shown]
    shares = law[shown]
    kinds = ["the data's answer" if i == truth else "would be wrong" for i in shown]
    if len(shown) < len(law):
        labels.append(f"{len(law) - len(shown)} others")
        shares = np.append(shares, max(0.0, 1 - shares.sum()))
        kinds.append("would be wrong")
    values = [
        {"answer": label, "share": share, "kind": kind}
        for label, share, kind in zip(labels, shortened(shares), kinds, strict=True)
    ]
    rules: Records = [{"share": 0.5, "name": "half", "side": "right", "shift": -4}]
    if needed <= 1.5:
        rules.append({"share": float(f"{needed:.4g}"), "name": "needed", "side": "left", "shift": 4})
    x: dict[str, Any] = {
        "field": "share", "type": "quantitative", "title": "share of the subsamples",
        "scale": {"domainMin": 0, "nice": False}, "axis": {"format": "~p"},
    }  # fmt: skip
    hues = {"domain": ["the data's answer", "would be wrong"], "range": [colours.true, colours.others[1]]}
    lines = {"domain": ["half", "needed"], "range": [colours.impossible, colours.theory]}
    line = {"field": "name", "type": "nominal", "scale": lines, "legend": None}
    body = {
        "resolve": {"scale": {"color": "independent"}},
        "layer": [
            {
                "data": {"name": "votes"},
                "mark": {"type": "bar", "opacity": 0.75},
                "encoding": {
                    "x": x,
                    "y": {
                        "field": "answer", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 150},
                    },
                    "color": {"field": "kind", "type": "nominal", "scale": hues, "legend": {"columns": 1}},
                    "tooltip": [{"field": "answer"}, {"field": "share", "format": ".4p"}],
                },
            },
            {
                "data": {"name": "rules"},
                "layer": [
                    {"mark": {"type": "rule", "strokeWidth": 2, "strokeDash": [5, 4]}},
                    {
                        "mark": {
                            "type": "text", "fontSize": 12,
                            "align": {"expr": "datum.side"}, "dx": {"expr": "datum.shift"},
                        },
                        "encoding": {"text": {"field": "name"}, "y": {"value": -6}},
                    },
                ],
                "encoding": {"x": x, "color": line},
            },
        ],
    }  # fmt: skip
    datasets: dict[str, Records] = {"votes": values, "rules": rules}
    beaten = law.copy()
    beaten[truth] = -1
    rival = int(beaten.argmax())
    sentence = f"{percent(float(law[truth]))} of subsamples answer as the whole data do ({names[truth]})"
    sentence += f"; the next, {names[rival]}, gets {percent(float(law[rival]))}" if len(law) > 1 else ""
    sentence += (
        f". With noise, {percent(needed)} of the votes are needed." if needed < 1000 else ". No votes are enough."
    )
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=125 + 20 * len(values), datasets=datasets),
        sentence=sentence,
        table={"answer": labels, "share of subsamples": shortened(shares)},
        title="Answers of the subsamples",
    )
