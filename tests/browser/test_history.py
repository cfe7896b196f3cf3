"""Links, Back, Forward and reloading: nothing is lost but a file, and that is said."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.pages.test_play import POINT
from tests.kit.browser import (
    OWN_DATA,
    OWN_FILE,
    PAGES,
    Server,
    bring,
    csv_file,
    go_to,
    plot,
    press,
    sentences,
    visit,
    watched_page,
)
from tests.kit.rest import settled

PEOPLE = csv_file("people.csv", "age,pay\n41,1000\n17,0\n")
SMALL = "?bits=6&n=1000&trials=100&epsilon=0.3"
UNCOVERED = """words => {
    const { left, right, top, bottom } = words.getBoundingClientRect();
    return [left + 1, right - 1].every(x => document.elementFromPoint(x, (top + bottom) / 2) === words);
}"""
"""Whether the first and the last of some words are seen."""
LOST = "The page was reloaded. Please choose your file again."


def entries(page: Page) -> int:
    """How many history entries the tab has."""
    count: int = page.evaluate("history.length")
    return count


def epsilon(page: Page) -> str:
    """What the exact entry holds."""
    return page.get_by_role("spinbutton", name="Exact ε").input_value()


def test_back_returns_to_the_page_as_it_was_and_its_link_is_copied(browser: Browser, server: Server) -> None:
    with watched_page(browser) as page:  # a tab's history is full at fifty entries
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        visit(page, server, OWN_DATA["random-privacy"])
        before = entries(page)
        page.get_by_role("slider", name="Privacy budget ε").focus()
        for _ in range(3):
            page.keyboard.press("ArrowLeft")
            settled(page)
        chosen, link = epsilon(page), page.url
        assert chosen != "1" and entries(page) == before, "a step of a slider is no page"
        go_to(page, "data")
        assert entries(page) == before + 1
        page.go_back()
        settled(page)
        assert page.url == link and epsilon(page) == chosen
        page.go_forward()
        settled(page)
        expect(page).to_have_title("Data · dpscope")
        page.go_back()
        settled(page)
        page.reload()
        settled(page)
        assert page.url == link and epsilon(page) == chosen
        page.get_by_role("button", name="Copy link").click()
        expect(page.get_by_text("Copied.")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == link != f"{server.url}/{OWN_DATA['random-privacy']}"


@pytest.mark.full
def test_back_keeps_what_the_page_just_left_has_a_control_for_too(page: Page, server: Server) -> None:
    visit(page, server, SMALL)
    press(page, "Privacy budget ε", "ArrowLeft")
    moved = page.url
    assert "epsilon=0.25" in moved
    other = go_to(page, "tables").url
    press(page, "Privacy budget ε", "ArrowRight")
    there, chosen = page.url, epsilon(page)
    assert there != other and chosen != "0.25"
    page.go_back()
    settled(page)
    assert page.url == moved and epsilon(page) == "0.25"
    page.go_forward()
    settled(page)
    assert page.url == there and epsilon(page) == chosen


@pytest.mark.parametrize(
    "names",
    [
        ("Release it",),
        pytest.param(("Attack: group counts", "Test this privacy claim"), marks=pytest.mark.full),
        pytest.param(("Attack: last bits",), marks=pytest.mark.full),
    ],
)
def test_back_from_where_a_link_leads_returns_to_the_first_page_as_it_was(
    browser: Browser, server: Server, names: tuple[str, ...]
) -> None:
    with watched_page(browser) as page:  # a tab's history is full at fifty entries
        visit(page, server, f"{SMALL}&mechanism=windows&target=5%25&card=attack")
        press(page, "Privacy budget ε", "ArrowLeft")
        moved, before = settings(page.url), entries(page)
        for name in names:
            page.get_by_role("link", name=name).click()
            settled(page)
            there = page.url
            assert urlsplit(there).path in ("/learn", "/release") and entries(page) == before + 1
            page.go_back()
            settled(page)
            assert settings(page.url) == moved and epsilon(page) == "0.25"
            expect(page.get_by_role("combobox", name="Mechanism")).to_have_value("Overlapping windows")
            expect(page.get_by_role("textbox", name="Target error")).to_have_value("5%")
            page.go_forward()
            settled(page)
            assert page.url == there
            page.go_back()
            settled(page)


@pytest.mark.full
def test_back_from_a_card_of_the_wall_and_from_settings_that_a_lesson_gives(browser: Browser, server: Server) -> None:
    with watched_page(browser) as page:
        visit(page, server, "learn")
        before = entries(page)
        page.locator("a[href*='lesson=printed']").click()
        lesson = settled(page).url
        assert "lesson=printed" in lesson and entries(page) == before + 1
        page.get_by_role("link", name="Use these settings").first.click()
        settled(page)
        assert "/tables?" in page.url and entries(page) == before + 2
        page.go_back()
        assert settled(page).url == lesson
        page.go_back()
        assert settled(page).url == f"{server.url}/learn"


@pytest.mark.full
def test_back_from_a_point_of_the_trade_off_returns_to_the_mechanism_and_epsilon_before(
    browser: Browser, server: Server
) -> None:
    with watched_page(browser) as page:
        visit(page, server, f"{SMALL}&every=true&card=others", "tradeoff_chart")
        before, was = settings(page.url), entries(page)
        tradeoff, name = plot(page, "tradeoff_chart"), "Interval release, anchored"
        tradeoff.scroll_into_view_if_needed()
        places = tradeoff.evaluate(
            "(plot, name) => plot._fullData.find(t => t.name === name && t.mode === 'markers').x", name
        )
        page.mouse.click(*tradeoff.evaluate(POINT, [name, "markers", places.index(0.5)]))
        settled(page)
        there = settings(page.url)
        assert epsilon(page) == "0.5" and there != before and entries(page) == was + 1
        page.go_back()
        settled(page)
        assert settings(page.url) == before and epsilon(page) == "0.3"
        expect(page.get_by_role("combobox", name="Mechanism")).to_have_value("Identity histogram")
        page.go_forward()
        settled(page)
        assert settings(page.url) == there and epsilon(page) == "0.5"
        expect(page.get_by_role("combobox", name="Mechanism")).to_have_value(name)


def settings(address: str) -> tuple[str, set[str]]:
    """A page and what its link asks of it, in whatever order."""
    parts = urlsplit(address)
    return parts.path, set(parts.query.split("&"))


def told(page: Page) -> tuple[str, list[str], str]:
    """Where a page is, what it calls itself, and what its pictures say; the order of a link's settings says nothing."""
    settled(page)
    address, _, settings = page.url.partition("?")
    return (
        f"{address}?{'&'.join(sorted(settings.split('&')))}",
        page.get_by_role("heading").all_inner_texts(),
        sentences(page),
    )


