"""Marginals in a real browser: sliders move pictures, links reopen them, nothing spills."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser import DESKTOP, PHONE, Server, axe, settled
from tests.test_browser_robust import captions, opened, press

SMALL = "marginals?cube-rows=10000&cube-attributes=24"
LISTS = f"{SMALL}&rules=4"
CHARTS = 5


def test_epsilon_moves_the_errors_and_the_link_reopens_them(page: Page, server: Server) -> None:
    opened(page, server, SMALL, charts=CHARTS)
    before = captions(page)
    press(page, "Privacy loss ε", "ArrowRight", 6)
    after = captions(page)
    assert after != before
    link = page.url
    assert "epsilon=" in link and "cube-attributes=24" in link
    page.goto("about:blank")
    page.goto(link)
    settled(page)
    assert captions(page) == after


def test_one_query_is_asked(page: Page, server: Server) -> None:
    opened(page, server, f"{SMALL}&width=2", charts=CHARTS)
    expect(page.get_by_role("cell", name=re.compile(r"^\d+\.\d\d%$")).first).to_be_visible()
    before = page.get_by_role("cell", name="true").locator("xpath=following-sibling::td[1]").inner_text()
    page.get_by_role("button", name=re.compile("remove a2|a2, close|Remove a2", re.IGNORECASE)).first.click()
    settled(page)
    after = page.get_by_role("cell", name="true").locator("xpath=following-sibling::td[1]").inner_text()
    assert float(after.rstrip("%")) <= float(before.rstrip("%"))


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "link",
    [
        SMALL,
        "marginals?cube=adult&width=3",
        LISTS,
        "marginals?cube=census&width=6&counts-if=all&negated=true&marginal-noise=gaussian",
    ],
)
def test_every_state_is_accessible_and_fits(
    page: Page, server: Server, link: str, viewport: ViewportSize, colour_scheme: str
) -> None:
    opened(page, server, link, charts=CHARTS)
    if link == LISTS:
        page.get_by_text("Rules instead of attributes").click()
        settled(page)
        expect(page.locator('[data-testid="stVegaLiteChart"]')).to_have_count(CHARTS + 1)
    axe(page)
    width = page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollWidth")
    assert width <= viewport["width"], f"the page is {width} pixels wide"
