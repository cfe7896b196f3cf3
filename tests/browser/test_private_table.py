"""A private headerless file, steward off: nothing of it on screen or socket, and yet full pages, and a twin."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, WebSocket, expect

from tests.browser.layout.faults import faults
from tests.browser.pages.test_grid import type_at
from tests.kit.browser import (
    DESKTOP,
    OWN_FILE,
    PHONE,
    Server,
    axe,
    csv_file,
    go_to,
    plot,
    press_button,
    sound,
    visible_words,
    visit,
    watched_page,
)
from tests.kit.rest import settled

pytestmark = pytest.mark.full

SECRETS = [f"{20 + place}.8137" for place in range(60)]
LABEL = "zebrafinch"
FILE = "".join(f"{number},{LABEL if place % 2 else 'wren'}\n" for place, number in enumerate(SECRETS))
FROM = 3
"""The grid's column of lower bounds."""
MAX_WORDS = 250
CUT = """names => names.filter(name => [...name.querySelectorAll('*')].some(part => part.clientWidth
    && part.scrollWidth > part.clientWidth + 1)).length"""
"""How many of these have words that do not fit."""


def typed(page: Page, label: str, text: str) -> None:
    """A text typed into a box, and taken."""
    box = page.get_by_role("textbox", name=label)
    box.fill(text)
    box.press("Enter")
    settled(page)


def picked(page: Page, box: str, option: str) -> None:
    page.get_by_role("combobox", name=box).last.click()
    page.get_by_role("option", name=option).first.click()
    page.keyboard.press("Escape")
    settled(page)


def test_a_private_file_is_no_dead_end_and_stays_unseen(browser: Browser, server: Server) -> None:
    frames = list[bytes]()

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: frames.append(frame if isinstance(frame, bytes) else frame.encode()))

    def unseen(page: Page) -> None:
        sent = page.content().encode() + b"".join(frames)
        frames.clear()
        assert not [secret for secret in (*SECRETS, LABEL) if secret.encode() in sent]

    with watched_page(browser) as page:
        page.on("websocket", listen)
        visit(page, server, OWN_FILE).locator('input[type="file"]').set_input_files(csv_file("people.csv", FILE))
        press_button(page, "Data, like all rows")
        unseen(page)
        type_at(page, 0, FROM, "0", "100")
        unseen(page)
        press_button(page, "Use this column")
        press_button(page, "Use this data")
        # Ranges and cells: a full page of promises, which the slider moves.
        expect(plot(page, "promises_chart")).to_be_visible()
        expect(page.get_by_test_id("stMetric")).to_have_count(4)
        assert len(visible_words(page)) <= MAX_WORDS
        page.mouse.move(DESKTOP["width"] - 1, 0)  # over the rail, Streamlit shows a button of its own
        assert not faults(settled(page))
        sound(page)
        page.set_viewport_size(PHONE)
        assert settled(page).get_by_test_id("stMetricLabel").evaluate_all(CUT) == 0
        page.set_viewport_size(DESKTOP)
        unseen(page)
        before = page.locator(".dpscope-line").inner_text()
        page.get_by_role("slider", name="Privacy budget").focus()
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".dpscope-line")).not_to_have_text(before)
        settled(page)
        assert "At ε = 0.08," in page.locator(".dpscope-line").inner_text()
        for name in ("one-number", "conversation"):
            go_to(page, name)
            expect(plot(page, "promises_chart")).to_be_visible()
            unseen(page)
            page.mouse.move(DESKTOP["width"] - 1, 0)
            assert not faults(settled(page))
        go_to(page, "tables")
        picked(page, "Rows of yes/no attributes", "Your file")
        picked(page, "Columns", "column 1")
        typed(page, "column 1: values that mean yes", ">= 20, >= 40, >= 60")
        expect(plot(page, "promises_chart")).to_be_visible()
        unseen(page)
        # The twin: one press, and every picture is there; it follows from page to page.
        press_button(page, "Use mock data with my columns")
        expect(plot(page, "marginals_errors_chart")).to_be_visible()
        go_to(page, "ranges-and-cells")
        expect(plot(page, "data_chart")).to_be_visible()
        bar = page.locator(".st-key-status_bar")
        expect(bar).to_contain_text("Mock data with your columns. They contain no values of your file.")
        expect(bar).to_contain_text("ε = 0")
        sound(page)
        unseen(page)
        # One press more, and the chip leads to Data.
        press_button(page, "Use my table again")
        expect(plot(page, "promises_chart")).to_be_visible()
        bar.get_by_role("link").click()
        settled(page)
        expect(page.get_by_role("heading", name="Data", exact=True)).to_be_visible()
        unseen(page)
        axe(page)
        assert LABEL.encode() not in server.log.read_bytes() and SECRETS[0].encode() not in server.log.read_bytes()
