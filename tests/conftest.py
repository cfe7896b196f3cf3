"""Fixtures for all tests."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from playwright.sync_api import Browser, Page, ViewportSize

from tests.kit.browser import (
    DESKTOP,
    Server,
    Tab,
    no_traceback,
    opened_tab,
    running_browser,
    running_server,
    watched_visit,
)

# Examples follow from the test alone, and a busy machine fails none of them.
settings.register_profile("dpscope", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("dpscope")
# Also from no other test: among the examples were numbers of whatever modules the process had imported by then.
providers._get_local_constants = lambda: providers._local_constants  # which stay empty

BROWSER_FIXTURES = {"browser", "page", "server", "fresh_server"}
PAGES, OPENS_PAGES = "tests/pages/", {"AppTest", "opened", "visitor"}
LONG_FIRST = ("browser", "page", "slow")


class OnlyExamples:
    """Looks for examples in docstrings only where a file has any: each worker would look through every file."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, list[Any], list[Any]]:
        """What is collected of a file."""
        found = yield
        return [each for each in found if not isinstance(each, DoctestModule) or b">>>" in file_path.read_bytes()]


def pytest_configure(config: pytest.Config) -> None:
    """No test, and no server that one starts, reads or writes what whoever runs the tests has kept."""
    os.environ["DPSCOPE_CACHE"] = "0"
    config.pluginmanager.register(OnlyExamples())  # this file's own hooks are not asked about dpcore


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses the browser or is in a file that runs whole pages, before -m chooses; what takes long comes first.

    Workers share the tests by files: with a long one last, one worker would be done long before the other.
    """
    counts: defaultdict[Path, Counter[int]] = defaultdict(Counter)
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})  # one may be called page
        if BROWSER_FIXTURES & set(getattr(item, "fixturenames", ())) - set(parameters):
            item.add_marker(pytest.mark.browser)
        elif item.path.name.startswith("test_page") or (
            item.nodeid.startswith(PAGES) and OPENS_PAGES & set(vars(getattr(item, "module", item)))
        ):
            item.add_marker(pytest.mark.page)
        for place, mark in enumerate(LONG_FIRST):
            if item.get_closest_marker(mark):
                counts[item.path][place] += 1
    order = {path: (min(found), -found[min(found)]) for path, found in counts.items()}
    items.sort(key=lambda item: order.get(item.path, (len(LONG_FIRST), 0)))


@pytest.fixture(autouse=True)
def no_ledger(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a test's ledger is, if it begins one: never the one of whoever runs the tests."""
    folder = tmp_path_factory.getbasetemp() / "ledgers" / secrets.token_hex(8)
    monkeypatch.setenv("DPSCOPE_LEDGER", str(folder))
    monkeypatch.delenv("DPSCOPE_LEDGER_DATABASE", raising=False)
    monkeypatch.delenv("DPSCOPE_TOKEN", raising=False)
    return folder


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A seed that follows from the test's name, so that no test depends on another's draws."""
    return int.from_bytes(hashlib.sha256(request.node.name.encode()).digest()[:4])


@pytest.fixture(scope="session")
def shared_server() -> Iterator[Server]:
    """One app for the whole session; tests ask for `server`."""
    with running_server() as server:
        yield server


@pytest.fixture
def server(shared_server: Server) -> Iterator[Server]:
    """The session's app, which must log no traceback during the test."""
    with no_traceback(shared_server):
        yield shared_server


@pytest.fixture
def fresh_server() -> Iterator[Server]:
    """An app that nobody has visited yet, for what only the first request shows."""
    with running_server() as server, no_traceback(server):
        yield server


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for the whole session."""
    with running_browser() as browser:
        yield browser


@pytest.fixture
def viewport() -> ViewportSize:
    """The window's size; a test parametrises `viewport` to try others."""
    return DESKTOP


@pytest.fixture
def colour_scheme() -> str:
    """What the reader's system asks for; a test parametrises `colour_scheme` to try "dark"."""
    return "light"


@pytest.fixture(scope="session")
def tab(browser: Browser) -> Iterator[Tab]:
    """One tab for the whole session; tests ask for `page`."""
    with opened_tab(browser) as tab:
        yield tab


@pytest.fixture
def page(tab: Tab, viewport: ViewportSize, colour_scheme: str) -> Iterator[Page]:
    """A page without cookies or storage; the test fails at its end if anything went wrong in it.

    What must be new to the browser, or speaks to its debugger, opens a page of its own with `watched_page`.
    """
    with watched_visit(tab, viewport=viewport, colour_scheme=colour_scheme) as page:
        yield page
