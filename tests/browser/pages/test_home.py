"""Home as it opens: it moves by itself until someone does anything, and fits one screen."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.kit.browser import PHONE, Server, visit
from tests.kit.rest import settled

SHOWN = ".st-key-data_chart .dpscope-shown"


@pytest.mark.parametrize("viewport", [ViewportSize(width=1280, height=900)], ids=["screen"])
def test_releases_follow_each_other_until_a_key_is_pressed_and_stand_still_with_reduced_motion(
    page: Page, server: Server
) -> None:
    visit(page, server, "", "data_chart")
    shown = page.locator(SHOWN)
    high, seen = page.get_by_test_id("stMain").evaluate("part => [part.scrollHeight, part.clientHeight]")
    assert high <= seen, f"{high} pixels high"
    expect(shown).to_have_text("release 1 of 20")
    page.emulate_media(reduced_motion="no-preference")
    page.goto(server.url)
    expect(shown).to_have_text("release 3 of 20", timeout=30_000)
    page.keyboard.press("Shift")
    expect(shown).to_have_text("release 1 of 20")
    page.wait_for_timeout(3_000)
    expect(shown).to_have_text("release 1 of 20")


@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
@pytest.mark.parametrize("link", ["", "?data=bimodal&epsilon=0.0316&pin=hierarchy"], ids=["plain", "pinned"])
def test_on_a_phone_the_bar_of_epsilon_leaves_the_pictures_most_of_the_window(
    page: Page, server: Server, link: str
) -> None:
    """It stays in sight while the page scrolls: the slider, its number and the button beside it share a row."""
    visit(page, server, link, "data_chart")
    slider, exact, pin, bar = (
        page.locator(part).bounding_box()
        for part in (
            ".st-key-epsilon_track",
            ".st-key-epsilon input",
            ".st-key-pin_button",
            ".stMain [data-testid=stLayoutWrapper]:has(> .st-key-epsilon_bar)",
        )
    )
    assert slider and exact and pin and bar
    assert slider["x"] + slider["width"] <= exact["x"] < exact["x"] + exact["width"] <= pin["x"]
    assert slider["y"] < exact["y"] < slider["y"] + slider["height"] and pin["y"] < exact["y"] + exact["height"]
    assert slider["width"] > PHONE["width"] / 2.2 and bar["height"] < PHONE["height"] / 5


def test_the_true_data_stay_where_they_are_while_releases_are_played(page: Page, server: Server) -> None:
    visit(page, server, "", "data_chart")
    bars = page.locator(".st-key-data_chart .dpscope-plot .barlayer .point")
    count = bars.count()
    page.locator(".st-key-data_chart .dpscope-frames").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(SHOWN)).to_have_text("release 2 of 20")
    settled(page)
    assert bars.count() == count > 20


def test_the_sentence_s_numbers_are_dragged_and_moved_by_keys(page: Page, server: Server) -> None:
    visit(page, server, "", "data_chart")
    line = page.locator(".dpscope-line")
    sentence = line.inner_text()
    epsilon, rows = (page.get_by_role("slider", name=each) for each in ("ε in the sentence", "Number of rows in the"))
    assert (epsilon.inner_text(), rows.inner_text()) == ("0.1", "10,000")
    box = epsilon.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 3, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 3 + 45, box["y"] + 5, steps=5)  # to the fourth stop from there
    page.mouse.up()
    settled(page)
    moved = line.inner_text()
    assert moved != sentence and moved.startswith(f"At ε = {epsilon.inner_text()}, ")
    assert float(epsilon.inner_text()) > 0.1 and f"epsilon={epsilon.inner_text()}" in page.url
    expect(epsilon).to_be_focused()
    page.keyboard.press("ArrowLeft")
    settled(page)
    lower = epsilon.inner_text()
    assert float(lower) < float(moved.split()[3].rstrip(","))
    rows.press("ArrowLeft")
    expect(rows).to_have_text("3,000")
    settled(page)
    expect(line).to_contain_text(" of 3,000 people in 19 of 20 simulations")
    assert "n=3000" in page.url and line.inner_text().startswith(f"At ε = {lower}, ")
    expect(rows).to_be_focused()
