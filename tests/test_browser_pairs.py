"""Explore with pairs of numbers in a real browser: maps are drawn, a rectangle is answered, a slider keeps it."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.browser import DESKTOP, PHONE, Server, axe, settled

CHARTS = '[data-testid="stVegaLiteChart"]'
LINK = "explore?data=cities.longitude*latitude"
ANSWER = re.compile(r"true [\d,]+ of 34,006 rows, release 1 ")


def opened(page: Page, server: Server, link: str = LINK) -> Page:
    """The page at rest with its five charts."""
    page.goto(f"{server.url}/{link}")
    settled(page)
    expect(page.locator(CHARTS)).to_have_count(5)
    return page


def cells(chart: Locator) -> int:
    """Shaded squares of a map."""
    count: int = chart.evaluate("chart => chart.querySelectorAll('.mark-rect path').length")
    return count


def brush(page: Page) -> None:
    """Drag from a quarter to three quarters of the true map, from the top third to the lower third."""
    plot = page.locator(CHARTS).first.locator("svg .background").first.bounding_box()
    assert plot is not None
    place = [(plot["x"] + share * plot["width"], plot["y"] + down * plot["height"]) for share, down in
             ((0.25, 0.3), (0.5, 0.5), (0.75, 0.7))]  # fmt: skip
    page.mouse.move(*place[0])
    page.mouse.down()
    page.mouse.move(*place[1], steps=6)
    page.mouse.move(*place[2], steps=6)
    page.mouse.up()
    settled(page)


def test_a_rectangle_drawn_on_the_true_map_is_answered(page: Page, server: Server) -> None:
    opened(page, server)
    for place in (0, 1):
        assert cells(page.locator(CHARTS).nth(place)) >= 1024
    before = cells(page.locator(CHARTS).nth(1))
    brush(page)
    expect(page.get_by_text(ANSWER)).to_be_visible()
    said = page.locator("strong", has_text=" × ").first.inner_text()
    ends = [float(number) for number in re.findall(r"-?[\d.]+", said)]
    # A quarter and three quarters of the globe's degrees, and the like of its latitudes, by whole cells.
    assert ends == pytest.approx([-90, 90, -36, 36], abs=12)
    assert cells(page.locator(CHARTS).nth(1)) == before + 1, "the released map outlines the same rectangle"
    slider = page.get_by_role("slider", name="Privacy loss ε")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    settled(page)
    assert page.locator("strong", has_text=" × ").first.inner_text() == said, "a slider keeps the rectangle"


def test_a_link_reopens_pairs_with_their_mechanism(page: Page, server: Server, tmp_path: Path) -> None:
    opened(page, server, "explore?data=clouds&mechanism=rectangles&sides=4&rectangles-levels=2&n=1000")
    expect(page.get_by_text("1,000 rows in 256 cells: half")).to_be_visible()
    expect(page.get_by_text(re.compile(r"15 private cuts"))).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download a synthetic table").click()
    target = tmp_path / "table.csv"
    download.value.save_as(target)
    with target.open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["first number", "second number"] and len(rows) == 1001
    assert all(0 <= float(number) <= 1 for row in rows[1:] for number in row)


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_pairs_are_accessible_and_fit(page: Page, server: Server, viewport: ViewportSize, colour_scheme: str) -> None:
    # Few squares: each is an element that is looked at.
    opened(page, server, f"{LINK}&mechanism=rectangles&sides=3")
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
