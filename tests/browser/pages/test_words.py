"""Every page is sound, says little before anything is opened, and tells whoever cannot see what it does not show."""

from __future__ import annotations

import io
import re

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
    OWN_FILE,
    PHONE,
    Server,
    axe,
    bring,
    csv_file,
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
    "random-privacy": "learn?lesson=random&view=data",
    "random-privacy-of-data": "learn?lesson=random&view=data&sparse=data",
}
VIEWS = ("pairs", "mean-by-group", "all-tables", "subsamples", "mean", "generated", "random-privacy-of-data")
"""Further views of pages that are seen once without them."""
BEYOND = """() => [...document.querySelectorAll('.dpscope-plot')].flatMap((plot) => {
    const { left, right } = plot.getBoundingClientRect();
    return [...plot.querySelectorAll('svg text')].filter((words) => {
        const box = words.getBoundingClientRect();
        return box.width && (box.left < left - 1 || box.right > right + 1);
    }).map((words) => words.textContent);
})"""
"""Words of pictures that are cut at their sides."""
CROSSED = """() => [...document.querySelectorAll('.dpscope-plot')].flatMap((plot) => {
    const words = [...plot.querySelectorAll('g.annotation text')].map((text) => [text, text.getBoundingClientRect()]);
    return words.flatMap(([one, a], place) => words.slice(place + 1).filter(([, b]) =>
        Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
        Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3
    ).map(([other]) => `${one.textContent} / ${other.textContent}`));
})"""
"""Words of one picture that are drawn over each other."""
TOUCHING = """() => [...document.querySelectorAll('.dpscope-plot')].flatMap((plot) => {
    const NUMBERS = '.xtick text, .ytick text, .x2tick text, .y2tick text, .gtitle tspan';
    const boxes = (parts) => [...plot.querySelectorAll(parts)].map((part) => [part, part.getBoundingClientRect()]);
    const ticks = boxes(NUMBERS), words = boxes('g.annotation text, .x2title');
    const apart = ([, a], [, b]) => Math.max(a.left, b.left) >= Math.min(a.right, b.right)
        || Math.max(a.top, b.top) > Math.min(a.bottom, b.bottom) - 3;
    const pairs = ticks.flatMap((tick, place) => [...ticks.slice(place + 1), ...words].map((other) => [tick, other]));
    const said = (pair) => pair.map(([text]) => text.textContent);
    return pairs.filter(([one, other]) => !apart(one, other)).map(said);
})"""
"""Numbers along axes, or lines of a badge, that others or words of the picture touch."""
STRUCK = """() => [...document.querySelectorAll('.dpscope-plot')].flatMap((plot) => {
    const lines = [...plot.querySelectorAll('.shapelayer path')].map((line) => line.getBoundingClientRect());
    return [...plot.querySelectorAll('g.annotation')].flatMap((words) => {
        const box = words.querySelector('text').getBoundingClientRect(), ground = words.querySelector('rect.bg');
        const crossed = lines.some((line) => line.left < box.right - 1 && box.left + 1 < line.right
            && line.top < box.bottom - 3 && box.top + 3 < line.bottom);
        const clear = ground && getComputedStyle(ground).fill !== 'none' && ground.style.fillOpacity > 0.5;
        return crossed ? [[words.textContent, Boolean(clear)]] : [];
    });
})"""
"""Words of pictures that a line crosses, and whether it stops behind them."""
LETTERS = """() => [...document.querySelectorAll('.dpscope-plot .gtitle')].map(
    (badge) => parseFloat(getComputedStyle(badge).fontSize))"""
