"""Every page is sound, says little before anything is opened, and tells whoever cannot see what it does not show."""

from __future__ import annotations

import io
import re
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, ViewportSize, expect

from dpcore.data.generators import GENERATORS
from pages.charts.palette import DARK, LIGHT, parts
from pages.data.shapes import PLANE
from tests.cases import full_but
from tests.kit.browser import (
    DESKTOP,
    PHONE,
    Server,
    axe,
    go_to,
    on_screens,
    plot,
    see,
    sound,
    visible_words,
    visit,
)
from tests.kit.rest import settled

LINKS = {
    "ranges-and-cells": "",
    "pairs": "?data=clouds&n=1000&trials=100&sides=3",
    "mean-by-group": "?data=adult.hours_per_week&queries=group-statistics&by=relationship&by-second=race&trials=100",
    "tables": "tables",
    "all-tables": "tables?view=All+tables+of+k+attributes",
    "private-rule": "tables?view=A+private+rule",
    "one-number": "one-number",
    "subsamples": "one-number?robust=subsample_median",
    "mean": "one-number?robust=unbounded_mean",
    "conversation": "conversation",
    "data": "data",
    "generated": "data?way=Generated",
    "plan": "plan",
    "release": "release",
    "own-file": "data?way=My+own+file",
    "directions": "learn?lesson=directions&view=data",
    "hospitals": "learn?lesson=population&view=data",
    "random-privacy": "learn?lesson=random&view=data",
    "random-privacy-of-data": "learn?lesson=random&view=data&sparse=data",
}
VIEWS = (
    "pairs",
    "mean-by-group",
    "all-tables",
    "private-rule",
    "hospitals",
    "subsamples",
    "mean",
    "generated",
    "random-privacy-of-data",
)
"""Further views of pages that are seen once without them."""
MOST, FEWEST = 250, 40
"""Words outside pictures and tables; with fewer the page did not open."""


@on_screens("name", *((name,) for name in LINKS), full=VIEWS, both=True)
def test_a_page_is_sound_and_says_little_before_anything_is_opened(page: Page, server: Server, name: str) -> None:
    sound(visit(page, server, LINKS[name]))
    says_little(page)
    page.set_viewport_size(DESKTOP)  # a phone's sidebar is closed
    expect(page.get_by_test_id("stTopNav")).to_be_visible()  # until then the names of all pages are in the sidebar
    says_little(settled(page))
    sound(page)


@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
def test_on_a_phone_numbers_stand_two_and_two_and_a_finger_finds_the_help(page: Page, server: Server) -> None:
    visit(page, server, "conversation")
    first, second, third, _ = (each.bounding_box() for each in page.get_by_test_id("stMetric").all())
    assert first and second and third
    assert first["y"] == second["y"] < third["y"] and first["x"] == third["x"] < second["x"]
    helps = [each.bounding_box() for each in page.get_by_role("button", name=re.compile("^Help")).all()]
    files = [each.bounding_box() for each in page.get_by_role("button", name=re.compile("^Picture as")).all()]
    assert len(helps) > 2 and len(files) > 2
    assert all(box and min(box["width"], box["height"]) >= 24 for box in [*helps, *files])


@pytest.mark.full
@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
@pytest.mark.parametrize(
    ("link", "name"),
    [
        ("conversation?ask-seen=More", "Both mechanisms with the same analyst"),
        ("learn?lesson=printed", "The paper's Table 1, at these settings"),
    ],
    ids=["conversation", "printed"],
)
def test_a_wide_table_scrolls_alone_on_a_phone(page: Page, server: Server, link: str, name: str) -> None:
    visit(page, server, link)
    page.get_by_text(name).click()
    settled(page)
    table = page.locator("[data-testid=stExpander] table").first
    expect(table).to_be_visible()
    assert table.evaluate("table => table.scrollWidth > table.parentElement.clientWidth"), "it is wide"
    assert page.get_by_test_id("stMain").evaluate("part => part.scrollWidth") <= PHONE["width"]


@pytest.mark.parametrize("colour_scheme", ["dark"])
def test_the_name_of_an_open_door_is_read(page: Page, server: Server) -> None:
    visit(page, server, "conversation")
    page.get_by_role("button", name="How it works").click()
    settled(page)
    axe(page)


def test_long_names_have_room(page: Page, server: Server) -> None:
    visit(page, server, "tables?view=All+tables+of+k+attributes")
    bar = page.locator(".st-key-status_bar").bounding_box()
    assert bar and bar["height"] < 40, "one line, whatever the data are called"
    names = page.locator("[data-tag] > span[title]")
    assert names.count() > 4
    assert names.evaluate_all("names => names.filter(name => name.scrollWidth > name.clientWidth).length") == 0
    box = page.get_by_test_id("stSidebar").get_by_test_id("stMultiSelectTagsContainer")
    assert box.evaluate("box => box.scrollHeight <= box.clientHeight"), "no name is out of sight"


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_the_name_of_a_shape_is_one_line_of_its_button(page: Page, server: Server) -> None:
    visit(page, server, "data?way=Generated")
    titles = [each.title.removesuffix(PLANE) for each in GENERATORS.values()]
    boxes = [page.get_by_role("button", name=title, exact=True).bounding_box() for title in titles]
    assert len({round(box["height"]) for box in boxes if box}) == 1 and all(boxes), "no name is broken"


