"""What only a browser shows of a session: a forgotten file leaves the disk, and private labels never travel again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, WebSocket, expect

from dpcore.data.reading.scratch import PREFIX
from tests.kit.browser import (
    OWN_FILE,
    PAGES,
    Server,
    bring,
    comes_true,
    csv_file,
    go_to,
    plot,
    press_button,
    visit,
    watched_page,
)
from tests.kit.rest import settled

pytestmark = pytest.mark.full

SECRETS = ("Perlmuttknopfmacher", "Rosshaarzupfer", "Lumpensammler")
"""Labels of private rows that stand nowhere else."""
ROWS = "".join(f"{each},7\n" * (60 - 20 * place) for place, each in enumerate(SECRETS))
PEOPLE = csv_file("people.csv", f"trade,years\n{ROWS}")
LINKED = "&".join(f"{key}=x" for key in ("file", "memory", "upload", "talk", "steward_choice", "filled"))


def as_bytes(frame: bytes | str) -> bytes:
    """A frame as it travelled."""
    return frame if isinstance(frame, bytes) else frame.encode()


class Wire:
    """All that a page's sockets carried, either way, since it was last emptied."""

    def __init__(self, page: Page) -> None:
        self.received: list[bytes] = []
        self.sent: list[bytes] = []
        page.on("websocket", self._listen)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: self.received.append(as_bytes(frame)))
        socket.on("framesent", lambda frame: self.sent.append(as_bytes(frame)))

    def told(self) -> set[str]:
        """Secrets that the server sent."""
        return {secret for secret in SECRETS if any(secret.encode() in frame for frame in self.received)}

    def said(self) -> set[str]:
        """Secrets that the browser sent."""
        return {secret for secret in SECRETS if any(secret.encode() in frame for frame in self.sent)}

    def empty(self) -> None:
        """Begin anew."""
        self.received.clear()
        self.sent.clear()


def uploaded(page: Page, server: Server, link: str = "") -> Page:
    """Data, with the private file held."""
    return bring(visit(page, server, f"{OWN_FILE}&{link}"), PEOPLE)


def steward(page: Page) -> None:
    """Turn the switch."""
    page.get_by_text("I am the data owner").click()
    settled(page)


def shown(page: Page) -> set[str]:
    """Secrets in the page, seen or not, inputs included."""
    values = page.evaluate("[...document.querySelectorAll('input, textarea')].map(each => each.value).join('|')")
    sent = page.content() + values
    return {secret for secret in SECRETS if secret in sent}


def test_a_forgotten_file_leaves_the_disk_whatever_the_link_names(page: Page, server: Server) -> None:
    def folders() -> set[Path]:
        return set(server.temporary.glob(f"{PREFIX}*"))

    before = folders()
    uploaded(page, server, LINKED)
    (own,) = folders() - before
    page.get_by_role("button", name="Remove this file").click()
    settled(page)
    assert comes_true(lambda: own not in folders())
    for name in ("ranges-and-cells", "data"):
        go_to(page, name)
    page.get_by_text("My own file").first.click()
    settled(page)
    assert "people.csv" not in page.content()
    expect(page.get_by_text("Whose rows are in the file?")).to_be_visible()


def test_no_private_label_travels_to_another_visitor_or_after_the_steward_s_switch_is_off(
    browser: Browser, server: Server
) -> None:
    with watched_page(browser) as page, watched_page(browser) as other:
        wire, others = Wire(page), Wire(other)
        uploaded(page, server)
        assert not wire.told()
        # The domain is read from the data by their steward, and used.
        steward(page)
        press_button(page, "Fill in from the data", "Use this column")
        assert wire.told() == set(SECRETS) == shown(page), "so the wire is watched, and the secrets are there to cross"
        expect(page.locator(".dpscope-plot")).to_have_count(1)
        expect(page.locator(".dpscope-files")).to_be_hidden()
        page.locator(".dpscope-plot").hover()
        for toolbar in page.locator('[data-testid="stElementToolbar"]').all():
            expect(toolbar).to_be_hidden()
        expect(page.get_by_role("button", name="Picture as")).to_have_count(0)
        page.get_by_role("button", name="Use this data").click()
        visit(other, server, "?n=1000&bits=6&trials=100")
        for name in PAGES:
            assert not others.told() and not shown(go_to(other, name)), name
        visit(other, server, "?data=my-file&file=x&upload=x")
        assert not others.told() and not shown(other) and "people.csv" not in other.content()
        settled(page)
        page.get_by_role("radio", name="All pictures").click()
        settled(page)
        for key in ("data_chart", "band_chart", "worst_chart", "tradeoff_chart"):
            expect(plot(page, key)).to_be_visible()
        expect(page.get_by_text("not protected: made by the data owner").first).to_be_attached()
        expect(page.get_by_role("button", name="Picture as")).to_have_count(0)
        go_to(page, "one-number")
        page.get_by_role("combobox", name="Statistic").click()
        page.get_by_role("option", name=re.compile("larger of two groups", re.IGNORECASE)).click()
        settled(page)
        page.get_by_role("combobox", name=re.compile("first group", re.IGNORECASE)).click()
        assert shown(page), "selectors list private labels to the steward"
        page.keyboard.press("Escape")
        wire.empty()
        steward(page)
        assert not wire.told() and not shown(page)
        wire.empty()
        for name in [*PAGES, "data"]:
            go_to(page, name)
            assert not wire.told() and not wire.said() and not shown(page), name
        page.get_by_text("My own file").first.click()
        settled(page)
        # It is still held, and whoever is its steward may see it again.
        expect(page.get_by_role("button", name="Remove this file")).to_be_visible()
        assert not wire.told() and not wire.said() and not shown(page)
