"""Weighted sums on Explore in a real browser: the picture of the weights is drawn, accessible, and fits a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser import DESKTOP, PHONE, Server, axe, settled

CHARTS = '[data-testid="stVegaLiteChart"]'


@pytest.mark.parametrize(("viewport", "colour_scheme"), [(PHONE, "dark"), (DESKTOP, "light")])
@pytest.mark.parametrize(("count", "marks", "drawn"), [(6, ".mark-line path", 6), (50, "canvas", 1)])
def test_the_weights_are_drawn_and_fit(
    page: Page, server: Server, count: int, marks: str, drawn: int, viewport: ViewportSize, colour_scheme: str
) -> None:
    page.goto(f"{server.url}/explore?queries=linear&bits=6&weights=ramps&weight_queries={count}")
    settled(page)
    expect(page.locator(CHARTS)).to_have_count(5)
    picture = page.locator(CHARTS).nth(3)
    expect(picture.locator(marks)).to_have_count(drawn)
    box = picture.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= viewport["width"]
    axe(page)
    width = page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollWidth")
    assert width <= viewport["width"], f"the page is {width} pixels wide"
