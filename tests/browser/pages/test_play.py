"""Play in a real browser: pictures that follow a slider, ranges, the trade-off, a target error, a file, two people."""

from __future__ import annotations

import csv
import re
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from pages.charts.script import LIBRARY, LIVE, MODULE
from pages.play.pictures import TITLES
from pages.shell.server.headers import PRELOAD
from tests.kit.browser import PHONE, Server, comes_true, go_to, reopened, visible_words, visit
from tests.kit.rest import SEEN, settled

PLOT, SENTENCE, FRAMES = ".dpscope-plot", ".dpscope-sentence", ".dpscope-frames"
CHARTS = ("data_chart", "band_chart", "worst_chart", "tradeoff_chart")
SMALL = "?bits=6&n=1000&trials=100&card=all"
"""Few cells, rows and releases, and all pictures: what is tested here does not depend on them."""
# Where a point of a trace is on the screen, and where the picture's axes are.
LOADED = """performance.getEntriesByType('resource').map((each) => each.name).filter((name) => name.endsWith('.js'))"""
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
    return "\n".join(page.locator(SENTENCE).all_text_contents())


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


def open_menu(page: Page, key: str) -> None:
    """Open what a picture's “⋯” has."""
    page.locator(f".st-key-{key}_more").get_by_test_id("stPopoverButton").first.click()
    settled(page)


def move_slider(page: Page) -> None:
    page.get_by_role("slider", name="Privacy budget ε").focus()
    page.keyboard.press("ArrowLeft")
    settled(page)


def open_play(page: Page, server: Server, link: str = SMALL) -> Page:
    return visit(page, server, link, *CHARTS)


def test_the_library_comes_with_the_page_the_slider_moves_the_error_and_the_link_reopens_it(
    page: Page, server: Server
) -> None:
    with page.expect_response(lambda answer: answer.url == f"{server.url}/{SMALL}") as answer:
        open_play(page, server)
    assert answer.value.headers["link"] == PRELOAD
    assert "link" not in page.request.get(f"{server.url}/_stcore/health").headers
    loaded = page.evaluate(LOADED)
    assert sorted(loaded) == sorted(set(loaded)), "what is preloaded is what the page uses: nothing comes twice"
    assert {LIBRARY, MODULE, LIVE} <= {address.removeprefix(f"{server.url}/") for address in loaded}
    for key in ("data_chart", "band_chart", "worst_chart"):
        again = page.locator(f".st-key-{key} {PLOT}").evaluate("plot => plot._fullLayout._redrawFromAutoMarginCount")
        assert again is None, "a chart that has the room for its axes from the start is drawn once"
    before = captions(page)
    slider = page.get_by_role("slider", name="Privacy budget ε")
    slider.focus()
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    settled(page)
    after = captions(page)
    assert before != after
    assert float(page.get_by_role("spinbutton", name="Exact ε").input_value()) == 0.025
    assert slider.get_attribute("aria-valuetext") == "ε = 0.025"
    assert "epsilon=0.025" in page.url
    assert captions(reopened(page)) == after


# How often Plotly has drawn all of a chart since, by its key.
WATCH_DRAWING = """() => { window.anew = {}; for (const plot of document.querySelectorAll('.dpscope-plot')) {
    const key = plot.closest('[class*="_chart"]').className.match(/st-key-(\\w+)/)[1];
    plot.on('plotly_beforeplot', () => { window.anew[key] = (window.anew[key] ?? 0) + 1; });
} }"""


def test_what_stands_as_it_was_sent_is_not_drawn_anew_nor_is_all_of_a_chart_whose_rule_moves(
    page: Page, server: Server
) -> None:
    open_play(page, server, f"{SMALL}&epsilon=0.15")
    page.evaluate(WATCH_DRAWING)
    assert page.evaluate(AGAIN, f"{server.url}/{MODULE}") == ["1"] * 4
    open_menu(page, "worst_chart")
    expect(page.get_by_text("Numbers: worst error")).to_be_visible()
    assert page.evaluate("window.anew") == {}, "the run changed no chart"
    page.keyboard.press("Escape")
    move_slider(page)
    tradeoff = chart(page, "tradeoff_chart").locator(PLOT)
    assert "ε = 0.12" in tradeoff.evaluate("plot => plot._fullLayout.annotations.map(each => each.text)")
    expect(tradeoff.get_by_text("ε = 0.12")).to_be_visible()
    assert set(page.evaluate("window.anew")) == {"data_chart", "band_chart", "worst_chart"}


