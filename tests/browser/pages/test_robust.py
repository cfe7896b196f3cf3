"""Robust answers and Sparse histograms in a real browser: sliders move pictures, links reopen them, nothing spills."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.kit.browser import Server, axe, every_view_is_sound, on_screens, press, reopened, see, sound, visit
from tests.kit.rest import settled

pytestmark = pytest.mark.full

CHARTS = ".dpscope-plot"


def opened(page: Page, server: Server, link: str, *, charts: int) -> Page:
    """A page at rest with so many charts."""
    visit(page, server, link)
    expect(page.locator(CHARTS)).to_have_count(charts)
    return page


def captions(page: Page) -> str:
    """What stands below pictures and controls."""
    places = page.locator('[data-testid="stCaptionContainer"], [data-testid="stExpander"] p, .dpscope-sentence')
    return "\n".join(places.all_text_contents())


def test_a_smaller_epsilon_turns_answers_into_refusals(page: Page, server: Server) -> None:
    opened(page, server, "robust?data=earnings.earnings", charts=4)
    expect(page.get_by_role("heading", name="All of 100 runs give an answer")).to_be_visible()
    press(page, "Privacy budget ε", "ArrowLeft", 8)
    expect(
        page.get_by_role("heading", name=re.compile(r"(About|More than|All).* 100 runs give no answer"))
    ).to_be_visible()
    after = captions(page)
    assert "epsilon=" in page.url  # the data are the page's own, so the link need not name them
    assert captions(reopened(page)) == after


def test_subsamples_show_what_calibration_saves(page: Page, server: Server) -> None:
    opened(page, server, "robust?data=bimodal&robust=subsample_median&epsilon=2", charts=3)
    see(page, "More")
    page.get_by_text("The paper's parameters and calibrated parameters").click()
    expect(page.get_by_text(re.compile(r"Calibrated parameters need about [\d,]+ times fewer"))).to_be_visible()
    expect(page.get_by_text("Paper: k = ε(n/m)³")).to_be_visible()


def test_the_second_figure_is_one_click_away(page: Page, server: Server) -> None:
    opened(page, server, "learn?lesson=random&view=data", charts=6)
    before = captions(page)
    page.get_by_role("combobox", name="What to release").click()
    page.get_by_role("option", name=re.compile("Figure 2")).click()
    settled(page)
    assert "400 cells and 8,000 rows" in captions(page) and captions(page) != before
    assert "sparse=figure-2" in page.url
    press(page, "Failing share γ", "Home", 1)
    assert "the condition is not met, so both mechanisms are the same here." in captions(page)


def test_groups_are_compared_by_another_column(page: Page, server: Server) -> None:
    opened(page, server, "robust?robust=subsample-groups&subsample-groups-rows=100", charts=3)
    expect(page.locator("code", has_text="male: larger median")).to_be_visible()
    page.get_by_role("combobox", name="Groups").click()
    page.get_by_role("option", name="region").click()
    settled(page)
    expect(page.locator("code", has_text="Northeast: larger median")).to_be_visible()
    assert "groups=region" in page.url


def test_a_release_chosen_after_seeing_another_is_refused(page: Page, server: Server) -> None:
    opened(page, server, "sparse?planned=3", charts=6)
    expect(page.get_by_text("ε = 3, γ = 0.3 (replace one row)")).to_be_visible()
    page.get_by_role("button", name="Sample the planned releases").click()
    page.get_by_role("button", name=re.compile("Choose one more")).click()
    expect(page.get_by_text(re.compile("^Refused. .*fixed in advance"))).to_be_visible()
    axe(settled(page))


@on_screens(
    "link,charts",
    ("robust?data=census.income&robust=subsample-groups", 3),
    ("robust?data=bimodal&robust=subsample_median", 3),
    ("robust?data=medical.meddol&robust=unbounded_mean", 2),
    ("sparse?sparse=figure-2", 6),
    ("sparse?sparse=data&data=pets.zip_code", 6),
)
def test_every_state_is_accessible_and_fits(page: Page, server: Server, link: str, charts: int) -> None:
    sound(opened(page, server, link, charts=charts))
    if "robust" in link:
        every_view_is_sound(page)
