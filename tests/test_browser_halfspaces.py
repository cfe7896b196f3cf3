"""Halfspaces in a real browser: sliders and clicks turn the direction, links reopen it, nothing spills."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser import DESKTOP, PHONE, Server, axe, settled
from tests.test_browser_robust import captions, opened, press


def test_a_link_reopens_the_turned_direction(page: Page, server: Server) -> None:
    opened(page, server, "halfspaces", charts=3)
    expect(page.get_by_text("the hemisphere around 19° N 24° E")).to_be_visible()
    press(page, "Direction, degrees", "ArrowRight", 5)
    expect(page.get_by_text("the hemisphere around 22° N 28° E")).to_be_visible()
    after, link = captions(page), page.url
    assert "angle=35" in link
    page.goto("about:blank")
    page.goto(link)
    settled(page)
    assert captions(page) == after


def test_a_click_on_the_circle_turns_the_direction_there(page: Page, server: Server) -> None:
    opened(page, server, "halfspaces?vectors=penguins", charts=4)
    chart = page.locator('[data-testid="stVegaLiteChart"]').nth(1)
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 0.4 * box["height"])
    settled(page)
    turned = re.search(r"angle=((1[6-9]|2[0-2])\d)", page.url)
    assert turned, page.url
    expect(page.get_by_text(f"{turned[1]}° from “longer bill”")).to_be_visible()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("link", "charts"),
    [("halfspaces", 3), ("halfspaces?vectors=penguins-raw", 4), ("halfspaces?vectors=digits", 3)],
)
def test_every_state_is_accessible_and_fits(
    page: Page, server: Server, link: str, charts: int, viewport: ViewportSize, colour_scheme: str
) -> None:
    opened(page, server, link, charts=charts)
    axe(page)
    width = page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollWidth")
    assert width <= viewport["width"], f"the page is {width} pixels wide"