# Sends every chart what it has, as a run does whose figures are the same.
AGAIN = """async (address) => {
    const { charts, draw } = await import(address), setStateValue = () => {}, setTriggerValue = () => {};
    const sent = (chart) => new TextEncoder().encode(chart.text);
    const all = [...charts].filter(([, chart]) => chart.watched);
    await Promise.all(all.map(([parentElement, chart]) =>
        draw({ parentElement, data: sent(chart), setStateValue, setTriggerValue })));
    return all.map(([, chart]) => chart.plot.dataset.drawn);
}"""


# A chart of the same figure, which leaves the page as soon as it begins to be drawn, and may come back to its place at
# once: how often it has been drawn to its end, and whether anything of it stands there.
LEAVES = """async ([address, back]) => {
    const module = await import(address), { figure, plot } = module.mounted()[0];
    const place = plot.closest('[class*="st-key-"]').cloneNode(true), mine = place.querySelector('.dpscope-plot');
    mine.replaceChildren();
    mine.className = 'dpscope-plot';
    delete mine.dataset.drawn;
    document.body.append(place);
    const data = new TextEncoder().encode(JSON.stringify(figure)), setStateValue = () => {}, setTriggerValue = () => {};
    const draw = () => module.draw({ parentElement: place, data, setStateValue, setTriggerValue });
    let again;
    const gone = new MutationObserver(() => { gone.disconnect(); module.forget(place); again = back && draw(); });
    gone.observe(mine, { childList: true, attributeFilter: ['class'] });
    await draw();
    await again;
    await new Promise((done) => setTimeout(done, 100));
    const left = [mine.dataset.drawn ?? '', mine.childElementCount > 0];
    module.forget(place);
    place.remove();
    return left;
}"""


@pytest.mark.parametrize(("back", "left"), [(False, ["", False]), (True, ["1", True])])
def test_a_chart_that_leaves_the_page_while_it_is_drawn_is_no_error(
    page: Page, server: Server, back: bool, left: list[object]
) -> None:
    open_play(page, server)
    assert page.evaluate(LEAVES, [f"{server.url}/{MODULE}", back]) == left


COVERED = "() => [...document.querySelectorAll('.dpscope-film')].filter(film => film.childElementCount).length"


# What a finger does: the range is somewhere else, says so, and does not rest before the pictures have followed.
SLIDE = """async place => {
    const input = document.querySelector('.dpscope-slide input'), { dataset } = document.documentElement;
    const until = performance.now() + 20000;
    delete dataset.dpscopeStep;
    window.unanswered = undefined;
    do {
        input.value = place;
        input.dispatchEvent(new Event('input'));
        await new Promise(done => setTimeout(done, 50));
    } while (dataset.dpscopeStep === undefined && performance.now() < until);
    return window.unanswered === undefined;
}"""


def following(page: Page) -> int:
    """How many charts of the page have a picture for every stop: all that are in the list of those that do."""
    found = page.locator(", ".join(f".st-key-{key} {PLOT}" for key in TITLES)).count()
    assert found >= 3
    return found


def open_live(page: Page, server: Server, more: str = "") -> None:
    """Play, when it has what its pictures look like at every stop."""
    open_play(page, server, f"{SMALL}&data=sparse{more}")
    expect(page.locator('.st-key-live_states [data-stops="31"]')).to_be_attached()


def test_the_pictures_follow_the_slider_without_the_server_and_do_not_jump_at_rest(page: Page, server: Server) -> None:
    page.emulate_media(reduced_motion="no-preference")
    open_live(page, server, "&epsilon=0.5")
    opened = page.evaluate(SEEN)
    # In one step: a moment later the slider rests, and the exact state may be there.
    free, moving, covered = page.evaluate(f"async place => [await ({SLIDE})(place), ({SEEN})(), ({COVERED})()]", 12)
    assert free, "nobody was asked"
    assert moving.startswith('["At ε = 0.15, ') and moving != opened and covered == following(page)
    settled(page)
    assert "epsilon=0.15" in page.url and page.evaluate(COVERED) == 0
    assert page.evaluate(SEEN) == moving, "the exact state is the one that was there"
    # That part of the page ran alone; the session knows all the same, and so do other pages.
    go_to(page, "tables")
    assert "epsilon=0.15" in page.url
    go_to(page, "ranges-and-cells")
    assert "epsilon=0.15" in page.url
    expect(page.locator(".dpscope-line")).to_have_text(re.compile("^At ε = 0.15, "))