@pytest.mark.full
def test_back_forward_f5_and_a_second_tab_show_what_was_there_on_every_page(browser: Browser, server: Server) -> None:
    with watched_page(browser) as page:
        visit(page, server, SMALL)
        seen = [told(page)]
        for name in [name for name in PAGES if PAGES[name]]:
            seen.append(told(go_to(page, name)))
        for where in reversed(seen[:-1]):
            page.go_back()
            assert told(page) == where
        for where in seen[1:]:
            page.go_forward()
            assert told(page) == where
        page.reload()
        assert told(page) == seen[-1]
    with watched_page(browser) as other:
        for where in seen:
            other.goto(where[0])
            assert told(other) == where, "another visitor sees what the link was copied from"


@pytest.mark.full
def test_a_reload_loses_a_file_and_says_so(page: Page, server: Server) -> None:
    expect(visit(page, server, OWN_FILE).get_by_text(LOST)).to_be_hidden()
    expect(bring(page, PEOPLE).get_by_text(LOST)).to_be_hidden()
    page.reload()
    expect(settled(page).get_by_text(LOST)).to_be_visible()
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.get_by_text(LOST)).to_be_hidden()
    page.reload()
    expect(settled(page).get_by_text(LOST)).to_be_hidden()  # said and closed
    bring(page, PEOPLE)
    page.reload()
    expect(settled(page).get_by_text(LOST)).to_be_visible()
    go_to(page, "one-number")  # whose controls lie over what is at the left
    page.reload()
    assert settled(page).get_by_text(LOST).evaluate(UNCOVERED)
    bring(visit(page, server, OWN_FILE), PEOPLE)
    expect(page.get_by_text(LOST)).to_be_hidden()
    page.get_by_role("button", name="Remove this file").click()
    settled(page)
    page.reload()
    settled(page)
    expect(page.get_by_text(LOST)).to_be_hidden()  # forgotten, not lost


def test_back_leads_from_a_lesson_s_settings_to_the_lesson_and_from_an_audit_to_the_settings(
    page: Page, server: Server
) -> None:
    visit(page, server, "learn?lesson=random")
    lesson = page.url
    page.get_by_role("link", name="All settings, your data").click()
    settled(page)
    page.get_by_role("slider", name="Privacy budget ε").focus()
    page.keyboard.press("ArrowLeft")
    settled(page)
    settings, chosen = page.url, epsilon(page)
    assert "view=data" in settings and chosen != "1"
    page.get_by_role("link", name="Test this privacy claim").click()
    settled(page)
    assert "lesson=audit" in page.url and "audit-of=sparse_histogram" in page.url
    page.go_back()
    settled(page)
    assert page.url == settings and epsilon(page) == chosen
    page.go_back()
    settled(page)
    assert page.url == lesson
    page.go_forward()
    settled(page)
    assert page.url == settings and epsilon(page) == chosen
