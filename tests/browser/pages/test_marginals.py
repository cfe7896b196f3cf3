"""Marginals in a real browser: sliders move pictures, links reopen them, nothing spills."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.kit.browser import Server, every_view_is_sound, on_screens, plot, press, reopened, see, sentences, visit
from tests.kit.rest import settled

pytestmark = pytest.mark.full

SMALL = "marginals?cube-rows=10000&cube-attributes=24"
LISTS = "tables?view=Decision+lists"
LISTED = ["marginals_lists_chart", "marginals_worst_chart"]
MARGINALS = [f"marginals_{name}_chart" for name in ("step", "levels", "errors", "map", "worst")]


def test_a_tile_says_who_wins_there_and_epsilon_moves_the_errors_which_the_link_reopens(
    page: Page, server: Server
) -> None:
    visit(page, server, SMALL, *MARGINALS)
    see(page, "Smallest error by setting")
    # A layer of Plotly's own, which takes all pointing, lies over the tiles.
    plot(page, "marginals_map_chart").locator(".nsewdrag").first.hover()
    said = str(plot(page, "marginals_map_chart").locator(".hoverlayer .hovertext").text_content())
    assert re.search(r"[\d,]+ rows, \d+ attributes per query", said) and re.search(r"error [\d.]+%.* rows\)", said)
    before = sentences(page)
    press(page, "Privacy budget ε", "ArrowRight", 6)
    after = sentences(page)
    assert after != before
    assert "epsilon=" in page.url and "cube-attributes=24" in page.url
    assert sentences(reopened(page)) == after


def test_one_query_is_asked(page: Page, server: Server) -> None:
    visit(page, server, f"{SMALL}&width=2", *MARGINALS)
    see(page, "One query")
    expect(page.get_by_role("cell", name=re.compile(r"^\d+\.\d\d%$")).first).to_be_visible()
    before = page.get_by_role("cell", name="true").locator("xpath=following-sibling::td[1]").inner_text()
    page.get_by_role("button", name=re.compile("remove a2|a2, close|Remove a2", re.IGNORECASE)).first.click()
    settled(page)
    after = page.get_by_role("cell", name="true").locator("xpath=following-sibling::td[1]").inner_text()
    assert float(after.rstrip("%")) <= float(before.rstrip("%"))


@on_screens(
    "link",
    (LISTS,),
    (SMALL,),
    ("marginals?cube=adult&width=3",),
    ("marginals?cube=census&width=6&counts-if=all&negated=true&marginal-noise=gaussian",),
)
def test_every_state_is_accessible_and_fits(page: Page, server: Server, link: str) -> None:
    visit(page, server, link, *(LISTED if link == LISTS else MARGINALS))
    every_view_is_sound(page)