@pytest.mark.full
@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
def test_long_numbers_along_a_phones_axis_stand_apart(page: Page, server: Server) -> None:
    ticks = plot(visit(page, server, "?data=pets.zip_code", "data_chart"), "data_chart").locator(".xtick text")
    ends = "ticks => ticks.map(tick => tick.getBoundingClientRect()).map(({ left, right }) => [left, right])"
    boxes = sorted(ticks.evaluate_all(ends))
    assert len(boxes) > 2 and all(right + 4 < left for (_, right), (left, _) in pairwise(boxes))


@pytest.mark.parametrize("colour_scheme", ["dark"])
def test_pictures_follow_the_theme_when_it_changes(page: Page, server: Server) -> None:
    visit(page, server, "data?way=Generated")
    words = page.locator(".dpscope-plot .xtick text").first
    before = words.evaluate("words => getComputedStyle(words).fill")
    assert before == f"rgb{parts(DARK.ink)}"
    page.emulate_media(color_scheme="light")
    expect(words).to_have_css("fill", f"rgb{parts(LIGHT.ink)}")


@pytest.mark.parametrize("viewport", [ViewportSize(width=1920, height=900)], ids=["wide"])
@pytest.mark.parametrize(
    ("link", "key"),
    full_but(
        [
            ("", "data_chart"),
            ("?card=wrong", "worst_chart"),
            ("tables", "marginals_errors_chart"),
            ("one-number", "robust_chance_chart"),
        ],
        ("", "data_chart"),
    ),
)
def test_a_chart_is_higher_where_the_window_is_and_the_page_is_still_one_screen(
    page: Page, server: Server, link: str, key: str
) -> None:
    before = plot(visit(page, server, link, key), key).bounding_box()
    page.set_viewport_size({"width": 1920, "height": 1080})
    after = plot(visit(page, server, link, key), key).bounding_box()
    assert before and after and after["height"] > 1.3 * before["height"]
    high, seen = page.get_by_test_id("stMain").evaluate("part => [part.scrollHeight, part.clientHeight]")
    assert high <= seen, f"{high} pixels high"


@pytest.mark.parametrize("colour_scheme", ["dark"])
def test_in_the_dark_what_a_slider_of_releases_has_not_reached_is_dark(page: Page, server: Server) -> None:
    track = visit(page, server, "", "data_chart").locator(".st-key-data_chart .dpscope-frames")
    picture = Image.open(io.BytesIO(track.screenshot())).convert("L")
    assert np.asarray(picture)[:, picture.width // 2 :].max() < 160, "white would be the brightest line of the page"


def test_a_page_without_controls_at_the_side_has_no_column_for_them(page: Page, server: Server) -> None:
    go_to(visit(page, server, "one-number"), "release")  # the browser remembers how wide the column was
    go_to(visit(page, server, "release"), "one-number")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    page.set_viewport_size(PHONE)
    expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()  # the drawer would cover the page
    page.set_viewport_size(DESKTOP)
    expect(page.get_by_test_id("stSidebar")).to_be_in_viewport()
    go_to(page, "release")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()


def says_little(page: Page) -> None:
    words = visible_words(page)
    assert FEWEST < len(words) <= MOST, f"{len(words)} words: {' '.join(words)}"


@pytest.mark.full
@pytest.mark.parametrize("viewport", [ViewportSize(width=1280, height=900)], ids=["wall"])
@pytest.mark.parametrize("name", ["tables", "all-tables", "one-number", "subsamples", "mean", "conversation"])
def test_a_page_of_play_is_one_screen_and_its_link_opens_the_view_that_is_seen(
    page: Page, server: Server, name: str
) -> None:
    visit(page, server, LINKS[name])
    high, seen = page.get_by_test_id("stMain").evaluate("part => [part.scrollHeight, part.clientHeight]")
    assert high <= seen, f"{high} pixels high"
    see(page, "More")
    assert "-seen=More" in page.url
    page.goto(page.url)
    expect(settled(page).get_by_role("tab", name="More")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("link", name="Test this privacy claim")).to_be_visible()


def test_the_sentence_of_a_picture_opens_and_describes_it(page: Page, server: Server) -> None:
    visit(page, server, "tables", "marginals_errors_chart")
    chart = page.locator(".st-key-marginals_errors_chart")
    sentence = chart.locator(".dpscope-sentence")
    expect(sentence).not_to_be_visible()
    expect(chart.locator(".dpscope-plot")).to_have_accessible_description(sentence.text_content() or "none")
    chart.get_by_text("In words").click()
    expect(sentence).to_be_visible()
    assert "95 in 100 of 3,000 queries have an error of at most" in sentence.inner_text()
