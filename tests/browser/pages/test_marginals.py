"""Marginals in a real browser: sliders move pictures, links reopen them, nothing spills."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.kit.browser import DESKTOP, PHONE, Server, axe, settled

SMALL = "marginals?cube-rows=10000&cube-attributes=24"
LISTS = f"{SMALL}&rules=4"
MARGINALS = [f"marginals_{name}" for name in ("step", "levels", "errors", "map", "worst")]


def chart(page: Page, name: str) -> Locator:
    """A chart of either view, by its key."""
    return page.locator(f".st-key-{name}_chart")


def opened(page: Page, server: Server, link: str, *, charts: Iterable[str]) -> Page:
    """A page at rest with these charts."""
    page.goto(f"{server.url}/{link}")
    settled(page)
    for name in charts:
        expect(chart(page, name).locator(".dpscope-plot[data-drawn]")).to_have_count(1)
    return page


def sentences(page: Page) -> str:
    """What the charts say of themselves."""
    return "\n".join(page.locator(".dpscope-sentence").all_inner_texts())


def press(page: Page, slider: str, key: str, times: int) -> None:
    """Move a slider by its keys."""
    page.get_by_role("slider", name=slider).focus()
    for _ in range(times):
        page.keyboard.press(key)
    settled(page)


def within(page: Page, viewport: ViewportSize) -> None:
    """Nothing is wider than the window, no picture than its place."""
    width = page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollWidth")
    assert width <= viewport["width"], f"the page is {width} pixels wide"


def test_epsilon_moves_the_errors_and_the_link_reopens_them(page: Page, server: Server) -> None:
    opened(page, server, SMALL, charts=MARGINALS)
    before = sentences(page)
    press(page, "Privacy loss ε", "ArrowRight", 6)
    after = sentences(page)
    assert after != before
    link = page.url
    assert "epsilon=" in link and "cube-attributes=24" in link
    page.goto("about:blank")
    page.goto(link)
    settled(page)
    assert sentences(page) == after


def test_pointing_at_a_tile_says_who_wins_there_in_share_and_rows(page: Page, server: Server) -> None:
    opened(page, server, SMALL, charts=MARGINALS)
    # A layer of Plotly's own, which takes all pointing, lies over the tiles.
    chart(page, "marginals_map").locator(".nsewdrag").first.hover()
    said = str(chart(page, "marginals_map").locator(".hoverlayer .hovertext").text_content())
    assert re.search(r"[\d,]+ rows, \d+ attributes a query", said) and re.search(r"error [\d.]+%.* rows\)", said)


def test_one_query_is_asked(page: Page, server: Server) -> None:
    opened(page, server, f"{SMALL}&width=2", charts=MARGINALS)
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
    opened(page, server, link, charts=MARGINALS)
    if link == LISTS:
        page.get_by_text("Rules instead of attributes").click()
        settled(page)
        expect(chart(page, "marginals_lists").locator(".dpscope-plot[data-drawn]")).to_have_count(1)
    axe(page)
    within(page, viewport)
