"""Plotly figures of a release and of an error report, for notebooks: the one place that imports Plotly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as Figure


def bars(names: Sequence[Any], heights: Sequence[float], *, across: str, up: str) -> Figure:
    """Return a figure of one bar for each name."""
    import plotly.graph_objects as go

    figure = go.Figure(go.Bar(x=list(names), y=list(heights)))
    return figure.update_layout(xaxis_title=across, yaxis_title=up)


def spread(values: Sequence[float], *, limit: float, limit_words: str, across: str) -> Figure:
    """Return a figure of how often each value occurs, with a line at a finite limit."""
    import plotly.graph_objects as go

    figure = go.Figure(go.Histogram(x=list(values)))
    if math.isfinite(limit):
        figure.add_vline(limit, line_dash="dash", annotation_text=limit_words)
    return figure.update_layout(xaxis_title=across, yaxis_title="releases")
