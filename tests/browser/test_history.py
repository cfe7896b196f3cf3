"""Links, Back, Forward and reloading: nothing is lost but a file, and that is said."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.kit.browser import OWN_FILE, Server, bring, csv_file, go_to, settled, visit, watched_page

PEOPLE = csv_file("people.csv", "age,pay\n41,1000\n17,0\n")
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
