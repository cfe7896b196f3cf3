"""Whoever has no mouse, reads at twice the size, or walks Back, Forward, F5 and into a second tab, loses nothing."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.kit.browser import OWN_DATA, PAGES, Server, plot, sound, visit
from tests.kit.rest import settled

pytestmark = pytest.mark.full

ZOOMED = ViewportSize(width=640, height=450)
"""A window of 1280 x 900 at 200%."""
SMALL = "?bits=6&n=1000&trials=100&epsilon=0.3"
MAX_STOPS = 80
NEEDED = {
    "Privacy budget ε",
    "Exact ε",
    "Present",
    "Copy link",
    "Mechanism",
    "Query",
    "Data true",
    "Why?",
    "⋯",
}
"""What the first page is used by."""
# What has the focus, as it is called; an address of its own where it has no name.
FOCUSED = """() => {
    const { activeElement: at } = document;
    if (at === document.body) return '';
    const told = [at.getAttribute('aria-label'), at.labels?.[0]?.textContent, at.getAttribute('title'), at.textContent];
    return told.map(text => text?.replace(/ (arrow|keyboard|expand)_.*/, '').trim()).find(Boolean)
        ?? `no name: ${at.outerHTML.slice(0, 200)}`;
}"""


def tab_to(page: Page, name: str) -> list[str]:
    """Press Tab until the focus is on what is so called; what it was on before."""
    passed: list[str] = []
    while len(passed) < MAX_STOPS:
        page.keyboard.press("Tab")
        passed.append(str(page.evaluate(FOCUSED)))
        if passed[-1].startswith(name):
            return passed
    raise AssertionError(f"No {name!r} among {passed}")


def test_the_first_page_is_used_by_keys_alone(page: Page, server: Server) -> None:
    visit(page, server, SMALL, "data_chart")
    headline = page.locator(".dpscope-line").inner_text()
    tab_to(page, "Privacy budget ε")
    page.keyboard.press("ArrowLeft")
    settled(page)
    assert page.locator(".dpscope-line").inner_text() != headline and "epsilon=0.25" in page.url
    # Once around: everything is reached, and everything has a name.
    page.evaluate("document.activeElement.blur(); window.getSelection().removeAllRanges()")
    page.reload()
    settled(page)
    stops: list[str] = []
    for _ in range(MAX_STOPS):
        page.keyboard.press("Tab")
        stops.append(str(page.evaluate(FOCUSED)))
    assert not [stop for stop in stops if stop.startswith("no name")]
    assert not [name for name in NEEDED if not any(stop.startswith(name) for stop in stops)], stops
    visit(page, server, f"{SMALL}&card=attack")
    tab_to(page, "Attack: group counts")
    page.keyboard.press("Enter")
    settled(page)
    assert "lesson=attack-me" in page.url
    expect(page.get_by_role("slider", name="Privacy budget ε of all counts together")).to_be_visible()


@pytest.mark.parametrize("viewport", [ZOOMED], ids=["200%"])
def test_at_twice_the_size_every_page_fits_and_is_sound(page: Page, server: Server) -> None:
    for name, link in {**PAGES, **OWN_DATA}.items():
        visit(page, server, link)
        sound(page)
        expect(page.get_by_role("heading").first, name).to_be_visible()
    visit(page, server, SMALL, "data_chart")
    slider, first = page.get_by_role("slider", name="Privacy budget ε"), plot(page, "data_chart")
    first.scroll_into_view_if_needed()
    expect(slider).to_be_in_viewport()