@pytest.mark.full
def test_whoever_is_at_the_slider_before_its_stops_are_there_finds_them_drawn_too(page: Page, server: Server) -> None:
    page.emulate_media(reduced_motion="no-preference")

    def early(seed: int) -> bool:
        page.goto(f"{server.url}/{SMALL}&data=sparse&seed={seed}")
        page.locator(".dpscope-slide input").wait_for()
        focus = "document.querySelector('.dpscope-slide input').focus()"
        return page.evaluate(f"() => ({focus}, document.querySelector('[data-stops=\"31\"]'))") is None

    assert any(early(seed) for seed in range(41, 51)), "they come after the page; a busy machine looks late"
    expect(page.locator('.st-key-live_states [data-stops="31"]')).to_be_attached()
    expect(page.locator(".dpscope-twin")).to_have_count(following(page))


@pytest.mark.full
def test_a_chart_that_was_zoomed_stays_so_while_the_slider_moves(page: Page, server: Server) -> None:
    page.emulate_media(reduced_motion="no-preference")
    open_live(page, server)
    band = chart(page, "band_chart").locator(PLOT)
    drag(page, band, (0.2, 0.2), (0.6, 0.6))
    zoomed = band.evaluate(RANGE)
    assert page.evaluate(SLIDE, 12) and page.evaluate(COVERED) == following(page) - 1
    assert band.evaluate(RANGE) == zoomed
    settled(page)
    assert band.evaluate(RANGE) == zoomed


@pytest.mark.full
def test_nothing_moves_for_a_reader_who_asks_for_less_motion(page: Page, server: Server) -> None:
    page.emulate_media(reduced_motion="reduce")
    open_live(page, server)
    opened = page.evaluate(SEEN)
    page.get_by_role("slider", name="Privacy budget ε").evaluate(
        "input => { input.value = 12; input.dispatchEvent(new Event('input')); }"
    )
    assert page.evaluate(SEEN) == opened
    settled(page)
    assert "epsilon=0.15" in page.url and page.evaluate(SEEN) != opened, "at rest it is drawn"


HIDDEN = "plot => plot._fullData.filter(trace => trace.visible === 'legendonly').map(trace => trace.name)"


@pytest.mark.full
def test_zoom_brush_and_hidden_mechanisms_survive_a_slider_move_and_other_data_take_zoom_and_brush_back(
    page: Page, server: Server
) -> None:
    open_play(page, server)
    drag(page, chart(page, "data_chart").locator(PLOT), (0.25, 0.3), (0.5, 0.7))
    answer = page.get_by_text(
        re.compile(r"true [\d,]+ of [\d,]+ rows, answers of the 20 releases shown: [\d,]+ to [\d,]+")
    )
    before = answer.inner_text()
    asked = [float(number) for number in re.findall(r"[\d.]+", before)[:2]]
    assert asked == pytest.approx([0.25, 0.5], abs=0.02)
    band = chart(page, "band_chart").locator(PLOT)
    drag(page, band, (0.2, 0.2), (0.6, 0.6))
    zoomed = band.evaluate(RANGE)
    assert zoomed == pytest.approx([0.2, 0.6], abs=0.02)
    assert "ask-from=" in page.url and "ask-to=" in page.url
    # A click in the legend hides all of a mechanism; Plotly waits for a second click.
    tradeoff = chart(page, "tradeoff_chart").locator(PLOT)
    assert tradeoff.evaluate(HIDDEN) == []
    tradeoff.scroll_into_view_if_needed()
    tradeoff.locator(".legendtoggle").first.click()
    assert comes_true(lambda: tradeoff.evaluate(HIDDEN) == ["Identity histogram"] * 4, page=page)
    page.evaluate("document.querySelectorAll('.dpscope-plot').forEach(plot => plot.setAttribute('data-mark', ''))")
    marked, drawn = page.locator(PLOT).count(), band.get_attribute("data-drawn")
    assert marked >= len(CHARTS)
    move_slider(page)
    assert band.get_attribute("data-drawn") != drawn, "it was drawn anew"
    expect(page.locator(f"{PLOT}[data-mark]")).to_have_count(marked)
    assert band.evaluate(RANGE) == zoomed
    again = answer.inner_text()
    # The same range has the same true answer; the releases are others.
    assert again.partition(" rows")[0] == before.partition(" rows")[0] and again != before
    assert chart(page, "data_chart").locator(PLOT).evaluate(
        "plot => plot._fullData.at(-1).x.slice(0, 2)"
    ) == pytest.approx([0.25, 0.5], abs=0.02)
    assert set(tradeoff.evaluate(HIDDEN)) == {"Identity histogram"}
    data = page.get_by_role("combobox", name="Data").first
    data.click()
    data.fill("body mass")  # a long list draws only what is in sight
    page.get_by_role("option", name=re.compile("body mass")).first.click()
    settled(page)
    expect(page.get_by_text("Draw a range on the bars, or type one, to see a query.")).to_be_visible()
    low, high = band.evaluate(RANGE)
    assert high - low > 1000


