"""What only a browser shows of a session: a forgotten file leaves the disk, and private labels never travel again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Page, WebSocket, expect

from dpcore.data.reading.scratch import PREFIX
from tests.browser.test_closed import comes_true
from tests.kit.browser import PAGES, Server, go_to, no_traceback, running_server, settled, watched_page

SECRETS = ("Perlmuttknopfmacher", "Rosshaarzupfer", "Lumpensammler")
"""Labels of private rows that stand nowhere else."""
ROWS = "".join(f"{each},7\n" * (60 - 20 * place) for place, each in enumerate(SECRETS))
PEOPLE = FilePayload(name="people.csv", mimeType="text/csv", buffer=f"trade,years\n{ROWS}".encode())
LINKED = "&".join(f"{key}=x" for key in ("file", "memory", "upload", "talk", "steward_choice", "filled"))
FORGETS = 20.0
"""Seconds in which a forgotten file must have left the disk."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this module's server keeps what it was given."""
    return tmp_path_factory.mktemp("records")


@pytest.fixture(scope="module")
def own_server(folder: Path) -> Iterator[Server]:
    """A server whose temporary files are in a folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        with running_server() as server, no_traceback(server):
            yield server


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


def uploaded(page: Page, server: Server, link: str = "") -> None:
    """Data, with the private file held."""
    page.goto(f"{server.url}/data?way=My+own+file&{link}")
    settled(page)
    page.locator('input[type="file"]').set_input_files(PEOPLE)
    page.get_by_role("button", name="Names of the columns").click()
    page.get_by_role("button", name="Forget this file").wait_for()
    settled(page)


def steward(page: Page) -> None:
    """Turn the switch."""
    page.get_by_text("I am the data's steward").click()
    settled(page)


def used_as_filled_in(page: Page) -> None:
    """The domain read from the data by their steward, and used."""
    steward(page)
    for button in ("Fill in from the data", "Use this column"):
        page.get_by_role("button", name=button).click()
        settled(page)


def visit(page: Page, name: str) -> None:
    """Another page, by its link on the screen."""
    go_to(page, name)


def shown(page: Page) -> set[str]:
    """Secrets in the page, seen or not, inputs included."""
    values = page.evaluate("[...document.querySelectorAll('input, textarea')].map(each => each.value).join('|')")
    return {secret for secret in SECRETS if secret in page.content() + values}


def test_a_forgotten_file_leaves_the_disk_whatever_the_link_names(
    browser: Browser, own_server: Server, folder: Path
) -> None:
    with watched_page(browser) as page:
        uploaded(page, own_server, LINKED)
        assert len(list(folder.glob(f"{PREFIX}*"))) == 1
        page.get_by_role("button", name="Forget this file").click()
        settled(page)
        assert comes_true(lambda: not list(folder.glob(f"{PREFIX}*")), seconds=FORGETS)
        for name in ("ranges-and-cells", "data"):
            visit(page, name)
        page.get_by_text("My own file").first.click()
        settled(page)
        assert "people.csv" not in page.content()
        expect(page.get_by_text("Whose rows are in the file?")).to_be_visible()


def test_no_private_label_travels_after_the_steward_s_switch_is_off(browser: Browser, own_server: Server) -> None:
    with watched_page(browser) as page:
        wire = Wire(page)
        uploaded(page, own_server)
        assert not wire.told()
        used_as_filled_in(page)
        assert wire.told() == set(SECRETS) == shown(page), "so the wire is watched"
        expect(page.locator(".dpscope-plot")).to_have_count(1)
        expect(page.locator(".dpscope-files")).to_be_hidden()
        page.locator(".dpscope-plot").hover()
        for toolbar in page.locator('[data-testid="stElementToolbar"]').all():
            expect(toolbar).to_be_hidden()
        page.get_by_role("button", name="Explore this data").click()
        settled(page)
        visit(page, "one-number")
        page.get_by_role("combobox", name="Question").click()
        page.get_by_role("option", name=re.compile("larger of two groups", re.IGNORECASE)).click()
        settled(page)
        wire.empty()
        page.get_by_role("combobox", name=re.compile("first group", re.IGNORECASE)).click()
        assert shown(page), "selectors list private labels to the steward"
        page.keyboard.press("Escape")
        wire.empty()
        steward(page)
        assert not wire.told() and not shown(page)
        wire.empty()
        for name in [*PAGES, "data"]:
            visit(page, name)
            assert not wire.told() and not wire.said() and not shown(page), name
        page.get_by_text("My own file").first.click()
        settled(page)
        # It is still held, and whoever is its steward may see it again.
        expect(page.get_by_role("button", name="Forget this file")).to_be_visible()
        assert not wire.told() and not wire.said() and not shown(page)


def test_two_visitors_eight_pages_nothing_crosses(browser: Browser, own_server: Server) -> None:
    with watched_page(browser) as steward_s, watched_page(browser) as other:
        own, wire = Wire(steward_s), Wire(other)
        other.goto(f"{own_server.url}/?n=1000&bits=6&trials=100")
        settled(other)
        uploaded(steward_s, own_server)
        used_as_filled_in(steward_s)
        steward_s.get_by_role("button", name="Explore this data").click()
        for name in PAGES:
            visit(other, name)
            assert not wire.told() and not shown(other), name
        settled(steward_s)
        other.goto(f"{own_server.url}/?data=my-file&file=x&upload=x")
        settled(other)
        assert not wire.told() and not shown(other) and "people.csv" not in other.content()
        assert own.told() == set(SECRETS), "the secrets were there to cross"
