"""Drives the real app in Chromium: starts servers, watches pages, waits for runs, checks accessibility."""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    FilePayload,
    Locator,
    Page,
    ViewportSize,
    expect,
    sync_playwright,
)

from launch import LOCALHOST, free_port, start_app, stop, wait_for_health
from pages.shell.addresses import PAGES as SPECS
from run import NO_CHROMIUM, find_chromium
from tests.kit.rest import LOADING, PATIENCE, settled

PAGES = {page.title.lower().replace(" ", "-"): page.address for page in SPECS}
"""The address of each page, by its name."""
OWN_DATA = {
    "directions": "learn?lesson=directions&view=data",
    "random-privacy": "learn?lesson=random&view=data",
}
"""Where the views of all settings of two lessons are, by name."""
MENUS = {name: page.section for name, page in zip(PAGES, SPECS, strict=True)}
"""The section on top in which each page is, by the page's name: a menu, or the name of the link to its only page."""

expect.set_options(timeout=PATIENCE / 3 * 1000)  # usually of a page at rest

WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_places = count(secrets.randbelow(1_000))


def own_port() -> int:
    """A port that nobody listens on: another at each call, and none that the system gives to connections.

    A server needs a second to begin to listen, and one that is started again has no port meanwhile: a browser's own
    connection would take a port that the system chose.
    """
    ports = (20_000 + 1_000 * (WORKER % 12) + place % 1_000 for place in _places)
    return next(port for port in ports if free_port(preferred=port) == port)


DESKTOP = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=390, height=844)
SCREENS = {
    "desktop-light": (DESKTOP, "light"),
    "phone-dark": (PHONE, "dark"),
}
"""Both sizes and both themes: colours do not depend on the size, nor places on the theme."""


def on_screens(
    names: str, *states: tuple[Any, ...], full: Container[str] = (), both: bool = False
) -> pytest.MarkDecorator:
    """Each state on one of the screens, by turns; where it is on both, the other is in `test full`.

    A test takes the names, and `viewport` and `colour_scheme` where it needs them.

    Args:
        names: of the test's arguments.
        states: values of these.
        full: states whose first value is in it are left to `test full` on both screens.
        both: whether each state is looked at on both: whole pages are.
    """
    return pytest.mark.parametrize(
        f"{names},viewport,colour_scheme",
        [
            pytest.param(
                *state,
                *screen,
                id=f"{state[0]}-{name}",
                marks=[pytest.mark.full] * (number != turn % len(SCREENS) or state[0] in full),
            )
            for turn, state in enumerate(states)
            for number, (name, screen) in enumerate(SCREENS.items())
            if both or number == turn % len(SCREENS)
        ],
    )


