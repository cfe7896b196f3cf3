"""What a stranger comes for, by clicks: the ε that an error needs on their own column, and the error of a range."""

from __future__ import annotations

import re
from typing import Literal

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.browser.pages.test_grid import type_at
from tests.kit.browser import Server, plot, visit
from tests.kit.rest import settled

ROWS = "".join(f"{place % 90},{place % 7}\n" for place in range(5000))
FILE = FilePayload(name="people.csv", mimeType="text/csv", buffer=f"age,rooms\n{ROWS}".encode())
FROM = 3
"""The grid's column of lower bounds."""


class Hand:
    """Clicks on one page, counted."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks = page, 0

    def click(self, what: Locator) -> None:
        what.click()
        self.clicks += 1
        settled(self.page)

    def brings(self, file: FilePayload) -> None:
        """A click that opens the system's own window, in which the file is chosen."""
        with self.page.expect_file_chooser() as chooser:
            self.page.get_by_test_id("stFileUploaderDropzone").locator("button").click()
        self.clicks += 1
        chooser.value.set_files(file)
        settled(self.page)


@pytest.mark.full
@pytest.mark.parametrize("whose", ["private", "public"])
def test_six_clicks_to_the_epsilon_that_an_error_needs_on_a_column_of_one_s_own(
    page: Page, server: Server, whose: Literal["private", "public"]
) -> None:
    hand = Hand(visit(page, server, "", "data_chart"))
    hand.click(page.locator(".st-key-status_bar").get_by_role("link"))
    hand.click(page.get_by_role("radio", name="My own file"))
    if whose == "public":
        hand.click(page.get_by_text("A public stand-in"))
    hand.brings(FILE)
    if whose == "private":
        hand.click(page.get_by_role("button", name="Names of the columns"))
        type_at(page, 0, FROM, "0", "90")
        hand.clicks += 1  # into the grid; the rest is typed
    else:
        hand.click(page.get_by_role("button", name="Fill in from the data"))
    hand.click(page.get_by_role("button", name="Which ε for 1% error?"))
    assert hand.clicks <= 6
    expect(page.get_by_role("textbox", name="Target error")).to_have_value("1%")
    assert "target=1%25" in page.url and "data=my-file" in page.url
    expect(page.get_by_role("combobox", name="Query")).to_have_value("Intervals")
    if whose == "private":
        expect(page.get_by_text(re.compile("ε that guarantees 1%: .+ ε = [0-9.]+"))).to_be_visible()
    else:
        expect(plot(page, "needed_chart")).to_be_visible()
        expect(page.get_by_text(re.compile(r"Smallest: ε = [0-9.]+, rounded up"))).to_be_visible()


def test_one_click_to_the_error_of_a_range_that_is_typed(page: Page, server: Server) -> None:
    hand = Hand(visit(page, server, "", "data_chart"))
    hand.click(page.get_by_role("spinbutton", name="Query from"))
    page.keyboard.type("0.2")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")  # past the help of the second end
    if page.get_by_role("spinbutton", name="to", exact=True).evaluate("box => box !== document.activeElement"):
        hand.click(page.get_by_role("spinbutton", name="to", exact=True))
    page.keyboard.type("0.4")
    page.keyboard.press("Enter")
    settled(page)
    expect(page.get_by_text(re.compile("releases are off by at most [0-9,]+ rows"))).to_be_visible()
    assert hand.clicks <= 3 and "ask-from=0.2&ask-to=0.4" in page.url