@pytest.mark.full
def test_a_click_on_the_trade_off_goes_to_its_mechanism_and_epsilon(page: Page, server: Server) -> None:
    open_play(page, server, "?card=all&every=true")  # where points are far enough apart
    expect(page.get_by_text("Click a point to select its mechanism and ε.").first).to_be_visible()
    plot, name, epsilon = chart(page, "tradeoff_chart").locator(PLOT), "Interval release, anchored", 0.5
    plot.scroll_into_view_if_needed()
    places = plot.evaluate("(plot, name) => plot._fullData.find(t => t.name === name && t.mode === 'markers').x", name)
    page.mouse.click(*plot.evaluate(POINT, [name, "markers", places.index(epsilon)]))
    settled(page)
    assert float(page.get_by_role("spinbutton", name="Exact ε").input_value()) == epsilon
    assert page.get_by_role("combobox", name="Mechanism").input_value() == name


@pytest.mark.full
def test_releases_are_played_with_their_captions_and_pictures_kept(page: Page, server: Server, tmp_path: Path) -> None:
    page.emulate_media(reduced_motion="no-preference")
    open_play(page, server)
    place = chart(page, "data_chart")
    plot, sentence = place.locator(PLOT), place.locator(SENTENCE)
    first = plot.evaluate(LINE)
    assert (sentence.text_content() or "").startswith("Release 1 of 20: error of at most ")
    place.locator(FRAMES).focus()
    page.keyboard.press("ArrowRight")
    expect(sentence).to_have_text(re.compile("^Release 2 of 20: error of at most "))
    expect(place.locator(".dpscope-shown")).to_have_text("release 2 of 20")
    second = plot.evaluate(LINE)
    assert second != first
    # A move of the slider keeps the place; another release of the same number is there.
    move_slider(page)
    expect(sentence).to_have_text(re.compile("^Release 2 of 20: "))
    assert plot.evaluate(LINE) != second
    place.locator(".dpscope-play").click()
    expect(sentence).to_have_text(re.compile(r"^Release ([4-9]|1\d|20) of 20: "))
    place.locator(".dpscope-play").click()
    shown = place.locator(".dpscope-shown").inner_text()
    page.wait_for_timeout(1500)
    assert place.locator(".dpscope-shown").inner_text() == shown, "stopped"
    for key in CHARTS:
        open_menu(page, key)
        expect(page.get_by_test_id("stPopoverBody").get_by_role("button", name="Picture as PNG")).to_be_visible()
        page.keyboard.press("Escape")
    open_menu(page, "data_chart")
    with page.expect_download() as download:
        page.get_by_test_id("stPopoverBody").get_by_role("button", name="Picture as PNG").click()
    target = tmp_path / "picture.png"
    download.value.save_as(target)
    assert target.read_bytes().startswith(b"\x89PNG") and download.value.suggested_filename.endswith(".png")


