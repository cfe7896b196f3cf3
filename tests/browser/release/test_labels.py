"""Labels that nobody listed, in a browser: found by a release, put into the description, and planned by."""

from __future__ import annotations

import os
import re

import pytest
from playwright.sync_api import Browser, Page, expect

from pages.shell.server.access import PARAMETER
from tests.browser.pages.test_grid import cell, type_at
from tests.browser.test_session import as_bytes
from tests.kit.browser import (
    OWN_FILE,
    bring,
    csv_file,
    go_to,
    no_traceback,
    press_button,
    running_server,
    sound,
    visible_words,
    watched_page,
)
from tests.kit.ledgers import SPEND
from tests.kit.rest import settled

CODE = "Lb5-a-code-of-a-test"
KIND, LOW = 2, 3
NAMES = {"Biscuit": 400, "Łatka": 300, "a;b": 200, "=1+1": 120}
RARE = ["Quetzalcoatl", "Zyxwvut"]
"""Labels of a row each, which must reach no browser and no log."""
MOST = 250
"""Words on a page."""


def pets() -> str:
    names = [name for name, count in NAMES.items() for _ in range(count)] + RARE
    return "name,age\n" + "".join(f"{name},{place % 20}\n" for place, name in enumerate(names))


def kept(page: Page, name: str) -> None:
    """Save what the page looks like, where a folder for that is named."""
    if folder := os.environ.get("DPSCOPE_PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


@pytest.mark.harness
def test_labels_are_found_and_described_by(browser: Browser) -> None:
    frames = list[bytes]()
    with running_server(code=CODE) as server, no_traceback(server), watched_page(browser) as page:
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(as_bytes(frame))))
        page.goto(f"{server.url}/{OWN_FILE}&{PARAMETER}={CODE}")
        settled(page)
        bring(page, csv_file("pets.csv", pets()))
        type_at(page, 0, KIND, "category")
        type_at(page, 1, LOW, "0", "20")
        expect(page.get_by_text("Labels you do not know")).to_be_visible()
        sound(page)
        kept(page, "data")
        press_button(page, "Find labels privately", "Register", "Test run, free")
        expect(page.get_by_text("On mock data:")).to_be_visible()
        assert len(visible_words(page)) <= MOST
        kept(page, "rehearsed")
        page.get_by_role("button", name=re.compile(f"{SPEND} 0.5 of")).click()
        expect(page.get_by_text("Entry 1, charged ε 0.5 and δ 10⁻⁸. Not published.")).to_be_visible()
        settled(page)
        sound(page)
        assert len(visible_words(page)) <= MOST
        kept(page, "released")
        press_button(page, "Use these labels in the description")
        expect(cell(page, 0, 5)).to_have_text('Biscuit; Łatka; "a;b"; =1+1')
        expect(page.get_by_text("Labels you do not know")).to_have_count(0)
        kept(page, "described")
        press_button(page, "Use this column")
        go_to(page, "plan")
        press_button(page, "Load an example")
        expect(page.get_by_role("heading", name=re.compile("of your table"))).to_be_visible()
        sound(page)
        kept(page, "plan")
        assert not any(name.encode() in frame for name in RARE for frame in frames)
        assert not any(name.encode() in server.log.read_bytes() for name in [*RARE, *NAMES])
