"""Present mode and the door to the attacks: how many clicks, how large, what the code on the wall leads to."""

from __future__ import annotations

import re
from html import unescape
from typing import Literal

import pytest
import segno
from playwright.sync_api import Browser, Page, ViewportSize, expect

from pages.learn.view import LESSONS, PRINTED
from tests.browser.layout.faults import faults
from tests.kit.browser import PHONE, Server, reopened, visit, watched_page
from tests.kit.rest import settled

WALL = ViewportSize(width=1280, height=900)
SIZES = (ViewportSize(width=1024, height=768), WALL, ViewportSize(width=1920, height=1080))
"""A projector, a screen, a large projector."""
MIN_PLOT = 100
"""Pixels, at least, of what is between the axes."""
LETTERS = 24
"""Pixels, at least, of all that is read on a wall."""
# Heights of letters as they are seen: a chart is drawn twice as large as it thinks.
HEIGHTS = """selector => [...document.querySelectorAll(selector)].filter(each => each.checkVisibility()).map(each => {
    const scale = each.closest('.dpscope-figure') ? 2 : 1;
    return scale * parseFloat(getComputedStyle(each).fontSize);
})"""


class Clicks:
    """Clicks on one page, counted."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, page: Page, role: Literal["button", "link", "radio"], name: str | re.Pattern[str]) -> None:
        page.get_by_role(role, name=name, exact=isinstance(name, str)).click()
        self.count += 1
        settled(page)


@pytest.mark.parametrize("viewport", [WALL], ids=["wall"])
def test_a_lesson_is_presented_after_two_clicks(page: Page, server: Server) -> None:
    visit(page, server, "learn")
    click = Clicks()
    click(page, "link", "Attack me: do group counts hide your answers?")
    click(page, "button", "Present")
    assert click.count <= 2 and "present=1" in page.url
    expect(page.get_by_role("slider", name="Your guess, people")).to_be_visible()
    expect(page.get_by_role("slider", name="Privacy budget ε of all counts together")).to_be_hidden()
    page.get_by_test_id("stCheckbox").get_by_text("Show what happens").click()
    settled(page)
    expect(page.get_by_role("slider", name="Your guess, people")).to_be_hidden()
    expect(page.locator(".st-key-attackme_bits_chart .dpscope-plot[data-drawn]")).to_be_visible()
    expect(page.locator(".dpscope-plot")).to_have_count(1)
    expect(page.get_by_role("slider", name="Privacy budget ε of all counts together")).to_be_visible()
    expect(page.get_by_role("slider")).to_have_count(1)
    assert "attack-me-shown=true" in page.url, "which a reload keeps, also of controls that a presentation moved"
    expect(page.locator(".st-key-presentation .katex").first).to_be_visible()
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    heights = page.evaluate(
        HEIGHTS, ".st-key-presentation p, .st-key-presentation .katex, .st-key-presentation text.xtitle"
    )
    assert len(heights) > 3 and min(heights) >= LETTERS


def code_on_the_wall(page: Page) -> str:
    """The address in the QR code, which is drawn as this address is."""
    picture = page.get_by_role("img", name="QR code of the link to this page")
    address = page.get_by_role("link").filter(has=picture).get_attribute("href") or ""
    made = segno.make(address, error="l", micro=False).svg_data_uri(border=2, light="white")
    assert unescape(picture.get_attribute("src") or "") == made
    return address


@pytest.mark.full
@pytest.mark.parametrize(
    "link",
    ["?present=1&bits=6&n=1000&trials=100", "learn?present=1&lesson=odds&odds-shown=true"],
    ids=["play", "lesson"],
)
def test_the_code_leads_to_what_is_shown_and_escape_ends_it(page: Page, server: Server, link: str) -> None:
    visit(page, server, link)
    assert set(code_on_the_wall(page).split("?")[1].split("&")) == set(link.split("?")[1].split("&")) - {"present=1"}
    expect(page.get_by_text("The link works on this machine only.")).to_be_visible()
    page.get_by_role("spinbutton", name="Exact ε").fill("3")
    page.keyboard.press("Enter")
    settled(page)
    assert "psilon=3" in page.url and page.url.replace("present=1", "").strip("&?")
    assert "psilon=3" in code_on_the_wall(page) and "present" not in code_on_the_wall(page)
    assert page.locator(".dpscope-plot").count() == 1
    reopened(page)
    expect(page.get_by_role("spinbutton", name="Exact ε")).to_have_value("3")
    page.keyboard.press("Escape")
    settled(page)
    expect(page.get_by_test_id("stHeader")).to_be_visible()
    assert "present" not in page.url and "psilon=3" in page.url


def test_back_ends_it_and_the_code_follows_what_is_typed(browser: Browser, server: Server) -> None:
    with watched_page(browser) as page:  # a tab's history is full at fifty entries
        visit(page, server, "?bits=6&n=1000&trials=100&epsilon=0.3")
        opened, box = page.url, page.get_by_role("spinbutton", name="Exact ε")
        for _ in range(2):  # a control that has moved lost its link now and then
            page.get_by_role("button", name="Present").click()
            settled(page)
            box.fill("3")
            page.keyboard.press("Enter")
            settled(page)
            assert "epsilon=3" in page.url and "epsilon=3" in code_on_the_wall(page)
            page.go_back()
            settled(page)
            assert page.url == opened
            expect(box).to_have_value("0.3")
            expect(page.get_by_test_id("stHeader")).to_be_visible()


@pytest.mark.full
@pytest.mark.parametrize(
    "link",
    [
        "",
        "?mechanism=windows&epsilon=0.25",
        "?data=clouds&n=1000&trials=100&sides=3",
        "?data=adult.hours_per_week&queries=group-statistics&by=sex",
        "one-number",
        "one-number?robust=unbounded_mean",
        "tables",
        "tables?view=All+tables+of+k+attributes",
        "conversation",
        f"learn?lesson={PRINTED}",
    ],
)
def test_a_page_is_presented_whole(page: Page, server: Server, link: str) -> None:
    """With a long headline, with names below the chart, with a high formula or none."""
    visit(page, server, f"{link}{'&' if '?' in link else '?'}present=1")
    expect(page.get_by_role("button", name="End (Esc)")).to_be_visible()
    for size in SIZES:
        page.set_viewport_size(size)
        whole(settled(page))


def whole(page: Page) -> None:
    """Fail if anything is cut or covered, or must be scrolled to."""
    expect(page.locator(".dpscope-plot[data-drawn]")).to_be_visible()
    high, seen = page.get_by_test_id("stMain").evaluate("part => [part.scrollHeight, part.clientHeight]")
    assert high <= seen, f"{high} pixels high of {seen}"
    assert not faults(page)


def fits(page: Page) -> None:
    """Fail as `whole` does, or if a lesson's chart lies on its switch or has little room between its axes."""
    whole(page)
    chart, reveal = page.locator(".dpscope-figure").bounding_box(), page.get_by_test_id("stCheckbox").bounding_box()
    assert chart and reveal and chart["y"] + chart["height"] <= reveal["y"]
    plot = page.locator(".dpscope-figure .plot-container .bglayer, .dpscope-figure .cartesianlayer .plot").first
    room = plot.bounding_box()
    assert room and room["height"] >= MIN_PLOT, f"the plot has {room} left"