# All but the first two keep Chromium from calling home, which a closed network answers with errors.
CHROMIUM_FLAGS = [
    "--no-sandbox",  # it refuses to run as root without; it only ever sees our own pages
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# A page opened by its own address asks below itself, is told 404, and then asks at the root: Streamlit's way.
ALLOWED_FAILURES = re.compile(r"/[^/]+/_stcore/(health|host-config)$")

# Accessibility violations in markup that is Streamlit's own: rule, and what the element is or lies within.
KNOWN_VIOLATIONS = {
    "presentation-role-conflict": '[data-testid="stFileUploaderDropzone"]',
    # A formula wider than the page scrolls in a box of its own, which Chromium lets the keyboard reach all the same.
    "scrollable-region-focusable": ".katex-display",
    # On a phone the menus are in the sidebar, where each menu's title is no item of its list.
    "list": '[data-testid="stSidebarNavItems"]',
    "listitem": '[data-testid="stSidebarNavItems"]',
    # Segmented controls and pills write the chosen one in the primary colour on a tint of it. In the dark theme that
    # gives 4.2:1, and no colour gives 4.5:1 both there and on a button, where the text is white.
    "color-contrast": '[data-testid="stButtonGroup"]',
}
IS_WITHIN = "([target, known]) => Boolean(document.querySelector(target)?.closest(known))"

# Remembers when the app last sent something that the server has not answered yet: from there until the server says that
# it runs, the app looks idle, for as long as the machine is busy. So it does while a file is on its way.
UNANSWERED = """
const send = WebSocket.prototype.send, upload = XMLHttpRequest.prototype.send;
WebSocket.prototype.send = function (data) {
    if (!this.watched) {
        this.watched = true;
        this.addEventListener('message', () => { window.unanswered = undefined; });
    }
    window.unanswered = performance.now();
    return send.call(this, data);
};
window.transfers = 0;
XMLHttpRequest.prototype.send = function (data) {
    window.transfers += 1;
    this.addEventListener('loadend', () => { setTimeout(() => { window.transfers -= 1; }); });
    return upload.call(this, data);
};
"""


# Words outside pictures and tables that a reader sees before opening anything, a phone's sidebar for one.
WORDS = """() => {
    const shut = (element) => element.closest('[data-testid="stSidebar"][data-collapsed="true"]');
    const walker = document.createTreeWalker(document.querySelector('.stApp'), NodeFilter.SHOW_TEXT), words = [];
    while (walker.nextNode()) {
        const { parentElement: element } = walker.currentNode;
        if (element.closest('.dpscope-plot, table, style, script, [data-testid="stIconMaterial"]')) continue;
        if (shut(element) || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
        const box = element.getBoundingClientRect();
        if (box.width > 1 && box.height > 1) words.push(...walker.currentNode.textContent.split(/\\s+/));
    }
    const typed = [...document.querySelectorAll('input')].filter(input => input.checkVisibility() && !shut(input));
    words.push(...typed.flatMap(input => (input.value || input.placeholder).split(/\\s+/)));
    return words.filter(word => /[a-z0-9]/i.test(word));
}"""


@dataclass(frozen=True, kw_only=True)
class Server:
    """A running app: its address, its log, where it keeps records, its process."""

    url: str
    log: Path
    temporary: Path
    process: subprocess.Popen[bytes]


@contextmanager
def running_server(temporary: Path | None = None, *, code: str = "", ledger: Path | None = None) -> Iterator[Server]:
    """Start the app as `run.py` does, on a free port, with its log in a file and temporary files in a folder.

    Args:
        temporary: where it keeps records; a folder of its own if it is None.
        code: admits the browser that first brings it in an address, as `access_code`; none is admitted without one.
        ledger: the folder of it; one of its own if it is None.

    Raises:
        RuntimeError: with the log, if the app ends or does not answer.
        AssertionError: at the end, if it asked for an address that is not this machine.
    """
    with tempfile.TemporaryDirectory(prefix="dpscope-test-") as name:
        folder = Path(name)
        log, port = folder / "server.log", own_port()
        temporary = temporary or folder / "temporary"
        temporary.mkdir(exist_ok=True)
        with log.open("wb") as output, pytest.MonkeyPatch.context() as patch:
            for variable, value in {**watched_by(folder), "TMPDIR": str(temporary)}.items():
                patch.setenv(variable, value)
            patch.setenv("DPSCOPE_LEDGER", str(ledger or folder / "ledger"))
            patch.setenv("DPSCOPE_CACHE", "0")
            # What nobody asked for would take the processor from the tests; a test of it asks.
            patch.setenv("DPSCOPE_REHEARSAL", os.environ.get("DPSCOPE_REHEARSAL", "0"))
            process = start_app(python=Path(sys.executable), port=port, output=output, code=code)
        try:
            if not wait_for_health(process, port=port, seconds=PATIENCE):
                raise RuntimeError(f"the app did not start:\n{log.read_text(errors='replace')}")
            yield Server(url=f"http://{LOCALHOST}:{port}", log=log, temporary=temporary, process=process)
        finally:
            stop(process)
        assert not (asked := asked_for(folder)), f"the server asked for {asked}"


# Writes down every address that the process asks for or connects to.
WATCH = """
import os, sys
def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        with open(os.environ["WATCHED"], "a") as file:
            file.write(f"{event} {arguments[1] if event in ('socket.connect', 'socket.sendto') else arguments[0]}\\n")
sys.addaudithook(watch)
"""


def watched_by(folder: Path) -> dict[str, str]:
    """Variables with which a Python process keeps a list of the addresses it asks for, in this folder."""
    (folder / "sitecustomize.py").write_text(WATCH)
    (folder / "watched").touch()
    return {"PYTHONPATH": str(folder), "WATCHED": str(folder / "watched")}


def asked_for(folder: Path) -> list[str]:
    """Addresses beyond this machine that the processes watched from this folder asked for."""
    asked = (folder / "watched").read_text().splitlines()
    return [line for line in asked if LOCALHOST not in line and "localhost" not in line]


@contextmanager
def no_traceback(server: Server) -> Iterator[None]:
    """Fail if the server logs a traceback inside the block."""
    position = server.log.stat().st_size
    yield
    logged = server.log.read_bytes()[position:].decode(errors="replace")
    assert "Traceback" not in logged, f"the server logged:\n{logged}"


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Start Chromium without a window.

    Raises:
        RuntimeError: if there is none.
    """
    executable = find_chromium()
    if executable is None:
        raise RuntimeError(NO_CHROMIUM)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, headless=True, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@dataclass(frozen=True, kw_only=True)
class Tab:
    """A page in a context of its own, and what went wrong in it.

    Wrong are script errors, errors on the console, answers of 400 and above, and any request that leaves this machine.
    """

    page: Page
    problems: list[str]


@contextmanager
def opened_tab(browser: Browser, *, viewport: ViewportSize = DESKTOP, colour_scheme: str = "light") -> Iterator[Tab]:
    """Open a page that nobody has used, and watch it."""
    problems: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error" and not ALLOWED_FAILURES.search(message.location["url"]):
            problems.append(f"console: {message.text} ({message.location['url']})")

    def on_request(url: str) -> None:
        address = urlsplit(url)
        if address.scheme not in ("data", "blob") and address.hostname != LOCALHOST:
            problems.append(f"left this machine: {url}")

    context = browser.new_context(
        viewport=viewport,
        color_scheme="dark" if colour_scheme == "dark" else "light",
        reduced_motion="reduce",
        accept_downloads=True,
    )
    context.on("console", on_console)
    context.on("weberror", lambda error: problems.append(f"script: {error.error}"))
    context.on("request", lambda request: on_request(request.url))
    context.on(
        "response",
        lambda response: (
            problems.append(f"answer {response.status}: {response.url}")
            if response.status >= 400 and not ALLOWED_FAILURES.search(response.url)
            else None
        ),
    )
    context.add_init_script(UNANSWERED)
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    page.on("websocket", lambda socket: on_request(socket.url))
    try:
        yield Tab(page=page, problems=problems)
    finally:
        context.close()


@contextmanager
def watched_page(browser: Browser, *, viewport: ViewportSize = DESKTOP, colour_scheme: str = "light") -> Iterator[Page]:
    """Open a page in a context of its own, and fail at the end if anything went wrong in it (see Tab)."""
    with opened_tab(browser, viewport=viewport, colour_scheme=colour_scheme) as tab:
        yield tab.page
    assert not tab.problems, "\n".join(tab.problems)


@contextmanager
def watched_visit(tab: Tab, *, viewport: ViewportSize = DESKTOP, colour_scheme: str = "light") -> Iterator[Page]:
    """Use a tab again, and fail at the end if anything went wrong in it.

    The scripts that it has compiled stay with it, which are most of the work of opening a page; cookies and storage go.
    Each address that is opened is a session of its own at the server.
    """
    page = tab.page
    page.set_viewport_size(viewport)
    page.emulate_media(color_scheme="dark" if colour_scheme == "dark" else "light", reduced_motion="reduce")
    page.mouse.move(0, 0)
    try:
        yield page
        problems = list(tab.problems)
    finally:
        if page.url.startswith("http"):
            page.session_storage.clear()
            page.local_storage.clear()
        page.goto("about:blank")
        page.context.clear_cookies()
        tab.problems.clear()
    assert not problems, "\n".join(problems)


def comes_true(condition: Callable[[], bool], *, page: Page | None = None, seconds: float = PATIENCE) -> bool:
    """Whether something is so within the time, if only for once; a page goes on with its work meanwhile."""
    end = time.monotonic() + seconds
    while not (true := condition()) and time.monotonic() < end:
        page.wait_for_timeout(50) if page else time.sleep(0.05)
    return true


def axe(page: Page) -> None:
    """Fail if the page violates an accessibility rule, other than where Streamlit itself is known to."""
    found = [
        f"{violation['id']} ({violation['impact']}): {node['html']}\n  {node.get('failureSummary', '')}"
        for violation in Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        for node in violation["nodes"]
        if not page.evaluate(IS_WITHIN, [node["target"][0], KNOWN_VIOLATIONS.get(violation["id"], ":not(*)")])
    ]
    assert not found, "\n".join(found)


def in_menu(page: Page, name: str) -> Locator:
    """The link to a page on top, in its opened menu where its section has several pages."""
    bar, section = page.get_by_test_id("stTopNav"), MENUS[name]
    if list(MENUS.values()).count(section) == 1:
        return bar.get_by_role("link", name=section, exact=True)
    bar.get_by_role("button", name=section, exact=True).click()
    return page.get_by_role("menuitem", name=name.replace("-", " ").capitalize(), exact=True)


def go_to(page: Page, name: str) -> Page:
    """Another page, by its link on the screen."""
    in_menu(page, name).click()
    return settled(page)


def see(page: Page, view: str) -> Page:
    """One of the views that a page shows one at a time."""
    page.get_by_role("tab", name=view, exact=True).click()
    return settled(page)


def every_view_is_sound(page: Page) -> None:
    """Fail as `sound` does, in whichever view of a page it is."""
    for view in page.get_by_role("tab").all_text_contents():
        sound(see(page, view))


def sound(page: Page) -> None:
    """Fail if the page shows an error, violates an accessibility rule, or is wider than its window."""
    expect(page.locator('[data-testid="stException"]')).to_have_count(0)
    axe(page)
    width, window = page.evaluate("[document.querySelector('[data-testid=\"stMain\"]').scrollWidth, window.innerWidth]")
    assert width <= window, f"the page is {width} pixels wide, the window {window}"


def plot(page: Page, key: str) -> Locator:
    """The picture of a key."""
    return page.locator(f".st-key-{key} .dpscope-plot")


def visit(page: Page, server: Server, link: str, *charts: str) -> Page:
    """Open a link, and wait until the page is at rest and the charts of these keys are drawn."""
    page.goto(f"{server.url}/{link}")
    settled(page, idle=LOADING)
    for key in charts:
        expect(plot(page, key).and_(page.locator("[data-drawn]"))).to_have_count(1)
    return page


OWN_FILE = "data?way=My+own+file"


def csv_file(name: str, text: str | bytes) -> FilePayload:
    """A table, as a browser sends it."""
    return FilePayload(name=name, mimeType="text/csv", buffer=text if isinstance(text, bytes) else text.encode())


def bring(page: Page, file: FilePayload) -> Page:
    """Choose a private file on Data, and say that its first row holds names."""
    page.locator('input[type="file"]').first.set_input_files(file)
    names = page.get_by_role("button", name="Names of the columns")
    names.click()
    expect(names).to_be_hidden()
    expect(page.get_by_role("button", name="Remove this file")).to_be_visible()
    return settled(page)


def press_button(page: Page, *names: str) -> Page:
    """Press buttons, one after the other, and wait for what each does."""
    for name in names:
        page.get_by_role("button", name=name, exact=True).first.click()
        page.mouse.move(0, 0)  # or the button's own help stays open, outside every landmark: Streamlit's
        settled(page)
    return page


def type_token(page: Page, token: str) -> Page:
    """The page Release, on which its server's fixed token was typed."""
    field = page.get_by_label("Token", exact=True)
    field.fill(token)
    field.press("Enter")
    return page


def reopened(page: Page) -> Page:
    """The same link again, in another session."""
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    return settled(page, idle=LOADING)


def visible_words(page: Page) -> list[str]:
    """Words outside pictures and tables that a reader sees before opening anything."""
    found: list[str] = page.evaluate(WORDS)
    return found


def sentences(page: Page) -> str:
    """What the charts say of themselves."""
    return "\n".join(page.locator(".dpscope-sentence").all_text_contents())


def press(page: Page, slider: str, key: str, times: int = 1) -> None:
    """Move a slider by a key."""
    page.get_by_role("slider", name=slider).focus()
    for _ in range(times):
        page.keyboard.press(key)
    settled(page)
