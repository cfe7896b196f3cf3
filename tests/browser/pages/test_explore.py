"""The main path in a real browser: from Start to Explore, the slider, a range, the trade-off, a file, two people."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from pages.shell.headers import PRELOAD
from tests.kit.browser import Server, go_to, reopened, settled, watched_page

PLOT, SENTENCE, FRAMES = ".dpscope-plot", ".dpscope-sentence", ".dpscope-frames"
SMALL = "n=1000&bits=6&trials=100"
"""A problem on which all mechanisms together are quick: nothing here depends on its size."""
CHARTS = ("data_chart", "band_chart", "worst_chart", "tradeoff_chart")
# Where a point of a trace is on the screen, and where the picture's axes are.
POINT = """(plot, [name, mode, index]) => {
    const trace = plot._fullData.find(each => each.name === name && each.mode === mode);
    const { xaxis, yaxis } = plot._fullLayout, box = plot.getBoundingClientRect();
    return [box.left + xaxis._offset + xaxis.d2p(trace.x[index]), box.top + yaxis._offset + yaxis.d2p(trace.y[index])];
}"""
INSIDE = """plot => {
    const { xaxis, yaxis } = plot._fullLayout, box = plot.getBoundingClientRect();
    return [box.left + xaxis._offset, box.top + yaxis._offset, xaxis._length, yaxis._length];
}"""
RANGE = "plot => plot._fullLayout.xaxis.range"
LINE = "plot => JSON.stringify(plot._fullData.find(each => each.name === 'released').y)"


def captions(page: Page) -> str:
    return "\n".join(page.locator(SENTENCE).all_inner_texts())


def chart(page: Page, key: str) -> Locator:
    """The chart of a key."""
    return page.locator(f".st-key-{key}")


def drag(page: Page, plot: Locator, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag between two places of a picture, in shares of its inside from the top left."""
    plot.scroll_into_view_if_needed()
    left, top, width, height = plot.evaluate(INSIDE)
    page.mouse.move(left + start[0] * width, top + start[1] * height)
    page.mouse.down()
    page.mouse.move(left + sum(pair[0] for pair in (start, end)) / 2 * width, top + height / 2, steps=5)
    page.mouse.move(left + end[0] * width, top + end[1] * height, steps=5)
    page.mouse.up()
    settled(page)


def move_slider(page: Page) -> None:
    page.get_by_role("slider", name="Privacy loss ε").focus()
    page.keyboard.press("ArrowLeft")
    settled(page)


def open_explore(page: Page, server: Server, link: str = "") -> Page:
    page.goto(f"{server.url}/explore?{link}" if link.startswith("n=") else f"{server.url}/explore?{SMALL}&{link}")
    settled(page)
    for key in CHARTS:
        expect(chart(page, key).locator(PLOT)).to_be_visible()
    return page


