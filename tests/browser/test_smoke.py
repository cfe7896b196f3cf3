"""The app opens at whichever page is asked for first, and what watches the browser tests catches what it should."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.kit.browser import MENUS, PAGES, PHONE, Server, axe, in_menu, no_traceback, visit, watched_page

ERRORS = '[data-testid="stException"]'


DEEP = [name for name, path in PAGES.items() if path]


@pytest.mark.parametrize("name", [DEEP[0], *(pytest.param(name, marks=pytest.mark.full) for name in DEEP[1:])])
def test_the_router_runs_even_if_the_first_request_is_a_deep_link(fresh_server: Server, page: Page, name: str) -> None:
    # The page is closed before its server: one left alone asks for it, and the watch would catch that.
    visit(page, fresh_server, PAGES[name])
    expect(page.locator(ERRORS)).to_have_count(0)
    expect(page.locator("a[href$='/main']")).to_have_count(0)  # there if Streamlit lists the folder
    for other in PAGES:
        expect(in_menu(page, other)).to_be_visible()
        page.keyboard.press("Escape")


@pytest.mark.parametrize(
    ("script", "event", "problem"),
    [
        ("console.error('planted')", "console", "console: planted"),
        ("setTimeout(() => { throw new Error('planted') })", "pageerror", "script: .*planted"),
        ("fetch('/media/planted')", "response", "answer 404: .*planted"),
        ("fetch('http://planted.invalid/').catch(() => null)", "console", "console: .*http://planted.invalid/"),
        ("setTimeout(() => { location = 'http://planted.invalid/' })", "request", "left this machine: .*planted"),
    ],
)
def test_the_watch_catches(browser: Browser, server: Server, script: str, event: str, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem), watched_page(browser) as page:
        page.goto(f"{server.url}/_stcore/health")
        with page.expect_event(event):
            page.evaluate(script)


def test_a_traceback_in_the_log_is_caught(server: Server, tmp_path: Path) -> None:
    noisy = replace(server, log=tmp_path / "server.log")
    noisy.log.touch()
    with pytest.raises(AssertionError, match="planted"), no_traceback(noisy):
        noisy.log.write_text("Traceback (most recent call last): planted\n")


def test_axe_catches_what_is_not_known(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content("<html lang=en><title>x</title><main><h1>x</h1><img src='data:,'></main></html>")
    with pytest.raises(AssertionError, match="image-alt"):
        axe(page)
    page.close()


def test_the_places_stand_in_the_order_of_the_work(server: Server, page: Page) -> None:
    visit(page, server, "plan")
    bar = page.get_by_test_id("stTopNav")
    places = [bar.get_by_text(section, exact=True).bounding_box() for section in dict.fromkeys(MENUS.values())]
    lefts = [box["x"] for box in places if box]
    assert len(lefts) == 5 and lefts == sorted(lefts)
    logo = page.get_by_test_id("stSidebarLogo").bounding_box()
    assert logo and logo["x"] + logo["width"] < lefts[0] and logo["y"] < 40


@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
def test_on_a_phone_the_drawer_closes_on_a_choice(server: Server, page: Page) -> None:
    visit(page, server, "data")
    expect(page.get_by_test_id("stHeaderLogo")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Expand sidebar").click()
    drawer = page.get_by_test_id("stSidebar")
    drawer.get_by_role("link", name="Release", exact=True).click()
    expect(drawer).not_to_be_in_viewport()
    expect(page).to_have_url(re.compile("/release$"))