@pytest.mark.full
def test_code_names_this_setting_and_the_synthetic_table_has_n_rows(page: Page, server: Server, tmp_path: Path) -> None:
    open_play(page, server, f"{SMALL}&epsilon=0.3&mechanism=gaussian")
    open_menu(page, "data_chart")
    code = page.locator('[data-testid="stCode"]').inner_text()
    assert "dpcore.entry('gaussian').make(" in code and "epsilon=0.3" in code
    with page.expect_download() as download:
        page.get_by_role("button", name="Download a synthetic table").click()
    target = tmp_path / "table.csv"
    download.value.save_as(target)
    with target.open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["value"] and len(rows) == 1001
    assert all(0 <= float(row[0]) <= 1 for row in rows[1:])


@pytest.mark.parametrize(
    "link",
    [
        "mechanism=%3Cscript%3Ealert(1)%3C/script%3E",
        *(
            pytest.param(link, marks=pytest.mark.full)
            for link in ("epsilon=nan", "epsilon=1e9", "epsilon=%00abc", "data=..%2F..%2Fetc")
        ),
    ],
)
def test_a_hostile_link_gets_a_sentence(page: Page, server: Server, link: str) -> None:
    open_play(page, server, f"{SMALL}&{link}")
    expect(page.locator('[data-testid="stAlert"]')).to_have_count(1)


@pytest.mark.full
@pytest.mark.parametrize("name", ["explore", "start"])
def test_former_addresses_lead_to_play_with_the_same_state_which_goes_along_to_the_next_page(
    page: Page, server: Server, name: str
) -> None:
    visit(page, server, f"{name}{SMALL}&epsilon=0.3&data=skewed&mechanism=gaussian")
    assert page.url.startswith(f"{server.url}/?")
    assert page.get_by_role("spinbutton", name="Exact ε").input_value() == "0.3"
    assert page.get_by_role("combobox", name="Mechanism").input_value() == "Gaussian histogram"
    for another in ("conversation", "ranges-and-cells"):
        go_to(page, another)
    assert page.get_by_role("spinbutton", name="Exact ε").input_value() == "0.3"


@pytest.mark.full
def test_a_target_error_ranks_mechanisms_and_a_click_goes_to_one(page: Page, server: Server) -> None:
    visit(page, server, SMALL)
    page.get_by_role("textbox", name="Target error").fill("5%")
    page.keyboard.press("Enter")
    settled(page)
    plot = chart(page, "needed_chart").locator(PLOT)
    expect(plot).to_be_visible()
    assert "target=5%25" in page.url
    name = "simulated"
    picks = plot.evaluate("(plot, name) => plot._fullData.find(t => t.name === name).ids.map(JSON.parse)", name)
    place = next(place for place, pick in enumerate(picks) if pick["key"] == "gaussian")
    plot.scroll_into_view_if_needed()
    page.mouse.click(*plot.evaluate(POINT, [name, "markers", place]))
    settled(page)
    assert page.get_by_role("combobox", name="Mechanism").input_value() == "Gaussian histogram"
    assert float(page.get_by_role("spinbutton", name="Exact ε").input_value()) == picks[place]["epsilon"]


ONE_SCREEN = ViewportSize(width=1280, height=900)


@pytest.mark.parametrize("viewport", [ONE_SCREEN], ids=["1280x900"])
@pytest.mark.parametrize(
    "link",
    [
        "?card=all",
        pytest.param(
            "?card=all&data=adult.age&mechanism=intervals-recursive&ask-from=20&ask-to=30",
            marks=pytest.mark.full,
            id="long",
        ),
        pytest.param("?card=all&data=cities.longitude*latitude&trials=100", marks=pytest.mark.full, id="maps"),
        pytest.param(
            "?card=all&data=cities.longitude*latitude&trials=100&ask-from=-100&ask-to=20&ask-low=0&ask-high=50",
            marks=pytest.mark.full,
            id="maps-asked",
        ),
    ],
)
def test_all_of_it_is_on_one_screen_and_says_little(page: Page, server: Server, link: str) -> None:
    visit(page, server, link, *CHARTS[1:])
    words = visible_words(page)
    assert 60 < len(words) <= 250, f"{len(words)} words: {' '.join(words)}"
    on_one_screen(page)


def on_one_screen(page: Page) -> None:
    """Fail if page or rail scroll."""
    for part in ("stMain", "stSidebarContent"):
        height, seen = page.get_by_test_id(part).evaluate("part => [part.scrollHeight, part.clientHeight]")
        assert height <= seen, f"{part} is {height} pixels high"
    assert page.evaluate("document.documentElement.scrollWidth") <= ONE_SCREEN["width"]


