"""What every picture of a lesson owes its reader."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dpcore.core import Floats
from pages.charts.picture import Dots, Picture, Rule, numbers
from pages.charts.plotly import Drawn, render

BADGE = "badge of this picture"


def checked(picture: Picture) -> Drawn:
    """The picture as drawn: valid, small, with its badge, a whole sentence, an even table, and no measurement cut off.

    A curve and a wall may leave the picture; dots, their intervals and the reader's guess may not.
    """
    for dark in (False, True):
        drawn = render(picture, badge=BADGE, dark=dark)
        layout = {name: value for name, value in drawn.layout.items() if name != "uirevision"}
        go.Figure(data=drawn.data, layout=layout)  # raises where a name or a value is not Plotly's
        assert BADGE in drawn.layout["title"]["text"]
        assert len(json.dumps([drawn.data, drawn.layout], allow_nan=False)) < 200_000
    said = picture.sentence
    assert said.endswith(".") and "nan" not in said and "inf" not in said and "**" not in said
    assert len({len(column) for column in picture.table.values()}) == 1
    for mark in picture.marks:
        if isinstance(mark, Dots):
            assert mark.hover is None or len(mark.hover) == len(numbers(mark.x))
            ends = [mark.low, mark.high] if mark.low is not None else []
            _inside(drawn, "xaxis", [mark.x, *(ends if mark.across else [])])
            _inside(drawn, "yaxis", [mark.y, *([] if mark.across else ends)])
        if isinstance(mark, Rule) and mark.role == "guess":
            _inside(drawn, "xaxis", [] if mark.x is None else [[mark.x]])
            _inside(drawn, "yaxis", [] if mark.y is None else [[mark.y]])
    return drawn


def interval(dots: Dots) -> Floats:
    """Lower and upper ends, (2, K)."""
    assert dots.low is not None and dots.high is not None
    return np.array([numbers(dots.low), numbers(dots.high)])


def _inside(drawn: Drawn, axis: str, values: Sequence[object]) -> None:
    """Fails if a value lies beyond the ends of an axis."""
    ends = sorted(drawn.layout[axis]["range"])
    for each in values:
        found = np.asarray(each, dtype=np.float64)
        if drawn.layout[axis]["type"] == "log":
            found = np.log10(found)
        assert (found >= ends[0] - 1e-9).all() and (found <= ends[1] + 1e-9).all(), axis
