"""A class guesses at a public demonstration: under its host's name, apart from other visitors' rooms, without files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from pages.shell.server.host_origin import DEMONSTRATION
from run import find_chromium
from tests.browser.lectures.test_lecture_hall import PROJECTOR, code_for_phones, guess
from tests.kit.browser import CHROMIUM_FLAGS, PHONE, UNANSWERED, no_traceback, running_server
from tests.kit.rest import PATIENCE, settled

HOST = "demo.example.org"
LECTURE = "learn?lesson=odds&lecture=odds.audit&present=1"


def beyond(url: str) -> list[str]:
    """The address, if it is not the demonstration's."""
    address = urlsplit(url)
    return [] if address.scheme in ("data", "blob") or address.hostname == HOST else [url]


@contextmanager
def visitor(browser: Browser, *, viewport: ViewportSize) -> Iterator[Page]:
    """A page of another person, which asks for nothing but the demonstration and gets no error."""
    context, problems = browser.new_context(viewport=viewport, reduced_motion="reduce"), list[str]()
    context.add_init_script(UNANSWERED)
    context.set_default_timeout(PATIENCE * 1000)
    context.on("request", lambda request: problems.extend(beyond(request.url)))
    context.on("weberror", lambda error: problems.append(str(error.error)))
    try:
        yield context.new_page()
    finally:
        context.close()
    assert not problems, "\n".join(problems)


def test_a_class_guesses_at_a_public_demonstration(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Phones get the host's name; a stranger who presents the same lecture has neither the room nor its guesses."""
    monkeypatch.setenv(DEMONSTRATION, "1")
    under_its_name = browser.browser_type.launch(
        executable_path=find_chromium(), args=[*CHROMIUM_FLAGS, f"--host-resolver-rules=MAP {HOST} 127.0.0.1"]
    )
    try:
        with running_server() as server, no_traceback(server):
            home = f"http://{HOST}:{urlsplit(server.url).port}"
            with (
                visitor(under_its_name, viewport=PROJECTOR) as wall,
                visitor(under_its_name, viewport=PROJECTOR) as stranger,
                visitor(under_its_name, viewport=PHONE) as phone,
            ):
                wall.goto(f"{home}/{LECTURE}")
                settled(wall)
                wall.get_by_role("button", name="Ask the class").click()
                settled(wall)
                address = code_for_phones(wall)
                assert re.fullmatch(rf"{re.escape(home)}/learn\?room=[\w-]{{16}}", address)
                expect(wall.get_by_text("The link works on this machine only.")).to_have_count(0)
                phone.goto(address)
                settled(phone)
                guess(phone, "ArrowLeft", 10, "Send my guess")
                expect(wall.get_by_text("1 guess is in")).to_be_visible()
                stranger.goto(f"{home}/{LECTURE}")
                settled(stranger)
                expect(stranger.get_by_role("button", name="Ask the class")).to_be_visible()
                stranger.get_by_role("button", name="Ask the class").click()
                settled(stranger)
                other = code_for_phones(stranger)
                assert other.startswith(f"{home}/learn?room=") and other != address
                expect(stranger.get_by_text("0 guesses are in")).to_be_visible()
                stranger.get_by_test_id("stCheckbox").get_by_text("Show what happens").click()
                settled(stranger)
                expect(stranger.locator("img.dpscope-class")).to_have_attribute("alt", re.compile("^0 guesses"))
                wall.get_by_test_id("stCheckbox").get_by_text("Show what happens").click()
                settled(wall)
                expect(wall.locator("img.dpscope-class")).to_have_attribute(
                    "alt", re.compile("^1 guesses of the class")
                )
            log = server.log.read_text(errors="replace")
            assert not [each for each in (address, other) if each.rpartition("=")[2] in log], "in no log"
    finally:
        under_its_name.close()
