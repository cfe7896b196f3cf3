"""Weighted sums on Explore in a real browser: the picture of the weights is drawn, accessible, and fits a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.kit.browser import Server, on_screens, plot, sound, visit

pytestmark = pytest.mark.full


@on_screens("count,kind,drawn", (6, "scatter", 6), (50, "heatmap", 1))
def test_the_weights_are_drawn_and_fit(page: Page, server: Server, count: int, kind: str, drawn: int) -> None:
    link = f"?n=1000&trials=100&queries=linear&bits=6&weights=ramps&weight_queries={count}"
    picture = plot(visit(page, server, link), "weights_chart")
    assert picture.evaluate("plot => plot._fullData.map(trace => trace.type)") == [kind] * drawn
    box = picture.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= page.evaluate("window.innerWidth")
    sound(page)
