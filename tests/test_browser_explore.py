"""The main path in a real browser: from Start to Explore, the slider, a range, the trade-off, a file, two people."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import Server, settled, watched_page

CHARTS = '[data-testid="stVegaLiteChart"]'


def captions(page: Page) -> str:
    return "\n".join(page.locator('[data-testid="stCaptionContainer"]').all_inner_texts())


def open_explore(page: Page, server: Server, link: str = "") -> Page:
    page.goto(f"{server.url}/explore{link}")
    settled(page)
    expect(page.locator(CHARTS)).to_have_count(4)
    return page


def test_from_start_to_explore_the_slider_moves_the_error(page: Page, server: Server) -> None:
    page.goto(server.url)
    settled(page)
    expect(page.get_by_text("See what privacy costs")).to_be_visible()
    page.get_by_role("link", name="Explore", exact=True).first.click()
    settled(page)
    before = captions(page)
    slider = page.get_by_role("slider", name="Privacy loss ε")
    slider.focus()
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    settled(page)
    after = captions(page)
    assert before != after
    assert float(page.get_by_role("spinbutton", name="Exact ε").input_value()) < 1
    assert "epsilon=" in page.url
    # The link reopens exactly this picture.
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    settled(page)
    assert captions(page) == after


def test_a_link_chooses_data_question_and_mechanism(page: Page, server: Server) -> None:
    open_explore(page, server, "?data=skewed&queries=thresholds&mechanism=intervals-anchored&epsilon=0.5&alpha=0.2")
    body = page.locator("body").inner_text()
    assert "Interval release, anchored" in body and "ε = 0.5" in body and "0.2" in body


def test_brushing_a_range_answers_it(page: Page, server: Server) -> None:
    open_explore(page, server)
    box = page.locator(CHARTS).first.locator("canvas, svg").first.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.3, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, y, steps=6)
    page.mouse.move(box["x"] + box["width"] * 0.6, y, steps=6)
    page.mouse.up()
    settled(page)
    expect(page.get_by_text(re.compile(r"true [\d,]+ of 10,000 rows, release 1"))).to_be_visible()


def test_a_click_on_the_trade_off_goes_to_its_epsilon(page: Page, server: Server) -> None:
    open_explore(page, server)
    chart = page.locator(CHARTS).last
    chart.scroll_into_view_if_needed()
    box = chart.locator("canvas, svg").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.35)
    settled(page)
    value = float(page.get_by_role("spinbutton", name="Exact ε").input_value())
    assert value in (0.01, 0.02, 0.05, 0.1, 0.2)


def test_the_synthetic_table_downloads_with_n_rows(page: Page, server: Server, tmp_path: Path) -> None:
    open_explore(page, server, "?n=1000")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download a synthetic table").click()
    target = tmp_path / "table.csv"
    download.value.save_as(target)
    with target.open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["value"] and len(rows) == 1001
    assert all(0 <= float(row[0]) <= 1 for row in rows[1:])


def test_the_code_can_be_opened_and_names_this_setting(page: Page, server: Server) -> None:
    open_explore(page, server, "?epsilon=0.3&mechanism=gaussian")
    page.get_by_text("The code that reproduces this page").click()
    settled(page)
    code = page.locator('[data-testid="stCode"]').inner_text()
    assert "dpcore.entry('gaussian').make(" in code and "epsilon=0.3" in code


@pytest.mark.parametrize(
    "link",
    [
        "?epsilon=1e9",
        "?epsilon=nan",
        "?epsilon=%00abc",
        "?mechanism=%3Cscript%3Ealert(1)%3C/script%3E",
        "?data=..%2F..%2Fetc",
    ],
)
def test_a_hostile_link_gets_a_sentence(page: Page, server: Server, link: str) -> None:
    open_explore(page, server, link)
    expect(page.locator('[data-testid="stAlert"]')).to_have_count(1)


def test_two_people_never_see_each_other_s_file(browser: Browser, server: Server) -> None:
    # Marker values no generator makes: one person's must never reach the other's page.
    with watched_page(browser) as one, watched_page(browser) as two:
        for page, marker in ((one, "Aardvarkish"), (two, "Zygodactyl")):
            page.goto(f"{server.url}/data?way=My+own+file")
            settled(page)
            payload = (marker + "_column\n" + "\n".join(str(i % 50) for i in range(300)) + "\n").encode()
            page.locator('input[type="file"]').set_input_files(
                {"name": f"{marker}.csv", "mimeType": "text/csv", "buffer": payload}
            )
            settled(page)
            expect(page.get_by_text(f"{marker}.csv").first).to_be_visible()
        for page, other in ((one, "Zygodactyl"), (two, "Aardvarkish")):
            for name in ("Explore", "Start", "Data"):
                page.get_by_role("link", name=name, exact=True).first.click()
                settled(page)
                assert other not in page.content()


def test_what_a_link_says_goes_along_to_the_next_page(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?epsilon=0.3")
    settled(page)
    page.get_by_role("link", name="Explore", exact=True).first.click()
    settled(page)
    assert page.get_by_role("spinbutton", name="Exact ε").input_value() == "0.3"