def test_from_start_to_explore_the_slider_moves_the_error(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?{SMALL}")
    settled(page)
    expect(page.get_by_text("See what privacy costs")).to_be_visible()
    go_to(page, "explore")
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
    assert captions(reopened(page)) == after


def test_a_link_chooses_data_question_and_mechanism(page: Page, server: Server) -> None:
    open_explore(page, server, "data=skewed&queries=thresholds&mechanism=intervals-anchored&epsilon=0.5&alpha=0.2")
    body = page.locator("body").inner_text()
    assert "Interval release, anchored" in body and "ε = 0.5" in body and "0.2" in body


def test_zoom_and_brush_survive_a_slider_move(page: Page, server: Server) -> None:
    open_explore(page, server)
    drag(page, chart(page, "data_chart").locator(PLOT), (0.25, 0.3), (0.5, 0.7))
    answer = page.get_by_text(
        re.compile(r"true [\d,]+ of 1,000 rows, the 20 releases in the picture say [\d,]+ to [\d,]+")
    )
    before = answer.inner_text()
    asked = [float(number) for number in re.findall(r"[\d.]+", before)[:2]]
    assert asked == pytest.approx([0.25, 0.5], abs=0.02)
    band = chart(page, "band_chart").locator(PLOT)
    drag(page, band, (0.2, 0.2), (0.6, 0.6))
    zoomed = band.evaluate(RANGE)
    assert zoomed == pytest.approx([0.2, 0.6], abs=0.02)
    page.evaluate("document.querySelectorAll('.dpscope-plot').forEach(plot => plot.setAttribute('data-mark', ''))")
    drawn = band.get_attribute("data-drawn")
    move_slider(page)
    assert band.get_attribute("data-drawn") != drawn, "it was drawn anew"
    expect(page.locator(f"{PLOT}[data-mark]")).to_have_count(len(CHARTS))
    assert band.evaluate(RANGE) == zoomed
    again = answer.inner_text()
    # The same range has the same true answer; the releases are others.
    assert again.partition(" rows")[0] == before.partition(" rows")[0] and again != before
    expect(chart(page, "data_chart").locator(".selectionlayer path").first).to_be_attached()


def test_other_data_take_zoom_and_brush_back(page: Page, server: Server) -> None:
    open_explore(page, server)
    drag(page, chart(page, "data_chart").locator(PLOT), (0.25, 0.3), (0.5, 0.7))
    drag(page, chart(page, "band_chart").locator(PLOT), (0.2, 0.2), (0.6, 0.6))
    data = page.get_by_role("combobox", name="Data").first
    data.click()
    data.fill("body mass")  # a long list draws only what is in sight
    page.get_by_role("option", name=re.compile("body mass")).first.click()
    settled(page)
    settled(page)  # the brush is taken back in a run of its own
    expect(page.get_by_text("Drag across the data to ask about a range.")).to_be_visible()
    low, high = chart(page, "band_chart").locator(PLOT).evaluate(RANGE)
    assert high - low > 1000


def test_a_click_on_the_trade_off_goes_to_its_mechanism_and_epsilon(page: Page, server: Server) -> None:
    open_explore(page, server, "n=10000")  # on fewer rows its points are too close to be clicked apart
    expect(page.get_by_text("Click a point to go to its mechanism and ε.")).to_be_visible()
    plot = chart(page, "tradeoff_chart").locator(PLOT)
    for name, epsilon in (("Interval release, anchored", 0.05), ("Identity histogram", 0.5)):
        plot.scroll_into_view_if_needed()
        places = plot.evaluate(
            "(plot, name) => plot._fullData.find(t => t.name === name && t.mode === 'markers').x", name
        )
        page.mouse.click(*plot.evaluate(POINT, [name, "markers", places.index(epsilon)]))
        settled(page)
        assert float(page.get_by_role("spinbutton", name="Exact ε").input_value()) == epsilon
        assert page.get_by_role("combobox", name="Mechanism").input_value() == name


def test_a_click_in_the_legend_hides_all_of_a_mechanism_and_it_stays_hidden(page: Page, server: Server) -> None:
    open_explore(page, server)
    plot = chart(page, "tradeoff_chart").locator(PLOT)
    hidden = """plot => plot._fullData.filter(t => t.visible === 'legendonly').map(t => t.name)"""
    assert plot.evaluate(hidden) == []
    plot.scroll_into_view_if_needed()
    plot.locator(".legendtoggle").first.click()
    page.wait_for_timeout(1000)  # Plotly waits for a second click
    assert set(plot.evaluate(hidden)) == {"Identity histogram"} and len(plot.evaluate(hidden)) == 4
    move_slider(page)
    assert set(plot.evaluate(hidden)) == {"Identity histogram"}


def test_releases_are_played_with_their_captions(page: Page, server: Server) -> None:
    page.emulate_media(reduced_motion="no-preference")
    open_explore(page, server)
    place = chart(page, "data_chart")
    plot, sentence = place.locator(PLOT), place.locator(SENTENCE)
    first = plot.evaluate(LINE)
    assert sentence.inner_text().startswith("Release 1 of 20: at most ")
    place.locator(FRAMES).focus()
    page.keyboard.press("ArrowRight")
    expect(sentence).to_have_text(re.compile("^Release 2 of 20: at most "))
    expect(place.locator(".dpscope-shown")).to_have_text("release 2 of 20")
    second = plot.evaluate(LINE)
    assert second != first
    # A move of the slider keeps the place; another release of the same number is there.
    move_slider(page)
    expect(sentence).to_have_text(re.compile("^Release 2 of 20: "))
    assert plot.evaluate(LINE) != second
    place.locator(".dpscope-play").click()
    expect(sentence).to_have_text(re.compile("^Release 4 of 20: "))
    place.locator(".dpscope-play").click()
    shown = place.locator(".dpscope-shown").inner_text()
    page.wait_for_timeout(1500)
    assert place.locator(".dpscope-shown").inner_text() == shown, "stopped"


def test_pictures_can_be_kept_of_public_data(page: Page, server: Server, tmp_path: Path) -> None:
    open_explore(page, server)
    for key in CHARTS:
        expect(chart(page, key).get_by_role("button", name="Picture as PNG")).to_be_visible()
    with page.expect_download() as download:
        chart(page, "data_chart").get_by_role("button", name="Picture as PNG").click()
    target = tmp_path / "picture.png"
    download.value.save_as(target)
    assert target.read_bytes().startswith(b"\x89PNG") and download.value.suggested_filename.endswith(".png")


def test_pictures_of_private_data_can_be_kept_nowhere(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/data?way=My+own+file")
    settled(page)
    content = b"pay\n" + b"\n".join(b"%d" % (place % 50) for place in range(300)) + b"\n"
    page.locator('input[type="file"]').set_input_files({"name": "p.csv", "mimeType": "text/csv", "buffer": content})
    page.get_by_role("button", name="Names of the columns").click()
    settled(page)
    page.get_by_text("I am the data's steward").click()
    settled(page)
    page.get_by_role("button", name="Fill in from the data").first.click()
    settled(page)
    page.get_by_role("button", name="Use this column").click()
    settled(page)
    expect(chart(page, "file-summary_chart").locator(PLOT)).to_be_visible()
    expect(page.get_by_role("button", name="Picture as")).to_have_count(0)
    page.get_by_role("button", name="Explore this data").click()
    settled(page)
    for key in CHARTS:
        expect(chart(page, key).locator(PLOT)).to_be_visible()
    expect(page.get_by_text("not protected: made by the data's steward").first).to_be_attached()
    expect(page.get_by_role("button", name="Picture as")).to_have_count(0)


def test_the_library_is_asked_for_with_the_page(browser: Browser, server: Server) -> None:
    with watched_page(browser) as page:
        with page.expect_response(lambda answer: answer.url.startswith(f"{server.url}/explore?")) as answer:
            open_explore(page, server)
        assert answer.value.headers["link"] == PRELOAD
        loaded = page.evaluate(
            "performance.getEntriesByType('resource').filter(e => e.name.endsWith('plotly.min.js')).length"
        )
        assert loaded == 1, "what is preloaded is what the charts use"
        health = page.request.get(f"{server.url}/_stcore/health")
        assert "link" not in health.headers


def test_the_synthetic_table_downloads_with_n_rows(page: Page, server: Server, tmp_path: Path) -> None:
    open_explore(page, server)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download a synthetic table").click()
    target = tmp_path / "table.csv"
    download.value.save_as(target)
    with target.open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["value"] and len(rows) == 1001
    assert all(0 <= float(row[0]) <= 1 for row in rows[1:])


def test_the_code_can_be_opened_and_names_this_setting(page: Page, server: Server) -> None:
    open_explore(page, server, "epsilon=0.3&mechanism=gaussian")
    page.get_by_text("The code that reproduces this page").click()
    settled(page)
    code = page.locator('[data-testid="stCode"]').inner_text()
    assert "dpcore.entry('gaussian').make(" in code and "epsilon=0.3" in code


@pytest.mark.parametrize(
    "link",
    [
        "epsilon=1e9",
        "epsilon=nan",
        "epsilon=%00abc",
        "mechanism=%3Cscript%3Ealert(1)%3C/script%3E",
        "data=..%2F..%2Fetc",
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
            page.get_by_role("button", name="Names of the columns").click()
            settled(page)
            expect(page.get_by_text(f"{marker}.csv").first).to_be_visible()
        for page, other in ((one, "Zygodactyl"), (two, "Aardvarkish")):
            for name in ("explore", "ranges-and-cells", "data"):
                go_to(page, name)
                assert other not in page.content()


def test_what_a_link_says_goes_along_to_the_next_page(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?epsilon=0.3")
    settled(page)
    go_to(page, "explore")
    assert page.get_by_role("spinbutton", name="Exact ε").input_value() == "0.3"
