"""Halfspaces in a real browser: sliders and clicks turn the direction, links reopen it, nothing spills."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.browser import DESKTOP, PHONE, Server, axe, settled
from tests.test_browser_robust import captions, opened, press


def test_a_link_reopens_the_turned_direction(page: Page, server: Server) -> None:
    opened(page, server, "halfspaces?vectors=cities", charts=4)
    expect(page.get_by_text("the hemisphere around 6° N 8° E")).to_be_visible()
    press(page, "Direction, degrees", "ArrowRight", 5)
    expect(page.get_by_text("the hemisphere around 10° N 12° E")).to_be_visible()
    after, link = captions(page), page.url
    assert "angle=15" in link
    page.goto("about:blank")
    page.goto(link)
    settled(page)
    assert captions(page) == after


def test_a_click_on_the_circle_turns_the_direction_there(page: Page, server: Server) -> None:
    opened(page, server, "halfspaces?vectors=penguins", charts=5)
    chart = page.locator('[data-testid="stVegaLiteChart"]').nth(1)
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 0.4 * box["height"])
    settled(page)
    turned = re.search(r"angle=((1[6-9]|2[0-2])\d)", page.url)
    assert turned, page.url
    expect(page.get_by_text(f"{turned[1]}° from “longer bill”")).to_be_visible()


@dataclass(frozen=True, kw_only=True)
class Ring:
    """The circle of rows in its picture, found by its ink: pixels of the picture."""

    canvas: Locator
    x: float
    y: float
    radius: float

    def at(self, degrees: float, *, radii: float = 1.0) -> tuple[float, float]:
        """The place in the window at an angle, so many radii from the centre."""
        box, turn = self.canvas.bounding_box(), math.radians(degrees)
        assert box is not None
        away = radii * self.radius
        return box["x"] + self.x + away * math.cos(turn), box["y"] + self.y - away * math.sin(turn)

    def shows(self, degrees: float) -> bool:
        """Whether the shaded half is drawn on the side of this angle."""
        x, y, _, _ = self.canvas.evaluate(SHADE)
        found = math.degrees(math.atan2(self.y - y, x - self.x))
        return abs((found - degrees + 180) % 360 - 180) < 4


CENTRED = "each => each.scrollIntoView({block: 'center'})"
SHADE = """canvas => {
    // The middle of the shaded half, and its first and last line.
    const context = canvas.getContext('2d'), scale = canvas.width / canvas.clientWidth, lines = [];
    const shade = context.getImageData(0, 0, canvas.width, canvas.height).data, sum = [0, 0, 0];
    for (let y = 0; y < canvas.height; y++) {
        const places = [];
        for (let x = 0, at = 4 * y * canvas.width; x < canvas.width; x++, at += 4) {
            if (Math.abs(shade[at + 3] - 25.5) < 2 && shade[at] < 80 && shade[at + 2] > 150) places.push(x);
        }
        if (places.length > 20) {  // not the edge of a letter
            lines.push(y);
            for (const x of places) { sum[0] += x + 0.5; sum[1] += y + 0.5; sum[2]++; }
        }
    }
    return [sum[0] / sum[2], sum[1] / sum[2], lines[0], lines.at(-1) + 1].map(each => each / scale);
}"""


def held(page: Page, server: Server) -> Ring:
    """The picture of the rows, in the middle of the window, with the arrow at 90 degrees."""
    opened(page, server, "halfspaces?angle=90&margin=0&vector-margin=0.9", charts=5)
    canvas = page.locator(".st-key-halfspaces_rows_chart canvas")
    canvas.evaluate(CENTRED)
    x, _, top, bottom = canvas.evaluate(SHADE)  # upwards: the shaded half stands on the centre
    return Ring(canvas=canvas, x=x, y=bottom, radius=bottom - top)


def angle_in(page: Page) -> int:
    found = re.search(r"angle=(\d+)", page.url)
    assert found, page.url
    return int(found[1])


def test_the_arrow_is_dragged_in_the_browser_and_the_page_follows_when_it_is_let_go(page: Page, server: Server) -> None:
    ring = held(page, server)
    words = captions(page)
    page.mouse.move(*ring.at(90))
    page.mouse.down()
    for degrees in range(90, 199, 6):
        page.mouse.move(*ring.at(degrees, radii=0.4 if degrees > 120 else 1.0))  # inside, too, once it is held
    page.evaluate("new Promise(requestAnimationFrame)")
    settled(page)
    assert ring.shows(198)
    assert angle_in(page) == 90 and captions(page) == words
    page.mouse.up()
    settled(page)
    assert abs(angle_in(page) - 198) <= 2 and captions(page) != words
    assert ring.shows(198)
    expect(page.get_by_role("slider", name="Direction, degrees")).to_have_value(str(angle_in(page)))
    expect(page.get_by_text(f"{angle_in(page)}° from “first coordinate”")).to_be_visible()


def test_what_was_dragged_gives_way_to_the_slider_and_back(page: Page, server: Server) -> None:
    ring = held(page, server)
    for _ in range(2):  # the same drag, again after the slider
        ring.canvas.evaluate(CENTRED)
        page.mouse.move(*ring.at(90))
        page.mouse.down()
        page.mouse.move(*ring.at(80))
        page.mouse.move(*ring.at(60))
        page.mouse.up()
        settled(page)
        there = angle_in(page)
        assert abs(there - 60) <= 2 and ring.shows(60)
        press(page, "Direction, degrees", "ArrowRight", 90 - there)
        assert angle_in(page) == 90 and ring.shows(90)
    ring.canvas.evaluate(CENTRED)
    for radii in (0.2, 1.6):  # nobody takes hold of the arrow far from its tip
        page.mouse.move(*ring.at(0, radii=radii))
        page.mouse.down()
        page.mouse.move(*ring.at(40, radii=radii))
        page.mouse.up()
    settled(page)
    assert angle_in(page) == 90 and ring.shows(90)


SCROLLED = "[...document.querySelectorAll('*')].reduce((sum, each) => sum + each.scrollTop, 0)"


@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
def test_a_finger_on_the_ring_turns_the_arrow_and_one_inside_scrolls(page: Page, server: Server) -> None:
    ring = held(page, server)
    assert not ring.shows(330)
    finger = page.context.new_cdp_session(page)
    finger.send("Emulation.setTouchEmulationEnabled", {"enabled": True})

    def swipe(places: Iterable[tuple[float, float]]) -> int:
        scrolled = page.evaluate(SCROLLED)
        for number, (x, y) in enumerate(places):
            kind = "touchMove" if number else "touchStart"
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
            page.evaluate("new Promise(requestAnimationFrame)")
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        settled(page)
        return int(page.evaluate(SCROLLED) - scrolled)

    assert swipe(ring.at(degrees) for degrees in range(90, -31, -4)) == 0
    turned = angle_in(page)
    assert abs(turned - 330) <= 2
    assert ring.shows(330)
    expect(page.get_by_text(f"{turned}° from “first coordinate”")).to_be_visible()
    assert swipe(ring.at(90, radii=tenths / 10) for tenths in range(12)) > 40
    assert angle_in(page) == turned


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("link", "charts"),
    [
        ("halfspaces", 5),
        ("halfspaces?vectors=cities", 4),
        ("halfspaces?vectors=penguins-raw", 5),
        ("halfspaces?vectors=digits", 4),
    ],
)
def test_every_state_is_accessible_and_fits(
    page: Page, server: Server, link: str, charts: int, viewport: ViewportSize, colour_scheme: str
) -> None:
    opened(page, server, link, charts=charts)
    axe(page)
    width = page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollWidth")
    assert width <= viewport["width"], f"the page is {width} pixels wide"
