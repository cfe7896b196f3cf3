"""Links, Back, Forward and reloading: nothing is lost but a file, and that is said."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.kit.browser import (
    OWN_FILE,
    PAGES,
    Server,
    bring,
    csv_file,
    go_to,
    press,
    sentences,
    settled,
    visit,
    watched_page,
)

PEOPLE = csv_file("people.csv", "age,pay\n41,1000\n17,0\n")
SMALL = "?bits=6&n=1000&trials=100&epsilon=0.3"
LOST = "The page was loaded anew: please choose your file again."


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
        visit(page, server, "random-privacy-workbench")
        before = entries(page)
        page.get_by_role("slider", name="Privacy loss ε").focus()
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
        assert page.evaluate("navigator.clipboard.readText()") == link != f"{server.url}/random-privacy-workbench"


@pytest.mark.full
def test_back_keeps_what_the_page_just_left_has_a_control_for_too(page: Page, server: Server) -> None:
    visit(page, server, SMALL)
    press(page, "Privacy loss ε", "ArrowLeft")
    moved = page.url
    assert "epsilon=0.25" in moved
    other = go_to(page, "tables").url
    press(page, "Privacy loss ε", "ArrowRight")
    there, chosen = page.url, epsilon(page)
    assert there != other and chosen != "0.25"
    page.go_back()
    settled(page)
    assert page.url == moved and epsilon(page) == "0.25"
    page.go_forward()
    settled(page)
    assert page.url == there and epsilon(page) == chosen


@pytest.mark.parametrize("name", ["Attack me", "Last bits"])
def test_back_from_an_attack_returns_to_the_first_page_as_it_was(browser: Browser, server: Server, name: str) -> None:
    with watched_page(browser) as page:  # a tab's history is full at fifty entries
        visit(page, server, SMALL)
        press(page, "Privacy loss ε", "ArrowLeft")
        moved, before = page.url, entries(page)
        page.get_by_role("link", name=name).click()
        settled(page)
        there = page.url
        assert "/learn?lesson=" in there and entries(page) == before + 1
        page.go_back()
        settled(page)
        assert page.url == moved and epsilon(page) == "0.25"
        page.go_forward()
        settled(page)
        assert page.url == there


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
    bring(page, PEOPLE)
    expect(page.get_by_text(LOST)).to_be_hidden()
    page.get_by_role("button", name="Forget this file").click()
    settled(page)
    page.reload()
    settled(page)
    expect(page.get_by_text(LOST)).to_be_hidden()  # forgotten, not lost
