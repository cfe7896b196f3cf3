"""Halfspaces in a real browser: sliders, keys, drags and clicks turn the direction, links reopen it, nothing spills."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from tests.kit.browser import (
    DESKTOP,
    PHONE,
    Server,
    on_screens,
    plot,
    press,
    reopened,
    sentences,
    sound,
    visit,
    watched_page,
)
from tests.kit.rest import settled

WIDE = ViewportSize(width=1920, height=1080)
CENTRED = "each => each.scrollIntoView({block: 'center'})"


def opened(page: Page, server: Server, link: str, *, charts: int) -> Page:
    """The page at rest with so many charts."""
    visit(page, server, link)
    expect(page.locator(".dpscope-plot")).to_have_count(charts)
    return page


def turned(page: Page, degrees: float, *, within: int = 3) -> int:
    """Wait until the link's angle is near one; returns it."""
    near = "|".join(str(angle % 360) for angle in range(math.ceil(degrees) - within, math.floor(degrees) + within + 1))
    expect(page).to_have_url(re.compile(rf"[?&]angle=({near})(&|$)"))
    return angle_in(page)


def angle_in(page: Page) -> int:
    """The angle in the link."""
    found = re.search(r"angle=(\d+)", page.url)
    assert found, page.url
    return int(found[1])


EYE = "plot => Object.values(plot._fullLayout.scene.camera.eye)"


@pytest.mark.full
def test_the_sphere_is_turned_by_the_mouse_and_stays_so_and_a_link_reopens_the_turned_direction(
    page: Page, server: Server
) -> None:
    opened(page, server, "halfspaces?vectors=cities", charts=5)
    expect(page.get_by_text("the hemisphere around 6° N 8° E")).to_be_visible()
    sphere = plot(page, "halfspaces_sphere_chart")
    sphere.evaluate(CENTRED)
    before = sphere.evaluate(EYE)
    box = sphere.locator("canvas").first.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 10, steps=4)
    page.mouse.move(x + 120, y + 20, steps=4)
    page.mouse.up()
    settled(page)
    seen_from = sphere.evaluate(EYE)
    assert math.dist(seen_from, before) > 0.2
    press(page, "Direction, degrees", "ArrowRight", 5)
    assert math.dist(sphere.evaluate(EYE), seen_from) < 1e-6
    expect(page.get_by_text("the hemisphere around 10° N 12° E")).to_be_visible()
    after = sentences(page)
    assert angle_in(page) == 15
    assert sentences(reopened(page)) == after


HASTY = """(plot, places) => {
    const ground = plot.querySelector('.nsewdrag'), box = ground.getBoundingClientRect();
    const send = (kind, target, share) => {
        const place = { clientX: box.left + share * box.width, clientY: box.top + 0.05 * box.height };
        const Event = kind.startsWith('pointer') ? PointerEvent : MouseEvent;
        target.dispatchEvent(new Event(kind, { bubbles: true, cancelable: true, ...place }));
    };
    places.forEach((share) => send('mousemove', ground, share));
    const last = places.at(-1);
    send('pointerdown', ground, last);
    send('mousedown', ground, last);
    send('mouseup', document, last);
}"""


@pytest.mark.full
def test_a_click_on_the_circle_turns_the_direction_there_even_right_after_a_move(page: Page, server: Server) -> None:
    """Plotly looks where the mouse is every 50 ms at most, and would take a click for where it last looked."""
    opened(page, server, "halfspaces?vectors=penguins", charts=5)
    chart = plot(page, "halfspaces_circle_chart")
    chart.evaluate(HASTY, [0.3, 0.6])
    turned(settled(page), 216)
    for share in (0.3, 0.6):  # the same place again, too
        chart.evaluate(CENTRED)
        inside = chart.locator(".nsewdrag").first.bounding_box()
        assert inside is not None
        page.mouse.click(inside["x"] + share * inside["width"], inside["y"] + 0.05 * inside["height"])
        angle = turned(settled(page), 360 * share)
        expect(page.get_by_text(f"{angle}° from “longer bill”")).to_be_visible()


@dataclass(frozen=True, kw_only=True)
class Ring:
    """The picture of the rows in its unit: radii of its circle."""

    plot: Locator

    def at(self, degrees: float, *, radii: float = 1.14) -> tuple[float, float]:
        """The place in the window at an angle, so many radii from the centre."""
        turn = math.radians(degrees)
        x, y = self.plot.evaluate(
            """(plot, [x, y]) => {
                const { xaxis, yaxis } = plot._fullLayout, box = plot.getBoundingClientRect();
                return [box.left + xaxis._offset + xaxis.d2p(x), box.top + yaxis._offset + yaxis.d2p(y)];
            }""",
            [radii * math.cos(turn), radii * math.sin(turn)],
        )
        return float(x), float(y)

    def traces(self) -> dict[str, list[tuple[float, float]]]:
        """Points of everything that has a name, as it is drawn now."""
        found: dict[str, Any] = self.plot.evaluate(
            "plot => Object.fromEntries(plot.data.map(({ name, x, y }) => [name, [[...x], [...y]]]))"
        )
        return {name: list(zip(*points, strict=True)) for name, points in found.items()}

    def shows(self, degrees: float) -> bool:
        """Whether the shaded half, the arrow, the handle and the rows' sides are drawn for this angle."""
        drawn, towards = self.traces(), (math.cos(math.radians(degrees)), math.sin(math.radians(degrees)))

        def heights(name: str) -> list[float]:
            return [x * towards[0] + y * towards[1] for x, y in drawn[name]]

        handle = self.plot.locator("xpath=..").locator(".dpscope-handle").bounding_box()
        assert handle is not None
        x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
        return (
            min(heights("the side")) > -0.05
            and heights("direction y")[-1] > 0.89
            and min(heights("on its side")) > -0.05
            and max(heights("on the other")) < 0.05
            and math.dist((x, y), self.at(degrees)) < 8
        )


