"""Weighted sums on Play in a real browser: the picture of the weights is drawn, accessible, and fits a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, ViewportSize

from tests.kit.browser import DESKTOP, PHONE, Server, axe, settled


@pytest.mark.parametrize(("viewport", "colour_scheme"), [(PHONE, "dark"), (DESKTOP, "light")])
@pytest.mark.parametrize(("count", "kind", "drawn"), [(6, "scatter", 6), (50, "heatmap", 1)])
def test_the_weights_are_drawn_and_fit(
    page: Page, server: Server, count: int, kind: str, drawn: int, viewport: ViewportSize, colour_scheme: str
) -> None:
    page.goto(f"{server.url}/?queries=linear&bits=6&weights=ramps&weight_queries={count}")
    settled(page)
    picture = page.locator(".st-key-weights_chart .dpscope-plot")
    assert picture.evaluate("plot => plot._fullData.map(trace => trace.type)") == [kind] * drawn
    box = picture.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= viewport["width"]
    axe(page)
    width = page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollWidth")
    assert width <= viewport["width"], f"the page is {width} pixels wide"
