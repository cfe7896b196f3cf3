"""Explore with pairs of numbers in a real browser: maps are drawn, a rectangle is answered, a slider keeps it."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages.test_play import drag, move_slider
from tests.kit.browser import Server, on_screens, plot, sound, visit

pytestmark = pytest.mark.full

CHARTS = ("true_map", "released_map", "band_chart", "worst_chart", "tradeoff_chart")
LINK = "?card=all&data=cities.longitude*latitude&trials=100"
ANSWER = re.compile(r"true [\d,]+ of 34,006 rows, answers of the 8 releases shown: [\d,]+")


def opened(page: Page, server: Server, link: str = LINK) -> Page:
    """The page at rest with its five charts."""
    return visit(page, server, link, *CHARTS)


def test_a_rectangle_drawn_on_the_true_map_is_answered_and_releases_are_stepped_through(
    page: Page, server: Server
) -> None:
    opened(page, server)
    for key in ("true_map", "released_map"):
        assert plot(page, key).evaluate("plot => plot._fullData[0].z.flat().length") == 1024
    outline = "plot => plot._fullLayout.shapes.map(shape => [shape.x0, shape.x1, shape.y0, shape.y1])"
    assert plot(page, "released_map").evaluate(outline) == []
    # From a quarter to three quarters of the true map, from the top third to the lower third.
    drag(page, plot(page, "true_map"), (0.25, 0.3), (0.75, 0.7))
    expect(page.get_by_text(ANSWER)).to_be_visible()
    said = page.locator("strong", has_text=" × ").first.inner_text()
    ends = [float(number) for number in re.findall(r"-?[\d.]+", said)]
    # A quarter and three quarters of the globe's degrees, and the like of its latitudes, by whole cells.
    assert ends == pytest.approx([-90, 90, -36, 36], abs=12)
    (outlined,) = plot(page, "released_map").evaluate(outline)
    assert outlined == pytest.approx(ends, abs=0.01), "the released map outlines the same rectangle"
    move_slider(page)
    assert page.locator("strong", has_text=" × ").first.inner_text() == said, "a slider keeps the rectangle"
    # The releases are stepped through.
    place = page.locator(".st-key-released_map")
    shades = "plot => JSON.stringify(plot._fullData[0].z)"
    before = plot(page, "released_map").evaluate(shades)
    place.locator(".dpscope-frames").focus()
    page.keyboard.press("ArrowRight")
    expect(place.locator(".dpscope-sentence")).to_have_text(re.compile("^Release 2 of 8: error of at most "))
    assert plot(page, "released_map").evaluate(shades) != before


def test_a_link_reopens_pairs_with_their_mechanism(page: Page, server: Server, tmp_path: Path) -> None:
    opened(page, server, "?card=all&data=clouds&mechanism=rectangles&sides=4&rectangles-levels=2&n=1000&trials=100")
    expect(page.get_by_text("1,000 rows in 256 cells: half")).to_be_attached()
    page.get_by_role("button", name="Why?").click()
    expect(page.get_by_text(re.compile(r"15 private cuts"))).to_be_visible()
    page.keyboard.press("Escape")
    page.locator(".st-key-released_map_more").get_by_test_id("stPopoverButton").first.click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download a synthetic table").click()
    target = tmp_path / "table.csv"
    download.value.save_as(target)
    with target.open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["first", "second"] and len(rows) == 1001
    assert all(0 <= float(number) <= 1 for row in rows[1:] for number in row)


# Few squares: each is an element that is looked at.
@on_screens("link", ("?card=all&data=clouds&n=1000&trials=100&sides=3",), (f"{LINK}&mechanism=rectangles&sides=3",))
def test_pairs_are_accessible_and_fit(page: Page, server: Server, link: str) -> None:
    sound(opened(page, server, link))