SHADES = """() => [...document.querySelectorAll('.dpscope-plot:has(.colorbar)')].map((plot) => {
    const [badge, scale, shades] = ['.gtitle', '.colorbar', '.hm'].map((part) =>
        plot.querySelector(part).getBoundingClientRect());
    return badge.bottom < scale.top && scale.bottom < shades.top && shades.top - scale.bottom < 30;
})"""
"""Whether the scale of each map is between its badge and the map."""
LINES = """parts => parts.flatMap((one, place) => parts.slice(place + 1).filter((other) => {
    const [above, below] = [one, other].map((part) => part.getBoundingClientRect());
    return !one.contains(other) && below.left < above.right && above.left < below.right && below.top < above.bottom + 2;
}).map((other) => [one.textContent, other.textContent]))"""
"""Parts of the bar that begin less than two pixels below another."""
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


@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
def test_no_words_of_a_picture_or_of_the_bar_are_cut_on_a_phone(page: Page, server: Server) -> None:
    visit(page, server, "tables", "marginals_worst_chart")
    assert page.evaluate(BEYOND) == []
    name = page.locator(".st-key-status_bar a p")
    assert name.evaluate("name => name.scrollWidth <= name.clientWidth"), "nor is what the data are called"


@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
@pytest.mark.parametrize("link", ["", "?data=penguins.body_mass_g", "one-number", "learn?lesson=random&view=data"])
def test_on_a_phone_words_of_a_picture_are_not_drawn_over_each_other_or_cut(
    page: Page, server: Server, link: str
) -> None:
    visit(page, server, link)
    page.set_viewport_size({"width": PHONE["width"], "height": 3000})  # pictures are drawn when they come into sight
    settled(page)
    assert page.locator(".dpscope-plot g.annotation text").count()
    assert page.evaluate(CROSSED) == [] == page.evaluate(BEYOND)


@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
def test_on_a_phone_all_views_of_tables_are_in_sight(page: Page, server: Server) -> None:
    visit(page, server, "tables")
    views = page.locator(".st-key-view").get_by_role("radio")
    boxes = [each.bounding_box() for each in views.all()]
    assert len(boxes) == 4
    assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"] for box in boxes)


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
    page.set_viewport_size({"width": 1210, "height": 900})
    name = page.locator(".st-key-status_bar a p")
    cut = "name => name.scrollWidth > name.clientWidth"
    assert name.evaluate(cut), "the window is narrow"
    name.hover()
    assert not name.evaluate(cut), "who points at it reads it all"
    page.mouse.move(0, 0)
    page.set_viewport_size({"width": 1024, "height": 900})
    assert not name.evaluate(cut), "on a tablet the bar has lines enough"


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_the_name_of_a_shape_is_one_line_of_its_button(page: Page, server: Server) -> None:
    visit(page, server, "data?way=Generated")
    titles = [each.title.removesuffix(PLANE) for each in GENERATORS.values()]
    boxes = [page.get_by_role("button", name=title, exact=True).bounding_box() for title in titles]
    assert len({round(box["height"]) for box in boxes if box}) == 1 and all(boxes), "no name is broken"


@pytest.mark.parametrize("colour_scheme", ["dark"])
def test_pictures_follow_the_theme_when_it_changes(page: Page, server: Server) -> None:
    visit(page, server, "data?way=Generated")
    words = page.locator(".dpscope-plot .xtick text").first
    before = words.evaluate("words => getComputedStyle(words).fill")
    assert before == f"rgb{parts(DARK.ink)}"
    page.emulate_media(color_scheme="light")
    expect(words).to_have_css("fill", f"rgb{parts(LIGHT.ink)}")


@pytest.mark.parametrize("viewport", [ViewportSize(width=1024, height=900)], ids=["tablet"])
def test_nothing_in_the_bar_of_a_private_file_is_cut_or_touches_another_line(page: Page, server: Server) -> None:
    bring(visit(page, server, OWN_FILE), csv_file("people.csv", "pay,age\n1200,31\n"))
    parts = page.locator(".st-key-status_bar :is(a, p)").filter(visible=True)
    assert parts.evaluate_all(LINES) == []
    go_to(page, "plan")
    switch = page.locator(".st-key-steward_choice label p")
    assert switch.evaluate("words => words.scrollWidth <= words.clientWidth"), (
        "beside controls, n must be at least two lines"
    )
    assert parts.count() > 1 and parts.evaluate_all(LINES) == []


