"""The grid of a file's columns, typed in with the keyboard in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.kit.browser import OWN_FILE, Server, axe, bring, csv_file, go_to, press_button, visit, watched_page
from tests.kit.rest import settled

ROWS = "".join(f"p{place},{place % 90},2024-{place % 12 + 1:02d}-05\n" for place in range(300))
VISITS = csv_file("visits.csv", f"who,age,seen\n{ROWS}")
HEAD, ROW = 36, 35
"""Heights of the grid's head and of a row, in pixels."""
USUALLY = 20
"""Milliseconds between keys: faster than anybody types."""
SLOWED = 6
"""How many times slower the browser computes in the test of a busy machine."""

AT_ONCE = """(keys) => keys.forEach((key) => document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })))"""


def grid(page: Page) -> Locator:
    """The canvas that takes clicks and keys."""
    return page.get_by_test_id("data-grid-canvas")


def cell(page: Page, row: int, column: int) -> Locator:
    """A cell as a screen reader is told it, both from 0."""
    return page.get_by_test_id(f"glide-cell-{column}-{row}")


def type_at(page: Page, row: int, column: int, *texts: str, delay: float = USUALLY) -> None:
    """Type into cells beside each other, from one on, with the keyboard alone after a click on the row's name."""
    grid(page).click(position={"x": 20, "y": HEAD + ROW * row + ROW // 2}, force=True)
    for _ in range(column):
        page.keyboard.press("ArrowRight")
    for text in texts:
        page.keyboard.type(text, delay=delay)
        page.keyboard.press("Tab")
    settled(page)


@pytest.mark.full
@pytest.mark.parametrize("delay", [0, 60, 100])
def test_no_key_is_lost_on_a_busy_machine_while_the_page_is_made_anew(
    browser: Browser, server: Server, delay: float
) -> None:
    with watched_page(browser) as page:
        bring(visit(page, server, OWN_FILE), VISITS)
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
        type_at(page, 1, 3, "12", "90", "a; b", "345", delay=delay)
        for place, text in enumerate(["12", "90", "a; b", "345"]):
            expect(cell(page, 1, 3 + place)).to_have_text(text)
        expect(page.get_by_text("Still missing:")).not_to_contain_text("age")


def test_keys_that_come_before_an_editor_is_open_reach_it(page: Page, server: Server) -> None:
    """All in one task: no editor can open between them, however fast the machine."""
    bring(visit(page, server, OWN_FILE), VISITS)
    type_at(page, 1, 3)
    page.evaluate(AT_ONCE, [*"12", "Tab", *"90", "Tab"])
    expect(cell(page, 1, 3)).to_have_text("12")
    expect(cell(page, 1, 4)).to_have_text("90")
    settled(page)  # until then the sentence of before may stand beside the new one
    expect(page.get_by_text("Still missing:")).not_to_contain_text("age")


def test_columns_are_declared_by_typing_and_stay_typed(page: Page, server: Server) -> None:
    bring(visit(page, server, OWN_FILE), VISITS)
    expect(page.get_by_text("Who is protected?")).to_have_count(1)
    expect(page.get_by_role("button", name="Use this column")).to_have_count(0)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('0\\t90')")
    type_at(page, 1, 3)
    page.keyboard.press("Control+V")
    expect(page.get_by_text("Cells may be pasted from a spreadsheet or a codebook")).to_be_visible()
    expect(page.get_by_text("Still missing:")).not_to_contain_text("age")
    type_at(page, 1, 6, "45")
    expect(cell(page, 1, 3)).to_have_text("0")
    expect(cell(page, 1, 4)).to_have_text("90")
    expect(cell(page, 1, 6)).to_have_text("45")
    press_button(page, "Use this column")
    expect(page.get_by_text("45 cells of width 2 from 0 to 90.")).to_be_visible()
    expect(page.get_by_text("no values are shown")).to_be_visible()
    page.get_by_text("A person, who may have several rows").click()
    settled(page)
    axe(page)
    expect(page.get_by_role("spinbutton", name="Maximum rows per person")).to_have_value("1")
    press_button(page, "Use this data")
    go_to(page, "data")
    expect(cell(page, 1, 4)).to_have_text("90")


def test_arrows_that_come_after_an_editor_go_from_there(browser: Browser, server: Server) -> None:
    """They had overtaken the key that closes it, and what was typed next was lost."""
    with watched_page(browser) as page:
        bring(visit(page, server, OWN_FILE), VISITS)
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
        type_at(page, 1, 2)
        for key in (*"whole", "Enter", "ArrowUp", "ArrowRight", *"12", "Tab", *"90", "Tab"):
            page.keyboard.press(key)
        for place, text in enumerate(["whole number", "12", "90"]):
            expect(cell(page, 1, 2 + place)).to_have_text(text)
        # An option of a list may lie beside the grid. While the mouse is there, the grid drops moves of the selection.
        type_at(page, 1, 2)
        page.keyboard.press("Enter")
        page.get_by_role("option", name="category").click()
        for key in ("ArrowRight", "3", "Tab"):
            page.keyboard.press(key)
        for place, text in enumerate(["category", "3"]):
            expect(cell(page, 1, 2 + place)).to_have_text(text)


STORED = "(text) => (sessionStorage.getItem('dpscope-description') ?? '').includes(text)"


def declared_again(page: Page, stored: str = "") -> Locator:
    """Reload the page, once a text is stored, and upload the file again; return the end of the ages in the grid."""
    page.wait_for_function(STORED, arg=stored)
    page.reload()
    settled(page)
    bring(page, VISITS)
    return cell(page, 1, 4)


def test_a_description_and_a_plan_survive_a_reload_and_are_gone_with_their_file(page: Page, server: Server) -> None:
    bring(visit(page, server, OWN_FILE), VISITS)
    type_at(page, 1, 3, "0", "90")
    restored = page.get_by_text("Your description is restored.")
    expect(restored).to_have_count(0)
    expect(declared_again(page, "90")).to_have_text("90")
    expect(restored).to_be_visible()
    type_at(page, 1, 4, "91")
    expect(declared_again(page, "91")).to_have_text("91")  # what was restored is stored, too
    # The storage may hold anything: it gets one sentence, and the grid stays as it is.
    page.evaluate("sessionStorage.setItem('dpscope-description', JSON.stringify({name: 'visits.csv', text: [1]}))")
    expect(declared_again(page)).not_to_have_text("91")
    expect(page.get_by_role("alert").filter(has_text="description")).to_have_count(1)
    expect(restored).to_have_count(0)
    type_at(page, 1, 3, "0", "90")
    go_to(page, "plan")
    press_button(page, "Load an example")
    planned = page.get_by_text("1. Counts in ranges of age", exact=True)
    expect(planned).to_be_visible()
    page.reload()
    settled(page)
    expect(planned).to_have_count(0)  # not without the file, and not on another table
    bring(visit(page, server, OWN_FILE), VISITS)
    go_to(page, "plan")
    expect(planned).to_be_visible()
    expect(page.get_by_text("Your plan is restored.")).to_be_visible()
    go_to(page, "data")
    press_button(page, "Remove this file")
    assert page.evaluate("Object.keys(sessionStorage).filter((key) => key.startsWith('dpscope-'))") == []
    expect(declared_again(page)).not_to_have_text("90")
