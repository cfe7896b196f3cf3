"""A picture of the page with its numbers, as a file only where the rows are public."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pages.charts.component import draw, show_numbers
from pages.charts.picture import Picture
from pages.learn.directions.controls import DirectionsAsked


def show(
    asked: DirectionsAsked,
    picture: Picture,
    *,
    name: str,
    title: str,
    on_pick: Callable[[Any], None] | None = None,
    on_move: Callable[[float, float], None] | None = None,
) -> None:
    """Draw it under the page's own name for it, then its numbers under a title."""
    draw(
        picture,
        key=f"halfspaces_{name}_chart",
        badge=asked.badge(),
        download=not asked.private,
        on_pick=on_pick,
        on_move=on_move,
    )
    show_numbers(picture, title=title, key=f"halfspaces_{name}_numbers")