@pytest.mark.parametrize("viewport", [ViewportSize(width=1024, height=900)], ids=["tablet"])
@pytest.mark.parametrize(
    "link",
    [
        "",
        "?data=penguins.body_mass_g",
        "?data=clouds&n=1000&trials=100&sides=3",
        "conversation",
        "tables",
        LINKS["all-tables"],
        LINKS["mean-by-group"],
    ],
)
def test_on_a_tablet_no_words_of_the_bar_or_of_a_picture_are_covered_or_cut(
    page: Page, server: Server, link: str
) -> None:
    visit(page, server, link)
    page.set_viewport_size({"width": 1024, "height": 2000})
    settled(page)
    buttons = page.locator(".dpscope-present").bounding_box()
    tools, page_head = (page.locator(f".st-key-{key}").bounding_box() for key in ("browser_tools", "epsilon_bar"))
    assert buttons and tools and page_head
    assert tools["x"] + tools["width"] <= page_head["x"] + page_head["width"] + 1, "they would leave the window"
    for words in page.locator(".st-key-status_bar > *").all():
        box = words.bounding_box()
        assert box and box["x"] + box["width"] <= buttons["x"], "the buttons would lie over it"
    assert page.evaluate(BEYOND) == [] == page.evaluate(TOUCHING)
    assert min(page.evaluate(LETTERS)) >= 10, "a badge that is shrunk is not read"


@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
@pytest.mark.parametrize("lesson", full_but(("median", "odds", "population", "polynomials"), "median"))
def test_a_line_stops_behind_the_words_that_it_crosses(page: Page, server: Server, lesson: str) -> None:
    visit(page, server, f"learn?lesson={lesson}")
    struck = {words: clear for words, clear in page.evaluate(STRUCK) if words != "?"}
    assert (struck or lesson == "odds") and all(struck.values()), struck  # of odds, no label is crossed at all


def test_a_map_made_narrower_keeps_its_scale_of_shades_where_it_was(page: Page, server: Server) -> None:
    visit(page, server, "?data=cities.longitude*latitude&trials=100")
    page.set_viewport_size({"width": 1024, "height": 2000})
    settled(page)
    assert page.evaluate(LETTERS) and page.evaluate(SHADES) == [True, True]


@pytest.mark.parametrize("viewport", [ViewportSize(width=1920, height=900)], ids=["wide"])
@pytest.mark.parametrize(
    ("link", "key"),
    full_but(
        [("", "worst_chart"), ("tables", "marginals_errors_chart"), ("one-number", "robust_chance_chart")],
        ("", "worst_chart"),
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


@pytest.mark.parametrize("viewport", [ViewportSize(width=1920, height=1080)], ids=["wide"])
def test_on_a_wide_screen_no_name_beside_a_picture_is_cut(page: Page, server: Server) -> None:
    visit(page, server, "?data=penguins.body_mass_g", "tradeoff_chart")
    names = page.locator(".st-key-tradeoff_chart .legendtext").all_text_contents()
    assert any(len(name) > 30 for name in names) and not any("…" in name for name in names), names
    assert page.evaluate(BEYOND) == []


@pytest.mark.parametrize("colour_scheme", ["dark"])
def test_in_the_dark_what_a_slider_of_releases_has_not_reached_is_dark(page: Page, server: Server) -> None:
    track = visit(page, server, "", "data_chart").locator(".st-key-data_chart .dpscope-frames")
    picture = Image.open(io.BytesIO(track.screenshot())).convert("L")
    assert np.asarray(picture)[:, picture.width // 2 :].max() < 160, "white would be the brightest line of the page"


def test_a_page_without_controls_at_the_side_has_no_column_for_them(page: Page, server: Server) -> None:
    go_to(visit(page, server, "one-number"), "release")  # the browser remembers how wide the column was
    go_to(visit(page, server, "release"), "one-number")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
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