# Where labels beside a chart begin and end, from above to below.
BESIDE = """(plot) => [...plot.querySelectorAll('.ytick text')].map(text => text.getBoundingClientRect())
    .map(({ top, bottom }) => [top, bottom]).sort(([one], [other]) => one - other)"""


@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
def test_two_labels_do_not_meet_on_a_phone(page: Page, server: Server) -> None:
    visit(page, server, "?card=all&data=adult.sex&trials=100", "band_chart")
    (_, end), (start, _) = chart(page, "band_chart").locator(PLOT).evaluate(BESIDE)
    assert end < start, "the errors of one label are written over the other's"


# How far something drawn of a chart ends to the right of it, in pixels.
BEYOND = (
    """(plot, part) => plot.querySelector(part).getBoundingClientRect().right - plot.getBoundingClientRect().right"""
)


@pytest.mark.full
@pytest.mark.parametrize("viewport", [ONE_SCREEN], ids=["1280x900"])
def test_the_ranking_and_the_longest_rail_are_on_one_screen_and_no_line_ends_outside(
    page: Page, server: Server
) -> None:
    visit(page, server, "?card=all&mechanism=windows&target=5%25", "needed_chart", "worst_chart")
    on_one_screen(page)
    ranking = chart(page, "needed_chart").locator(PLOT)
    assert ranking.evaluate(BEYOND, ".xtitle") <= 0
    assert not [name for name in ranking.locator(".ytick").all_text_contents() if "…" in name]
    for name in ("sparse_histogram", "intervals-printed", "net-flip"):  # with long stories or names of controls
        visit(page, server, f"{SMALL}&mechanism={name}", "worst_chart")
        on_one_screen(page)
    visit(page, server, "?card=wrong&data=earnings.earnings", "worst_chart")  # the longest badge
    assert chart(page, "worst_chart").locator(PLOT).evaluate(BEYOND, ".gtitle") <= 0


@pytest.mark.full
@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
def test_on_a_phone_the_ranking_leaves_room_for_its_dots(page: Page, server: Server) -> None:
    visit(page, server, f"{SMALL}&target=5%25", "needed_chart")
    ranking = chart(page, "needed_chart").locator(PLOT)
    width = ranking.evaluate(INSIDE)[2]
    assert width > PHONE["width"] / 2.2, f"{width} pixels beside the names"
    assert max(map(len, ranking.locator(".ytick").all_text_contents())) > 30, "no name is cut"
    numbers = [each.bounding_box() for each in ranking.locator(".xtick text").all()]
    ends = [(box["x"], box["x"] + box["width"]) for box in numbers if box]
    assert len(ends) > 3 and all(one[1] < other[0] for one, other in pairwise(ends)), "numbers touch each other"


# Where the words in an element are, whatever room it has.
WRITTEN = """(part) => {
    const range = document.createRange();
    range.selectNodeContents(part);
    return range.getBoundingClientRect().toJSON();
}"""


@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
def test_on_a_phone_the_words_of_the_slider_keep_clear_of_each_other(page: Page, server: Server) -> None:
    visit(page, server, "?n=1000&bits=5&trials=100&epsilon=0.015")
    places = [".dpscope-less", ".dpscope-slide output", ".dpscope-more", ".st-key-epsilon"]
    boxes = [page.locator(place).evaluate(WRITTEN) for place in places]
    for place, one in enumerate(boxes):
        for other in boxes[place + 1 :]:
            across = one["right"] <= other["left"] or other["right"] <= one["left"]
            assert across or one["bottom"] <= other["top"] or other["bottom"] <= one["top"]


@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
def test_on_a_phone_the_slider_stays_beside_the_first_picture(page: Page, server: Server) -> None:
    open_play(page, server)
    slider, first = page.get_by_role("slider", name="Privacy budget ε"), chart(page, "data_chart").locator(PLOT)

    def both_seen() -> bool:
        boxes = slider.bounding_box(), first.bounding_box()
        return all(box is not None and box["y"] >= 0 and box["y"] + box["height"] <= PHONE["height"] for box in boxes)

    assert both_seen()
    place = slider.bounding_box()
    chart(page, "worst_chart").scroll_into_view_if_needed()
    after = slider.bounding_box()
    assert place is not None and after is not None and 40 <= after["y"] <= place["y"], "it sticks to the top"
