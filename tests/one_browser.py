"""Which worker runs which tests: one drives the browser, the others need not wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    import pytest
    from xdist.remote import Producer

BROWSER_TESTS = "tests/browser/"


class OneBrowser(LoadFileScheduling):
    """Files go to workers whole, and all files of browser tests to the same one: one app, one Chromium."""

    def _split_scope(self, nodeid: str) -> str:
        return BROWSER_TESTS if nodeid.startswith(BROWSER_TESTS) else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> OneBrowser:
    """What xdist asks when it starts."""
    return OneBrowser(config, log)