def held(page: Page, server: Server) -> Ring:
    """The picture of the rows, in the middle of the window, with the arrow at 90 degrees."""
    opened(page, server, "halfspaces?angle=90&margin=0&vector-margin=0.9&vector-rows=1000", charts=5)
    rows = plot(page, "halfspaces_rows_chart")
    rows.evaluate(CENTRED)
    return Ring(plot=rows)


def test_the_arrow_is_dragged_in_the_browser_and_the_page_follows_when_it_is_let_go(page: Page, server: Server) -> None:
    ring = held(page, server)
    assert ring.shows(90)
    for size in (WIDE, DESKTOP):
        page.set_viewport_size(size)
        assert settled(page) and ring.shows(90), "the handle follows the width of the window"
    ring.plot.evaluate(CENTRED)
    words = sentences(page)
    page.mouse.move(*ring.at(90))
    page.mouse.down()
    for degrees in range(90, 199, 6):
        page.mouse.move(*ring.at(degrees, radii=0.4 if degrees > 120 else 1.14))  # inside, too, once it is held
    page.evaluate("new Promise(requestAnimationFrame)")
    settled(page)
    assert ring.shows(198)
    assert angle_in(page) == 90 and sentences(page) == words
    page.mouse.up()
    angle = turned(settled(page), 198, within=2)
    expect(page.get_by_role("slider", name="Direction, degrees")).to_have_value(str(angle))
    expect(page.get_by_text(f"{angle}° from “first coordinate”")).to_be_visible()
    assert ring.shows(198) and sentences(page) != words


@pytest.mark.full
def test_keys_and_clicks_turn_the_arrow_and_the_slider_turns_it_back(page: Page, server: Server) -> None:
    ring = held(page, server)
    handle = page.locator(".st-key-halfspaces_rows_chart .dpscope-handle")
    for _ in range(2):  # the same turn, again after the slider
        handle.focus()
        for _ in range(15):
            page.keyboard.press("ArrowLeft")
        assert ring.shows(75), "before the page knows"
        turned(settled(page), 75, within=0)
        assert ring.shows(75)
        expect(handle).to_have_attribute("aria-label", re.compile("^Direction y, 75 degrees"))
        press(page, "Direction, degrees", "ArrowRight", 15)
        turned(page, 90, within=0)
        assert ring.shows(90)
    ring.plot.evaluate(CENTRED)
    page.mouse.click(*ring.at(200, radii=0.7))
    assert ring.shows(turned(settled(page), 200, within=2))


SCROLLED = "[...document.querySelectorAll('*')].reduce((sum, each) => sum + each.scrollTop, 0)"


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    """A page of its own: that fingers point at it stays with it."""
    with watched_page(browser, viewport=PHONE) as page:
        yield page


@pytest.mark.full
def test_a_finger_on_the_handle_turns_the_arrow_and_one_inside_scrolls(phone: Page, server: Server) -> None:
    page = phone
    ring = held(page, server)
    assert not ring.shows(330)
    finger = page.context.new_cdp_session(page)
    finger.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    page.reload()  # a page asks once whether a finger or a mouse points at it
    settled(page)
    ring.plot.evaluate(CENTRED)

    def swipe(places: Iterable[tuple[float, float]]) -> int:
        scrolled = page.evaluate(SCROLLED)
        for number, (x, y) in enumerate(places):
            kind = "touchMove" if number else "touchStart"
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
            page.evaluate("new Promise(requestAnimationFrame)")
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        settled(page)
        return int(page.evaluate(SCROLLED) - scrolled)

    assert swipe([ring.at(degrees) for degrees in range(90, -31, -4)]) == 0
    angle = turned(page, 330, within=2)
    assert ring.shows(330)
    expect(page.get_by_text(f"{angle}° from “first coordinate”")).to_be_visible()
    assert swipe([ring.at(90, radii=tenths / 10) for tenths in range(12)]) != 0
    assert angle_in(page) == angle


@pytest.mark.full
@on_screens(
    "link,charts",
    ("halfspaces?vectors=cities", 5),
    ("halfspaces?vectors=digits", 4),
    ("halfspaces?vectors=penguins-raw", 5),
)
def test_every_state_is_accessible_and_fits(page: Page, server: Server, link: str, charts: int) -> None:
    sound(opened(page, server, link, charts=charts))