@pytest.mark.full
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_fits_the_wall_before_and_after_show(page: Page, server: Server, lesson: str) -> None:
    visit(page, server, f"learn?present=1&lesson={lesson}")
    for shown in (False, True):
        if shown:
            page.get_by_test_id("stCheckbox").get_by_text("Show what happens").click()
        for size in SIZES:
            page.set_viewport_size(size)
            fits(settled(page))


@pytest.mark.full
@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
@pytest.mark.parametrize(
    ("link", "chart"),
    [
        ("learn?present=1&lesson=median", "median_success_chart"),
        pytest.param("?present=1", "data_chart", marks=pytest.mark.full),
    ],
    ids=["lesson", "home"],
)
def test_a_presented_link_fits_a_phone(page: Page, server: Server, link: str, chart: str) -> None:
    visit(page, server, link, chart)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= PHONE["width"]


@pytest.mark.parametrize(
    ("name", "lesson", "chart"),
    [
        pytest.param("Attack: group counts", "attack-me", "attackme_bits_chart", id="attack-me"),
        pytest.param("Attack: last bits", "low-bits", "lowbits_verdicts_chart", id="last-bits", marks=pytest.mark.full),
    ],
)
def test_an_attack_is_shown_two_clicks_from_the_first_page_and_made_private_by_a_third(
    page: Page, server: Server, name: str, lesson: str, chart: str
) -> None:
    visit(page, server, "", "data_chart")
    click = Clicks()
    click(page, "radio", re.compile("^Attack it"))
    click(page, "link", name)
    assert f"lesson={lesson}" in page.url
    expect(page.locator(f".st-key-{chart} .dpscope-plot[data-drawn]")).to_be_visible()
    assert click.count <= 2
    if lesson == "attack-me":
        expect(page.get_by_text("With exact counts, least squares finds")).to_be_visible()
        click(page, "button", "Make the counts private")
        expect(page.get_by_text("With noise at ε = 1, least squares finds")).to_be_visible()
        assert click.count <= 3
